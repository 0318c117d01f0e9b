// Findings of the validator, for Python.
#include "findings.h"

#include <nanobind/stl/string_view.h>

namespace nb = nanobind;

namespace placewire::bindings {

nb::list to_python(const std::vector<Finding>& findings) {
  const nb::object type = nb::module_::import_("placewire_schema").attr("Finding");
  nb::list list;
  for (const Finding& finding : findings) {
    nb::object offset = nb::none();
    if (finding.offset) {
      offset = nb::int_(*finding.offset);
    }
    list.append(type(finding.rule, level_name(finding.level), std::string_view(finding.path),
                     offset, std::string_view(finding.message)));
  }
  return list;
}

}  // namespace placewire::bindings
