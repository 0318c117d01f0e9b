// Finds the CUDA runtime library and its functions.
#include "cuda_runtime.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace placewire::cuda {
namespace {

constexpr const char* kVariable = "PLACEWIRE_CUDART";

std::vector<std::string> candidates() {
  const char* const chosen = std::getenv(kVariable);
  if (chosen != nullptr && *chosen != '\0') {
    return {chosen};
  }
  return {"libcudart.so.13", "libcudart.so.12", "libcudart.so"};
}

Error no_library(const std::string& tried) {
  return {ErrorCode::NOT_FOUND, "the CUDA runtime library was not found: " + tried +
                                    "; install it, or set " + kVariable + " to its path"};
}

/// Looks functions up and remembers the first that is not there.
class SymbolTable {
 public:
  explicit SymbolTable(void* library) noexcept : library_(library) {}

  template <typename Function>
  void get(Function& function, const char* name) {
    void* const symbol = dlsym(library_, name);
    if (symbol == nullptr && missing_ == nullptr) {
      missing_ = name;
    }
    function = reinterpret_cast<Function>(symbol);
  }

  [[nodiscard]] const char* missing() const noexcept { return missing_; }

 private:
  void* library_;
  const char* missing_ = nullptr;
};

Result<CudaRuntime> find_functions(void* library, std::string name) {
  CudaRuntime runtime;
  SymbolTable symbols(library);
  symbols.get(runtime.get_device_count, "cudaGetDeviceCount");
  symbols.get(runtime.get_device, "cudaGetDevice");
  symbols.get(runtime.set_device, "cudaSetDevice");
  symbols.get(runtime.get_attribute, "cudaDeviceGetAttribute");
  symbols.get(runtime.get_memory, "cudaMemGetInfo");
  symbols.get(runtime.malloc, "cudaMalloc");
  symbols.get(runtime.free, "cudaFree");
  symbols.get(runtime.copy, "cudaMemcpy");
  symbols.get(runtime.copy_async, "cudaMemcpyAsync");
  symbols.get(runtime.copy_peer_async, "cudaMemcpyPeerAsync");
  symbols.get(runtime.stream_synchronize, "cudaStreamSynchronize");
  symbols.get(runtime.host_alloc, "cudaHostAlloc");
  symbols.get(runtime.free_host, "cudaFreeHost");
  symbols.get(runtime.event_create, "cudaEventCreateWithFlags");
  symbols.get(runtime.event_record, "cudaEventRecord");
  symbols.get(runtime.event_query, "cudaEventQuery");
  symbols.get(runtime.event_synchronize, "cudaEventSynchronize");
  symbols.get(runtime.event_destroy, "cudaEventDestroy");
  symbols.get(runtime.get_last_error, "cudaGetLastError");
  symbols.get(runtime.get_error_string, "cudaGetErrorString");
  if (symbols.missing() != nullptr) {
    return Error{ErrorCode::NOT_FOUND,
                 name + " is not a CUDA runtime library: it has no function " + symbols.missing()};
  }
  runtime.library = std::move(name);
  return runtime;
}

}  // namespace

Error CudaRuntime::error(ErrorCode code, const std::string& what, int cuda_error) const {
  (void)get_last_error();
  return {code, what + ": " + get_error_string(cuda_error) + " (CUDA error " +
                    std::to_string(cuda_error) + ")"};
}

Status CudaRuntime::status(DeviceIndex index, const char* function, int cuda_error) const {
  if (cuda_error == kSuccess) {
    return {};
  }
  return error(ErrorCode::ACCESS_FAILED,
               to_string(Device{DeviceType::CUDA, index}) + ": " + function + " failed",
               cuda_error);
}

Result<CudaRuntime> load_cuda_runtime() {
  std::string tried;
  for (std::string& name : candidates()) {
    if (void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL); library != nullptr) {
      return find_functions(library, std::move(name));
    }
    const char* const reason = dlerror();
    tried += (tried.empty() ? "" : "; ") + (reason == nullptr ? name : std::string(reason));
  }
  return no_library(tried);
}

CurrentDevice::CurrentDevice(const CudaRuntime& runtime, DeviceIndex index) : runtime_(runtime) {
  status_ = runtime.status(index, "cudaGetDevice", runtime.get_device(&former_));
  if (status_.ok() && former_ != index) {
    status_ = runtime.status(index, "cudaSetDevice", runtime.set_device(index));
    changed_ = status_.ok();
  }
}

CurrentDevice::~CurrentDevice() {
  if (changed_) {
    (void)runtime_.set_device(former_);
  }
}

}  // namespace placewire::cuda
