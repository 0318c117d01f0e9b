// Checks of tensors with owners.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "cases.h"
#include "installed_device.h"
#include "placewire/runtime/simulated_device.h"
#include "placewire/runtime/tensor.h"
#include "placewire/runtime/tensor_ptr.h"
#include "recording_allocator.h"

namespace {

using cases::Installed;
using cases::is_error;
using placewire::clone_tensor_ptr_to;
using placewire::copy_tensor_data;
using placewire::Device;
using placewire::DeviceOperation;
using placewire::DeviceType;
using placewire::empty_tensor_ptr;
using placewire::ErrorCode;
using placewire::make_tensor_ptr;
using placewire::ScalarType;
using placewire::ScopedAllocator;
using placewire::SimulatedDevice;
using placewire::Span;
using placewire::TensorImpl;
using placewire::TensorPtr;
using placewire::TensorShapeDynamism;
using placewire::schema::program::kScalarTypeMembers;

using Sizes = std::vector<std::int64_t>;
using Order = std::vector<std::uint8_t>;

constexpr Device kCpu{};
constexpr Device kCuda0{DeviceType::CUDA, 0};
constexpr Device kCuda1{DeviceType::CUDA, 1};
constexpr auto kDynamic = TensorShapeDynamism::DYNAMIC_BOUND;

template <typename T>
bool is(Span<const T> found, std::initializer_list<T> expected) {
  return std::vector<T>(found.begin(), found.end()) == std::vector<T>(expected);
}

template <typename T>
TensorPtr of(std::vector<T>& data, ScalarType type, const Sizes& sizes) {
  return make_tensor_ptr(sizes, type, data.data()).value();
}

template <typename T>
bool holds(const TensorImpl& tensor, const std::vector<T>& expected) {
  const auto* const found = static_cast<const T*>(tensor.data());
  return tensor.device().is_cpu() && tensor.nbytes() == expected.size() * sizeof(T) &&
         std::equal(expected.begin(), expected.end(), found);
}

/// Copies data to cuda:0 and back, and says whether it is the same.
template <typename T>
bool survives_the_device(ScalarType type, std::vector<T> data, const Sizes& sizes) {
  const Installed cuda(kCuda0);
  const TensorPtr there = clone_tensor_ptr_to(*of(data, type, sizes), kCuda0).value();
  const TensorPtr back = clone_tensor_ptr_to(*there, kCpu).value();
  return there->device() == kCuda0 && back->scalar_type() == type &&
         std::equal(sizes.begin(), sizes.end(), back->sizes().begin(), back->sizes().end()) &&
         holds(*back, data);
}

void memory_of_the_caller_is_wrapped_where_it_is() {
  std::vector<float> data = {1, 2, 3, 4, 5, 6};
  const TensorPtr tensor = of(data, ScalarType::FLOAT, {2, 3});
  CHECK(tensor->data() == data.data() && tensor->device() == kCpu && tensor->is_static());
  CHECK(is<std::int64_t>(tensor->sizes(), {2, 3}) && is<std::int64_t>(tensor->strides(), {3, 1}));
  CHECK(is<std::int64_t>(tensor->bounds(), {2, 3}) &&
        is<std::uint8_t>(tensor->dim_order(), {0, 1}));
}

void a_label_does_not_copy() {
  std::uint64_t word = 0;
  const TensorPtr tensor =
      make_tensor_ptr(Sizes{2}, ScalarType::FLOAT, &word, kCuda1, Order{0}, kDynamic).value();
  CHECK(tensor->data() == &word && tensor->device() == kCuda1 && tensor->dynamism() == kDynamic);
}

void an_order_of_dimensions_can_be_chosen() {
  std::vector<float> data(24);
  const TensorPtr tensor =
      make_tensor_ptr(Sizes{2, 3, 4}, ScalarType::FLOAT, data.data(), kCpu, Order{2, 0, 1}).value();
  CHECK(is<std::int64_t>(tensor->strides(), {3, 1, 6}));
}

void what_is_no_tensor_is_not_made() {
  std::uint64_t word = 0;
  const auto fails = [&word](const Sizes& sizes, const Order& order, const char* part) {
    return is_error(make_tensor_ptr(sizes, ScalarType::FLOAT, &word, kCpu, order),
                    ErrorCode::INVALID_ARGUMENT, part);
  };
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  CHECK(fails({2, -1}, {}, "cannot make a tensor: size -1 at dimension 1 is negative"));
  CHECK(fails({kMost, kMost}, {}, "multiply to more than 9223372036854775807 bytes"));
  CHECK(fails({0, kMost}, {}, "multiply to more than"));  // its strides would overflow
  CHECK(fails(Sizes(17, 1), {}, "17 dimensions are more than 16"));
  CHECK(fails({1, 1}, {0}, "dim_order has 1 entries for 2 dimensions"));
  CHECK(fails({1, 1}, {0, 0}, "dim_order has 0 twice"));
  CHECK(fails({1, 1}, {0, 2}, "dim_order has 2, but the dimensions are fewer"));
  CHECK(is_error(make_tensor_ptr(Sizes{1}, static_cast<ScalarType>(99), &word),
                 ErrorCode::INVALID_ARGUMENT, "there is no element type 99"));
  CHECK(is_error(make_tensor_ptr(Sizes{1}, ScalarType::INT, &word, Device{DeviceType::CUDA, -1}),
                 ErrorCode::INVALID_ARGUMENT, "there is no device cuda:-1"));
  CHECK(is_error(make_tensor_ptr(Sizes{2}, ScalarType::INT, nullptr), ErrorCode::INVALID_ARGUMENT,
                 "the data is null, but has 8 bytes"));
  CHECK(make_tensor_ptr(Sizes{0}, ScalarType::INT, nullptr).ok());
  CHECK(make_tensor_ptr(Sizes(16, 1), ScalarType::INT, &word).ok());
}

void new_memory_is_where_it_was_asked_for() {
  const Installed cuda(kCuda1);
  const TensorPtr host = empty_tensor_ptr(Sizes{3, 5}, ScalarType::DOUBLE).value();
  std::memset(host->data(), 1, host->nbytes());
  CHECK(host->nbytes() == 120);
  const TensorPtr device = empty_tensor_ptr(Sizes{3, 5}, ScalarType::DOUBLE, kCuda1).value();
  CHECK(device->device() == kCuda1 && cuda.simulated->live_bytes() == 120);
  CHECK(SimulatedDevice::owns(device->data()));
}

void an_allocator_for_the_cpu_is_used_where_there_is_one() {
  const auto allocator = std::make_shared<cases::RecordingAllocator>(DeviceType::CPU);
  const auto scope = ScopedAllocator::install(allocator).value();
  CHECK(empty_tensor_ptr(Sizes{4}, ScalarType::INT).ok());
  CHECK(allocator->allocated == 1 && allocator->freed == 1 && allocator->last_nbytes == 16);
}

void tensors_of_every_type_survive_a_device() {
  CHECK(survives_the_device<float>(ScalarType::FLOAT, {1, 2, 3, 4}, {2, 2}));
  CHECK(survives_the_device<std::int32_t>(ScalarType::INT, {-1, 2, 3, 4}, {4}));
  CHECK(survives_the_device<double>(ScalarType::DOUBLE, {0.5, 2}, {2, 1}));
  CHECK(survives_the_device<std::int64_t>(ScalarType::LONG, {-1, 1}, {2}));
  CHECK(survives_the_device<float>(ScalarType::FLOAT, {42}, {}));
  for (const ScalarType type : kScalarTypeMembers) {
    std::vector<unsigned char> bytes(
        6 * static_cast<std::size_t>(placewire::schema::program::bytes(type)));
    std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(1));
    CHECK(survives_the_device(type, bytes, {2, 3}));
  }
}

