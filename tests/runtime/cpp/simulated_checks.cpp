// Checks of SimulatedDevice and SimulatedStream.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cases.h"
#include "host_memory.h"
#include "placewire/runtime/buffers.h"
#include "placewire/runtime/simulated_device.h"
#include "placewire/runtime/simulated_stream.h"

namespace {

using cases::is_error;
using placewire::Device;
using placewire::DeviceMemoryBuffer;
using placewire::DeviceOperation;
using placewire::DeviceType;
using placewire::ErrorCode;
using placewire::ScopedAllocator;
using placewire::SimulatedDevice;
using placewire::SimulatedStream;
using placewire::Status;

constexpr Device kCuda0{DeviceType::CUDA, 0};
constexpr Device kCuda1{DeviceType::CUDA, 1};

/// Whether a process that does something dies of SIGSEGV.
template <typename Action>
bool crashes(Action action) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGSEGV, SIG_DFL);  // without the sanitizer's report
    action();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

void the_host_cannot_read_device_memory() {
  SimulatedDevice device(kCuda0);
  const auto* const pointer = static_cast<volatile char*>(device.allocate(1, 0).value());
  CHECK(crashes([pointer] { (void)*pointer; }));
  CHECK(!crashes([] {}));
}

void the_host_cannot_write_device_memory() {
  SimulatedDevice device(kCuda0);
  auto* const pointer = static_cast<volatile char*>(device.allocate(8192, 0).value());
  CHECK(crashes([pointer] { pointer[0] = 1; }));
  CHECK(crashes([pointer] { pointer[8191] = 1; }));
}

void device_memory_stays_closed_while_another_thread_copies() {
  SimulatedDevice device(kCuda0);
  auto* const pointer = static_cast<volatile char*>(device.allocate(1 << 20, 0).value());
  CHECK(crashes([&device, pointer] {
    std::thread copier([&device, pointer] {
      std::vector<char> bytes(1 << 20);
      for (;;) {
        (void)device.copy_host_to_device(const_cast<char*>(pointer), bytes.data(), bytes.size(), 0);
      }
    });
    usleep(2000);
    pointer[0] = 1;
  }));
}

void what_is_copied_to_it_can_be_copied_back() {
  SimulatedDevice device(kCuda0);
  void* const pointer = device.allocate(16, 0).value();
  const char sent[16] = "fifteen letters";
  char received[16] = {};
  CHECK(device.copy_host_to_device(pointer, sent, 16, 0).ok());
  CHECK(device.copy_device_to_host(received, pointer, 16, 0).ok());
  CHECK(std::memcmp(sent, received, 16) == 0);
  char part[4] = {};
  CHECK(device.copy_device_to_host(part, static_cast<char*>(pointer) + 8, 4, 0).ok());
  CHECK(std::memcmp(part, sent + 8, 4) == 0);
}

void new_memory_is_not_zero() {
  SimulatedDevice device(kCuda0);
  void* const pointer = device.allocate(4, 0).value();
  std::int32_t word = 0;
  CHECK(device.copy_device_to_host(&word, pointer, 4, 0).ok());
  CHECK(word == -1);
}

void devices_copy_directly_to_each_other() {
  SimulatedDevice first(kCuda0);
  SimulatedDevice second(kCuda1);
  void* const from = first.allocate(8, 0).value();
  void* const to = second.allocate(8, 1).value();
  const std::uint64_t sent = 42;
  std::uint64_t received = 0;
  CHECK(first.copy_host_to_device(from, &sent, 8, 0).ok());
  CHECK(second.copy_device_to_device(to, 1, from, 0, 8).ok());
  CHECK(second.copy_device_to_host(&received, to, 8, 1).ok());
  CHECK(received == 42);
  CHECK(second.count(DeviceOperation::kCopyDeviceToDevice).bytes == 8);
  CHECK(first.count(DeviceOperation::kCopyDeviceToDevice).calls == 0);
  CHECK(is_error(second.copy_device_to_device(to, 1, from, 3, 8), ErrorCode::NOT_FOUND,
                 "cuda:3 is not simulated"));
  CHECK(is_error(second.copy_device_to_device(to, 1, to, 0, 8), ErrorCode::INVALID_ARGUMENT,
                 "cuda:0: a pointer is not into memory that is allocated on it"));
}

