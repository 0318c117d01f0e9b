// Modules: methods that are loaded when they are first used, that share memory, and from threads.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cases.h"
#include "method_kernels.h"
#include "placewire/runtime/module.h"
#include "programs.h"

namespace {

using placewire::ErrorCode;
using placewire::EValue;
using placewire::Method;
using placewire::Module;
using placewire::ModuleOptions;
using placewire::Span;
using placewire::Status;
using testing::Floats;
using testing::Four;
using testing::Kernels;

ModuleOptions sharing() {
  ModuleOptions options;
  options.share_memory_arenas = true;
  return options;
}

Floats run(Module& module, const char* method) {
  Four four;
  const EValue input = four.value();
  const auto outputs = module.execute(method, Span<const EValue>(&input, 1));
  if (!outputs.ok()) {
    std::printf("%s\n", outputs.error().message.c_str());
    return {};
  }
  return testing::floats_of(outputs.value()[0]);
}

void a_method_is_loaded_when_it_is_first_used() {
  const Kernels kernels;
  const auto module = Module::open(testing::path_of("shared_counters")).value();
  CHECK(kernels.add.kernel->bindings == 0);
  CHECK((run(*module, "forward") == Floats{2, 4, 6, 8}));
  CHECK(kernels.add.kernel->bindings == 1);
  Method* const first = module->method("forward").value();
  CHECK(module->method("forward").value() == first);
  CHECK(kernels.add.kernel->bindings == 1);
}

void methods_have_memory_of_their_own() {
  const Kernels kernels;
  const auto module = Module::open(testing::path_of("shared_counters")).value();
  CHECK((run(*module, "forward") == Floats{2, 4, 6, 8}));
  CHECK((run(*module, "second") == Floats{2, 4, 6, 8}));
}

void methods_may_share_their_state() {
  const Kernels kernels;
  const auto module = Module::open(testing::path_of("shared_counters"), sharing()).value();
  CHECK((run(*module, "forward") == Floats{2, 4, 6, 8}));
  // It is loaded only now, and does not reset what the first has changed.
  CHECK((run(*module, "second") == Floats{3, 6, 9, 12}));
  CHECK((run(*module, "forward") == Floats{4, 8, 12, 16}));
}

void methods_on_different_devices_cannot_share() {
  const Kernels kernels;
  const testing::Simulated cuda;
  const auto module = Module::open(testing::path_of("elsewhere"), sharing()).value();
  CHECK(cases::is_error(module->method("forward"), ErrorCode::INVALID_ARGUMENT,
                        "planned buffer 0 is on cpu:0 in one, and on cuda:0 in second"));
  CHECK(Module::open(testing::path_of("elsewhere")).value()->method("forward").ok());
}

void memory_is_shared_on_devices_too() {
  const testing::Simulated cuda;
  const auto module = Module::open(testing::path_of("device_copy"), sharing()).value();
  CHECK((run(*module, "forward") == Floats{1, 2, 3, 4}));
}

void errors_are_those_of_the_calls() {
  const Kernels kernels;
  CHECK(cases::is_error(Module::open("/nowhere/x.pte"), ErrorCode::ACCESS_FAILED,
                        "cannot read \"/nowhere/x.pte\": No such file"));
  CHECK(cases::is_error(Module::open("/"), ErrorCode::ACCESS_FAILED,
                        "it is a folder; name a .pte file"));
  CHECK(cases::is_error(Module::open("/dev/null"), ErrorCode::ACCESS_FAILED,
                        "cannot read \"/dev/null\": it is no regular file"));
  const auto module = Module::open(testing::path_of("add_constant")).value();
  CHECK(cases::is_error(module->method("backward"), ErrorCode::NOT_FOUND, "no method"));
  CHECK(cases::is_error(module->forward(Span<const EValue>()), ErrorCode::INVALID_ARGUMENT,
                        "there are 0 inputs, expected 1"));
}

/// A kernel that waits until it is told to go on.
class Gate {
 public:
  Status wait() {
    std::unique_lock lock(mutex_);
    is_reached_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return is_open_; });
    return {};
  }
  void await() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_reached_; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_reached_ = false;
  bool is_open_ = false;
};

