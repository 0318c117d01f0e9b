// Opens the programs that the tests have written, and makes tensors for their inputs.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "cases.h"
#include "placewire/runtime/method.h"
#include "placewire/runtime/program.h"
#include "placewire/runtime/simulated_device.h"
#include "placewire/runtime/tensor_ptr.h"

namespace testing {

/// Where the tests have written their programs.
inline std::string path_of(const std::string& name) {
  const char* const folder = std::getenv("PLACEWIRE_PROGRAMS");
  return std::string(folder == nullptr ? "." : folder) + '/' + name + ".pte";
}

inline std::shared_ptr<const placewire::Program> open(const std::string& name) {
  auto program = placewire::Program::open(path_of(name));
  if (!program.ok()) {
    std::printf("%s: %s\n", name.c_str(), program.error().message.c_str());
    std::abort();
  }
  return std::move(program).value();
}

/// A method, or the error that keeps it from being loaded.
inline placewire::Result<std::unique_ptr<placewire::Method>> load(
    const std::string& name, placewire::MethodOptions options = {},
    const char* method = "forward") {
  return placewire::Method::load(open(name), method, std::move(options));
}

/// A method that must load.
inline std::unique_ptr<placewire::Method> loaded(const std::string& name,
                                                 placewire::MethodOptions options = {}) {
  auto method = load(name, std::move(options));
  if (!method.ok()) {
    std::printf("%s: %s\n", name.c_str(), method.error().message.c_str());
    std::abort();
  }
  return std::move(method).value();
}

/// Four floats that are a tensor too.
class Four {
 public:
  explicit Four(std::array<float, 4> values = {1, 2, 3, 4}) : numbers(values) {}

  [[nodiscard]] placewire::EValue value(std::vector<std::int64_t> sizes = {2, 2}) {
    tensor_ =
        placewire::make_tensor_ptr(sizes, placewire::ScalarType::FLOAT, numbers.data()).value();
    return tensor_.get();
  }

  std::array<float, 4> numbers;

 private:
  placewire::TensorPtr tensor_;
};

/// The floats of a value on the CPU.
inline std::vector<float> floats_of(const placewire::EValue& value) {
  const placewire::TensorImpl& tensor = *value.tensor();
  std::vector<float> numbers(static_cast<std::size_t>(tensor.numel()));
  if (!numbers.empty()) std::memcpy(numbers.data(), tensor.data(), tensor.nbytes());
  return numbers;
}

inline std::vector<float> output(const placewire::Method& method, std::size_t index = 0) {
  return floats_of(*method.output(index).value());
}

/// What a method of one input gives for 1, 2, 3, 4; nothing if it fails.
inline std::vector<float> result(placewire::Method& method) {
  Four input;
  const placewire::EValue value = input.value();
  const placewire::Status status =
      method.execute(placewire::Span<const placewire::EValue>(&value, 1));
  if (!status.ok()) {
    std::printf("%s\n", status.error().message.c_str());
    return {};
  }
  return output(method);
}

using Floats = std::vector<float>;

/// A simulated device that is there while the object lives.
class Simulated {
 public:
  explicit Simulated(placewire::DeviceIndex index = 0)
      : device(std::make_shared<placewire::SimulatedDevice>(
            placewire::Device{placewire::DeviceType::CUDA, index})),
        scope_(placewire::ScopedAllocator::install(device, index).value()) {}

  [[nodiscard]] std::uint64_t calls(placewire::DeviceOperation operation) const {
    return device->count(operation).calls;
  }

  std::shared_ptr<placewire::SimulatedDevice> device;

 private:
  placewire::ScopedAllocator scope_;
};

}  // namespace testing