void a_copy_inside_a_device_moves_bytes() {
  SimulatedDevice device(kCuda0);
  auto* const pointer = static_cast<char*>(device.allocate(16, 0).value());
  const std::uint64_t sent = 42;
  std::uint64_t received = 0;
  CHECK(device.copy_host_to_device(pointer, &sent, 8, 0).ok());
  CHECK(device.copy_device_to_device(pointer + 8, 0, pointer, 0, 8).ok());
  CHECK(device.copy_device_to_host(&received, pointer + 8, 8, 0).ok());
  CHECK(received == 42);
}

void a_copy_in_the_wrong_direction_is_an_error() {
  SimulatedDevice device(kCuda0);
  void* const pointer = device.allocate(8, 0).value();
  std::uint64_t word = 0;
  const auto invalid = ErrorCode::INVALID_ARGUMENT;
  CHECK(is_error(device.copy_host_to_device(&word, &word, 8, 0), invalid, "not into memory"));
  CHECK(is_error(device.copy_host_to_device(pointer, pointer, 8, 0), invalid, "the source of"));
  CHECK(is_error(device.copy_device_to_host(&word, &word, 8, 0), invalid, "not into memory"));
  CHECK(is_error(device.copy_device_to_host(pointer, pointer, 8, 0), invalid, "the destination"));
  CHECK(device.count(DeviceOperation::kCopyHostToDevice).failures == 2);
  CHECK(device.count(DeviceOperation::kCopyHostToDevice).bytes == 0);
}

void a_copy_that_leaves_its_allocation_is_an_error() {
  SimulatedDevice device(kCuda0);
  auto* const pointer = static_cast<char*>(device.allocate(8, 0).value());
  char bytes[16] = {};
  CHECK(is_error(device.copy_host_to_device(pointer, bytes, 9, 0), ErrorCode::INVALID_ARGUMENT,
                 "9 bytes at offset 0 end behind the allocation of 8 bytes"));
  CHECK(is_error(device.copy_device_to_host(bytes, pointer + 4, 5, 0), ErrorCode::INVALID_ARGUMENT,
                 "5 bytes at offset 4"));
  CHECK(is_error(device.copy_device_to_host(bytes, pointer + 8, 1, 0), ErrorCode::INVALID_ARGUMENT,
                 "not into memory"));
}

void freeing_what_is_not_allocated_is_an_error() {
  SimulatedDevice device(kCuda0);
  auto* const pointer = static_cast<char*>(device.allocate(8, 0).value());
  const char* const text = "cuda:0: what is to be freed is not the start of an allocation";
  CHECK(is_error(device.deallocate(pointer + 4, 0), ErrorCode::INVALID_ARGUMENT, text));
  CHECK(device.deallocate(pointer, 0).ok());
  CHECK(is_error(device.deallocate(pointer, 0), ErrorCode::INVALID_ARGUMENT, text));
}

void another_index_is_not_served() {
  SimulatedDevice device(kCuda0);
  CHECK(is_error(device.allocate(8, 1), ErrorCode::NOT_FOUND,
                 "cuda:0 was asked for memory of cuda:1, which is not simulated"));
  CHECK(device.live_allocations() == 0);
}

