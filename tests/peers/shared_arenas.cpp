// Runs two methods of a program on ExecuTorch's C++ Module, which gives them the same memory or
// not.
//
// Arguments: the program, and 1 if memory is shared. It calls `add` twice with 1, 2, 3, 4, 5, then
// `read` with zeros. Output: the first five numbers that `read` gives. If a call fails, the exit
// code is 1.

#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>

#include <cstdio>
#include <cstring>
#include <vector>

using executorch::extension::make_tensor_ptr;
using executorch::extension::Module;

int main(int argc, char** argv) {
  if (argc != 3) {
    return 2;
  }
  const bool share = std::strcmp(argv[2], "1") == 0;
  Module module(argv[1], Module::LoadMode::File, nullptr, nullptr, nullptr, share);
  // Loading writes initial values, so all is loaded before anything is called.
  for (const char* method : {"add", "read"}) {
    if (module.load_method(method) != executorch::runtime::Error::Ok) {
      return 1;
    }
  }
  const auto numbers = make_tensor_ptr({5}, std::vector<float>{1, 2, 3, 4, 5});
  const auto zeros = make_tensor_ptr({5}, std::vector<float>(5, 0));
  for (int call = 0; call < 2; ++call) {
    if (!module.execute("add", numbers).ok()) {
      return 1;
    }
  }
  const auto result = module.execute("read", zeros);
  if (!result.ok()) {
    return 1;
  }
  const float* data = result->at(0).toTensor().const_data_ptr<float>();
  for (int number = 0; number < 5; ++number) {
    std::printf("%g\n", static_cast<double>(data[number]));
  }
  return 0;
}
