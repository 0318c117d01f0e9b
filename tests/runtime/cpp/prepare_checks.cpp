// What is done once, and what in each execution.
#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "cases.h"
#include "method_kernels.h"
#include "placewire/runtime/method.h"
#include "programs.h"

namespace {

std::atomic<std::uint64_t> allocations = 0;

}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) {
    return memory;
  }
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using placewire::DeviceOperation;
using placewire::ErrorCode;
using placewire::EValue;
using placewire::MethodOptions;
using placewire::Span;
using testing::Floats;
using testing::Four;
using testing::Kernels;
using testing::load;
using testing::loaded;
using testing::result;
using testing::Simulated;

void constant_results_are_computed_once() {
  const Kernels kernels;
  const auto method = loaded("prepared");
  CHECK(kernels.add.kernel->runs == 0);
  CHECK((result(*method) == Floats{3, 6, 9, 12}));
  CHECK(kernels.add.kernel->runs == 2);
  CHECK((result(*method) == Floats{3, 6, 9, 12}));
  CHECK(kernels.add.kernel->runs == 3);
}

void static_views_share_memory() {
  const Kernels kernels;
  const auto method = loaded("prepared");
  CHECK(kernels.view_copy.kernel->bindings == 0);
  CHECK((result(*method) == Floats{3, 6, 9, 12}));
}

void nothing_is_prepared_if_it_is_not_wanted() {
  const Kernels kernels;
  MethodOptions options;
  options.prepare = false;
  const auto method = loaded("prepared", options);
  CHECK(kernels.add.kernel->runs == 0);
  CHECK((result(*method) == Floats{3, 6, 9, 12}));
  CHECK(kernels.add.kernel->runs == 2 && kernels.view_copy.kernel->runs == 3);
}

void a_view_whose_source_is_overwritten_is_copied() {
  const Kernels kernels;
  const auto method = loaded("reused");
  CHECK(kernels.view_copy.kernel->bindings == 1);
  CHECK((result(*method) == Floats{6, 12, 18, 24}));
}

void other_values_in_the_same_place_move_along() {
  const Kernels kernels;
  const auto method = loaded("viewed");
  CHECK(kernels.view_copy.kernel->bindings == 0);
  CHECK((result(*method) == Floats{204, 408, 612, 816}));
  CHECK((result(*method) == Floats{204, 408, 612, 816}));
}

void what_is_seen_outside_stays_where_it_is() {
  const Kernels kernels;
  const auto method = loaded("kept_view");
  CHECK(kernels.view_copy.kernel->bindings == 1);
  CHECK((result(*method) == Floats{2, 4, 6, 8}));
}

void a_kernel_that_is_not_pure_runs_each_time() {
  const Kernels kernels;
  const auto method = loaded("changing");
  CHECK(kernels.clock.kernel->runs == 0);
  CHECK(method->execute().ok());
  const Floats first = testing::output(*method);
  CHECK(method->execute().ok());
  CHECK(testing::output(*method) != first);
}

void a_result_that_cannot_be_computed_ends_the_execution_and_is_tried_again() {
  const Kernels kernels;
  kernels.add.kernel->failing_run = 1;
  const auto method = loaded("prepared");
  Four four;
  const EValue input = four.value();
  const placewire::Status failed = method->execute(Span<const EValue>(&input, 1));
  CHECK(!failed.ok() && failed.error().message.find("instruction 0") != std::string::npos);
  CHECK((result(*method) == Floats{3, 6, 9, 12}));
  CHECK((result(*method) == Floats{3, 6, 9, 12}));
  CHECK(kernels.add.kernel->runs == 4);
}

void a_constant_is_copied_to_its_device_once() {
  const Simulated cuda;
  const auto method = loaded("device_copy");
  CHECK(cuda.calls(DeviceOperation::kAllocate) == 2);  // planned memory, constants
  CHECK(cuda.calls(DeviceOperation::kCopyHostToDevice) == 1);
  CHECK((result(*method) == Floats{1, 2, 3, 4}));
  CHECK((testing::output(*method, 1) == Floats{5, 6, 7, 8}));
  CHECK(cuda.calls(DeviceOperation::kCopyHostToDevice) == 2);
  CHECK(cuda.calls(DeviceOperation::kCopyDeviceToHost) == 2);
}

void loops_are_left_as_they_are() {
  const Kernels kernels;
  const auto method = loaded("loop");
  CHECK(kernels.add.kernel->runs == 0);
}

/// Executes a method three times, of which the first may allocate what kernels keep.
std::uint64_t allocations_of(placewire::Method& method, const EValue& input) {
  std::uint64_t before = 0;
  for (int round = 0; round < 3; ++round) {
    before = allocations;
    const bool is_executed = method.execute(Span<const EValue>(&input, 1)).ok();
    CHECK(is_executed);
  }
  return allocations - before;
}

void executions_allocate_nothing() {
  const Kernels kernels;
  const Simulated cuda;
  Four four;
  const EValue input = four.value();
  for (const char* name : {"add_constant", "prepared", "counter", "loop", "device_copy"}) {
    const auto method = loaded(name);
    const auto device = cuda.calls(DeviceOperation::kAllocate);
    const std::uint64_t allocated = allocations_of(*method, input);
    if (!CHECK(allocated == 0)) std::printf("%s: %d\n", name, static_cast<int>(allocated));
    CHECK(cuda.calls(DeviceOperation::kAllocate) == device);
  }
  CHECK(allocations > 0);
}

}  // namespace

int main(int argc, char** argv) {
  return cases::run(
      argc, argv,
      std::array{
          CASE(constant_results_are_computed_once),
          CASE(static_views_share_memory),
          CASE(nothing_is_prepared_if_it_is_not_wanted),
          CASE(a_view_whose_source_is_overwritten_is_copied),
          CASE(other_values_in_the_same_place_move_along),
          CASE(what_is_seen_outside_stays_where_it_is),
          CASE(a_kernel_that_is_not_pure_runs_each_time),
          CASE(a_result_that_cannot_be_computed_ends_the_execution_and_is_tried_again),
          CASE(a_constant_is_copied_to_its_device_once),
          CASE(loops_are_left_as_they_are),
          CASE(executions_allocate_nothing),
      });
}