void it_counts_calls_bytes_and_what_is_live() {
  SimulatedDevice device(kCuda0);
  void* const first = device.allocate(100, 0).value();
  void* const second = device.allocate(50, 0).value();
  CHECK(device.live_allocations() == 2 && device.live_bytes() == 150);
  CHECK(device.deallocate(first, 0).ok());
  CHECK(device.live_allocations() == 1 && device.live_bytes() == 50);
  CHECK(device.peak_bytes() == 150);
  CHECK(device.deallocate(second, 0).ok());
  CHECK(device.live_allocations() == 0 && device.live_bytes() == 0);
  CHECK(device.count(DeviceOperation::kAllocate).calls == 2);
  CHECK(device.count(DeviceOperation::kAllocate).bytes == 150);
  CHECK(device.count(DeviceOperation::kDeallocate).calls == 2);
  CHECK(device.count(DeviceOperation::kDeallocate).bytes == 150);
  CHECK(device.allocate(0, 0).ok() && device.count(DeviceOperation::kAllocate).calls == 2);
}

void the_nth_call_from_now_fails_once() {
  SimulatedDevice device(kCuda0);
  device.fail(DeviceOperation::kAllocate, 2);
  CHECK(device.allocate(8, 0).ok());
  CHECK(is_error(device.allocate(8, 0), ErrorCode::MEMORY_ALLOCATION_FAILED,
                 "cuda:0: allocate failed, as the test wants it to"));
  CHECK(device.allocate(8, 0).ok());
  CHECK(device.live_allocations() == 2);
  CHECK(device.count(DeviceOperation::kAllocate).calls == 3);
  CHECK(device.count(DeviceOperation::kAllocate).failures == 1);
  device.fail(DeviceOperation::kAllocate, 1);
  device.fail(DeviceOperation::kAllocate, 0);
  CHECK(device.allocate(8, 0).ok());
}

void every_operation_can_be_made_to_fail() {
  SimulatedDevice device(kCuda0);
  auto* const pointer = static_cast<char*>(device.allocate(16, 0).value());
  std::uint64_t word = 7;
  device.fail(DeviceOperation::kCopyHostToDevice);
  CHECK(is_error(device.copy_host_to_device(pointer, &word, 8, 0), ErrorCode::ACCESS_FAILED,
                 "copy_host_to_device failed"));
  device.fail(DeviceOperation::kCopyDeviceToHost);
  CHECK(is_error(device.copy_device_to_host(&word, pointer, 8, 0), ErrorCode::ACCESS_FAILED,
                 "copy_device_to_host failed"));
  CHECK(word == 7);
  device.fail(DeviceOperation::kCopyDeviceToDevice);
  CHECK(is_error(device.copy_device_to_device(pointer + 8, 0, pointer, 0, 8),
                 ErrorCode::ACCESS_FAILED, "copy_device_to_device failed"));
  device.fail(DeviceOperation::kDeallocate);
  CHECK(is_error(device.deallocate(pointer, 0), ErrorCode::ACCESS_FAILED, "deallocate failed"));
  CHECK(device.live_allocations() == 1);
}

void memory_runs_out_where_the_test_says() {
  SimulatedDevice device(kCuda0, 100);
  void* const pointer = device.allocate(60, 0).value();
  CHECK(is_error(device.allocate(41, 0), ErrorCode::MEMORY_ALLOCATION_FAILED,
                 "cuda:0: cannot allocate 41 bytes: 60 of its 100 bytes are allocated"));
  CHECK(device.allocate(40, 0).ok());
  CHECK(device.deallocate(pointer, 0).ok());
  CHECK(device.allocate(60, 0).ok());
}

void a_size_that_no_machine_has_is_an_error() {
  SimulatedDevice device(kCuda0);
  const auto failed = ErrorCode::MEMORY_ALLOCATION_FAILED;
  const std::size_t most = std::numeric_limits<std::size_t>::max();
  CHECK(is_error(device.allocate(most, 0), failed, "it has never that much"));
  CHECK(is_error(device.allocate(8, 0, most / 2 + 1), failed, "it has never that much"));
  CHECK(is_error(device.allocate(most / 8, 0), failed, "0 of its "));
}

