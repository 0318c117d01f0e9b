// Programs and what they say of their methods, for Python.
#include "programs.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "argument_types.h"
#include "buffer_view.h"
#include "errors.h"
#include "findings.h"
#include "placewire/runtime/program.h"

namespace nb = nanobind;

namespace placewire::bindings {
namespace {

using ProgramPtr = std::shared_ptr<const Program>;

template <typename T>
nb::tuple integers(const std::vector<T>& items) {
  nb::list list;
  for (const T item : items) {
    list.append(nb::int_(static_cast<std::int64_t>(item)));
  }
  return nb::tuple(list);
}

template <typename Text>
nb::tuple texts(const std::vector<Text>& items) {
  nb::list list;
  for (const Text& item : items) {
    list.append(nb::str(item.data(), item.size()));
  }
  return nb::tuple(list);
}

/// Keeps a Python buffer alive while the core uses it. The core may let go of it on any thread.
std::shared_ptr<const void> owner_of(std::unique_ptr<BufferView> view) {
  return {view.release(), [](const BufferView* released) {
            const nb::gil_scoped_acquire lock;
            delete released;
          }};
}

ProgramPtr load(nb::handle buffer) {
  auto view = std::make_unique<BufferView>(buffer);
  const schema::Bytes bytes = view->bytes();
  const bool is_immutable = PyBytes_Check(buffer.ptr()) != 0;
  return value_or_raise(Program::load({bytes, owner_of(std::move(view)), is_immutable}));
}

nb::object named_data(const Program& program, nb::handle key) {
  const auto data = program.named_data(text_argument("key", key));
  return data ? nb::object(nb::bytes(data->data(), data->size())) : nb::none();
}

/// All inputs or all outputs of a method, by the function that gives one.
nb::tuple values_of(const MethodMeta& meta, std::size_t count,
                    Result<ValueMeta> (MethodMeta::*get)(std::size_t) const) {
  nb::list list;
  for (std::size_t i = 0; i < count; ++i) {
    list.append(nb::cast(value_or_raise((meta.*get)(i))));
  }
  return nb::tuple(list);
}

nb::tuple buffers_of(const MethodMeta& meta) {
  nb::list list;
  for (std::size_t i = 0; i < meta.memory_planned_buffer_count(); ++i) {
    const Device device = value_or_raise(meta.memory_planned_buffer_device(i));
    list.append(nb::make_tuple(value_or_raise(meta.memory_planned_buffer_size(i)),
                               static_cast<int>(device.type), static_cast<int>(device.index)));
  }
  return nb::tuple(list);
}

/// What a method says, copied: so it does not depend on the program.
struct MethodDescription {
  std::string name;
  nb::tuple inputs;
  nb::tuple outputs;
  std::string input_tree;
  std::string output_tree;
  nb::tuple buffers;
  std::size_t instruction_count;
  nb::tuple backends;
  nb::tuple operators;
};

MethodDescription describe_method(const Program& program, std::string_view name) {
  const MethodMeta meta = value_or_raise(program.method_meta(name));
  return {std::string(meta.name()),
          values_of(meta, meta.input_count(), &MethodMeta::input),
          values_of(meta, meta.output_count(), &MethodMeta::output),
          std::string(meta.input_tree()),
          std::string(meta.output_tree()),
          buffers_of(meta),
          meta.instruction_count(),
          texts(meta.backends()),
          texts(meta.operators())};
}

void bind_metadata(nb::module_& module) {
  nb::class_<TensorMeta>(module, "TensorMeta")
      .def_prop_ro("scalar_type",
                   [](const TensorMeta& self) { return static_cast<int>(self.scalar_type); })
      .def_prop_ro("shape", [](const TensorMeta& self) { return integers(self.sizes); })
      .def_prop_ro("dim_order", [](const TensorMeta& self) { return integers(self.dim_order); })
      .def_prop_ro("dynamism",
                   [](const TensorMeta& self) { return static_cast<int>(self.dynamism); })
      .def_prop_ro("device_type",
                   [](const TensorMeta& self) { return static_cast<int>(self.device.type); })
      .def_prop_ro("device_index",
                   [](const TensorMeta& self) { return static_cast<int>(self.device.index); })
      .def_ro("is_memory_planned", &TensorMeta::is_memory_planned)
      .def_ro("name", &TensorMeta::name);
  nb::class_<ValueMeta>(module, "ValueMeta")
      .def_prop_ro("kind", [](const ValueMeta& self) { return static_cast<int>(self.type); })
      .def_ro("tensor", &ValueMeta::tensor);
  nb::class_<MethodDescription>(module, "MethodMeta")
      .def_ro("name", &MethodDescription::name)
      .def_ro("inputs", &MethodDescription::inputs)
      .def_ro("outputs", &MethodDescription::outputs)
      .def_ro("input_tree", &MethodDescription::input_tree)
      .def_ro("output_tree", &MethodDescription::output_tree)
      .def_ro("buffers", &MethodDescription::buffers)
      .def_ro("instruction_count", &MethodDescription::instruction_count)
      .def_ro("backends", &MethodDescription::backends)
      .def_ro("operators", &MethodDescription::operators);
}

}  // namespace

void bind_programs(nb::module_& module) {
  bind_metadata(module);
  nb::class_<Program>(module, "Program")
      .def_static(
          "open",
          [](const nb::bytes& path) {
            return value_or_raise(Program::open(std::string(path.c_str(), path.size())));
          },
          nb::arg("path"))
      .def_static("load", &load, nb::arg("buffer"))
      .def_prop_ro("method_names", [](const Program& self) { return texts(self.method_names()); })
      .def_prop_ro("warnings", [](const Program& self) { return to_python(self.warnings()); })
      .def_prop_ro("named_data_keys",
                   [](const Program& self) { return texts(self.named_data_keys()); })
      .def("named_data", &named_data, nb::arg("key").none())
      .def("meta", &describe_method, nb::arg("name"));
}

}  // namespace placewire::bindings
