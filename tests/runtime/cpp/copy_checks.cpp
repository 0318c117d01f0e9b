// Checks of the kernels that copy between devices.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "cases.h"
#include "installed_device.h"
#include "kernel_call.h"
#include "placewire/runtime/tensor_ptr.h"

namespace {

using cases::bind;
using cases::call;
using cases::constant;
using cases::fixed;
using cases::Installed;
using cases::is_error;
using cases::varying;
using placewire::clone_tensor_ptr_to;
using placewire::Device;
using placewire::DeviceOperation;
using placewire::DeviceType;
using placewire::empty_tensor_ptr;
using placewire::ErrorCode;
using placewire::EValue;
using placewire::make_tensor_ptr;
using placewire::ScalarType;
using placewire::TensorImpl;
using placewire::TensorPtr;
using placewire::TensorShapeDynamism;
using placewire::schema::program::kDeviceTypeMembers;

using Sizes = std::vector<std::int64_t>;

constexpr Device kCpu{};
constexpr Device kCuda0{DeviceType::CUDA, 0};
constexpr Device kCuda1{DeviceType::CUDA, 1};
constexpr auto kStatic = TensorShapeDynamism::STATIC;
constexpr auto kDynamic = TensorShapeDynamism::DYNAMIC_BOUND;

const char* const kUp = "et_copy::_h2d_copy.out";
const char* const kDown = "et_copy::_d2h_copy.out";
const char* const kAcross = "placewire::d2d_copy.out";

/// A tensor of numbers on a device, and the value that refers to it.
struct Numbers {
  Numbers(Device device, std::vector<float> numbers, const Sizes& sizes,
          TensorShapeDynamism dynamism = kStatic)
      : data(std::move(numbers)) {
    const TensorPtr host =
        make_tensor_ptr(sizes, ScalarType::FLOAT, data.data(), kCpu, {}, dynamism).value();
    tensor = clone_tensor_ptr_to(*host, device).value();
    value = tensor.get();
  }

  [[nodiscard]] std::vector<float> now() const {
    const TensorPtr host = clone_tensor_ptr_to(*tensor, kCpu).value();
    const auto* const first = static_cast<const float*>(host->data());
    return {first, first + host->numel()};
  }

