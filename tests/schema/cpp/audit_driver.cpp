// Prints what `audit_tree` finds in the buffer on stdin, one finding a line.

#include <cstdio>
#include <iterator>
#include <string>
#include <vector>

#include "placewire/schema/audited/audit.h"
#include "placewire/schema/audited/verifier.h"

namespace schema = placewire::schema;

int main() {
  std::vector<char> data;
  for (int byte = std::getchar(); byte != EOF; byte = std::getchar()) {
    data.push_back(static_cast<char>(byte));
  }
  const schema::Bytes bytes(static_cast<const void*>(data.data()), data.size());
  if (!schema::audited::verify_tree(bytes).ok()) return 1;
  const schema::Path path(schema::kRootPath, "tree");
  schema::audit_tree(
      schema::audited::view_tree(bytes),
      [&](const schema::AuditFinding& finding) {
        const std::string rule(name(finding.rule));
        std::printf("%s\t%s\t%ld\t%s\n", rule.c_str(), finding.path.text().c_str(),
                    static_cast<long>(finding.position - bytes.data()), message(finding).c_str());
      },
      path);
  return 0;
}
