// What Python says of an operator, read once so that binding a call needs no Python.
#include "python_operator.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string_view>

namespace nb = nanobind;

namespace placewire::bindings {
namespace {

nb::object none_is_null(nb::object object) { return object.is_none() ? nb::object() : object; }

Place read_place(nb::handle place) {
  if (PyTuple_Check(place.ptr())) {
    return {nb::cast<std::vector<std::size_t>>(place), true};
  }
  return {{nb::cast<std::size_t>(place)}, false};
}

CallPlan read_call(nb::handle call) {
  CallPlan plan;
  plan.function = call.attr("function");
  for (const nb::handle place : call.attr("positional")) {
    plan.positional.push_back(read_place(place));
  }
  for (const nb::handle keyword : call.attr("keywords")) {
    plan.keywords.emplace_back(nb::object(keyword[0]), read_place(nb::object(keyword[1])));
  }
  plan.specialize = none_is_null(call.attr("specialize"));
  const nb::object same_sizes = call.attr("same_sizes");
  if (!same_sizes.is_none()) {
    plan.same_sizes.emplace(nb::cast<std::size_t>(same_sizes[0]),
                            nb::cast<std::size_t>(same_sizes[1]));
  }
  return plan;
}

ArgumentKind kind_of(std::string_view text) {
  if (text == "tensor") {
    return ArgumentKind::kTensor;
  }
  return text == "list" ? ArgumentKind::kList : ArgumentKind::kScalar;
}

OperatorArgument read_argument(nb::handle description, std::size_t index) {
  OperatorArgument argument;
  argument.name = nb::cast<std::string>(description.attr("names")[index]);
  auto kind = nb::cast<std::string>(description.attr("kinds")[index]);
  argument.is_optional = kind.back() == '?';
  if (argument.is_optional) {
    kind.pop_back();
  }
  argument.kind = kind_of(kind);
  nb::object default_value = description.attr("defaults")[index];
  if (default_value.ptr() != Py_Ellipsis) {
    argument.default_value = std::move(default_value);
  }
  argument.converter = none_is_null(description.attr("converters")[index]);
  return argument;
}

}  // namespace

PythonOperator read_operator(std::string name, nb::handle description) {
  PythonOperator result;
  result.name = std::move(name);
  std::vector<OperatorArgument> arguments;
  const nb::object kinds = description.attr("kinds");
  for (std::size_t index = 0; index < nb::len(kinds); ++index) {
    arguments.push_back(read_argument(description, index));
  }
  for (const std::size_t index : nb::cast<std::vector<std::size_t>>(description.attr("outs"))) {
    arguments.at(index).is_out = true;
  }
  for (const std::size_t index : nb::cast<std::vector<std::size_t>>(description.attr("writes"))) {
    arguments.at(index).is_written = true;
  }
  result.arguments = std::move(arguments);
  result.returns = nb::cast<std::size_t>(description.attr("returns"));
  result.library = nb::cast<bool>(description.attr("is_torchs")) ? ArrayLibrary::kTorchInference
                                                                 : ArrayLibrary::kTorch;
  result.has_known_sizes = nb::cast<bool>(description.attr("has_known_sizes"));
  result.is_pure = nb::cast<bool>(description.attr("is_pure"));
  result.writes_inputs = nb::cast<bool>(description.attr("writes_inputs"));
  result.fixed_call = read_call(description.attr("fixed_call"));
  result.changing_call = read_call(description.attr("changing_call"));
  return result;
}

}  // namespace placewire::bindings
