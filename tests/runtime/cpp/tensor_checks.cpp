// Checks of devices, TensorImpl and EValue.
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

#include "cases.h"
#include "placewire/runtime/evalue.h"
#include "placewire/runtime/tensor.h"

namespace {

using cases::is_error;
using placewire::describe;
using placewire::Device;
using placewire::DeviceType;
using placewire::ErrorCode;
using placewire::EValue;
using placewire::ScalarType;
using placewire::Span;
using placewire::TensorImpl;
using placewire::TensorShapeDynamism;
using placewire::schema::program::kDeviceTypeCount;
using placewire::schema::program::kDeviceTypeMembers;

using Sizes = std::vector<std::int64_t>;

constexpr Device kCpu{};
constexpr Device kCuda0{DeviceType::CUDA, 0};
constexpr Device kCuda1{DeviceType::CUDA, 1};
constexpr auto kDynamic = TensorShapeDynamism::DYNAMIC_BOUND;

template <typename T>
bool is(Span<const T> found, std::initializer_list<T> expected) {
  return std::vector<T>(found.begin(), found.end()) == std::vector<T>(expected);
}

// Devices.

void every_kind_of_device_is_counted() {
  CHECK(kDeviceTypeMembers.size() == kDeviceTypeCount && kDeviceTypeCount >= 2);
  CHECK(static_cast<int>(DeviceType::CPU) == 0 && static_cast<int>(DeviceType::CUDA) == 1);
}

void the_index_of_a_device_is_0_or_the_one_given() {
  for (const DeviceType type : kDeviceTypeMembers) {
    CHECK(Device{type}.index == 0 && Device{type}.type == type);
    CHECK((Device{type, 3}.index == 3 && Device{type, 3}.type == type));
  }
  CHECK(Device{} == (Device{DeviceType::CPU, 0}));
}

void devices_are_equal_if_kind_and_index_are() {
  CHECK(kCuda0 == (Device{DeviceType::CUDA, 0}) && !(kCuda0 != Device{DeviceType::CUDA}));
  CHECK(kCuda0 != kCuda1 && !(kCuda0 == kCuda1));
  CHECK(kCuda0 != kCpu && !(kCuda0 == kCpu));
}

// TensorImpl.

/// A tensor whose lists are members.
struct Example {
  std::array<std::int64_t, 3> sizes = {2, 3, 4};
  std::array<std::int64_t, 3> strides{};
  std::array<std::int64_t, 3> bounds = {2, 3, 4};
  std::array<std::uint8_t, 3> order = {0, 1, 2};

