// The CUDA functions that tests call themselves, out of the library that the allocator has loaded.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <memory>
#include <utility>

#include "cases.h"
#include "placewire/backends/cuda/cuda_allocator.h"

namespace cases {

template <typename Function>
Function* cuda_function(const placewire::CudaAllocator& allocator, const char* name) {
  void* const library = dlopen(allocator.library().c_str(), RTLD_NOW | RTLD_NOLOAD);
  void* const symbol = library == nullptr ? nullptr : dlsym(library, name);
  if (symbol == nullptr) {
    std::printf("%s has no %s\n", allocator.library().c_str(), name);
    std::exit(3);
  }
  return reinterpret_cast<Function*>(symbol);
}

/// A CudaAllocator; without one the program ends with the code for "skipped", 77, and the reason.
inline std::shared_ptr<placewire::CudaAllocator> cuda_allocator(int devices = 1) {
  auto allocator = placewire::CudaAllocator::create();
  if (!allocator.ok()) {
    std::printf("%s\n", allocator.error().message.c_str());
    std::exit(77);
  }
  if (allocator.value()->device_count() < devices) {
    std::printf("this needs %d GPUs, and there is 1\n", devices);
    std::exit(77);
  }
  return std::move(allocator).value();
}

/// A stream of a device.
class CudaStream {
 public:
  CudaStream(const placewire::CudaAllocator& allocator, int index) : allocator_(allocator) {
    int former = 0;
    CHECK(cuda_function<int(int*)>(allocator, "cudaGetDevice")(&former) == 0);
    const auto set_device = cuda_function<int(int)>(allocator, "cudaSetDevice");
    CHECK(set_device(index) == 0);
    CHECK(cuda_function<int(void**)>(allocator, "cudaStreamCreate")(&stream_) == 0);
    CHECK(set_device(former) == 0);
  }
  ~CudaStream() { CHECK(cuda_function<int(void*)>(allocator_, "cudaStreamDestroy")(stream_) == 0); }
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  [[nodiscard]] void* get() const { return stream_; }
  void wait() const {
    CHECK(cuda_function<int(void*)>(allocator_, "cudaStreamSynchronize")(stream_) == 0);
  }

 private:
  const placewire::CudaAllocator& allocator_;
  void* stream_ = nullptr;
};

}  // namespace cases
