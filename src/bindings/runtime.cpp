// The extension module placewire._runtime: the C++ core for Python.
//
// It exchanges plain Python objects and buffers: no class here mirrors a type of the schema.
// `_runtime.pyi` is the module's manual.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include <cstddef>
#include <optional>
#include <string_view>

#include "buffer_view.h"
#include "devices.h"
#include "findings.h"
#include "modules.h"
#include "placewire/runtime/validate.h"
#include "planner.h"
#include "programs.h"
#include "python_kernels.h"
#include "schema_walk.h"
#include "tensors.h"

namespace nb = nanobind;

namespace {

using placewire::bindings::BufferView;

/// Keeps the interpreter lock: the buffer may be one that other threads would write meanwhile.
nb::list validate(nb::handle buffer, std::size_t maximum_findings, bool layout_only,
                  nb::handle head_copy) {
  const BufferView view(buffer);
  std::optional<BufferView> copy;
  placewire::ValidationOptions options;
  options.maximum_findings = maximum_findings;
  options.last_stage = layout_only ? placewire::Stage::kLayout : placewire::Stage::kMeaning;
  if (!head_copy.is_none()) {
    options.head_copy = copy.emplace(head_copy).bytes();
  }
  const placewire::Validation validation = placewire::validate(view.bytes(), options);
  if (!validation.complete) {
    throw std::bad_alloc();  // becomes MemoryError
  }
  return placewire::bindings::to_python(validation.findings);
}

std::size_t head_size(nb::handle buffer) {
  return placewire::head_size(BufferView(buffer).bytes());
}

nb::list rules() {
  nb::list result;
  for (const placewire::RuleInfo& rule : placewire::rules()) {
    result.append(nb::make_tuple(rule.name, placewire::level_name(rule.level), rule.meaning));
  }
  return result;
}

}  // namespace

NB_MODULE(_runtime, module) {
  module.doc() = "The C++ core of placewire.";
  module.attr("MODEL_STAMP") = placewire::schema::kModelStamp;
  module.def("validate", &validate, nb::arg("buffer").none(), nb::arg("maximum_findings"),
             nb::arg("layout_only"), nb::arg("head_copy").none());
  module.def("head_size", &head_size, nb::arg("buffer"));
  module.def("rules", &rules);
  placewire::bindings::add_planner(module);
  placewire::bindings::bind_devices(module);
  placewire::bindings::bind_tensors(module);
  placewire::bindings::bind_programs(module);
  placewire::bindings::bind_modules(module);
  placewire::bindings::bind_kernels(module);
  placewire::bindings::bind_schema_walk(module);
}
