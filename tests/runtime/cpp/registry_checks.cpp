// Checks of the registries of kernels and backends, and of kernels that are functions.
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cases.h"
#include "kernel_call.h"
#include "placewire/runtime/backend.h"
#include "placewire/runtime/kernel.h"

namespace {

using cases::fixed;
using cases::is_error;
using placewire::Backend;
using placewire::backend_ids;
using placewire::ErrorCode;
using placewire::EValue;
using placewire::find_backend;
using placewire::find_kernel;
using placewire::function_kernel;
using placewire::Kernel;
using placewire::register_backend;
using placewire::register_kernel;
using placewire::ScopedKernel;
using placewire::Span;
using placewire::Status;
using placewire::unregister_backend;
using placewire::unregister_kernel;

const char* const kName = "test::op.out";

std::shared_ptr<Kernel> some_kernel() {
  return function_kernel(0, [](Span<EValue* const>) { return Status(); });
}

// Kernels.

void a_registered_kernel_is_found_until_it_is_unregistered() {
  const auto kernel = some_kernel();
  CHECK(find_kernel(kName) == nullptr);
  CHECK(register_kernel(kName, kernel).ok());
  CHECK(find_kernel(kName) == kernel && find_kernel("test::op") == nullptr);
  CHECK(unregister_kernel(kName).value() == kernel);
  CHECK(find_kernel(kName) == nullptr);
  CHECK(is_error(unregister_kernel(kName), ErrorCode::NOT_FOUND,
                 "no kernel for \"test::op.out\" is registered"));
}

void a_second_kernel_is_an_error_and_changes_nothing() {
  const auto kernel = some_kernel();
  CHECK(register_kernel(kName, kernel).ok());
  CHECK(is_error(register_kernel(kName, some_kernel()), ErrorCode::REGISTRATION_ALREADY_REGISTERED,
                 "a kernel for \"test::op.out\" is registered already"));
  CHECK(unregister_kernel(kName).value() == kernel);
}

void a_kernel_needs_a_name_and_an_object() {
  CHECK(is_error(register_kernel("", some_kernel()), ErrorCode::INVALID_ARGUMENT, "no name"));
  CHECK(is_error(register_kernel(kName, nullptr), ErrorCode::INVALID_ARGUMENT, "is null"));
  CHECK(is_error(ScopedKernel::install("", some_kernel()), ErrorCode::INVALID_ARGUMENT, "no name"));
  CHECK(is_error(ScopedKernel::install(kName, nullptr), ErrorCode::INVALID_ARGUMENT, "is null"));
  CHECK(find_kernel(kName) == nullptr && find_kernel("") == nullptr);
}

void the_registry_shares_ownership_of_kernels() {
  auto kernel = some_kernel();
  const std::weak_ptr<Kernel> watched = kernel;
  CHECK(register_kernel(kName, std::move(kernel)).ok());
  CHECK(!watched.expired());
  CHECK(unregister_kernel(kName).ok());
  CHECK(watched.expired());
}

void the_youngest_scope_covers_what_is_registered() {
  const auto registered = some_kernel();
  const auto outer = some_kernel();
  const auto inner = some_kernel();
  CHECK(register_kernel(kName, registered).ok());
  {
    const auto first = ScopedKernel::install(kName, outer);
    CHECK(find_kernel(kName) == outer);
    {
      const auto second = ScopedKernel::install(kName, inner);
      CHECK(find_kernel(kName) == inner);
    }
    CHECK(find_kernel(kName) == outer);
    CHECK(unregister_kernel(kName).value() == registered && find_kernel(kName) == outer);
    CHECK(register_kernel(kName, registered).ok() && find_kernel(kName) == outer);
  }
  CHECK(unregister_kernel(kName).value() == registered && find_kernel(kName) == nullptr);
}

void scopes_of_kernels_end_in_any_order() {
  const auto outer = some_kernel();
  const auto inner = some_kernel();
  auto first = std::make_unique<ScopedKernel>(ScopedKernel::install(kName, outer).value());
  auto second = std::make_unique<ScopedKernel>(ScopedKernel::install(kName, inner).value());
  first.reset();
  CHECK(find_kernel(kName) == inner);
  second.reset();
  CHECK(find_kernel(kName) == nullptr);
}

void moving_hands_the_scope_of_a_kernel_over() {
  const auto kernel = some_kernel();
  auto source = std::make_unique<ScopedKernel>(ScopedKernel::install(kName, kernel).value());
  ScopedKernel target(std::move(*source));
  source.reset();
  CHECK(find_kernel(kName) == kernel);
  auto other =
      std::make_unique<ScopedKernel>(ScopedKernel::install("test::other", some_kernel()).value());
  *other = std::move(target);
  CHECK(find_kernel(kName) == kernel);
  other.reset();
  CHECK(find_kernel(kName) == nullptr);
}

void a_kernel_may_use_the_registry_while_it_is_destroyed() {
  struct Talkative final : Kernel {
    ~Talkative() override { CHECK(find_kernel(kName) == nullptr); }
    placewire::Result<std::unique_ptr<placewire::BoundKernel>> bind(
        Span<const placewire::KernelArgument>) override {
      return placewire::Error{ErrorCode::NOT_SUPPORTED, ""};
    }
  };
  CHECK(register_kernel(kName, std::make_shared<Talkative>()).ok());
  CHECK(unregister_kernel(kName).ok());
  {
    const auto scope = ScopedKernel::install(kName, std::make_shared<Talkative>());
  }
}

void the_name_of_an_operator_has_its_overload() {
  CHECK(placewire::kernel_name("aten::add", "out") == "aten::add.out");
  CHECK(placewire::kernel_name("aten::sym_numel", "") == "aten::sym_numel");
}

void names_in_messages_are_printable() {
  CHECK(is_error(unregister_kernel("\n\xff"), ErrorCode::NOT_FOUND, "\"\\x0a\\xff\""));
}

// Kernels that are functions.

void a_function_gets_the_values_at_each_run() {
  EValue value = std::int64_t{1};
  std::vector<EValue*> seen;
  const auto kernel = function_kernel(1, [&seen](Span<EValue* const> values) {
    seen.push_back(values[0]);
    *values[0] = *values[0]->get_if<std::int64_t>() + 1;
    return Status();
  });
  const cases::Arguments arguments = {fixed(value)};
  const auto bound = kernel->bind(arguments);
  CHECK(bound.value()->run().ok() && bound.value()->run().ok());
  CHECK(seen == std::vector<EValue*>(2, &value) && *value.get_if<std::int64_t>() == 3);
}

void another_number_of_arguments_is_an_error_at_load() {
  EValue value;
  const cases::Arguments arguments = {fixed(value), fixed(value)};
  CHECK(is_error(some_kernel()->bind(arguments), ErrorCode::INVALID_PROGRAM,
                 "takes 0 arguments, the returned values included; the call has 2"));
}

void what_a_function_answers_is_what_the_run_says() {
  const auto kernel = function_kernel(0, [](Span<EValue* const>) -> Status {
    return placewire::Error{ErrorCode::OUT_OF_RESOURCES, "no more of them"};
  });
  CHECK(is_error(kernel->bind({}).value()->run(), ErrorCode::OUT_OF_RESOURCES, "no more of them"));
}

void a_bound_call_outlives_its_kernel() {
  auto counter = std::make_shared<int>(0);
  auto kernel = function_kernel(0, [counter](Span<EValue* const>) {
    ++*counter;
    return Status();
  });
  const auto bound = kernel->bind({});
  kernel.reset();
  CHECK(bound.value()->run().ok() && *counter == 1);
}

// Backends.

struct NamedBackend final : Backend {
  explicit NamedBackend(std::string id) : name(std::move(id)) {}
  [[nodiscard]] std::string_view id() const noexcept override { return name; }
  [[nodiscard]] placewire::Result<std::unique_ptr<placewire::Delegate>> load(
      const placewire::DelegateDescription&) override {
    return placewire::Error{ErrorCode::NOT_SUPPORTED, ""};
  }
  std::string name;
};

void a_registered_backend_is_found_until_it_is_unregistered() {
  const auto backend = std::make_shared<NamedBackend>("mine");
  CHECK(find_backend("mine") == nullptr && backend_ids().empty());
  CHECK(register_backend(backend).ok());
  CHECK(find_backend("mine") == backend && find_backend("min") == nullptr);
  CHECK(unregister_backend("mine").value() == backend && find_backend("mine") == nullptr);
  CHECK(is_error(unregister_backend("mine"), ErrorCode::NOT_FOUND,
                 "no backend \"mine\" is registered"));
}

void a_second_backend_of_an_id_is_an_error_and_changes_nothing() {
  const auto backend = std::make_shared<NamedBackend>("mine");
  CHECK(register_backend(backend).ok());
  CHECK(is_error(register_backend(std::make_shared<NamedBackend>("mine")),
                 ErrorCode::REGISTRATION_ALREADY_REGISTERED,
                 "a backend \"mine\" is registered already"));
  CHECK(unregister_backend("mine").value() == backend);
}

void a_backend_needs_an_id_and_an_object() {
  CHECK(is_error(register_backend(nullptr), ErrorCode::INVALID_ARGUMENT, "null"));
  CHECK(is_error(register_backend(std::make_shared<NamedBackend>("")), ErrorCode::INVALID_ARGUMENT,
                 "no id"));
}

void the_ids_of_backends_are_sorted() {
  for (const char* const id : {"b", "c", "a"}) {
    CHECK(register_backend(std::make_shared<NamedBackend>(id)).ok());
  }
  CHECK((backend_ids() == std::vector<std::string>{"a", "b", "c"}));
  for (const std::string& id : backend_ids()) {
    CHECK(unregister_backend(id).ok());
  }
}

constexpr std::array kCases = {
    CASE(a_registered_kernel_is_found_until_it_is_unregistered),
    CASE(a_second_kernel_is_an_error_and_changes_nothing),
    CASE(a_kernel_needs_a_name_and_an_object),
    CASE(the_registry_shares_ownership_of_kernels),
    CASE(the_youngest_scope_covers_what_is_registered),
    CASE(scopes_of_kernels_end_in_any_order),
    CASE(moving_hands_the_scope_of_a_kernel_over),
    CASE(a_kernel_may_use_the_registry_while_it_is_destroyed),
    CASE(the_name_of_an_operator_has_its_overload),
    CASE(names_in_messages_are_printable),
    CASE(a_function_gets_the_values_at_each_run),
    CASE(another_number_of_arguments_is_an_error_at_load),
    CASE(what_a_function_answers_is_what_the_run_says),
    CASE(a_bound_call_outlives_its_kernel),
    CASE(a_registered_backend_is_found_until_it_is_unregistered),
    CASE(a_second_backend_of_an_id_is_an_error_and_changes_nothing),
    CASE(a_backend_needs_an_id_and_an_object),
    CASE(the_ids_of_backends_are_sorted),
};

}  // namespace

int main(int argc, char** argv) { return cases::run(argc, argv, kCases); }