void an_alignment_above_a_page_is_kept() {
  SimulatedDevice device(kCuda0);
  for (const std::size_t alignment : {std::size_t{1}, std::size_t{4096}, std::size_t{1} << 21}) {
    void* const pointer = device.allocate(5000, 0, alignment).value();
    CHECK(reinterpret_cast<std::uintptr_t>(pointer) % alignment == 0);
    CHECK(crashes([pointer] { static_cast<volatile char*>(pointer)[4999] = 1; }));
  }
}

void the_device_itself_works_on_what_stands_behind() {
  SimulatedDevice device(kCuda0);
  auto* const pointer = static_cast<char*>(device.allocate(16, 0).value());
  const auto backing = device.backing(pointer + 8, 8);
  const std::uint64_t sent = 42;
  std::memcpy(backing.value(), &sent, 8);
  std::uint64_t received = 0;
  CHECK(device.copy_device_to_host(&received, pointer + 8, 8, 0).ok());
  CHECK(received == 42);
  CHECK(is_error(device.backing(pointer, 17), ErrorCode::INVALID_ARGUMENT, "end behind"));
  CHECK(SimulatedDevice::owns(pointer + 15) && !SimulatedDevice::owns(backing.value()));
}

void it_tells_only_the_memory_that_it_was_given() {
  CHECK(SimulatedDevice(kCuda0).properties(0).value().memory == 0);
  const auto found = SimulatedDevice(kCuda0, 4096).properties(0).value();
  CHECK(found.memory == 4096 && found.name.empty() && found.architecture.empty());
  CHECK(cases::is_error(SimulatedDevice(kCuda0).properties(1), ErrorCode::NOT_FOUND, "cuda:1"));
}

void it_stands_for_any_kind_and_index() {
  for (const DeviceType type : placewire::schema::program::kDeviceTypeMembers) {
    const auto device = std::make_shared<SimulatedDevice>(Device{type, 127});
    const auto scope = ScopedAllocator::install(device, device->device().index);
    CHECK(DeviceMemoryBuffer::create(8, {type, 127}).ok());
    CHECK(device->count(DeviceOperation::kAllocate).calls == 1);
    CHECK(device->count(DeviceOperation::kDeallocate).calls == 1);
  }
}

void several_devices_of_a_kind_can_be_installed() {
  const auto first = std::make_shared<SimulatedDevice>(kCuda0);
  const auto second = std::make_shared<SimulatedDevice>(kCuda1);
  const auto scope0 = ScopedAllocator::install(first, kCuda0.index);
  const auto scope1 = ScopedAllocator::install(second, kCuda1.index);
  const auto buffer0 = DeviceMemoryBuffer::create(8, kCuda0);
  const auto buffer1 = DeviceMemoryBuffer::create(16, kCuda1);
  CHECK(first->live_bytes() == 8 && second->live_bytes() == 16);
  CHECK(is_error(DeviceMemoryBuffer::create(8, {DeviceType::CUDA, 2}), ErrorCode::NOT_FOUND,
                 "cuda:2"));
}

/// Allocates three buffers and copies through them, as the loading of a program does.
Status load_and_copy(std::vector<DeviceMemoryBuffer>& buffers) {
  for (const std::size_t size : {std::size_t{32}, std::size_t{64}, std::size_t{96}}) {
    auto buffer = DeviceMemoryBuffer::create(size, kCuda0);
    if (!buffer.ok()) {
      return std::move(buffer).error();
    }
    buffers.push_back(std::move(buffer).value());
  }
  char bytes[32] = {};
  const auto allocator = buffers[0].allocator();
  if (Status status = allocator->copy_host_to_device(buffers[0].data(), bytes, 32, 0);
      !status.ok()) {
    return status;
  }
  if (Status status =
          allocator->copy_device_to_device(buffers[1].data(), 0, buffers[0].data(), 0, 32);
      !status.ok()) {
    return status;
  }
  return allocator->copy_device_to_host(bytes, buffers[1].data(), 32, 0);
}

