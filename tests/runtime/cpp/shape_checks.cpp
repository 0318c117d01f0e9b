// Checks of the kernels for shapes, views, elements and the results of loops.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "cases.h"
#include "kernel_call.h"
#include "placewire/runtime/tensor_ptr.h"

namespace {

using cases::bind;
using cases::call;
using cases::constant;
using cases::fixed;
using cases::is_error;
using cases::varying;
using placewire::Device;
using placewire::DeviceType;
using placewire::empty_tensor_ptr;
using placewire::ErrorCode;
using placewire::EValue;
using placewire::IntList;
using placewire::make_tensor_ptr;
using placewire::ScalarType;
using placewire::Status;
using placewire::TensorPtr;
using placewire::TensorShapeDynamism;

using Sizes = std::vector<std::int64_t>;

constexpr Device kCpu{};
constexpr Device kCuda0{DeviceType::CUDA, 0};
constexpr auto kStatic = TensorShapeDynamism::STATIC;
constexpr auto kDynamic = TensorShapeDynamism::DYNAMIC_BOUND;

EValue number(std::int64_t value) { return value; }

TensorPtr floats(const Sizes& sizes, TensorShapeDynamism dynamism = kStatic) {
  const TensorPtr tensor = empty_tensor_ptr(sizes, ScalarType::FLOAT, kCpu, {}, dynamism).value();
  std::fill_n(static_cast<float*>(tensor->data()), tensor->numel(), 0.0f);
  return tensor;
}

bool has_sizes(const TensorPtr& tensor, const Sizes& sizes) {
  return Sizes(tensor->sizes().begin(), tensor->sizes().end()) == sizes;
}

// Shapes.

/// What `aten::sym_size.int` or `aten::sym_stride.int` says of a dimension.
std::int64_t entry(const char* name, const TensorPtr& tensor, std::int64_t dimension) {
  EValue value = tensor.get();
  EValue wanted = number(dimension);
  EValue result = number(-1);
  CHECK(call(name, {varying(value), varying(wanted), varying(result)}).ok());
  return *result.get_if<std::int64_t>();
}

void a_size_and_a_stride_are_read() {
  const TensorPtr tensor = floats({2, 3, 4});
  CHECK(entry("aten::sym_size.int", tensor, 1) == 3 &&
        entry("aten::sym_size.int", tensor, -1) == 4);
  CHECK(entry("aten::sym_stride.int", tensor, 0) == 12);
}

void the_sizes_of_now_are_read() {
  const TensorPtr tensor = floats({4}, kDynamic);
  CHECK(tensor->resize({Sizes{2}.data(), 1}).ok());
  CHECK(entry("aten::sym_size.int", tensor, 0) == 2);
}

void a_dimension_that_is_not_there_is_an_error() {
  const TensorPtr tensor = floats({2, 3});
  EValue value = tensor.get();
  EValue result = number(0);
  for (const std::int64_t dimension :
       {std::int64_t{2}, std::int64_t{-3}, std::numeric_limits<std::int64_t>::min()}) {
    EValue wanted = number(dimension);
    CHECK(is_error(call("aten::sym_size.int", {fixed(value), fixed(wanted), varying(result)}),
                   ErrorCode::INVALID_ARGUMENT, "float32[2, 3] on cpu:0 has no dimension"));
  }
}

void the_number_of_elements_is_read() {
  const TensorPtr tensor = floats({2, 3});
  EValue value = tensor.get();
  EValue result = number(0);
  CHECK(call("aten::sym_numel", {varying(value), varying(result)}).ok());
  CHECK(*result.get_if<std::int64_t>() == 6);
}

// Elements.

/// What a tensor of one element holds, read through `aten::_local_scalar_dense`.
template <typename T>
placewire::Result<EValue> item(ScalarType type, T element) {
  std::array<unsigned char, sizeof(T) + 1> memory{};
  std::memcpy(memory.data() + 1, &element, sizeof(T));  // nobody promises alignment
  const TensorPtr tensor = make_tensor_ptr(Sizes{1, 1}, type, memory.data() + 1).value();
  EValue value = tensor.get();
  EValue result = number(0);
  Status status = call("aten::_local_scalar_dense", {varying(value), varying(result)});
  if (!status.ok()) {
    return std::move(status).error();
  }
  return result;
}

template <typename T, typename E>
bool item_is(ScalarType type, T element, E expected) {
  const auto found = item(type, element);
  const E* const read = found.ok() ? found.value().template get_if<E>() : nullptr;
  return read != nullptr && *read == expected;
}

void an_element_becomes_a_number_of_its_kind() {
  CHECK(item_is(ScalarType::BOOL, std::uint8_t{1}, true));
  CHECK(item_is(ScalarType::BOOL, std::uint8_t{0}, false));
  CHECK(item_is(ScalarType::BYTE, std::uint8_t{255}, std::int64_t{255}));
  CHECK(item_is(ScalarType::CHAR, std::int8_t{-1}, std::int64_t{-1}));
  CHECK(item_is(ScalarType::SHORT, std::int16_t{-300}, std::int64_t{-300}));
  CHECK(item_is(ScalarType::UINT16, std::uint16_t{65535}, std::int64_t{65535}));
  CHECK(item_is(ScalarType::INT, std::int32_t{-7}, std::int64_t{-7}));
  CHECK(item_is(ScalarType::UINT32, std::uint32_t{4294967295u}, std::int64_t{4294967295}));
  CHECK(item_is(ScalarType::LONG, std::int64_t{-7}, std::int64_t{-7}));
  CHECK(item_is(ScalarType::UINT64, std::uint64_t{7}, std::int64_t{7}));
  CHECK(item_is(ScalarType::FLOAT, 0.5f, 0.5));
  CHECK(item_is(ScalarType::DOUBLE, 0.1, 0.1));
}

void halves_are_read() {
  for (const auto& [bits, expected] : {std::pair{0x3c00, 1.0},
                                       {0xc000, -2.0},
                                       {0x7bff, 65504.0},
                                       {0x0001, 0x1p-24},
                                       {0x0400, 0x1p-14},
                                       {0x7c00, std::numeric_limits<double>::infinity()}}) {
    CHECK(item_is(ScalarType::HALF, static_cast<std::uint16_t>(bits), expected));
  }
  CHECK(item_is(ScalarType::BFLOAT16, std::uint16_t{0x3fc0}, 1.5));
  CHECK(item_is(ScalarType::BFLOAT16, std::uint16_t{0xff7f}, -0x1.fep127));
  const auto nan = item(ScalarType::HALF, std::uint16_t{0x7e00});
  CHECK(*nan.value().get_if<double>() != *nan.value().get_if<double>());
}

void what_is_no_single_number_is_an_error() {
  CHECK(is_error(item(ScalarType::UINT64, ~std::uint64_t{0}), ErrorCode::INVALID_ARGUMENT,
                 "holds 18446744073709551615, which does not fit an int"));
  CHECK(is_error(item(ScalarType::QINT8, std::int8_t{1}), ErrorCode::NOT_SUPPORTED,
                 "has elements that are no numbers"));
  const TensorPtr tensor = floats({2});
  EValue value = tensor.get();
  EValue result = number(0);
  const cases::Arguments arguments = {varying(value), varying(result)};
  CHECK(is_error(call("aten::_local_scalar_dense", arguments), ErrorCode::INVALID_ARGUMENT,
                 "has not exactly one element"));
  const TensorPtr nowhere = floats({1});
  nowhere->set_data(nullptr);
  value = nowhere.get();
  CHECK(is_error(call("aten::_local_scalar_dense", arguments), ErrorCode::INVALID_STATE,
                 "has no data"));
}

void the_element_must_be_on_the_host() {
  std::uint64_t word = 0;
  const TensorPtr there = make_tensor_ptr(Sizes{1}, ScalarType::FLOAT, &word, kCuda0).value();
  EValue value = there.get();
  EValue result = number(0);
  CHECK(is_error(bind("aten::_local_scalar_dense", {fixed(value), varying(result)}),
                 ErrorCode::INVALID_PROGRAM,
                 "argument 0 is float32[1] on cuda:0, expected a tensor on the CPU"));
}

// Views.

/// Calls `executorch_prim::et_view.default`.
Status view(const TensorPtr& source, std::vector<EValue> sizes, const TensorPtr& result) {
  std::vector<EValue*> items;
  for (EValue& size : sizes) {
    items.push_back(&size);
  }
  EValue from = source.get();
  EValue list = IntList{{items.data(), items.size()}};
  EValue to = result.get();
  return call("executorch_prim::et_view.default", {varying(from), varying(list), varying(to)});
}

void a_view_has_other_sizes_over_the_same_data() {
  const TensorPtr source = floats({2, 6});
  const TensorPtr result = floats({3, 4}, kDynamic);
  CHECK(view(source, {number(3), number(4)}, result).ok());
  CHECK(result->data() == source->data() && has_sizes(result, {3, 4}));
}

void one_size_of_a_view_may_be_left_open() {
  const TensorPtr source = floats({4, 6}, kDynamic);
  const TensorPtr result = floats({8, 3}, kDynamic);
  CHECK(source->resize({Sizes{2, 6}.data(), 2}).ok());
  CHECK(view(source, {number(-1), number(3)}, result).ok());
  CHECK(has_sizes(result, {4, 3}));
}

void a_view_of_no_elements_is_possible() {
  const TensorPtr source = floats({0, 6});
  const TensorPtr result = floats({2, 0}, kDynamic);
  CHECK(view(source, {number(2), number(0)}, result).ok());
  CHECK(is_error(view(source, {number(-1), number(0)}, result), ErrorCode::INVALID_ARGUMENT,
                 "the sizes multiply to 0 without the unknown one"));
}

void sizes_that_do_not_fit_are_an_error() {
  const TensorPtr source = floats({2, 6});
  const TensorPtr result = floats({3, 4}, kDynamic);
  const auto fails = [&](std::vector<EValue> sizes, const char* part) {
    return is_error(view(source, std::move(sizes), result), ErrorCode::INVALID_ARGUMENT, part);
  };
  const EValue large = std::int64_t{1} << 62;
  CHECK(fails({number(3), number(3)},
              "float32[2, 6] on cpu:0 cannot be viewed: the sizes multiply "
              "to 9"));
  CHECK(fails({number(-1), number(5)}, "the sizes multiply to 5 without the unknown one"));
  CHECK(fails({number(-1), number(-1)}, "size 1 is -1"));
  CHECK(fails({number(-2), number(6)}, "size 0 is -2"));
  CHECK(fails({large, large}, "more than 64 bits can count"));
  CHECK(fails({0.5}, "size 0 is float"));
  CHECK(fails(std::vector<EValue>(17, number(1)), "there are 17 sizes"));
  CHECK(fails({number(12)}, "it has 2 dimensions, not 1"));
}

void a_view_cannot_grow_beyond_its_data() {
  const TensorPtr source = floats({2, 6});
  const TensorPtr result = floats({3, 400}, kDynamic);
  CHECK(is_error(view(source, {number(3), number(4)}, result), ErrorCode::INVALID_PROGRAM,
                 "it could be resized to more than the memory holds"));
}

void a_view_has_the_type_the_device_and_the_order_of_its_source() {
  std::array<float, 4> memory{};
  const std::vector<std::uint8_t> turned = {1, 0};
  const TensorPtr source = floats({2, 2});
  const auto fails = [&](ScalarType type, Device device, const std::vector<std::uint8_t>& order,
                         const char* part) {
    const TensorPtr result =
        make_tensor_ptr(Sizes{2, 2}, type, memory.data(), device, order).value();
    return is_error(view(source, {number(2), number(2)}, result), ErrorCode::INVALID_PROGRAM, part);
  };
  CHECK(fails(ScalarType::INT, kCpu, {}, "another element type or device"));
  CHECK(fails(ScalarType::FLOAT, kCuda0, {}, "another element type or device"));
  CHECK(fails(ScalarType::FLOAT, kCpu, turned, "both must be contiguous"));
}

void a_view_of_what_is_read_only_is_too() {
  const TensorPtr source = floats({4});
  const TensorPtr result = floats({2, 2}, kDynamic);
  source->set_read_only(true);
  CHECK(view(source, {number(2), number(2)}, result).ok() && result->is_read_only());
  source->set_read_only(false);
  CHECK(view(source, {number(2), number(2)}, result).ok() && !result->is_read_only());
}

void a_tensor_with_a_place_of_its_own_is_no_view() {
  const TensorPtr source = floats({4});
  EValue from = source.get();
  EValue list = IntList{};
  CHECK(
      is_error(bind("executorch_prim::et_view.default", {fixed(from), varying(list), fixed(from)}),
               ErrorCode::INVALID_PROGRAM, "argument 2 has a place of its own"));
}

// Results of loops.

Status copy_index(const TensorPtr& whole, const TensorPtr& part, std::int64_t index) {
  EValue to = whole.get();
  EValue from = part.get();
  EValue at = number(index);
  return call("executorch_prim::et_copy_index.tensor", {varying(to), varying(from), varying(at)});
}

float element(const TensorPtr& tensor, std::size_t index) {
  return static_cast<const float*>(tensor->data())[index];
}

void a_result_grows_with_each_round() {
  const TensorPtr whole = floats({3, 2}, kDynamic);
  const TensorPtr part = floats({2});
  for (std::int64_t round = 0; round < 3; ++round) {
    static_cast<float*>(part->data())[1] = static_cast<float>(round + 1);
    CHECK(copy_index(whole, part, round).ok() && has_sizes(whole, {round + 1, 2}));
  }
  CHECK(element(whole, 1) == 1 && element(whole, 3) == 2 && element(whole, 5) == 3);
  CHECK(copy_index(whole, part, 0).ok() && has_sizes(whole, {1, 2}));  // the next execution
}

void a_static_result_keeps_its_sizes() {
  const TensorPtr whole = floats({3, 2});
  const TensorPtr part = floats({2});
  static_cast<float*>(part->data())[0] = 7;
  CHECK(copy_index(whole, part, 1).ok() && has_sizes(whole, {3, 2}) && element(whole, 2) == 7);
}

void an_entry_that_is_not_there_is_an_error() {
  const TensorPtr part = floats({2});
  for (const auto dynamism : {kStatic, kDynamic}) {
    const TensorPtr whole = floats({3, 2}, dynamism);
    for (const std::int64_t index :
         {std::int64_t{3}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()}) {
      CHECK(is_error(copy_index(whole, part, index), ErrorCode::INVALID_ARGUMENT,
                     "float32[3, 2] on cpu:0 has no entry"));
    }
  }
  CHECK(is_error(copy_index(floats({}), part, 0), ErrorCode::INVALID_ARGUMENT, "has no entry 0"));
}

void what_is_no_entry_is_not_copied() {
  const auto fails = [](const TensorPtr& whole, const TensorPtr& part, const char* text) {
    return is_error(copy_index(whole, part, 0), ErrorCode::INVALID_ARGUMENT, text);
  };
  CHECK(fails(floats({3, 2}), floats({3}), "float32[3] on cpu:0 is no entry of float32[3, 2]"));
  CHECK(
      fails(floats({3, 2}, kDynamic), floats({3}), "size 3 at dimension 1 is beyond the bound 2"));
  CHECK(fails(floats({3, 2}, kDynamic), floats({2, 1}), "is no entry of"));
  CHECK(fails(floats({3, 2}), empty_tensor_ptr(Sizes{2}, ScalarType::INT).value(),
              "int32[2] on cpu:0 is no entry of"));
}

void a_constant_is_not_a_result() {
  const TensorPtr whole = floats({3, 2});
  const TensorPtr part = floats({2});
  EValue to = whole.get();
  EValue from = part.get();
  EValue at = number(0);
  const char* const name = "executorch_prim::et_copy_index.tensor";
  CHECK(is_error(bind(name, {constant(to), varying(from), varying(at)}), ErrorCode::INVALID_PROGRAM,
                 "argument 0 is a constant, and is written to"));
  whole->set_read_only(true);
  CHECK(is_error(call(name, {varying(to), varying(from), varying(at)}), ErrorCode::INVALID_PROGRAM,
                 "expected a tensor that may be written to"));
}

void a_result_without_memory_is_an_error() {
  const TensorPtr whole = floats({3, 2});
  whole->set_data(nullptr);
  CHECK(is_error(copy_index(whole, floats({2}), 0), ErrorCode::INVALID_STATE, "has no memory"));
  CHECK(copy_index(floats({3, 0}), floats({0}), 0).ok());
}

void a_result_may_overlap_its_part() {
  std::array<float, 6> memory = {1, 2, 3, 4, 5, 6};
  const TensorPtr whole = make_tensor_ptr(Sizes{3, 2}, ScalarType::FLOAT, memory.data()).value();
  const TensorPtr part = make_tensor_ptr(Sizes{2}, ScalarType::FLOAT, memory.data() + 1).value();
  CHECK(copy_index(whole, part, 0).ok() && memory[0] == 2 && memory[1] == 3);
}

void placewire_is_required_by_a_call_without_arguments() {
  CHECK(call("placewire::require", {}).ok());
}

constexpr std::array kCases = {
    CASE(a_size_and_a_stride_are_read),
    CASE(the_sizes_of_now_are_read),
    CASE(a_dimension_that_is_not_there_is_an_error),
    CASE(the_number_of_elements_is_read),
    CASE(an_element_becomes_a_number_of_its_kind),
    CASE(halves_are_read),
    CASE(what_is_no_single_number_is_an_error),
    CASE(the_element_must_be_on_the_host),
    CASE(a_view_has_other_sizes_over_the_same_data),
    CASE(one_size_of_a_view_may_be_left_open),
    CASE(a_view_of_no_elements_is_possible),
    CASE(sizes_that_do_not_fit_are_an_error),
    CASE(a_view_cannot_grow_beyond_its_data),
    CASE(a_view_has_the_type_the_device_and_the_order_of_its_source),
    CASE(a_view_of_what_is_read_only_is_too),
    CASE(a_tensor_with_a_place_of_its_own_is_no_view),
    CASE(a_result_grows_with_each_round),
    CASE(a_static_result_keeps_its_sizes),
    CASE(an_entry_that_is_not_there_is_an_error),
    CASE(what_is_no_entry_is_not_copied),
    CASE(a_constant_is_not_a_result),
    CASE(a_result_without_memory_is_an_error),
    CASE(a_result_may_overlap_its_part),
    CASE(placewire_is_required_by_a_call_without_arguments),
};

}  // namespace

int main(int argc, char** argv) { return cases::run(argc, argv, kCases); }
