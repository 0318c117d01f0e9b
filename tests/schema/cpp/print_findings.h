// Prints what `audit_tree` finds as JSON: a list of [rule, path, offset, message].

#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "driver.h"
#include "placewire/schema/audit.h"

namespace placewire::tests {

/// As `root`, for a type whose module's audit.h is included.
template <class T>
Root audited_root(std::string_view name_of_type) {
  Root made = root<T>(name_of_type);
  made.audit = [](schema::Bytes buffer) {
    const char* separator = "[";
    const auto print = [&](const schema::AuditFinding& finding) {
      std::printf("%s[", separator);
      print_text(name(finding.rule));
      std::putchar(',');
      print_text(finding.path.text());
      std::printf(",%ld,", static_cast<long>(finding.position - buffer.data()));
      print_text(message(finding));
      std::putchar(']');
      separator = ",";
    };
    schema::audit_tree(T(schema::wire::follow(buffer.data())), print);
    std::puts(*separator == '[' ? "[]" : "]");
  };
  return made;
}

}  // namespace placewire::tests
