// Loads and executes methods whose memory is on devices, and whose delegates run there.
#include <memory>
#include <string>
#include <vector>

#include "cases.h"
#include "method_kernels.h"
#include "placewire/runtime/backend.h"
#include "placewire/runtime/module.h"
#include "programs.h"
#include "recording_allocator.h"

namespace {

using placewire::Backend;
using placewire::Delegate;
using placewire::DelegateDescription;
using placewire::Device;
using placewire::DeviceOperation;
using placewire::DeviceType;
using placewire::Error;
using placewire::ErrorCode;
using placewire::EValue;
using placewire::MethodOptions;
using placewire::Result;
using placewire::Span;
using placewire::Status;
using testing::Floats;
using testing::Four;
using testing::load;
using testing::loaded;
using testing::Simulated;

constexpr Device kCuda0{DeviceType::CUDA, 0};
constexpr Device kCuda1{DeviceType::CUDA, 1};

/// Adds its two inputs on a simulated device, and writes down what it was told.
class AddingBackend final : public Backend {
 public:
  [[nodiscard]] std::string_view id() const noexcept override { return "BackendWithCompilerDemo"; }

  [[nodiscard]] Result<std::unique_ptr<Delegate>> load(
      const DelegateDescription& description) override {
    ++loads;
    device = description.device;
    method = std::string(description.method);
    blob_size = description.blob.size();
    for (const placewire::CompileOption& option : description.options) {
      options.emplace_back(option.key);
    }
    for (const placewire::KernelArgument& argument : description.arguments) {
      has_memory = has_memory && argument.is_fixed && argument.value->tensor()->data() != nullptr;
    }
    if (fails) {
      return Error{ErrorCode::DELEGATE_INVALID_COMPATIBILITY, "the blob is of another version"};
    }
    return std::unique_ptr<Delegate>(new Adding(*this));
  }

  int loads = 0;
  int live = 0;
  bool fails = false;
  bool fails_to_run = false;
  bool has_memory = true;
  Device device;
  std::string method;
  std::size_t blob_size = 0;
  std::vector<std::string> options;
  std::shared_ptr<placewire::SimulatedDevice> simulated;

 private:
  class Adding final : public Delegate {
   public:
    explicit Adding(AddingBackend& backend) : backend_(backend) { ++backend_.live; }
    ~Adding() override {
      --backend_.live;
      // The memory of the method is there until its delegates are gone.
      if (backend_.simulated != nullptr) CHECK(backend_.simulated->live_allocations() == 1);
    }

    Status execute(Span<EValue* const> arguments) override {
      if (backend_.fails_to_run) return Error{ErrorCode::INTERNAL, "the device is on fire"};
      float* numbers[3] = {};
      for (std::size_t i = 0; i < 3; ++i) {
        const placewire::TensorImpl& tensor = *arguments[i]->tensor();
        numbers[i] = static_cast<float*>(
            backend_.simulated == nullptr
                ? tensor.data()
                : backend_.simulated->backing(tensor.data(), tensor.nbytes()).value());
      }
      for (std::size_t i = 0; i < 4; ++i) numbers[2][i] = numbers[0][i] + numbers[1][i];
      return {};
    }