void a_method_is_busy_while_it_runs() {
  Gate gate;
  const auto scope = placewire::ScopedKernel::install(
      "aten::add.out",
      placewire::function_kernel(5, [&](Span<EValue* const>) { return gate.wait(); }));
  const testing::Registered copy("aten::copy_", &testing::copy, false);
  const auto module = Module::open(testing::path_of("shared_counters"), sharing()).value();
  Method& first = *module->method("forward").value();
  Method& second = *module->method("second").value();
  Four four;
  const EValue input = four.value();
  std::thread thread([&] { CHECK(first.execute(Span<const EValue>(&input, 1)).ok()); });
  gate.await();
  for (Method* const method : {&first, &second}) {
    CHECK(cases::is_error(method->execute(), ErrorCode::BUSY, "another thread uses the method"));
    CHECK(cases::is_error(method->set_input(0, input), ErrorCode::BUSY, "another thread"));
    CHECK(cases::is_error(method->set_output_memory(0, nullptr, 0), ErrorCode::BUSY, "another"));
  }
  gate.open();
  thread.join();
  CHECK(second.execute(Span<const EValue>(&input, 1)).ok());
}

void threads_load_and_execute() {
  const auto sum = placewire::ScopedKernel::install(
      "aten::add.out", placewire::function_kernel(5, [](Span<EValue* const> arguments) {
        return testing::add(arguments);
      }));
  const testing::Registered copy("aten::copy_", &testing::copy, false);
  const auto copying = placewire::ScopedKernel::install(
      "aten::copy_", placewire::function_kernel(4, [](Span<EValue* const> arguments) {
        return testing::copy(arguments);
      }));
  for (const bool shares : {false, true}) {
    const auto module =
        Module::open(testing::path_of("shared_counters"), shares ? sharing() : ModuleOptions())
            .value();
    std::atomic<int> executed = 0;
    std::vector<std::thread> threads;
    for (int number = 0; number < 4; ++number) {
      threads.emplace_back([&, number] {
        Four four;
        const EValue input = four.value();
        for (int done = 0; done < 50;) {
          const auto outputs = module->execute(number % 2 == 0 ? "forward" : "second",
                                               Span<const EValue>(&input, 1));
          if (outputs.ok()) {
            ++done;
            ++executed;
          } else if (!CHECK(outputs.error().code == ErrorCode::BUSY)) {
            std::printf("%s\n", outputs.error().message.c_str());
            break;
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(executed == 200);
    const float expected = shares ? 202 : 102;
    CHECK(run(*module, "forward")[0] == expected);
  }
}

void threads_share_a_program() {
  const auto program = testing::open("add_constant");
  const auto sum = placewire::ScopedKernel::install(
      "aten::add.out", placewire::function_kernel(5, [](Span<EValue* const> arguments) {
        return testing::add(arguments);
      }));
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        auto method = Method::load(program, "forward");
        CHECK(method.ok());
        CHECK((testing::result(*method.value()) == Floats{3, 6, 9, 12}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

int main(int argc, char** argv) {
  return cases::run(argc, argv,
                    std::array{
                        CASE(a_method_is_loaded_when_it_is_first_used),
                        CASE(methods_have_memory_of_their_own),
                        CASE(methods_may_share_their_state),
                        CASE(methods_on_different_devices_cannot_share),
                        CASE(memory_is_shared_on_devices_too),
                        CASE(errors_are_those_of_the_calls),
                        CASE(a_method_is_busy_while_it_runs),
                        CASE(threads_load_and_execute),
                        CASE(threads_share_a_program),
                    });
}
