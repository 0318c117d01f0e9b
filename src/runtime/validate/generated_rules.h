// Turns what the generated verifier and audit find into findings.
#pragma once

#include <cstdint>
#include <string>

#include "placewire/schema/audit.h"
#include "placewire/schema/verify.h"
#include "validate/report.h"

namespace placewire::validation {

/// Reports the first structural fault of a FlatBuffer that begins at byte `base` of the file and
/// whose root is at `root`.
inline void report_structure(Report& report, const schema::VerifyResult& result, const Path& root,
                             std::uint64_t base) {
  const std::string below(result.path());
  const Path inner(root, below);
  report.add_generated(name(result.rule()), below.empty() ? root : inner,
                       base + static_cast<std::uint64_t>(result.offset()), [&result] {
                         char text[160];
                         describe(result, text, sizeof text);
                         return std::string(text);
                       });
}

/// Reports everything below `view` that the schema does not know or that is missing; `bytes`, which
/// hold it, begin at byte `base` of the file.
template <class View>
void report_audit(Report& report, const View& view, const Path& root, schema::Bytes bytes,
                  std::uint64_t base) {
  schema::audit_tree(
      view,
      [&](const schema::AuditFinding& finding) {
        report.add_generated(name(finding.rule), finding.path,
                             base + static_cast<std::uint64_t>(finding.position - bytes.data()),
                             [&finding] { return message(finding); });
      },
      root);
}

}  // namespace placewire::validation