   private:
    AddingBackend& backend_;
  };
};

/// What dev_add gives for 1, 2, 3, 4 and 10, 20, 30, 40.
Status add(placewire::Method& method, Floats& given) {
  Four left;
  Four right({10, 20, 30, 40});
  const EValue inputs[] = {left.value(), right.value()};
  Status status = method.execute(inputs);
  if (status.ok()) given = testing::output(method);
  return status;
}

void a_delegate_runs_on_its_device() {
  const Simulated cuda;
  const auto backend = std::make_shared<AddingBackend>();
  backend->simulated = cuda.device;
  MethodOptions options;
  options.backends = {backend};
  {
    const auto method = loaded("dev_add", options);
    CHECK(cuda.calls(DeviceOperation::kAllocate) == 1);
    CHECK(cuda.device->live_bytes() == 48);
    Floats given;
    CHECK(add(*method, given).ok());
    CHECK((given == Floats{11, 22, 33, 44}));
    CHECK(cuda.calls(DeviceOperation::kCopyHostToDevice) == 2);
    CHECK(cuda.calls(DeviceOperation::kCopyDeviceToHost) == 1);
    CHECK(backend->loads == 1 && backend->has_memory && backend->method == "forward");
    CHECK((backend->device == Device{DeviceType::CUDA, 0}));
    CHECK((backend->options == std::vector<std::string>{"max_value", "target_device"}));
    CHECK(backend->blob_size > 0);
  }
  CHECK(cuda.calls(DeviceOperation::kDeallocate) == 1);
  CHECK(backend->live == 0);
}

void the_map_decides_the_device() {
  const Simulated cuda(1);
  const auto backend = std::make_shared<AddingBackend>();
  backend->simulated = cuda.device;
  MethodOptions options;
  options.backends = {backend};
  options.device_map = {{Device{DeviceType::CUDA, 0}, kCuda1}};
  const auto method = loaded("dev_add", options);
  Floats given;
  CHECK(add(*method, given).ok());
  CHECK((given == Floats{11, 22, 33, 44}));
  CHECK(backend->device == kCuda1 && method->planned_memory().device(1) == kCuda1);
}

void a_device_may_become_the_host() {
  const auto backend = std::make_shared<AddingBackend>();
  MethodOptions options;
  options.backends = {backend};
  options.device_map = {{Device{DeviceType::CUDA, 0}, Device{}}};
  const auto method = loaded("dev_add", options);
  Floats given;
  CHECK(add(*method, given).ok());
  CHECK((given == Floats{11, 22, 33, 44}));
}

void a_registered_backend_is_found_and_an_own_one_comes_first() {
  const Simulated cuda;
  const auto registered = std::make_shared<AddingBackend>();
  const auto own = std::make_shared<AddingBackend>();
  CHECK(placewire::register_backend(registered).ok());
  loaded("dev_add");
  CHECK(registered->loads == 1);
  MethodOptions options;
  options.backends = {own};
  loaded("dev_add", options);
  CHECK(registered->loads == 1 && own->loads == 1);
  CHECK(placewire::unregister_backend("BackendWithCompilerDemo").ok());
}

void missing_backends_and_devices_are_named() {
  CHECK(cases::is_error(load("dev_add"), ErrorCode::NOT_FOUND,
                        "forward: no backend BackendWithCompilerDemo (known: none): give one in "
                        "`backends`, or to register_backend, or to placewire run with --backend; "
                        "no allocator for cuda:0: register_cuda_allocator makes GPUs available"));
  CHECK(cases::is_error(load("xnnpack_mlp"), ErrorCode::NOT_FOUND, "no backend XnnpackBackend"));
  const auto backend = std::make_shared<AddingBackend>();
  MethodOptions options;
  options.backends = {backend};
  CHECK(cases::is_error(load("dev_add", options), ErrorCode::NOT_FOUND,
                        "forward: no allocator for cuda:0: register_cuda_allocator makes GPUs "
                        "available, SimulatedDevice stands for a device that is not there, "
                        "device_map takes another one"));
  CHECK(cases::is_error(load("xnnpack_mlp", options), ErrorCode::NOT_FOUND,
                        "no backend XnnpackBackend (known: BackendWithCompilerDemo): give one"));
  CHECK(backend->loads == 0);
}

void a_backend_that_refuses_frees_everything() {
  const Simulated cuda;
  const auto backend = std::make_shared<AddingBackend>();
  backend->fails = true;
  MethodOptions options;
  options.backends = {backend};
  CHECK(cases::is_error(load("dev_add", options), ErrorCode::DELEGATE_INVALID_COMPATIBILITY,
                        "forward, instruction 2, delegate 0 (BackendWithCompilerDemo): the blob "
                        "is of another version"));
  CHECK(cuda.calls(DeviceOperation::kAllocate) == 1);
  CHECK(cuda.calls(DeviceOperation::kDeallocate) == 1);
}

void a_delegate_that_fails_ends_the_execution() {
  const Simulated cuda;
  const auto backend = std::make_shared<AddingBackend>();
  backend->simulated = cuda.device;
  MethodOptions options;
  options.backends = {backend};
  const auto method = loaded("dev_add", options);
  backend->fails_to_run = true;
  Floats given;
  CHECK(cases::is_error(add(*method, given), ErrorCode::INTERNAL,
                        "forward, instruction 2, delegate 0 (BackendWithCompilerDemo): the device "
                        "is on fire"));
  backend->fails_to_run = false;
  CHECK(add(*method, given).ok());
  CHECK((given == Floats{11, 22, 33, 44}));
}

void a_method_without_device_memory_is_on_the_host() {
  const auto backend = std::make_shared<AddingBackend>();
  MethodOptions options;
  options.backends = {backend};
  const auto method = loaded("dev_add_noplan", options);
  Floats given;
  CHECK(add(*method, given).ok());
  CHECK((given == Floats{11, 22, 33, 44}));
}

void a_cpu_only_file_needs_no_device() {
  const testing::Kernels kernels;
  const Simulated cuda;
  loaded("add_constant");
  CHECK(cuda.calls(DeviceOperation::kAllocate) == 0);
}

void tensors_go_through_several_devices() {
  const Simulated devices[3] = {Simulated(0), Simulated(1), Simulated(2)};
  const auto method = loaded("many_devices");
  CHECK((testing::result(*method) == Floats{1, 2, 3, 4}));
  for (const Simulated& each : devices) {
    CHECK(each.calls(DeviceOperation::kAllocate) == 1);
  }
}

void planned_memory_knows_the_device_of_each_buffer() {
  const Simulated devices[2] = {Simulated(0), Simulated(1)};
  const std::size_t sizes[] = {16, 32, 48, 64};
  const Device places[] = {{}, {}, {DeviceType::CUDA, 0}, kCuda1};
  const auto memory = placewire::PlannedMemory::create(sizes, places).value();
  CHECK(memory->buffer_count() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(memory->size(i) == sizes[i] && memory->device(i) == places[i]);
    CHECK(memory->is_host_memory(i) == (places[i] == Device{}));
  }
  CHECK(devices[0].device->live_bytes() == 48 && devices[1].device->live_bytes() == 64);
}

void a_state_on_a_device_has_its_initial_value() {
  const Simulated cuda;
  const auto method = loaded("device_state");
  CHECK(cuda.calls(DeviceOperation::kAllocate) == 1);
  CHECK(cuda.calls(DeviceOperation::kCopyHostToDevice) == 1);
  CHECK((testing::result(*method) == Floats{1, 2, 3, 4}));
  CHECK((testing::output(*method, 1) == Floats{5, 6, 7, 8}));
}

void a_constant_is_copied_by_an_instruction_only_once() {
  const Simulated cuda;
  const auto method = loaded("constant_to_device");
  CHECK((testing::result(*method) == Floats{5, 6, 7, 8}));
  CHECK((testing::result(*method) == Floats{5, 6, 7, 8}));
  CHECK(cuda.calls(DeviceOperation::kCopyHostToDevice) == 1);
}

void buffers_are_aligned_as_the_device_table_says() {
  const Simulated cuda;
  const auto method = loaded("aligned");
  CHECK(reinterpret_cast<std::uintptr_t>(method->planned_memory().data(1)) % 4096 == 0);
  CHECK(reinterpret_cast<std::uintptr_t>(method->planned_memory().data(0)) % 512 == 0);
}

void an_allocator_for_the_host_is_used() {
  const testing::Kernels kernels;
  /// Counts what the host is asked for.
  class HostAllocator final : public placewire::DeviceAllocator {
   public:
    [[nodiscard]] DeviceType device_type() const noexcept override { return DeviceType::CPU; }
    int live = 0;
    int made = 0;

   private:
    Result<void*> do_allocate(std::size_t nbytes, placewire::DeviceIndex,
                              std::size_t alignment) override {
      ++live;
      ++made;
      return std::aligned_alloc(alignment, (nbytes + alignment - 1) / alignment * alignment);
    }
    Status do_deallocate(void* pointer, placewire::DeviceIndex) override {
      --live;
      std::free(pointer);
      return {};
    }
    Status do_copy_host_to_device(void*, const void*, std::size_t,
                                  placewire::DeviceIndex) override {
      return Error{ErrorCode::INTERNAL, "the host copies its memory itself"};
    }
    Status do_copy_device_to_host(void*, const void*, std::size_t,
                                  placewire::DeviceIndex) override {
      return Error{ErrorCode::INTERNAL, "the host copies its memory itself"};
    }
    Status do_copy_device_to_device(void*, placewire::DeviceIndex, const void*,
                                    placewire::DeviceIndex, std::size_t) override {
      return Error{ErrorCode::INTERNAL, "the host copies its memory itself"};
    }
  };
  const auto allocator = std::make_shared<HostAllocator>();
  const auto scope = placewire::ScopedAllocator::install(allocator);
  {
    const auto method = loaded("counter");
    CHECK(allocator->made == 1 && allocator->live == 1);
    CHECK((testing::result(*method) == Floats{2, 4, 6, 8}));
  }
  CHECK(allocator->live == 0);
}

void what_a_device_lacks_is_listed() {
  const auto allocator = std::make_shared<cases::RecordingAllocator>(DeviceType::CUDA);
  const auto scope = placewire::ScopedAllocator::install(allocator).value();
  allocator->known = {"NVIDIA T4", "sm_75", 1000};
  CHECK(cases::is_error(load("demanding"), ErrorCode::NOT_SUPPORTED,
                        "forward: cuda:0 has the name \"NVIDIA T4\", but the program needs "
                        "\"NVIDIA H200\"; cuda:0 has the architecture \"sm_75\", but the program "
                        "needs \"sm_90\"; cuda:0 has 1000 bytes of memory, but the program needs "
                        "1048576"));
  CHECK(allocator->allocated == 0);
  allocator->fails = true;
  CHECK(cases::is_error(load("demanding"), ErrorCode::NOT_SUPPORTED, "refused by the test"));
  allocator->fails = false;
  allocator->known = {"NVIDIA H200", "sm_90", 1 << 20};
  CHECK(load("demanding").ok());
}

void what_nobody_can_tell_of_a_device_is_not_compared() {
  const Simulated unlimited;
  CHECK(load("demanding").ok());
  const auto small = std::make_shared<placewire::SimulatedDevice>(kCuda0, 4096);
  const auto scope = placewire::ScopedAllocator::install(small, kCuda0.index).value();
  CHECK(cases::is_error(load("demanding"), ErrorCode::NOT_SUPPORTED,
                        "cuda:0 has 4096 bytes of memory, but the program needs 1048576"));
}

void requirements_are_those_of_the_device_that_is_taken() {
  const Simulated first;
  const auto small = std::make_shared<placewire::SimulatedDevice>(kCuda1, 4096);
  const auto scope = placewire::ScopedAllocator::install(small, kCuda1.index).value();
  MethodOptions options;
  options.device_map = {{kCuda0, kCuda1}};
  CHECK(cases::is_error(load("demanding", options), ErrorCode::NOT_SUPPORTED, "cuda:1 has 4096"));
  options.device_map = {{kCuda0, Device{}}};
  CHECK(load("demanding", options).ok());
}

}  // namespace

int main(int argc, char** argv) {
  return cases::run(argc, argv,
                    std::array{
                        CASE(a_delegate_runs_on_its_device),
                        CASE(the_map_decides_the_device),
                        CASE(a_device_may_become_the_host),
                        CASE(a_registered_backend_is_found_and_an_own_one_comes_first),
                        CASE(missing_backends_and_devices_are_named),
                        CASE(a_backend_that_refuses_frees_everything),
                        CASE(a_delegate_that_fails_ends_the_execution),
                        CASE(a_method_without_device_memory_is_on_the_host),
                        CASE(a_cpu_only_file_needs_no_device),
                        CASE(tensors_go_through_several_devices),
                        CASE(planned_memory_knows_the_device_of_each_buffer),
                        CASE(a_state_on_a_device_has_its_initial_value),
                        CASE(a_constant_is_copied_by_an_instruction_only_once),
                        CASE(buffers_are_aligned_as_the_device_table_says),
                        CASE(what_a_device_lacks_is_listed),
                        CASE(what_nobody_can_tell_of_a_device_is_not_compared),
                        CASE(requirements_are_those_of_the_device_that_is_taken),
                        CASE(an_allocator_for_the_host_is_used),
                    });
}