  std::vector<float> data;
  TensorPtr tensor;
  EValue value;
};

using Floats = std::vector<float>;

void a_tensor_is_copied_to_the_device() {
  const Installed cuda(kCuda0);
  Numbers source(kCpu, {1, 2, 3, 4}, {2, 2});
  Numbers destination(kCuda0, {0, 0, 0, 0}, {2, 2});
  const std::uint64_t before = cuda.calls(DeviceOperation::kCopyHostToDevice);
  CHECK(call(kUp, {fixed(source.value), fixed(destination.value), fixed(destination.value)}).ok());
  CHECK(cuda.calls(DeviceOperation::kCopyHostToDevice) == before + 1);
  CHECK(destination.now() == source.data);
}

void a_tensor_is_copied_to_the_host() {
  const Installed cuda(kCuda0);
  Numbers source(kCuda0, {1, 2, 3, 4}, {2, 2});
  Numbers destination(kCpu, {0, 0, 0, 0}, {2, 2});
  CHECK(
      call(kDown, {fixed(source.value), fixed(destination.value), fixed(destination.value)}).ok());
  CHECK(cuda.calls(DeviceOperation::kCopyDeviceToHost) == 1);
  CHECK(destination.now() == source.data);
}

void the_index_decides_which_device() {
  const Installed first(kCuda0);
  const Installed second(kCuda1);
  Numbers source(kCpu, {1}, {1});
  Numbers there(kCuda1, {0}, {1});
  CHECK(call(kUp, {fixed(source.value), fixed(there.value), fixed(there.value)}).ok());
  CHECK(call(kDown, {fixed(there.value), fixed(source.value), fixed(source.value)}).ok());
  CHECK(first.calls(DeviceOperation::kCopyHostToDevice) == 0);
  CHECK(first.calls(DeviceOperation::kCopyDeviceToHost) == 0);
}

void a_tensor_is_copied_from_device_to_device() {
  const Installed first(kCuda0);
  const Installed second(kCuda1);
  Numbers source(kCuda0, {1, 2}, {2});
  Numbers destination(kCuda1, {0, 0}, {2});
  CHECK(call(kAcross, {fixed(source.value), fixed(destination.value), fixed(destination.value)})
            .ok());
  CHECK(second.calls(DeviceOperation::kCopyDeviceToDevice) == 1);
  CHECK(first.calls(DeviceOperation::kCopyDeviceToHost) == 0);
  CHECK(destination.now() == source.data);
}

void devices_of_two_kinds_copy_through_the_host() {
  for (const DeviceType from : kDeviceTypeMembers) {
    for (const DeviceType to : kDeviceTypeMembers) {
      if (from == to || from == DeviceType::CPU || to == DeviceType::CPU) {
        continue;
      }
      const Installed first({from, 0});
      const Installed second({to, 0});
      Floats numbers(1'000'000);  // more than one piece
      std::generate(numbers.begin(), numbers.end(), [n = 0.0f]() mutable { return ++n; });
      Numbers source({from, 0}, numbers, {1'000'000});
      Numbers destination({to, 0}, Floats(1'000'000), {1'000'000});
      CHECK(call(kAcross, {fixed(source.value), fixed(destination.value), fixed(destination.value)})
                .ok());
      CHECK(first.calls(DeviceOperation::kCopyDeviceToHost) == 4);
      CHECK(destination.now() == numbers);
      first.simulated->fail(DeviceOperation::kCopyDeviceToHost, 2);
      CHECK(is_error(
          call(kAcross, {fixed(source.value), fixed(destination.value), fixed(destination.value)}),
          ErrorCode::ACCESS_FAILED, ""));
      std::printf("from %d to %d\n", static_cast<int>(from), static_cast<int>(to));
    }
  }
}

void host_and_host_are_copied_by_the_host() {
  for (const char* const name : {kUp, kDown, kAcross}) {
    Numbers source(kCpu, {1, 2}, {2});
    Numbers destination(kCpu, {0, 0}, {2});
    CHECK(
        call(name, {fixed(source.value), fixed(destination.value), fixed(destination.value)}).ok());
    CHECK(destination.now() == source.data);
  }
}

void a_copy_onto_itself_changes_nothing() {
  Numbers numbers(kCpu, {1, 2}, {2});
  CHECK(call(kUp, {fixed(numbers.value), fixed(numbers.value), fixed(numbers.value)}).ok());
  CHECK((numbers.now() == Floats{1, 2}));
}

void a_deep_tensor_is_copied() {
  const Installed cuda(kCuda0);
  Floats numbers(2 * 3 * 4 * 5);
  std::generate(numbers.begin(), numbers.end(), [n = 0.0f]() mutable { return ++n; });
  Numbers source(kCpu, numbers, {2, 3, 4, 5});
  Numbers there(kCuda0, Floats(numbers.size()), {2, 3, 4, 5});
  CHECK(call(kUp, {fixed(source.value), fixed(there.value), fixed(there.value)}).ok());
  CHECK(there.now() == numbers);
}

void the_destination_takes_the_sizes_of_the_source() {
  const Installed cuda(kCuda0);
  Numbers host(kCpu, {1, 2, 3, 4, 5, 6}, {3, 2}, kDynamic);
  Numbers there(kCuda0, Floats(8), {4, 2}, kDynamic);
  Numbers back(kCpu, Floats(8), {4, 2}, kDynamic);
  CHECK(call(kUp, {varying(host.value), varying(there.value), varying(there.value)}).ok());
  CHECK(there.tensor->sizes()[0] == 3 && there.tensor->bounds()[0] == 4);
  CHECK(call(kDown, {varying(there.value), varying(back.value), varying(back.value)}).ok());
  CHECK(back.tensor->sizes()[0] == 3 && back.now() == host.data);
}

void sizes_may_change_between_runs() {
  const Installed cuda(kCuda0);
  Numbers host(kCpu, {1, 2, 3}, {3}, kDynamic);
  Numbers there(kCuda0, Floats(3), {3}, kDynamic);
  const auto bound = bind(kUp, {varying(host.value), varying(there.value), varying(there.value)});
  for (const std::int64_t size : {3, 1, 2, 0}) {
    CHECK(host.tensor->resize({&size, 1}).ok());
    CHECK(bound.value()->run().ok());
    CHECK(there.tensor->numel() == size);
  }
}

void a_source_beyond_the_bounds_is_refused_before_the_copy() {
  const Installed cuda(kCuda0);
  Numbers host(kCpu, Floats(4), {4}, kDynamic);
  Numbers there(kCuda0, Floats(3), {3}, kDynamic);
  const std::uint64_t up = cuda.calls(DeviceOperation::kCopyHostToDevice);
  CHECK(is_error(call(kUp, {varying(host.value), varying(there.value), varying(there.value)}),
                 ErrorCode::INVALID_ARGUMENT, "size 4 at dimension 0 is beyond the bound 3"));
  Numbers larger(kCuda0, Floats(4), {4}, kDynamic);
  Numbers back(kCpu, Floats(3), {3}, kDynamic);
  CHECK(is_error(call(kDown, {varying(larger.value), varying(back.value), varying(back.value)}),
                 ErrorCode::INVALID_ARGUMENT, "size 4 at dimension 0 is beyond the bound 3"));
  CHECK(cuda.calls(DeviceOperation::kCopyHostToDevice) == up + 1);  // that of `larger` itself
  CHECK(cuda.calls(DeviceOperation::kCopyDeviceToHost) == 0);
}

void no_elements_need_no_memory() {
  const Installed cuda(kCuda0);
  Numbers host(kCpu, {}, {0, 3});
  Numbers there(kCuda0, {}, {0, 3});
  CHECK(there.tensor->data() == nullptr);
  CHECK(call(kUp, {fixed(host.value), fixed(there.value), fixed(there.value)}).ok());
  CHECK(call(kDown, {fixed(there.value), fixed(host.value), fixed(host.value)}).ok());
}

void the_wrong_direction_is_an_error_at_load() {
  const Installed cuda(kCuda0);
  Numbers host(kCpu, {1}, {1});
  Numbers there(kCuda0, {1}, {1});
  CHECK(is_error(bind(kUp, {varying(there.value), varying(host.value), varying(host.value)}),
                 ErrorCode::INVALID_PROGRAM,
                 "cannot copy float32[1] on cuda:0 to float32[1] on cpu:0: this operator copies "
                 "from the CPU"));
  CHECK(is_error(bind(kDown, {varying(host.value), varying(there.value), varying(there.value)}),
                 ErrorCode::INVALID_PROGRAM, "this operator copies to the CPU"));
}

void another_type_or_order_is_an_error_at_load() {
  Numbers host(kCpu, {1, 2, 3, 4}, {2, 2});
  const std::vector<std::uint8_t> order = {1, 0};
  const TensorPtr turned = empty_tensor_ptr(Sizes{2, 2}, ScalarType::FLOAT, kCpu, order).value();
  const TensorPtr integers = empty_tensor_ptr(Sizes{2, 2}, ScalarType::INT).value();
  EValue other = turned.get();
  CHECK(is_error(bind(kUp, {fixed(host.value), fixed(other), fixed(other)}),
                 ErrorCode::INVALID_PROGRAM, "the orders of dimensions differ"));
  other = integers.get();
  CHECK(is_error(bind(kUp, {varying(host.value), varying(other), varying(other)}),
                 ErrorCode::INVALID_PROGRAM, "the element types differ"));
}

void a_missing_allocator_is_an_error_at_load() {
  Numbers host(kCpu, {1}, {1});
  std::uint64_t word = 0;
  const TensorPtr label = make_tensor_ptr(Sizes{1}, ScalarType::FLOAT, &word, kCuda1).value();
  EValue there = label.get();
  CHECK(is_error(bind(kUp, {fixed(host.value), fixed(there), fixed(there)}), ErrorCode::NOT_FOUND,
                 "no allocator is registered for cuda:1"));
  CHECK(is_error(bind(kDown, {varying(there), varying(host.value), varying(host.value)}),
                 ErrorCode::NOT_FOUND, "no allocator is registered for cuda:1"));
}

void a_copy_needs_a_source_and_a_destination() {
  Numbers host(kCpu, {1}, {1});
  Numbers other(kCpu, {1}, {1});
  EValue number = std::int64_t{1};
  CHECK(is_error(bind(kUp, {fixed(host.value), fixed(other.value)}), ErrorCode::INVALID_PROGRAM,
                 "the call has 2 arguments"));
  CHECK(is_error(bind(kUp, {fixed(host.value), fixed(other.value), fixed(host.value)}),
                 ErrorCode::INVALID_PROGRAM, "returns another value"));
  CHECK(is_error(bind(kUp, {fixed(number), fixed(other.value), fixed(other.value)}),
                 ErrorCode::INVALID_PROGRAM, "the source of the copy is int, expected a tensor"));
  CHECK(is_error(bind(kUp, {fixed(host.value), fixed(number), fixed(number)}),
                 ErrorCode::INVALID_PROGRAM, "the destination of the copy is int"));
  // What may still become a tensor is looked at when it is needed.
  CHECK(is_error(bind(kUp, {varying(host.value), varying(number), varying(number)}).value()->run(),
                 ErrorCode::INVALID_PROGRAM, "the destination of the copy is int"));
}

void constants_and_lent_memory_are_not_written() {
  Numbers host(kCpu, {1}, {1});
  Numbers other(kCpu, {0}, {1});
  CHECK(is_error(bind(kUp, {fixed(host.value), constant(other.value), constant(other.value)}),
                 ErrorCode::INVALID_PROGRAM, "the destination of the copy is a constant"));
  const auto bound = bind(kUp, {varying(host.value), varying(other.value), varying(other.value)});
  other.tensor->set_read_only(true);
  CHECK(is_error(bound.value()->run(), ErrorCode::INVALID_PROGRAM, "the destination is read-only"));
  CHECK(other.now() == Floats{0});
}

void a_tensor_without_memory_is_an_error() {
  Numbers host(kCpu, {1}, {1});
  Numbers other(kCpu, {0}, {1});
  other.tensor->set_data(nullptr);
  const cases::Arguments up = {varying(host.value), varying(other.value), varying(other.value)};
  CHECK(is_error(call(kUp, up), ErrorCode::INVALID_STATE, "the destination has no memory"));
  const cases::Arguments down = {varying(other.value), varying(host.value), varying(host.value)};
  CHECK(is_error(call(kDown, down), ErrorCode::INVALID_STATE, "the source has no data"));
}

void a_value_may_refer_to_another_tensor_at_the_next_run() {
  const Installed first(kCuda0);
  const Installed second(kCuda1);
  Numbers host(kCpu, {1, 2}, {2});
  Numbers there(kCuda0, {0, 0}, {2});
  Numbers elsewhere(kCuda1, {0, 0}, {2});
  const auto bound = bind(kUp, {varying(host.value), varying(there.value), varying(there.value)});
  CHECK(bound.value()->run().ok() && there.now() == host.data);
  there.value = elsewhere.value;
  CHECK(bound.value()->run().ok() && elsewhere.now() == host.data);
}

void a_failing_copy_says_what_the_allocator_says() {
  const Installed cuda(kCuda0);
  Numbers host(kCpu, {1}, {1});
  Numbers there(kCuda0, {0}, {1});
  const auto bound = bind(kUp, {fixed(host.value), fixed(there.value), fixed(there.value)});
  cuda.simulated->fail(DeviceOperation::kCopyHostToDevice);
  CHECK(is_error(bound.value()->run(), ErrorCode::ACCESS_FAILED, "cuda:0"));
  CHECK(bound.value()->run().ok());
}

void a_bound_copy_keeps_its_allocator() {
  Numbers host(kCpu, {7}, {1});
  auto cuda = std::make_unique<Installed>(kCuda0);
  Numbers there(kCuda0, {0}, {1});
  const auto bound = bind(kUp, {fixed(host.value), fixed(there.value), fixed(there.value)});
  const auto simulated = cuda->simulated;
  cuda.reset();
  CHECK(bound.value()->run().ok());
  CHECK(*static_cast<float*>(simulated->backing(there.tensor->data(), 4).value()) == 7);
}

constexpr std::array kCases = {
    CASE(a_tensor_is_copied_to_the_device),
    CASE(a_tensor_is_copied_to_the_host),
    CASE(the_index_decides_which_device),
    CASE(a_tensor_is_copied_from_device_to_device),
    CASE(devices_of_two_kinds_copy_through_the_host),
    CASE(host_and_host_are_copied_by_the_host),
    CASE(a_copy_onto_itself_changes_nothing),
    CASE(a_deep_tensor_is_copied),
    CASE(the_destination_takes_the_sizes_of_the_source),
    CASE(sizes_may_change_between_runs),
    CASE(a_source_beyond_the_bounds_is_refused_before_the_copy),
    CASE(no_elements_need_no_memory),
    CASE(the_wrong_direction_is_an_error_at_load),
    CASE(another_type_or_order_is_an_error_at_load),
    CASE(a_missing_allocator_is_an_error_at_load),
    CASE(a_copy_needs_a_source_and_a_destination),
    CASE(constants_and_lent_memory_are_not_written),
    CASE(a_tensor_without_memory_is_an_error),
    CASE(a_value_may_refer_to_another_tensor_at_the_next_run),
    CASE(a_failing_copy_says_what_the_allocator_says),
    CASE(a_bound_copy_keeps_its_allocator),
};

}  // namespace

int main(int argc, char** argv) { return cases::run(argc, argv, kCases); }