void large_and_deep_tensors_survive_a_device() {
  std::vector<float> numbers(10'000);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  CHECK(survives_the_device(ScalarType::FLOAT, numbers, {10'000}));
  CHECK(survives_the_device(ScalarType::FLOAT, numbers, {10, 10, 10, 10}));
}

void empty_tensors_survive_a_device() {
  CHECK(survives_the_device<float>(ScalarType::FLOAT, {}, {0, 3}));
}

void a_clone_keeps_shape_order_bounds_and_dynamism() {
  const Installed cuda(kCuda0);
  std::vector<float> data(24);
  const TensorPtr source = make_tensor_ptr(Sizes{2, 3, 4}, ScalarType::FLOAT, data.data(), kCpu,
                                           Order{0, 2, 1}, kDynamic)
                               .value();
  CHECK(source->resize({Sizes{1, 2, 4}.data(), 3}).ok());
  const TensorPtr there = clone_tensor_ptr_to(*source, kCuda0).value();
  CHECK(cuda.simulated->live_bytes() == 96);  // room for the bounds
  CHECK(cuda.simulated->count(DeviceOperation::kCopyHostToDevice).bytes == 32);
  const TensorPtr back = clone_tensor_ptr_to(*there, kCpu).value();
  for (const TensorPtr& each : {there, back}) {
    CHECK(is<std::int64_t>(each->sizes(), {1, 2, 4}) &&
          is<std::int64_t>(each->bounds(), {2, 3, 4}));
    CHECK(is<std::uint8_t>(each->dim_order(), {0, 2, 1}) && each->dynamism() == kDynamic);
    CHECK(each->resize({Sizes{2, 3, 4}.data(), 3}).ok());
  }
}