void everything_is_freed_once_whatever_fails() {
  int failed = 0;
  for (std::size_t operation = 0; operation < placewire::kDeviceOperationNames.size();
       ++operation) {
    if (static_cast<DeviceOperation>(operation) == DeviceOperation::kDeallocate) {
      continue;  // then something does stay, see every_operation_can_be_made_to_fail
    }
    for (std::uint64_t nth = 1;; ++nth) {
      const auto device = std::make_shared<SimulatedDevice>(kCuda0);
      const auto scope = ScopedAllocator::install(device, kCuda0.index);
      device->fail(static_cast<DeviceOperation>(operation), nth);
      bool succeeded = false;
      {
        std::vector<DeviceMemoryBuffer> buffers;
        succeeded = load_and_copy(buffers).ok();
      }
      const auto allocations = device->count(DeviceOperation::kAllocate);
      const auto frees = device->count(DeviceOperation::kDeallocate);
      CHECK(device->live_allocations() == 0 && frees.failures == 0);
      CHECK(frees.calls == allocations.calls - allocations.failures);
      if (succeeded) {
        break;
      }
      ++failed;
    }
  }
  CHECK(failed == 6);  // three allocations, and one copy in each direction
}

void work_on_a_stream_is_done_when_waited_for() {
  SimulatedStream stream;
  std::vector<int> done;
  for (int number = 1; number <= 3; ++number) {
    const auto position = stream.submit([&done, number]() -> Status {
      done.push_back(number);
      return {};
    });
    CHECK(position == static_cast<std::uint64_t>(number));
  }
  CHECK(done.empty() && stream.submitted() == 3 && stream.completed() == 0);
  CHECK(stream.complete(2).ok());
  CHECK((done == std::vector<int>{1, 2}) && stream.completed() == 2);
  CHECK(stream.synchronize().ok());
  CHECK((done == std::vector<int>{1, 2, 3}));
}

void a_stream_reports_its_first_error_and_goes_on() {
  SimulatedStream stream;
  int done = 0;
  for (const char* const text : {"first", "second"}) {
    stream.submit([text, &done]() -> Status {
      ++done;
      return placewire::Error{ErrorCode::ACCESS_FAILED, text};
    });
  }
  CHECK(is_error(stream.synchronize(), ErrorCode::ACCESS_FAILED, "first"));
  CHECK(done == 2 && stream.synchronize().ok());
}

/// A folder with files for /proc and /sys, removed in the end.
class Root {
 public:
  Root() {
    std::string name = std::filesystem::temp_directory_path() / "placewire-XXXXXX";
    path_ = mkdtemp(name.data());
  }
  Root(const Root&) = delete;
  Root& operator=(const Root&) = delete;
  ~Root() { std::filesystem::remove_all(path_); }

  [[nodiscard]] const std::string& path() const { return path_; }

  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = path_ + name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

 private:
  std::string path_;
};

const std::size_t kPhysical = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                              static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

void without_control_groups_the_memory_is_that_of_the_host() {
  const Root root;
  CHECK(placewire::usable_memory(root.path()) == kPhysical);
}

void a_control_group_of_version_2_limits_the_memory() {
  const Root root;
  root.write("/proc/self/cgroup", "0::/app/job\n");
  root.write("/sys/fs/cgroup/app/job/memory.max", "1048576\n");
  CHECK(placewire::usable_memory(root.path()) == 1048576);
}

void the_smallest_of_the_groups_around_counts() {
  const Root root;
  root.write("/proc/self/cgroup", "0::/app/job\n");
  root.write("/sys/fs/cgroup/app/job/memory.max", "1048576\n");
  root.write("/sys/fs/cgroup/app/memory.max", "65536\n");
  root.write("/sys/fs/cgroup/memory.max", "max\n");
  CHECK(placewire::usable_memory(root.path()) == 65536);
}

