// Uses the registry and a simulated device from many threads; for ThreadSanitizer.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "cases.h"
#include "placewire/runtime/backend.h"
#include "placewire/runtime/buffers.h"
#include "placewire/runtime/kernel.h"
#include "placewire/runtime/simulated_device.h"

namespace {

using placewire::Device;
using placewire::DeviceIndex;
using placewire::DeviceMemoryBuffer;
using placewire::DeviceType;
using placewire::ScopedAllocator;
using placewire::SimulatedDevice;

constexpr int kThreads = 8;
constexpr int kRounds = 200;

template <typename Work>
void on_threads(Work work) {
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([&work, number] {
      for (int round = 0; round < kRounds; ++round) {
        work(number);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

void threads_register_and_look_up() {
  const auto device = std::make_shared<SimulatedDevice>(Device{DeviceType::CUDA, 0});
  std::atomic<int> registered = 0;
  std::atomic<int> unregistered = 0;
  on_threads([&](int number) {
    if (number % 2 == 0) {
      registered += placewire::register_allocator(device).ok() ? 1 : 0;
      unregistered += placewire::unregister_allocator(DeviceType::CUDA).ok() ? 1 : 0;
    } else if (const auto found = placewire::find_allocator({DeviceType::CUDA, 0}); found.ok()) {
      CHECK(found.value() == device);
    }
  });
  CHECK(registered > 0 && registered == unregistered);
  CHECK(!placewire::find_allocator({DeviceType::CUDA, 0}).ok());
}

void threads_have_scopes_of_their_own() {
  on_threads([](int number) {
    const Device device{DeviceType::CUDA, static_cast<DeviceIndex>(number)};
    const auto simulated = std::make_shared<SimulatedDevice>(device);
    const auto scope = ScopedAllocator::install(simulated, device.index);
    CHECK(placewire::find_allocator(device).value() == simulated);
  });
  CHECK(!placewire::find_allocator({DeviceType::CUDA, 0}).ok());
}

void threads_allocate_copy_and_free_on_one_device() {
  const Device device{DeviceType::CUDA, 0};
  const auto simulated = std::make_shared<SimulatedDevice>(device);
  const auto scope = ScopedAllocator::install(simulated);
  on_threads([&](int number) {
    const auto buffer = DeviceMemoryBuffer::create(64, device);
    std::uint64_t word = static_cast<std::uint64_t>(number);
    const auto& allocator = buffer.value().allocator();
    CHECK(allocator->copy_host_to_device(buffer.value().data(), &word, 8, 0).ok());
    word = ~std::uint64_t{0};
    CHECK(allocator->copy_device_to_host(&word, buffer.value().data(), 8, 0).ok());
    CHECK(word == static_cast<std::uint64_t>(number));
  });
  CHECK(simulated->live_allocations() == 0);
  CHECK(simulated->count(placewire::DeviceOperation::kAllocate).calls == kThreads * kRounds);
}

void threads_register_and_look_up_kernels() {
  const auto kernel = placewire::function_kernel(
      0, [](placewire::Span<placewire::EValue* const>) { return placewire::Status(); });
  std::atomic<int> registered = 0;
  std::atomic<int> unregistered = 0;
  on_threads([&](int number) {
    if (number % 2 == 0) {
      registered += placewire::register_kernel("test::op", kernel).ok() ? 1 : 0;
      const auto scope = placewire::ScopedKernel::install("test::op", kernel);
      unregistered += placewire::unregister_kernel("test::op").ok() ? 1 : 0;
    } else if (const auto found = placewire::find_kernel("test::op"); found != nullptr) {
      CHECK(found == kernel && found->bind({}).value()->run().ok());
    }
  });
  CHECK(registered > 0 && registered == unregistered);
  CHECK(placewire::find_kernel("test::op") == nullptr);
}

struct SomeBackend final : placewire::Backend {
  [[nodiscard]] std::string_view id() const noexcept override { return "some"; }
  [[nodiscard]] placewire::Result<std::unique_ptr<placewire::Delegate>> load(
      const placewire::DelegateDescription&) override {
    return placewire::Error{placewire::ErrorCode::NOT_SUPPORTED, ""};
  }
};

void threads_register_and_look_up_backends() {
  const auto backend = std::make_shared<SomeBackend>();
  std::atomic<int> registered = 0;
  std::atomic<int> unregistered = 0;
  on_threads([&](int number) {
    if (number % 2 == 0) {
      registered += placewire::register_backend(backend).ok() ? 1 : 0;
      CHECK(placewire::backend_ids().size() <= 1);
      unregistered += placewire::unregister_backend("some").ok() ? 1 : 0;
    } else if (const auto found = placewire::find_backend("some"); found != nullptr) {
      CHECK(found == backend);
    }
  });
  CHECK(registered > 0 && registered == unregistered);
}

constexpr std::array kCases = {
    CASE(threads_register_and_look_up_kernels),
    CASE(threads_register_and_look_up_backends),
    CASE(threads_register_and_look_up),
    CASE(threads_have_scopes_of_their_own),
    CASE(threads_allocate_copy_and_free_on_one_device),
};

}  // namespace

int main(int argc, char** argv) { return cases::run(argc, argv, kCases); }
