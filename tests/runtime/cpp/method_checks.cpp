// Loads and executes methods on the CPU.
#include <cstdint>
#include <string>
#include <vector>

#include "cases.h"
#include "method_kernels.h"
#include "placewire/runtime/method.h"
#include "programs.h"

namespace {

using placewire::ErrorCode;
using placewire::EValue;
using placewire::Method;
using placewire::MethodOptions;
using placewire::ScalarType;
using placewire::Span;
using placewire::Status;
using testing::Floats;
using testing::Four;
using testing::Kernels;
using testing::load;
using testing::loaded;
using testing::output;
using testing::result;

void a_method_computes() {
  const Kernels kernels;
  const auto method = loaded("add_constant");
  CHECK((result(*method) == Floats{3, 6, 9, 12}));
  CHECK((result(*method) == Floats{3, 6, 9, 12}));
  CHECK(method->meta().name() == "forward");
}

void a_real_file_takes_both_branches() {
  const Kernels kernels;
  for (const bool is_true : {true, false}) {
    const auto method = loaded("cond");
    bool condition = is_true;
    const auto flag = placewire::make_tensor_ptr({}, ScalarType::BOOL, &condition).value();
    std::vector<float> numbers(9, 3.0F);
    std::int64_t sizes[] = {3, 3};
    const auto tensor =
        placewire::make_tensor_ptr(sizes, ScalarType::FLOAT, numbers.data()).value();
    const EValue inputs[] = {flag.get(), tensor.get()};
    CHECK(method->execute(inputs).ok());
    const Floats given = output(*method);
    CHECK(given.size() == 9 && given[0] == (is_true ? 4.0F : 6.0F));
  }
}

void inputs_are_checked() {
  const Kernels kernels;
  const auto method = loaded("add_constant");
  Four four;
  const auto refused = [&](const EValue& value, const char* why) {
    CHECK(cases::is_error(method->set_input(0, value), ErrorCode::INVALID_ARGUMENT, why));
  };
  refused(EValue(), "forward: input 0 is float32[2, 2] on cpu:0, not None");
  refused(four.value({4}), "must be like float32[2, 2] on cpu:0, not float32[4] on cpu:0");
  refused(four.value({4, 1}), "does not fit float32[2, 2] on cpu:0: size 4 at dimension 0, not 2");
  std::int64_t sizes[] = {2, 2};
  const auto integers =
      placewire::make_tensor_ptr(sizes, ScalarType::INT, four.numbers.data()).value();
  refused(integers.get(), "not int32[2, 2] on cpu:0");
  const std::uint8_t order[] = {1, 0};
  const auto transposed =
      placewire::make_tensor_ptr(sizes, ScalarType::FLOAT, four.numbers.data(), {}, order).value();
  refused(transposed.get(), "must have the order of dimensions [0, 1], not [1, 0]");
  const placewire::Device cuda{placewire::DeviceType::CUDA, 0};
  const auto elsewhere =
      placewire::make_tensor_ptr(sizes, ScalarType::FLOAT, four.numbers.data(), cuda).value();
  refused(elsewhere.get(), "not float32[2, 2] on cuda:0");
  CHECK(cases::is_error(method->set_input(1, four.value()), ErrorCode::INVALID_ARGUMENT,
                        "there is no input 1, the method has 1"));
  CHECK(cases::is_error(method->execute(Span<const EValue>()), ErrorCode::INVALID_ARGUMENT,
                        "there are 0 inputs, expected 1"));
  CHECK(cases::is_error(method->output(1), ErrorCode::INVALID_ARGUMENT, "no output 1"));
  CHECK(cases::is_error(method->input(1), ErrorCode::INVALID_ARGUMENT, "no input 1"));
  CHECK((result(*method) == Floats{3, 6, 9, 12}));
}

void numbers_must_be_what_was_exported() {
  const Kernels kernels;
  const auto method = loaded("numbers");
  Four four;
  EValue inputs[] = {std::int64_t{3}, 0.5, true, std::string_view("mode"), EValue(), four.value()};
  CHECK(method->execute(inputs).ok());
  CHECK((output(*method) == Floats{2, 4, 6, 8}));
  const auto refused = [&](std::size_t index, const EValue& value, const char* why) {
    CHECK(cases::is_error(method->set_input(index, value), ErrorCode::INVALID_ARGUMENT, why));
  };
  refused(0, std::int64_t{4},
          "input 0 must be the int 3, as the program was exported with, not "
          "the int 4");
  refused(1, 0.25, "must be the float 0.5");
  refused(2, false, "must be True, as the program was exported with, not False");
  refused(3, std::string_view("other"), "must be the string \"mode\"");
  refused(4, std::int64_t{0}, "must be None");
  refused(0, 3.0, "must be the int 3");
}

void memory_of_the_caller_is_used_where_it_is() {
  const Kernels kernels;
  const auto method = loaded("borrowed");
  CHECK(cases::is_error(method->execute(), ErrorCode::INVALID_STATE, "input 0 was never set"));
  Four four;
  CHECK(method->set_input(0, four.value()).ok());
  CHECK(cases::is_error(method->execute(), ErrorCode::INVALID_STATE,
                        "forward, instruction 0, aten::add.out: output 0 has no memory"));
  Four given({0, 0, 0, 0});
  CHECK(cases::is_error(method->set_output_memory(0, given.numbers.data(), 15),
                        ErrorCode::INVALID_ARGUMENT, "output 0 needs 16 bytes, not 15"));
  CHECK(cases::is_error(method->set_output_memory(0, nullptr, 16), ErrorCode::INVALID_ARGUMENT,
                        "needs 16 bytes, not 0"));
  CHECK(cases::is_error(method->set_output_memory(1, given.numbers.data(), 16),
                        ErrorCode::INVALID_ARGUMENT, "there is no output 1"));
  CHECK(method->set_output_memory(0, given.numbers.data(), 16).ok());
  CHECK(method->execute().ok());
  CHECK((given.numbers == std::array<float, 4>{2, 4, 6, 8}));
  CHECK(method->output(0).value()->tensor()->data() == given.numbers.data());
  const auto planned = loaded("add_constant");
  CHECK(cases::is_error(planned->set_output_memory(0, given.numbers.data(), 16),
                        ErrorCode::INVALID_ARGUMENT, "has memory of the method already"));
}

void memory_of_the_caller_must_be_aligned() {
  const Kernels kernels;
  const auto method = loaded("borrowed");
  std::vector<std::uint8_t> bytes(64);
  std::int64_t sizes[] = {2, 2};
  const auto odd = placewire::make_tensor_ptr(sizes, ScalarType::FLOAT, bytes.data() + 1).value();
  CHECK(cases::is_error(method->set_input(0, odd.get()), ErrorCode::INVALID_ARGUMENT,
                        "must begin at a multiple of its element size 4"));
  CHECK(cases::is_error(method->set_output_memory(0, bytes.data() + 1, 16),
                        ErrorCode::INVALID_ARGUMENT, "multiple of its element size 4"));
}

void sizes_may_change_within_their_bounds() {
  const Kernels kernels;
  const auto method = loaded("borrowed_dynamic");
  Four four;
  Four given({0, 0, 0, 0});
  CHECK(method->set_output_memory(0, given.numbers.data(), 16).ok());
  for (const std::int64_t rows : {1, 2, 0}) {
    CHECK(method->set_input(0, four.value({rows, 2})).ok());
    CHECK(method->execute().ok());
    CHECK(method->output(0).value()->tensor()->sizes()[0] == rows);
  }
  CHECK(cases::is_error(method->set_input(0, four.value({3, 1})), ErrorCode::INVALID_ARGUMENT,
                        "does not fit float32[<=2, <=2] on cpu:0: size 3 at dimension 0, not at "
                        "most 2"));
}

void an_input_grows_no_further_than_the_callers_memory() {
  const Kernels kernels;
  const auto method = loaded("writes_input");
  Four four;
  const auto bounds = [&method] { return method->input(0).value()->tensor()->bounds()[0]; };
  CHECK(method->set_input(0, four.value({1, 2})).ok() && bounds() == 1);
  CHECK(method->execute().ok());
  CHECK(cases::is_error(method->set_input(0, four.value({3, 1})), ErrorCode::INVALID_ARGUMENT,
                        "does not fit float32[<=2, <=2] on cpu:0: size 3 at dimension 0, not at "
                        "most 2"));
  CHECK(bounds() == 1);
  CHECK(method->set_input(0, four.value({2, 2})).ok() && bounds() == 2);
}

void a_tensor_without_memory_is_an_error() {
  const Kernels kernels;
  const auto method = loaded("without_memory");
  Four four;
  CHECK(method->set_input(0, four.value()).ok());
  CHECK(cases::is_error(method->execute(), ErrorCode::INVALID_PROGRAM,
                        "forward, instruction 0, aten::add.out: value 2 has no memory"));
}

void a_constant_is_not_written() {
  const Kernels kernels;
  const auto method = loaded("branch");
  Four four;
  CHECK(method->set_input(0, four.value()).ok());
  CHECK(cases::is_error(method->execute(), ErrorCode::INVALID_PROGRAM,
                        "forward, instruction 1, aten::add.out: it writes value 1, which is "
                        "read-only"));
}

void a_state_is_kept_between_executions() {
  const Kernels kernels;
  // The file has another list of initial values before the one that is meant.
  const auto method = loaded("counter");
  CHECK((result(*method) == Floats{2, 4, 6, 8}));
  CHECK((result(*method) == Floats{3, 6, 9, 12}));
}

void a_state_without_an_initial_value_is_zero() {
  const Kernels kernels;
  CHECK((result(*loaded("zero_state")) == Floats{1, 2, 3, 4}));
}

void a_loop_ends_and_begins_anew() {
  const Kernels kernels;
  const auto method = loaded("loop");
  CHECK((result(*method) == Floats{4, 32, 303, 3004}));
  CHECK((result(*method) == Floats{4, 32, 303, 3004}));
  // The counter stands at 1 after this error, and at 0 in the next execution.
  kernels.add.kernel->failing_run = kernels.add.kernel->runs + 2;
  Four four;
  CHECK(method->set_input(0, four.value()).ok());
  CHECK(cases::is_error(method->execute(), ErrorCode::INTERNAL,
                        "forward, instruction 0, aten::add.out: it was told to fail"));
  CHECK((result(*method) == Floats{4, 32, 303, 3004}));
}

void an_endless_loop_is_an_error() {
  const auto method = loaded("endless");
  CHECK(cases::is_error(method->execute(), ErrorCode::INVALID_PROGRAM,
                        "after 10000000 instructions"));
}

void chains_run_one_after_the_other() {
  const Kernels kernels;
  const auto method = loaded("chains");
  CHECK((result(*method) == Floats{3, 6, 9, 12}));
  kernels.add.kernel->failing_run = kernels.add.kernel->runs + 2;
  Four four;
  const EValue value = four.value();
  CHECK(cases::is_error(method->execute(Span<const EValue>(&value, 1)), ErrorCode::INTERNAL,
                        "forward, chain 1, instruction 0, aten::add.out: "));
}

void everything_that_is_missing_is_listed() {
  CHECK(cases::is_error(load("missing"), ErrorCode::OPERATOR_MISSING,
                        "forward: no kernel for test::first.out, test::second; no backend nobody "
                        "(known: none): give one"));
  CHECK(cases::is_error(load("missing"), ErrorCode::OPERATOR_MISSING,
                        "; no allocator for cuda:0, cuda:1: register_cuda_allocator"));
}

void a_missing_method_is_named() {
  CHECK(cases::is_error(load("add_constant", {}, "backward"), ErrorCode::NOT_FOUND,
                        "the program has no method \"backward\"; it has \"forward\""));
  CHECK(cases::is_error(Method::load(nullptr, "forward"), ErrorCode::INVALID_ARGUMENT, "null"));
}

void a_kernel_that_refuses_is_an_error_with_its_place() {
  const Kernels kernels;
  const auto scope = placewire::ScopedKernel::install(
      "aten::add.out", placewire::function_kernel(1, [](Span<EValue* const>) { return Status(); }));
  CHECK(cases::is_error(load("add_constant"), ErrorCode::INVALID_PROGRAM,
                        "forward, instruction 0, aten::add.out: the kernel takes 1 arguments"));
}

void planned_tensors_must_be_aligned() {
  const Kernels kernels;
  CHECK(cases::is_error(load("misaligned"), ErrorCode::NOT_SUPPORTED,
                        "value 0 is planned at byte 1 of its buffer, which is no multiple of its "
                        "element size 4"));
}

void constant_arguments_are_fixed() {
  const Kernels kernels;
  const auto method = loaded("add_constant");
  CHECK(kernels.add.kernel->last_fixed == 5);
  CHECK(kernels.add.kernel->last_constant == 2);  // the constant and the number
  const auto borrowed = loaded("borrowed");
  CHECK(kernels.add.kernel->last_fixed == 1);  // the number
}

void memory_that_is_given_is_used() {
  const Kernels kernels;
  const std::size_t sizes[] = {100};
  const placewire::Device devices[] = {{}};
  MethodOptions options;
  options.planned_memory = placewire::PlannedMemory::create(sizes, devices).value();
  const auto method = loaded("add_constant", options);
  CHECK(&method->planned_memory() == options.planned_memory.get());
  CHECK((result(*method) == Floats{3, 6, 9, 12}));
  const std::size_t few[] = {63};
  options.planned_memory = placewire::PlannedMemory::create(few, devices).value();
  CHECK(cases::is_error(load("add_constant", options), ErrorCode::INVALID_ARGUMENT,
                        "buffer 0 has 63 bytes of 64"));
  options.planned_memory = placewire::PlannedMemory::create({}, {}).value();
  CHECK(cases::is_error(load("add_constant", options), ErrorCode::INVALID_ARGUMENT,
                        "it has 0 buffers of 1"));
  CHECK(cases::is_error(placewire::PlannedMemory::create(sizes, {}), ErrorCode::INVALID_ARGUMENT,
                        "there are 1 sizes, 0 devices"));
}

}  // namespace

int main(int argc, char** argv) {
  return cases::run(argc, argv,
                    std::array{
                        CASE(a_method_computes),
                        CASE(a_real_file_takes_both_branches),
                        CASE(inputs_are_checked),
                        CASE(numbers_must_be_what_was_exported),
                        CASE(memory_of_the_caller_is_used_where_it_is),
                        CASE(memory_of_the_caller_must_be_aligned),
                        CASE(sizes_may_change_within_their_bounds),
                        CASE(an_input_grows_no_further_than_the_callers_memory),
                        CASE(a_tensor_without_memory_is_an_error),
                        CASE(a_constant_is_not_written),
                        CASE(a_state_is_kept_between_executions),
                        CASE(a_state_without_an_initial_value_is_zero),
                        CASE(a_loop_ends_and_begins_anew),
                        CASE(an_endless_loop_is_an_error),
                        CASE(chains_run_one_after_the_other),
                        CASE(everything_that_is_missing_is_listed),
                        CASE(a_missing_method_is_named),
                        CASE(a_kernel_that_refuses_is_an_error_with_its_place),
                        CASE(planned_tensors_must_be_aligned),
                        CASE(constant_arguments_are_fixed),
                        CASE(memory_that_is_given_is_used),
                    });
}