void a_clone_is_on_the_device_with_the_index() {
  const Installed first(kCuda0);
  const Installed second(kCuda1);
  std::vector<float> data = {1};
  CHECK(clone_tensor_ptr_to(*of(data, ScalarType::FLOAT, {1}), kCuda1).value()->device() == kCuda1);
  CHECK(first.calls(DeviceOperation::kAllocate) == 0);
  CHECK(second.calls(DeviceOperation::kAllocate) == 1);
}

void the_last_owner_frees_the_memory() {
  const Installed cuda(kCuda0);
  std::vector<float> data = {1, 2};
  {
    TensorPtr first = clone_tensor_ptr_to(*of(data, ScalarType::FLOAT, {2}), kCuda0).value();
    const TensorPtr second = first;
    first.reset();
    CHECK(cuda.simulated->live_allocations() == 1 && second->data() != nullptr);
  }
  CHECK(cuda.simulated->live_allocations() == 0 && cuda.calls(DeviceOperation::kDeallocate) == 1);
}

void clones_of_one_tensor_have_memory_of_their_own() {
  const Installed cuda(kCuda0);
  std::vector<float> data = {1, 2};
  const TensorPtr source = of(data, ScalarType::FLOAT, {2});
  const TensorPtr first = clone_tensor_ptr_to(*source, kCuda0).value();
  const TensorPtr second = clone_tensor_ptr_to(*source, kCuda0).value();
  CHECK(first->data() != second->data());
  data = {8, 9};
  CHECK(holds<float>(*clone_tensor_ptr_to(*first, kCpu).value(), {1, 2}));
}

void the_host_can_be_cloned_to_the_host() {
  std::vector<float> data = {1, 2};
  const TensorPtr clone = clone_tensor_ptr_to(*of(data, ScalarType::FLOAT, {2}), kCpu).value();
  CHECK(clone->data() != data.data() && holds<float>(*clone, {1, 2}));
}

void a_device_is_cloned_to_another_directly() {
  const Installed first(kCuda0);
  const Installed second(kCuda1);
  std::vector<float> data = {1, 2};
  const TensorPtr there = clone_tensor_ptr_to(*of(data, ScalarType::FLOAT, {2}), kCuda0).value();
  const TensorPtr further = clone_tensor_ptr_to(*there, kCuda1).value();
  CHECK(first.calls(DeviceOperation::kCopyDeviceToHost) == 0);
  CHECK(second.calls(DeviceOperation::kCopyDeviceToDevice) == 1);
  CHECK(holds<float>(*clone_tensor_ptr_to(*further, kCpu).value(), {1, 2}));
}

void a_tensor_without_data_cannot_be_cloned() {
  std::vector<float> data(6);
  const TensorPtr tensor = of(data, ScalarType::FLOAT, {2, 3});
  tensor->set_data(nullptr);
  CHECK(is_error(clone_tensor_ptr_to(*tensor, kCpu), ErrorCode::INVALID_ARGUMENT,
                 "the source has no data"));
}

