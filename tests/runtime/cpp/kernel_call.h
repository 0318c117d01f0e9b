// Calls registered kernels with values, as a method does.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "placewire/runtime/kernel.h"

namespace cases {

using Arguments = std::vector<placewire::KernelArgument>;

/// An argument that may change from run to run.
inline placewire::KernelArgument varying(placewire::EValue& value) {
  return {&value, false, false};
}
/// An argument that stays what it is.
inline placewire::KernelArgument fixed(placewire::EValue& value) { return {&value, true, false}; }
/// A constant of the program.
inline placewire::KernelArgument constant(placewire::EValue& value) { return {&value, true, true}; }

/// Binds a registered kernel.
inline placewire::Result<std::unique_ptr<placewire::BoundKernel>> bind(const std::string& name,
                                                                       const Arguments& arguments) {
  const std::shared_ptr<placewire::Kernel> kernel = placewire::find_kernel(name);
  if (kernel == nullptr) {
    return placewire::Error{placewire::ErrorCode::OPERATOR_MISSING, name};
  }
  return kernel->bind(arguments);
}

/// Binds a registered kernel and runs it once.
inline placewire::Status call(const std::string& name, const Arguments& arguments) {
  auto bound = bind(name, arguments);
  return bound.ok() ? bound.value()->run() : placewire::Status(std::move(bound).error());
}

/// Calls an operator of numbers, and returns its result.
inline placewire::Result<placewire::EValue> compute(const std::string& name,
                                                    std::vector<placewire::EValue> numbers) {
  placewire::EValue result = std::int64_t{0};
  Arguments arguments;
  for (placewire::EValue& number : numbers) {
    arguments.push_back(varying(number));
  }
  arguments.push_back(varying(result));
  if (placewire::Status status = call(name, arguments); !status.ok()) {
    return std::move(status).error();
  }
  return result;
}

}  // namespace cases
