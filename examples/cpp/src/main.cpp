// Runs the method `forward` of a .pte file: every input counts 1, 2, 3 ..., and the outputs are
// printed.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "kernels.h"
#include "placewire/runtime/module.h"
#include "placewire/runtime/tensor_ptr.h"

namespace {

using placewire::EValue;
using placewire::Result;
using placewire::TensorImpl;
using placewire::TensorPtr;

int failed(const placewire::Error& error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
  return 1;
}

/// A tensor as the method wants its input `index` to be, filled with 1, 2, 3 ...
Result<TensorPtr> make_input(const placewire::MethodMeta& meta, std::size_t index) {
  const Result<placewire::ValueMeta> value = meta.input(index);
  if (!value.ok()) {
    return value.error();
  }
  const auto& tensor = value.value().tensor;
  if (!tensor || tensor->scalar_type != placewire::ScalarType::FLOAT) {
    return placewire::Error{placewire::ErrorCode::NOT_SUPPORTED,
                            "input " + std::to_string(index) + " is no tensor of floats"};
  }
  Result<TensorPtr> made = placewire::empty_tensor_ptr(tensor->sizes, tensor->scalar_type);
  if (made.ok()) {
    auto* const elements = static_cast<float*>(made.value()->data());
    for (std::int64_t i = 0; i < made.value()->numel(); ++i) {
      elements[i] = static_cast<float>(i + 1);
    }
  }
  return made;
}

void print(const TensorImpl& tensor) {
  std::printf("%s:", to_string(tensor).c_str());
  const auto* const elements = static_cast<const float*>(tensor.data());
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    std::printf(" %g", static_cast<double>(elements[i]));
  }
  std::printf("\n");
}

int run(const std::string& path) {
  const auto module = placewire::Module::open(path);
  if (!module.ok()) {
    return failed(module.error());
  }
  const Result<placewire::Method*> method = module.value()->method("forward");
  if (!method.ok()) {
    return failed(method.error());
  }
  std::vector<TensorPtr> owners;
  std::vector<EValue> inputs;
  for (std::size_t i = 0; i < method.value()->meta().input_count(); ++i) {
    Result<TensorPtr> input = make_input(method.value()->meta(), i);
    if (!input.ok()) {
      return failed(input.error());
    }
    owners.push_back(std::move(input).value());
    inputs.push_back(owners.back().get());
  }
  const Result<std::vector<EValue>> outputs = module.value()->forward(inputs);
  if (!outputs.ok()) {
    return failed(outputs.error());
  }
  for (const EValue& output : outputs.value()) {
    if (output.tensor() != nullptr &&
        output.tensor()->scalar_type() == placewire::ScalarType::FLOAT) {
      print(*output.tensor());
    } else {
      std::printf("%s\n", describe(output).c_str());
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: run-line FILE\n");
    return 2;
  }
  if (const placewire::Status status = register_kernels(); !status.ok()) {
    return failed(status.error());
  }
  return run(argv[1]);
}