void in_a_container_whose_groups_begin_at_its_own_the_root_counts() {
  const Root root;
  root.write("/proc/self/cgroup", "0::/\n");
  root.write("/sys/fs/cgroup/memory.max", "4096\n");
  CHECK(placewire::usable_memory(root.path()) == 4096);
}

void a_control_group_of_version_1_limits_the_memory() {
  const Root root;
  root.write("/proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/app\n3:cpuset:/small\n0::/\n");
  root.write("/sys/fs/cgroup/memory/app/memory.limit_in_bytes", "1048576\n");
  root.write("/sys/fs/cgroup/memory/small/memory.limit_in_bytes", "1\n");
  CHECK(placewire::usable_memory(root.path()) == 1048576);
}

void a_group_without_limit_leaves_what_the_host_has() {
  const Root root;
  root.write("/proc/self/cgroup", "1:memory:/app\n0::/app\n");
  root.write("/sys/fs/cgroup/app/memory.max", "max\n");
  root.write("/sys/fs/cgroup/memory/app/memory.limit_in_bytes", "9223372036854771712\n");
  CHECK(placewire::usable_memory(root.path()) == kPhysical);
}

void what_is_no_list_of_groups_limits_nothing() {
  const Root root;
  root.write("/proc/self/cgroup", "\nnothing\n0:\n::\n0::relative\n");
  CHECK(placewire::usable_memory(root.path()) == kPhysical);
}

void a_device_has_at_most_half_of_what_the_process_may_use() {
  SimulatedDevice device(kCuda0);
  const std::size_t half = placewire::usable_memory() / 2;
  CHECK(is_error(device.allocate(half + 1, 0), ErrorCode::MEMORY_ALLOCATION_FAILED,
                 ("0 of its " + std::to_string(half) + " bytes").c_str()));
}

constexpr std::array kCases = {
    CASE(without_control_groups_the_memory_is_that_of_the_host),
    CASE(a_control_group_of_version_2_limits_the_memory),
    CASE(the_smallest_of_the_groups_around_counts),
    CASE(in_a_container_whose_groups_begin_at_its_own_the_root_counts),
    CASE(a_control_group_of_version_1_limits_the_memory),
    CASE(a_group_without_limit_leaves_what_the_host_has),
    CASE(what_is_no_list_of_groups_limits_nothing),
    CASE(a_device_has_at_most_half_of_what_the_process_may_use),
    CASE(the_host_cannot_read_device_memory),
    CASE(the_host_cannot_write_device_memory),
    CASE(device_memory_stays_closed_while_another_thread_copies),
    CASE(what_is_copied_to_it_can_be_copied_back),
    CASE(new_memory_is_not_zero),
    CASE(devices_copy_directly_to_each_other),
    CASE(a_copy_inside_a_device_moves_bytes),
    CASE(a_copy_in_the_wrong_direction_is_an_error),
    CASE(a_copy_that_leaves_its_allocation_is_an_error),
    CASE(freeing_what_is_not_allocated_is_an_error),
    CASE(another_index_is_not_served),
    CASE(it_counts_calls_bytes_and_what_is_live),
    CASE(the_nth_call_from_now_fails_once),
    CASE(every_operation_can_be_made_to_fail),
    CASE(memory_runs_out_where_the_test_says),
    CASE(a_size_that_no_machine_has_is_an_error),
    CASE(an_alignment_above_a_page_is_kept),
    CASE(the_device_itself_works_on_what_stands_behind),
    CASE(it_tells_only_the_memory_that_it_was_given),
    CASE(it_stands_for_any_kind_and_index),
    CASE(several_devices_of_a_kind_can_be_installed),
    CASE(everything_is_freed_once_whatever_fails),
    CASE(work_on_a_stream_is_done_when_waited_for),
    CASE(a_stream_reports_its_first_error_and_goes_on),
};

}  // namespace

int main(int argc, char** argv) { return cases::run(argc, argv, kCases); }
