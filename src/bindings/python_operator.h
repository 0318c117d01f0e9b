// What Python says of an operator, read once so that binding a call needs no Python.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "placewire/runtime/evalue.h"
#include "placewire/runtime/result.h"
#include "tensor_views.h"

namespace placewire::bindings {

/// Which arguments of the operator stand in one place of a call: one, or several as a tuple.
struct Place {
  std::vector<std::size_t> arguments;
  bool is_tuple = false;
};

/// How a call is made; see placewire.kernels.call.
struct CallPlan {
  nanobind::object function;
  std::vector<Place> positional;
  std::vector<std::pair<nanobind::object, Place>> keywords;
  /// Null if there is none.
  nanobind::object specialize;
  std::optional<std::pair<std::size_t, std::size_t>> same_sizes;
};

/// What an argument must be.
enum class ArgumentKind { kAny, kTensor, kList, kScalar };

/// One argument of an operator.
struct OperatorArgument {
  std::string name;
  ArgumentKind kind = ArgumentKind::kAny;
  bool is_optional = true;
  /// Receives a result, and is nothing else.
  bool is_out = false;
  /// Is written to.
  bool is_written = false;
  /// What it is if it is left out; null if it must not be.
  nanobind::object default_value;
  /// Makes the object that the function wants of an integer; null if it wants the integer.
  nanobind::object converter;
};

/// An operator whose code is Python's. The interpreter lock must be held to use it.
struct PythonOperator {
  std::string name;
  /// Inference for torch's own operators only: others may want to differentiate.
  ArrayLibrary library = ArrayLibrary::kTorch;
  /// Whether `arguments` are those of a schema. If not, they are what an instruction has.
  bool has_schema = true;
  std::vector<OperatorArgument> arguments;
  std::size_t returns = 1;
  /// Whether it is known that sizes of results depend on nothing but sizes and numbers.
  bool has_known_sizes = false;
  /// See Kernel.
  bool is_pure = false;
  bool writes_inputs = false;
  CallPlan fixed_call;
  CallPlan changing_call;
};

/// Reads an operator of placewire.kernels.operators. Throws what Python does.
[[nodiscard]] PythonOperator read_operator(std::string name, nanobind::handle description);

}  // namespace placewire::bindings
