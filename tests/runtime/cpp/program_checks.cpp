// Programs: what they find in files, and what they say of methods.
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "cases.h"
#include "placewire/runtime/program.h"
#include "programs.h"

namespace {

using placewire::Device;
using placewire::DeviceType;
using placewire::ErrorCode;
using placewire::OwnedBytes;
using placewire::Program;
using placewire::ScalarType;

std::vector<char> bytes_of(const std::string& name) {
  std::ifstream file(testing::path_of(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void a_buffer_is_on_the_cpu_unless_the_file_says_otherwise() {
  const auto program = testing::open("mlp");
  const auto meta = program->method_meta("forward").value();
  CHECK(meta.memory_planned_buffer_count() == 1);
  CHECK(meta.memory_planned_buffer_size(0).value() == 35840);
  CHECK(meta.memory_planned_buffer_device(0).value() == Device{});
  CHECK(cases::is_error(meta.memory_planned_buffer_device(1), ErrorCode::INVALID_ARGUMENT,
                        "there is no planned buffer 1: the method has 1"));
  CHECK(cases::is_error(meta.memory_planned_buffer_size(1), ErrorCode::INVALID_ARGUMENT,
                        "there is no planned buffer 1"));
}

void a_buffer_is_on_the_device_that_the_file_says() {
  const auto program = testing::open("dev_add");
  const auto meta = program->method_meta("forward").value();
  CHECK(meta.memory_planned_buffer_count() == 2);
  CHECK(meta.memory_planned_buffer_size(0).value() == 32);
  CHECK(meta.memory_planned_buffer_size(1).value() == 48);
  CHECK(meta.memory_planned_buffer_device(0).value() == Device{});
  CHECK((meta.memory_planned_buffer_device(1).value() == Device{DeviceType::CUDA, 0}));
}

void a_method_says_what_it_takes_and_gives() {
  const auto program = testing::open("dyn");
  const auto meta = program->method_meta("forward").value();
  CHECK(meta.name() == "forward" && meta.input_count() == 1 && meta.output_count() == 1);
  const auto input = meta.input(0).value();
  CHECK(input.type == placewire::schema::program::KernelTypes::Tensor && input.tensor);
  CHECK(input.tensor->scalar_type == ScalarType::FLOAT);
  CHECK((input.tensor->sizes == std::vector<std::int64_t>{32, 16}));
  CHECK((input.tensor->dim_order == std::vector<std::uint8_t>{0, 1}));
  CHECK(input.tensor->dynamism == placewire::TensorShapeDynamism::DYNAMIC_BOUND);
  CHECK(input.tensor->device == Device{} && input.tensor->is_memory_planned);
  CHECK(input.tensor->name.empty());
  CHECK(cases::is_error(meta.input(1), ErrorCode::INVALID_ARGUMENT, "there is no input 1"));
  CHECK(cases::is_error(meta.output(7), ErrorCode::INVALID_ARGUMENT, "there is no output 7"));
  CHECK(meta.instruction_count() == 7 && meta.operators().size() == 7);
  CHECK(meta.operators()[0] == "aten::sym_size.int" && meta.backends().empty());
  CHECK(!meta.input_tree().empty() && !meta.output_tree().empty());
}

void a_method_that_takes_numbers_says_so() {
  const auto program = testing::open("numbers");
  const auto meta = program->method_meta("forward").value();
  CHECK(meta.input(0).value().type == placewire::schema::program::KernelTypes::Int);
  CHECK(!meta.input(0).value().tensor && meta.input(5).value().tensor);
}

void a_program_lists_its_methods() {
  const auto program = testing::open("shared_counters");
  CHECK((program->method_names() == std::vector<std::string_view>{"forward", "second"}));
  CHECK(cases::is_error(program->method_meta("third"), ErrorCode::NOT_FOUND,
                        "no method \"third\"; it has \"forward\", \"second\""));
}

void backends_are_listed_once() {
  const auto program = testing::open("dev_addmul");
  const auto backends = program->method_meta("forward").value().backends();
  CHECK((backends == std::vector<std::string_view>{"BackendWithCompilerDemo"}));
}

void named_data_is_found() {
  const auto program = testing::open("aligned");
  CHECK((program->named_data_keys() == std::vector<std::string_view>{"placewire.device_table"}));
  const auto data = program->named_data("placewire.device_table");
  CHECK(data && std::memcmp(data->data() + 4, "PWDT", 4) == 0);
  CHECK(!program->named_data("other"));
}

void a_file_in_memory_is_kept_alive() {
  const auto bytes = std::make_shared<std::vector<char>>(bytes_of("add_constant"));
  const std::weak_ptr<const std::vector<char>> watch = bytes;
  auto program =
      Program::load({placewire::schema::Bytes(bytes->data(), bytes->size()), bytes}).value();
  CHECK(watch.use_count() == 2);
  // What has been checked cannot be changed afterwards.
  std::memset(bytes->data(), 0xff, 100);
  CHECK(program->method_names().size() == 1);
  float constant = 0;
  std::memcpy(&constant, program->constant(1), sizeof constant);
  CHECK(constant == 1.0F);
}

void a_head_that_nobody_can_change_is_read_where_it_lies() {
  const std::vector<char> bytes = bytes_of("add_constant");
  const placewire::schema::Bytes file(bytes.data(), bytes.size());
  const auto lies_inside = [&](bool is_immutable) {
    const auto program = Program::load({file, nullptr, is_immutable}).value();
    const char* const name = program->method_names().at(0).data();
    return name >= bytes.data() && name < bytes.data() + bytes.size();
  };
  CHECK(lies_inside(true));
  CHECK(!lies_inside(false));
}

void a_file_that_is_not_sound_is_refused() {
  const auto refused = [](std::vector<char> bytes, const char* why) {
    const auto program =
        Program::load({placewire::schema::Bytes(bytes.data(), bytes.size()), nullptr});
    CHECK(cases::is_error(program, ErrorCode::INVALID_PROGRAM, why));
  };
  refused({}, "the file cannot be loaded: FILE_TOO_SMALL");
  refused(std::vector<char>(100), "NOT_A_PROGRAM");
  std::vector<char> short_of_data = bytes_of("mlp");
  CHECK(short_of_data.size() > 100);
  short_of_data.resize(short_of_data.size() - 1);
  refused(short_of_data, "FILE_TRUNCATED");
}

void what_is_no_error_is_kept_as_a_warning() {
  const auto program = testing::open("device_copy");
  CHECK(program->warnings().size() == 1);
  CHECK(program->warnings()[0].rule == "CONSTANT_ON_DEVICE");
}

}  // namespace

int main(int argc, char** argv) {
  return cases::run(argc, argv,
                    std::array{
                        CASE(a_buffer_is_on_the_cpu_unless_the_file_says_otherwise),
                        CASE(a_buffer_is_on_the_device_that_the_file_says),
                        CASE(a_method_says_what_it_takes_and_gives),
                        CASE(a_method_that_takes_numbers_says_so),
                        CASE(a_program_lists_its_methods),
                        CASE(backends_are_listed_once),
                        CASE(named_data_is_found),
                        CASE(a_file_in_memory_is_kept_alive),
                        CASE(a_head_that_nobody_can_change_is_read_where_it_lies),
                        CASE(a_file_that_is_not_sound_is_refused),
                        CASE(what_is_no_error_is_kept_as_a_warning),
                    });
}