void a_missing_allocator_is_an_error() {
  std::vector<float> data = {1};
  CHECK(is_error(clone_tensor_ptr_to(*of(data, ScalarType::FLOAT, {1}), kCuda0),
                 ErrorCode::NOT_FOUND, "cuda:0"));
  CHECK(is_error(empty_tensor_ptr(Sizes{1}, ScalarType::FLOAT, kCuda0), ErrorCode::NOT_FOUND,
                 "cuda:0"));
}

void a_clone_that_fails_frees_what_it_had() {
  const Installed cuda(kCuda0);
  std::vector<float> data = {1};
  const TensorPtr source = of(data, ScalarType::FLOAT, {1});
  cuda.simulated->fail(DeviceOperation::kAllocate);
  CHECK(is_error(clone_tensor_ptr_to(*source, kCuda0), ErrorCode::MEMORY_ALLOCATION_FAILED, ""));
  cuda.simulated->fail(DeviceOperation::kCopyHostToDevice);
  CHECK(is_error(clone_tensor_ptr_to(*source, kCuda0), ErrorCode::ACCESS_FAILED, ""));
  CHECK(cuda.simulated->live_allocations() == 0);
}

void data_is_copied_between_tensors_that_are_alike() {
  std::vector<float> from = {1, 2};
  std::vector<float> to = {0, 0};
  CHECK(copy_tensor_data(*of(from, ScalarType::FLOAT, {2}), *of(to, ScalarType::FLOAT, {2})).ok());
  CHECK(to == from);
}

void data_is_not_copied_between_tensors_that_differ() {
  std::vector<float> from = {1, 2, 3, 4};
  std::vector<float> to = {0, 0, 0, 0};
  const TensorPtr source = of(from, ScalarType::FLOAT, {2, 2});
  const auto fails = [&](const TensorPtr& destination, const char* part) {
    return is_error(copy_tensor_data(*source, *destination), ErrorCode::INVALID_ARGUMENT, part);
  };
  CHECK(fails(of(to, ScalarType::INT, {2, 2}),
              "cannot copy float32[2, 2] on cpu:0 to int32[2, 2] on cpu:0: the element types"));
  CHECK(fails(of(to, ScalarType::FLOAT, {4}), "the sizes differ"));
  CHECK(fails(of(to, ScalarType::FLOAT, {4, 1}), "the sizes differ"));
  CHECK(fails(make_tensor_ptr(Sizes{2, 2}, ScalarType::FLOAT, to.data(), kCpu, Order{1, 0}).value(),
              "the orders of dimensions differ"));
  const TensorPtr nowhere = of(to, ScalarType::FLOAT, {2, 2});
  nowhere->set_data(nullptr);
  CHECK(fails(nowhere, "the destination has no memory"));
  const TensorPtr lent = of(to, ScalarType::FLOAT, {2, 2});
  lent->set_read_only(true);
  CHECK(fails(lent, "the destination is read-only"));
  CHECK(to == std::vector<float>(4));
}

constexpr std::array kCases = {
    CASE(memory_of_the_caller_is_wrapped_where_it_is),
    CASE(a_label_does_not_copy),
    CASE(an_order_of_dimensions_can_be_chosen),
    CASE(what_is_no_tensor_is_not_made),
    CASE(new_memory_is_where_it_was_asked_for),
    CASE(an_allocator_for_the_cpu_is_used_where_there_is_one),
    CASE(tensors_of_every_type_survive_a_device),
    CASE(large_and_deep_tensors_survive_a_device),
    CASE(empty_tensors_survive_a_device),
    CASE(a_clone_keeps_shape_order_bounds_and_dynamism),
    CASE(a_clone_is_on_the_device_with_the_index),
    CASE(the_last_owner_frees_the_memory),
    CASE(clones_of_one_tensor_have_memory_of_their_own),
    CASE(the_host_can_be_cloned_to_the_host),
    CASE(a_device_is_cloned_to_another_directly),
    CASE(a_tensor_without_data_cannot_be_cloned),
    CASE(a_missing_allocator_is_an_error),
    CASE(a_clone_that_fails_frees_what_it_had),
    CASE(data_is_copied_between_tensors_that_are_alike),
    CASE(data_is_not_copied_between_tensors_that_differ),
};

}  // namespace

int main(int argc, char** argv) { return cases::run(argc, argv, kCases); }
