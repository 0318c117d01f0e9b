// Packs objects with the generated writer and prints what came out: bytes in hex, or the problem.
//
// test_writer.py builds the same objects in Python and compares.

#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "placewire/schema/device_info/writer.h"
#include "placewire/schema/program/verifier.h"
#include "placewire/schema/program/writer.h"

namespace {

using namespace placewire::schema;
using namespace placewire::schema::program::objects;

void print(std::string_view name, const PackResult& result,
           const std::vector<std::uint8_t>& bytes) {
  std::printf("%.*s ", static_cast<int>(name.size()), name.data());
  if (result) {
    for (const std::uint8_t byte : bytes) std::printf("%02x", byte);
  } else {
    const std::string_view path = result.path();
    const std::string_view problem = text(result.problem());
    std::printf("%.*s: %.*s", static_cast<int>(path.size()), path.data(),
                static_cast<int>(problem.size()), problem.data());
  }
  std::printf("\n");
}

template <class T>
void pack_and_print(std::string_view name, const T& object, const Alignments& alignments = {}) {
  std::vector<std::uint8_t> bytes;
  const PackResult result = pack(object, bytes, alignments);
  print(name, result, bytes);
}

EValue value(decltype(EValue::val) val) {
  EValue result;
  result.val = std::move(val);
  return result;
}

Tensor tensor() {
  Tensor result;
  result.scalar_type = program::ScalarType::FLOAT;
  result.sizes = {2, -1, std::numeric_limits<std::int32_t>::max()};
  result.dim_order = {0, 1, 2};
  result.requires_grad = true;
  result.allocation_info.emplace().memory_offset_low = 0xFFFFFFFF;
  ExtraTensorInfo& info = result.extra_tensor_info.emplace();
  info.mutable_data_segments_idx = std::numeric_limits<std::uint64_t>::max();
  info.fully_qualified_name = "größe";
  info.device_type = program::DeviceType::CUDA;
  info.device_index = -1;
  return result;
}

Program whole_program() {
  ExecutionPlan plan;
  plan.name = "forward";
  plan.container_meta_type = ContainerMetadata{};
  plan.values.push_back(value(Null{}));
  plan.values.push_back(value(Int{std::numeric_limits<std::int64_t>::min()}));
  plan.values.push_back(value(Bool{true}));
  plan.values.push_back(value(Double{-0.0}));
  plan.values.push_back(value(Double{std::numeric_limits<double>::quiet_NaN()}));
  plan.values.push_back(value(tensor()));
  plan.values.push_back(value(tensor()));
  plan.values.push_back(value(String{""}));
  plan.values.push_back(value(IntList{{1, -2}}));
  plan.values.push_back(value(DoubleList{{std::numeric_limits<double>::infinity()}}));
  plan.values.push_back(value(BoolList{{true, false, true}}));
  plan.values.push_back(value(OptionalTensorList{{-1}}));
  Chain chain;
  chain.instructions.emplace_back().instr_args = KernelCall{0, {1, 2, 2}};
  chain.instructions.emplace_back().instr_args = JumpFalseCall{1, 0};
  chain.stacktrace.emplace().emplace_back().items.push_back({"model.py", 7, "forward", "x + y"});
  plan.chains.push_back(chain);
  plan.operators = {{"aten::add", "out"}, {"aten::mul", ""}};
  plan.non_const_buffer_sizes = {0, std::int64_t{1} << 40};
  plan.non_const_buffer_device.emplace().push_back({1, program::DeviceType::CUDA, 0});
  Program result;
  result.execution_plan = {plan, plan};
  result.constant_buffer = {Buffer{}, Buffer{std::vector<std::uint8_t>(40'000, 7)}, {{1, 2, 3}}};
  result.segments = {{128, 5}};
  result.constant_segment = SubsegmentOffsets{0, {0, 16}};
  result.mutable_data_segments.emplace();
  return result;
}

void print_packed() {
  pack_and_print("null", Null{});
  pack_and_print("tensor", tensor());
  pack_and_print("program", whole_program());
  Alignments alignments;
  alignments.program_Buffer_storage = 256;
  alignments.program_Tensor_sizes = 64;
  pack_and_print("aligned", whole_program(), alignments);
  device_info::objects::DeviceInfo device;
  device.device_type = program::DeviceType::CUDA;
  device.requirements.emplace().architecture = "sm_90";
  std::vector<std::uint8_t> bytes;
  print("devices", device_info::pack_device_table({{device, device}}, bytes), bytes);
}

void print_problems() {
  Program program = whole_program();
  program.execution_plan[1].container_meta_type.reset();
  pack_and_print("absent_table", program);
  program = whole_program();
  program.execution_plan[0].values[3].val = std::monostate{};
  pack_and_print("absent_union", program);
  program.execution_plan[0].values[3].val = Box<Null>();
  pack_and_print("empty_union", program);
  program = whole_program();
  std::get<Box<Tensor>>(program.execution_plan[0].values[6].val)->scalar_type =
      static_cast<program::ScalarType>(99);
  pack_and_print("unknown_enum_value", program);
  program = whole_program();
  program.execution_plan[0].chains[0].stacktrace->front().items[0].name = "\xED\xA0\x80";
  pack_and_print("not_utf8", program);
}

/// A program that fails must leave the caller's bytes alone.
void print_untouched() {
  std::vector<std::uint8_t> bytes{1, 2, 3};
  const PackResult result = pack(EValue{}, bytes);
  std::printf("untouched %s\n", !result && bytes.size() == 3 ? "yes" : "no");
}

void print_verified() {
  std::vector<std::uint8_t> bytes;
  const bool is_packed = program::pack_program(whole_program(), bytes).ok();
  const bool is_sound = program::verify_program({bytes.data(), bytes.size()}).ok();
  std::printf("verified %s\n", is_packed && is_sound ? "yes" : "no");
}

}  // namespace

int main() {
  print_packed();
  print_problems();
  print_untouched();
  print_verified();
}
