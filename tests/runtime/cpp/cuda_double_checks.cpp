// Checks of CudaAllocator for which the test double must fail on demand, or tell what it did.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cases.h"
#include "cuda_library.h"
#include "placewire/runtime/allocator.h"

namespace {

using cases::cuda_allocator;
using cases::cuda_function;
using cases::CudaStream;
using cases::is_error;
using placewire::CudaAllocator;
using placewire::CudaStreamScope;
using placewire::DeviceIndex;
using placewire::ErrorCode;
using placewire::Status;

constexpr std::size_t kLarge = (std::size_t{1} << 20) + 1;  // above what is staged
constexpr int kLaunchFailure = 719;

/// The double, and one block of memory on each of its devices.
struct Machine {
  Machine() : allocator(cuda_allocator(2)) {
    for (DeviceIndex index = 0; index < 2; ++index) {
      blocks[index] = static_cast<char*>(allocator->allocate(2 * kLarge, index).value());
    }
  }
  ~Machine() {
    for (DeviceIndex index = 0; index < 2; ++index) {
      CHECK(allocator->deallocate(blocks[index], index).ok());
      CHECK(count("fake_cuda_live_allocations", index) == 0);
    }
    allocator.reset();
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  void fail(const char* function, int nth = 1, int code = kLaunchFailure) const {
    cuda_function<void(const char*, int, int)>(*allocator, "fake_cuda_fail")(function, nth, code);
  }
  template <typename... Arguments>
  std::size_t count(const char* what, Arguments... arguments) const {
    return cuda_function<std::size_t(Arguments...)>(*allocator, what)(arguments...);
  }
  int last_error() const { return cuda_function<int()>(*allocator, "fake_cuda_last_error")(); }
  Status upload(std::size_t nbytes, DeviceIndex index = 0) {
    return allocator->copy_host_to_device(blocks[index], host.data(), nbytes, index);
  }
  Status download(std::size_t nbytes, DeviceIndex index = 0) {
    return allocator->copy_device_to_host(host.data(), blocks[index], nbytes, index);
  }

  std::shared_ptr<CudaAllocator> allocator;
  char* blocks[2] = {};
  std::vector<char> host = std::vector<char>(2 * kLarge);
};

bool says(const Status& status, const std::string& function) {
  const std::string text = "cuda:0: " + function + " failed: ";
  return is_error(status, ErrorCode::ACCESS_FAILED, text.c_str()) &&
         is_error(status, ErrorCode::ACCESS_FAILED, "(CUDA error 719)");
}

void a_failing_copy_says_which_function_failed() {
  Machine machine;
  machine.fail("cudaMemcpy");
  CHECK(says(machine.upload(8), "cudaMemcpy"));
  machine.fail("cudaMemcpy");
  CHECK(says(machine.download(8), "cudaMemcpy"));
  machine.fail("cudaMemcpyAsync");
  CHECK(says(
      machine.allocator->copy_device_to_device(machine.blocks[0] + 8, 0, machine.blocks[0], 0, 8),
      "cudaMemcpyAsync"));
  machine.fail("cudaStreamSynchronize");
  CHECK(says(
      machine.allocator->copy_device_to_device(machine.blocks[0] + 8, 0, machine.blocks[0], 0, 8),
      "cudaStreamSynchronize"));
  machine.fail("cudaMemcpyPeerAsync");
  CHECK(
      says(machine.allocator->copy_device_to_device(machine.blocks[0], 0, machine.blocks[1], 1, 8),
           "cudaMemcpyPeerAsync"));
  CHECK(machine.last_error() == 0);
}

void a_failing_copy_on_a_stream_says_which_function_failed() {
  Machine machine;
  const CudaStream stream(*machine.allocator, 0);
  const CudaStreamScope scope(stream.get(), 0);
  for (const char* const function : {"cudaMemcpyAsync", "cudaStreamSynchronize"}) {
    machine.fail(function);
    CHECK(says(machine.upload(kLarge), function));
    machine.fail(function);
    CHECK(says(machine.download(8), function));
  }
  for (const char* const function : {"cudaMemcpyAsync", "cudaEventRecord"}) {
    machine.fail(function);
    CHECK(says(machine.upload(8), function));
  }
  CHECK(machine.last_error() == 0);
  stream.wait();
}

void a_peer_copy_that_cannot_wait_for_the_source_is_an_error() {
  Machine machine;
  const CudaStream stream(*machine.allocator, 0);
  const CudaStreamScope scope(stream.get(), 0);
  machine.fail("cudaStreamSynchronize");
  CHECK(
      says(machine.allocator->copy_device_to_device(machine.blocks[1], 1, machine.blocks[0], 0, 8),
           "cudaStreamSynchronize"));
}

void a_device_that_cannot_be_made_current_is_an_error() {
  Machine machine;
  const auto check = [&machine](const char* function, DeviceIndex index) {
    const std::string text = std::string(function) + " failed";
    const auto is_failure = [&text](const auto& outcome) {
      return is_error(outcome, ErrorCode::ACCESS_FAILED, text.c_str());
    };
    char* const block = machine.blocks[index];
    machine.fail(function);
    CHECK(is_failure(machine.allocator->allocate(8, index)));
    machine.fail(function);
    CHECK(is_failure(machine.allocator->deallocate(block, index)));
    machine.fail(function);
    CHECK(is_failure(machine.upload(8, index)));
    machine.fail(function);
    CHECK(is_failure(machine.download(8, index)));
    machine.fail(function);
    CHECK(is_failure(machine.allocator->copy_device_to_device(block + 8, index, block, index, 8)));
  };
  check("cudaGetDevice", 0);
  check("cudaSetDevice", 1);
  CHECK(machine.last_error() == 0);
}

void a_failing_free_is_reported() {
  Machine machine;
  machine.fail("cudaFree");
  CHECK(says(machine.allocator->deallocate(machine.blocks[0], 0), "cudaFree"));
  CHECK(machine.count("fake_cuda_live_allocations", 0) == 1);
}

void memory_runs_out_at_any_allocation() {
  Machine machine;
  for (int nth = 1; nth <= 3; ++nth) {
    machine.fail("cudaMalloc", nth, 2);
    std::vector<void*> pointers;
    for (;;) {
      const auto pointer = machine.allocator->allocate(100, 0);
      if (!pointer.ok()) {
        CHECK(is_error(pointer, ErrorCode::MEMORY_ALLOCATION_FAILED,
                       "cuda:0: cannot allocate 100 bytes: out of memory (CUDA error 2)"));
        break;
      }
      pointers.push_back(pointer.value());
    }
    CHECK(pointers.size() == static_cast<std::size_t>(nth - 1));
    for (void* const pointer : pointers) {
      CHECK(machine.allocator->deallocate(pointer, 0).ok());
    }
  }
  CHECK(machine.last_error() == 0);
}

void a_copy_in_the_wrong_direction_is_an_error() {
  Machine machine;
  const CudaStream stream(*machine.allocator, 0);
  char* const device = machine.blocks[0];
  char* const host = machine.host.data();
  const auto is_refused = [](const Status& status) {
    return is_error(status, ErrorCode::ACCESS_FAILED, "invalid argument (CUDA error 1)");
  };
  const auto check = [&] {
    CHECK(is_refused(machine.allocator->copy_host_to_device(host, host + 8, 8, 0)));
    CHECK(is_refused(machine.allocator->copy_device_to_host(device, host, 8, 0)));
    CHECK(is_refused(machine.allocator->copy_device_to_device(host, 0, device, 0, 8)));
    CHECK(is_refused(machine.allocator->copy_device_to_device(host, 1, device, 0, 8)));
  };
  check();
  const CudaStreamScope scope(stream.get(), 0);
  check();
}

void small_copies_on_a_stream_do_not_wait() {
  Machine machine;
  const CudaStream stream(*machine.allocator, 0);
  {
    const CudaStreamScope scope(stream.get(), 0);
    CHECK(machine.upload(8).ok());
    CHECK(machine.count("fake_cuda_pending", stream.get()) == 1);
    CHECK(
        machine.allocator->copy_device_to_device(machine.blocks[0] + 8, 0, machine.blocks[0], 0, 8)
            .ok());
    CHECK(machine.count("fake_cuda_pending", stream.get()) == 2);
    CHECK(machine.download(8).ok());
    CHECK(machine.count("fake_cuda_pending", stream.get()) == 0);
    CHECK(machine.upload(kLarge).ok());
    CHECK(machine.count("fake_cuda_pending", stream.get()) == 0);
  }
  CHECK(machine.upload(8).ok() && machine.count("fake_cuda_pending", nullptr) == 0);
}

void the_double_completes_late() {
  // Were it not so, the checks of ordering would hold for an allocator that never waits.
  Machine machine;
  const CudaStream stream(*machine.allocator, 0);
  const auto copy_async = cuda_function<int(void*, const void*, std::size_t, int, void*)>(
      *machine.allocator, "cudaMemcpyAsync");
  machine.host[0] = 1;
  CHECK(copy_async(machine.blocks[0], machine.host.data(), 8, 1, stream.get()) == 0);
  machine.host[0] = 2;
  stream.wait();
  CHECK(machine.download(8).ok());
  CHECK(machine.host[0] == 2);
}

void a_stream_of_another_device_is_an_error() {
  Machine machine;
  const CudaStream stream(*machine.allocator, 1);
  const CudaStreamScope scope(stream.get(), 0);
  CHECK(is_error(machine.upload(8), ErrorCode::ACCESS_FAILED,
                 "invalid resource handle (CUDA error 400)"));
}

void staging_buffers_are_few_and_freed() {
  Machine machine;
  const CudaStream stream(*machine.allocator, 0);
  {
    const CudaStreamScope scope(stream.get(), 0);
    for (int number = 0; number < 20; ++number) {
      CHECK(machine.upload(8).ok());
    }
    CHECK(machine.count("fake_cuda_host_blocks") == 4 && machine.count("fake_cuda_events") == 4);
    CHECK(machine.last_error() == 0);
    stream.wait();
    CHECK(machine.upload(8).ok());
    CHECK(machine.count("fake_cuda_host_blocks") == 4);
  }
  const auto blocks = cuda_function<std::size_t()>(*machine.allocator, "fake_cuda_host_blocks");
  const auto events = cuda_function<std::size_t()>(*machine.allocator, "fake_cuda_events");
  stream.wait();
  const CudaStream other(*machine.allocator, 0);
  {
    const auto second = cuda_allocator();
    const CudaStreamScope scope(other.get(), 0);
    char byte = 0;
    CHECK(second->copy_host_to_device(machine.blocks[0], &byte, 1, 0).ok());
    CHECK(blocks() == 5 && events() == 5);
  }
  CHECK(blocks() == 4 && events() == 4);
}

void without_staging_memory_the_copy_waits() {
  Machine machine;
  const CudaStream stream(*machine.allocator, 0);
  const CudaStreamScope scope(stream.get(), 0);
  for (const char* const function : {"cudaHostAlloc", "cudaEventCreateWithFlags"}) {
    machine.fail(function);
    machine.host[0] = 3;
    CHECK(machine.upload(8).ok());
    CHECK(machine.count("fake_cuda_pending", stream.get()) == 0);
    CHECK(machine.count("fake_cuda_host_blocks") == 0);
    machine.host[0] = 4;
    CHECK(machine.download(8).ok() && machine.host[0] == 3);
  }
  for (int number = 0; number < 4; ++number) {
    CHECK(machine.upload(8).ok());
  }
  machine.fail("cudaEventSynchronize");
  CHECK(machine.upload(8).ok());
  CHECK(machine.count("fake_cuda_pending", stream.get()) == 0);
  CHECK(machine.last_error() == 0);
}

void while_others_fill_all_staging_buffers_the_copy_waits() {
  struct Crowd {
    Machine machine;
    int copies = 0;
    bool all_succeeded = true;
  } crowd;
  const CudaStream stream(*crowd.machine.allocator, 0);
  const CudaStreamScope scope(stream.get(), 0);
  const auto in_copy =
      cuda_function<void(void (*)(void*), void*)>(*crowd.machine.allocator, "fake_cuda_in_copy");
  in_copy(
      [](void* argument) {
        auto& all = *static_cast<Crowd*>(argument);
        if (++all.copies < 6) {
          all.all_succeeded = all.machine.upload(8).ok() && all.all_succeeded;
        }
      },
      &crowd);
  CHECK(crowd.machine.upload(8).ok() && crowd.all_succeeded);
  in_copy(nullptr, nullptr);
  CHECK(crowd.copies == 6 && crowd.machine.count("fake_cuda_host_blocks") == 4);
}

void the_devices_are_counted() {
  const Machine machine;
  CHECK(machine.allocator->device_count() == 2);
  CHECK(machine.allocator->device_type() == placewire::DeviceType::CUDA);
}

void a_device_tells_its_architecture_and_its_memory() {
  const Machine machine;
  const auto found = machine.allocator->properties(1).value();
  CHECK(found.name.empty());
  CHECK(found.architecture == "sm_90");
  CHECK(found.memory == std::size_t{1} << 36);
}

void a_device_that_does_not_tell_is_an_error() {
  const Machine machine;
  for (const char* function : {"cudaSetDevice", "cudaDeviceGetAttribute", "cudaMemGetInfo"}) {
    machine.fail(function);
    CHECK(cases::is_error(machine.allocator->properties(1), ErrorCode::ACCESS_FAILED, function));
  }
  CHECK(cases::is_error(machine.allocator->properties(2), ErrorCode::NOT_FOUND, "cuda:2"));
  CHECK(cases::is_error(machine.allocator->properties(-1), ErrorCode::INVALID_ARGUMENT, "-1"));
}

constexpr std::array kCases = {
    CASE(a_failing_copy_says_which_function_failed),
    CASE(a_failing_copy_on_a_stream_says_which_function_failed),
    CASE(a_peer_copy_that_cannot_wait_for_the_source_is_an_error),
    CASE(a_device_that_cannot_be_made_current_is_an_error),
    CASE(a_failing_free_is_reported),
    CASE(memory_runs_out_at_any_allocation),
    CASE(a_copy_in_the_wrong_direction_is_an_error),
    CASE(small_copies_on_a_stream_do_not_wait),
    CASE(the_double_completes_late),
    CASE(a_stream_of_another_device_is_an_error),
    CASE(staging_buffers_are_few_and_freed),
    CASE(without_staging_memory_the_copy_waits),
    CASE(while_others_fill_all_staging_buffers_the_copy_waits),
    CASE(the_devices_are_counted),
    CASE(a_device_tells_its_architecture_and_its_memory),
    CASE(a_device_that_does_not_tell_is_an_error),
};

}  // namespace

int main(int argc, char** argv) { return cases::run(argc, argv, kCases); }
