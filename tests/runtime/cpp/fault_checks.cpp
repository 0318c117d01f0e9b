// Lets every allocation, every copy and every instruction fail in turn: nothing leaks, nothing is
// freed twice, and what can go on goes on.
#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "cases.h"
#include "method_kernels.h"
#include "placewire/runtime/module.h"
#include "programs.h"

namespace {

/// Allocations until the one that fails; negative: none does.
std::atomic<long> until_failure = -1;
std::atomic<long> live = 0;

}  // namespace

void* operator new(std::size_t size) {
  if (until_failure > 0 && --until_failure == 0) {
    throw std::bad_alloc();
  }
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) {
    ++live;
    return memory;
  }
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  live -= memory == nullptr ? 0 : 1;
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

namespace {

using placewire::DeviceOperation;
using placewire::ErrorCode;
using placewire::EValue;
using placewire::Method;
using placewire::Module;
using placewire::Program;
using placewire::Span;
using placewire::Status;
using testing::Floats;
using testing::Four;
using testing::Kernels;
using testing::loaded;
using testing::Simulated;

constexpr const char* kPrograms[] = {"add_constant", "prepared",     "counter",
                                     "device_copy",  "device_state", "loop"};

void the_host_may_have_no_memory() {
  const Kernels kernels;
  const Simulated cuda;
  Four four;
  const EValue input = four.value();
  for (const std::string name : kPrograms) {
    const std::string path = testing::path_of(name);
    bool is_done = false;
    long failure = 1;
    for (; !is_done; ++failure) {
      const long before = live;
      {
        until_failure = failure;
        auto program = Program::open(path);
        auto method = program.ok() ? Method::load(program.value(), "forward")
                                   : placewire::Result<std::unique_ptr<Method>>(program.error());
        const Status status = method.ok() ? method.value()->execute(Span<const EValue>(&input, 1))
                                          : Status(method.error());
        const bool has_failed = until_failure == 0;
        until_failure = -1;
        CHECK(status.ok() || status.error().code == ErrorCode::MEMORY_ALLOCATION_FAILED);
        is_done = !has_failed;
      }
      CHECK(live == before);
      CHECK(cuda.device->live_allocations() == 0);
    }
    CHECK(failure > 20);
  }
}

void a_device_may_fail_at_each_operation() {
  const Kernels kernels;
  Four four;
  const EValue input = four.value();
  for (const std::string name : {"device_copy", "device_state"}) {
    for (const DeviceOperation operation :
         {DeviceOperation::kAllocate, DeviceOperation::kCopyHostToDevice,
          DeviceOperation::kCopyDeviceToHost}) {
      std::uint64_t nth = 1;
      for (bool has_failed = true; has_failed; ++nth) {
        const Simulated cuda;
        cuda.device->fail(operation, nth);
        {
          auto method = testing::load(name);
          const Status status = method.ok() ? method.value()->execute(Span<const EValue>(&input, 1))
                                            : Status(method.error());
          has_failed = !status.ok();
          CHECK((cuda.device->count(operation).failures != 0) == has_failed);
          if (method.ok() && has_failed) {
            CHECK(status.error().message.find("forward, instruction ") == 0);
            CHECK(method.value()->execute(Span<const EValue>(&input, 1)).ok());
            CHECK((testing::output(*method.value(), 1) == Floats{5, 6, 7, 8}));
          }
        }
        CHECK(cuda.device->live_allocations() == 0);
        CHECK(cuda.calls(DeviceOperation::kDeallocate) ==
              cuda.calls(DeviceOperation::kAllocate) -
                  cuda.device->count(DeviceOperation::kAllocate).failures);
      }
      CHECK(nth > 2);
    }
  }
}

void an_allocation_on_one_of_several_devices_may_fail() {
  for (int failing = 0; failing < 3; ++failing) {
    const Simulated devices[3] = {Simulated(0), Simulated(1), Simulated(2)};
    devices[failing].device->fail(DeviceOperation::kAllocate);
    const std::string buffer = "forward: planned buffer " + std::to_string(failing + 1);
    CHECK(cases::is_error(testing::load("many_devices"), ErrorCode::MEMORY_ALLOCATION_FAILED,
                          buffer.c_str()));
    for (int i = 0; i < 3; ++i) {
      CHECK(devices[i].device->live_allocations() == 0);
      CHECK(devices[i].calls(DeviceOperation::kDeallocate) == (i < failing ? 1u : 0u));
    }
  }
}

void every_instruction_may_fail() {
  const Kernels kernels;
  for (const char* name : {"add_constant", "loop", "counter"}) {
    const auto method = loaded(name);
    Four four;
    const EValue input = four.value();
    const int before = kernels.add.kernel->runs;
    CHECK(method->execute(Span<const EValue>(&input, 1)).ok());
    const int runs = kernels.add.kernel->runs - before;
    CHECK(runs > 0);
    for (int failing = 1; failing <= runs; ++failing) {
      kernels.add.kernel->failing_run = kernels.add.kernel->runs + failing;
      CHECK(cases::is_error(method->execute(Span<const EValue>(&input, 1)), ErrorCode::INTERNAL,
                            "aten::add.out: it was told to fail"));
      CHECK(method->execute(Span<const EValue>(&input, 1)).ok());
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return cases::run(argc, argv,
                    std::array{
                        CASE(the_host_may_have_no_memory),
                        CASE(a_device_may_fail_at_each_operation),
                        CASE(an_allocation_on_one_of_several_devices_may_fail),
                        CASE(every_instruction_may_fail),
                    });
}