  placewire::TensorShape shape() {
    return {sizes.data(), strides.data(), bounds.data(), order.data()};
  }
};

void a_tensor_is_on_the_cpu_unless_told() {
  Example example;
  CHECK(TensorImpl(ScalarType::FLOAT, 3, example.shape()).device() == kCpu);
  CHECK(TensorImpl(ScalarType::FLOAT, 3, example.shape()).is_static());
}

void a_tensor_is_on_the_device_it_was_made_for() {
  Example example;
  for (const Device device : {kCpu, kCuda0, kCuda1, Device{DeviceType::CUDA, 127}}) {
    const TensorImpl tensor(ScalarType::FLOAT, 3, example.shape(), TensorShapeDynamism::STATIC,
                            device);
    CHECK(tensor.device() == device);
  }
}

void resizing_and_new_data_leave_the_device_alone() {
  Example example;
  TensorImpl tensor(ScalarType::FLOAT, 3, example.shape(), kDynamic, kCuda1);
  CHECK(tensor.resize({Sizes{1, 3, 2}.data(), 3}).ok());
  std::uint64_t somewhere = 0;
  tensor.set_data(&somewhere);
  CHECK(tensor.device() == kCuda1 && tensor.data() == &somewhere);
}

/// What a tensor has to hold, without a device.
struct WithoutDevice {
  void* data;
  placewire::TensorShape shape;
  std::int64_t numel;
  ScalarType scalar_type;
  std::uint8_t rank;
  TensorShapeDynamism dynamism;
};

void a_tensor_is_no_larger_than_without_a_device() {
  CHECK(sizeof(TensorImpl) == sizeof(WithoutDevice));
}

void a_tensor_says_what_it_was_made_of() {
  Example example;
  std::uint64_t somewhere = 0;
  const TensorImpl tensor(ScalarType::SHORT, 3, example.shape(), kDynamic, kCpu, &somewhere);
  CHECK(tensor.scalar_type() == ScalarType::SHORT && tensor.rank() == 3);
  CHECK(tensor.dynamism() == kDynamic && !tensor.is_static());
  CHECK(tensor.numel() == 24 && tensor.element_size() == 2 && tensor.nbytes() == 48);
  CHECK(tensor.data() == &somewhere);
  CHECK(is<std::int64_t>(tensor.sizes(), {2, 3, 4}) &&
        is<std::int64_t>(tensor.bounds(), {2, 3, 4}));
  CHECK(is<std::int64_t>(tensor.strides(), {12, 4, 1}));
  CHECK(is<std::uint8_t>(tensor.dim_order(), {0, 1, 2}));
}

void strides_follow_the_order_of_dimensions() {
  Example example;
  example.order = {0, 2, 1};
  const TensorImpl tensor(ScalarType::FLOAT, 3, example.shape());
  CHECK(is<std::int64_t>(tensor.strides(), {12, 1, 3}));
}

void an_empty_dimension_counts_as_1_for_strides() {
  Example example;
  example.sizes = {2, 0, 4};
  const TensorImpl tensor(ScalarType::FLOAT, 3, example.shape());
  CHECK(is<std::int64_t>(tensor.strides(), {4, 4, 1}));
  CHECK(tensor.numel() == 0 && tensor.nbytes() == 0);
}

void a_scalar_has_one_element() {
  const TensorImpl tensor(ScalarType::LONG, 0, {});
  CHECK(tensor.numel() == 1 && tensor.nbytes() == 8 && tensor.sizes().empty());
  CHECK(to_string(tensor) == "int64[] on cpu:0");
}

void an_element_type_that_the_schema_does_not_know_has_no_size() {
  const TensorImpl tensor(static_cast<ScalarType>(99), 0, {});
  CHECK(tensor.element_size() == 0 && to_string(tensor) == "element type 99[] on cpu:0");
}

void a_dynamic_tensor_is_resized_within_its_bounds() {
  Example example;
  std::uint64_t somewhere = 0;
  TensorImpl tensor(ScalarType::FLOAT, 3, example.shape(), kDynamic, kCpu, &somewhere);
  CHECK(tensor.resize({Sizes{1, 3, 2}.data(), 3}).ok());
  CHECK(is<std::int64_t>(tensor.sizes(), {1, 3, 2}) &&
        is<std::int64_t>(tensor.strides(), {6, 2, 1}));
  CHECK(is<std::int64_t>(tensor.bounds(), {2, 3, 4}));
  CHECK(tensor.numel() == 6 && tensor.data() == &somewhere);
  CHECK(tensor.resize({Sizes{2, 3, 4}.data(), 3}).ok() && tensor.numel() == 24);
}

void sizes_that_a_tensor_cannot_take_change_nothing() {
  Example example;
  TensorImpl tensor(ScalarType::FLOAT, 3, example.shape(), kDynamic);
  CHECK(is_error(tensor.resize({Sizes{1, 4, 1}.data(), 3}), ErrorCode::INVALID_ARGUMENT,
                 "cannot resize float32[2, 3, 4] on cpu:0: size 4 at dimension 1 is beyond the "
                 "bound 3"));
  CHECK(is_error(tensor.resize({Sizes{1, 1, -1}.data(), 3}), ErrorCode::INVALID_ARGUMENT,
                 "size -1 at dimension 2 is negative"));
  CHECK(is_error(tensor.resize({Sizes{2, 3}.data(), 2}), ErrorCode::INVALID_ARGUMENT,
                 "it has 3 dimensions, not 2"));
  CHECK(is<std::int64_t>(tensor.sizes(), {2, 3, 4}) &&
        is<std::int64_t>(tensor.strides(), {12, 4, 1}));
}

void a_static_tensor_keeps_its_sizes() {
  Example example;
  TensorImpl tensor(ScalarType::FLOAT, 3, example.shape());
  CHECK(tensor.resize({Sizes{2, 3, 4}.data(), 3}).ok());
  CHECK(is_error(tensor.resize({Sizes{2, 2, 4}.data(), 3}), ErrorCode::INVALID_ARGUMENT,
                 "size 2 at dimension 1 is another, and the shape is static"));
  CHECK(tensor.numel() == 24);
}

void a_tensor_is_read_only_if_it_was_said() {
  Example example;
  TensorImpl tensor(ScalarType::FLOAT, 3, example.shape());
  CHECK(!tensor.is_read_only());
  tensor.set_read_only(true);
  CHECK(tensor.is_read_only());
}

// EValue.

static_assert(std::is_trivially_copyable_v<EValue>);

void a_value_is_what_it_was_made_of() {
  TensorImpl tensor(ScalarType::FLOAT, 0, {});
  CHECK(EValue().is_none() && EValue().tensor() == nullptr);
  CHECK(*EValue(std::int64_t{7}).get_if<std::int64_t>() == 7);
  CHECK(EValue(std::int64_t{7}).get_if<double>() == nullptr);
  CHECK(*EValue(true).get_if<bool>() && EValue(true).get_if<std::int64_t>() == nullptr);
  CHECK(*EValue(0.5).get_if<double>() == 0.5);
  CHECK(EValue(&tensor).tensor() == &tensor && !EValue(&tensor).is_none());
  CHECK(*EValue(std::string_view("text")).get_if<std::string_view>() == "text");
}

void a_value_says_what_it_is() {
  TensorImpl tensor(ScalarType::BFLOAT16, 0, {}, TensorShapeDynamism::STATIC, kCuda1);
  EValue one(std::int64_t{1});
  std::array<EValue*, 2> items = {&one, &one};
  const Span<EValue* const> list(items.data(), items.size());
  std::array<double, 1> floats = {0.5};
  std::array<bool, 3> bools = {};
  CHECK(describe({}) == "None");
  CHECK(describe(std::int64_t{1}) == "int" && describe(true) == "bool" && describe(0.5) == "float");
  CHECK(describe(std::string_view("text")) == "string");
  CHECK(describe(&tensor) == "bfloat16[] on cuda:1");
  CHECK(describe(static_cast<TensorImpl*>(nullptr)) == "tensor that is not there");
  CHECK(describe(placewire::IntList{list}) == "list of 2 ints");
  CHECK(describe(Span<const double>(floats.data(), 1)) == "list of 1 float");
  CHECK(describe(Span<const bool>(bools.data(), 3)) == "list of 3 bools");
  CHECK(describe(placewire::TensorList{list}) == "list of 2 tensors");
  CHECK(describe(placewire::OptionalTensorList{list}) == "list of 2 optional tensors");
}

constexpr std::array kCases = {
    CASE(every_kind_of_device_is_counted),
    CASE(the_index_of_a_device_is_0_or_the_one_given),
    CASE(devices_are_equal_if_kind_and_index_are),
    CASE(a_tensor_is_on_the_cpu_unless_told),
    CASE(a_tensor_is_on_the_device_it_was_made_for),
    CASE(resizing_and_new_data_leave_the_device_alone),
    CASE(a_tensor_is_no_larger_than_without_a_device),
    CASE(a_tensor_says_what_it_was_made_of),
    CASE(strides_follow_the_order_of_dimensions),
    CASE(an_empty_dimension_counts_as_1_for_strides),
    CASE(a_scalar_has_one_element),
    CASE(an_element_type_that_the_schema_does_not_know_has_no_size),
    CASE(a_dynamic_tensor_is_resized_within_its_bounds),
    CASE(sizes_that_a_tensor_cannot_take_change_nothing),
    CASE(a_static_tensor_keeps_its_sizes),
    CASE(a_tensor_is_read_only_if_it_was_said),
    CASE(a_value_is_what_it_was_made_of),
    CASE(a_value_says_what_it_is),
};

}  // namespace

int main(int argc, char** argv) { return cases::run(argc, argv, kCases); }
