// Checks of DeviceAllocator, the registry, and DeviceMemoryBuffer.
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "cases.h"
#include "placewire/runtime/allocator.h"
#include "placewire/runtime/buffers.h"
#include "recording_allocator.h"

namespace {

using cases::is_error;
using cases::RecordingAllocator;
using placewire::Device;
using placewire::DeviceMemoryBuffer;
using placewire::DeviceType;
using placewire::ErrorCode;
using placewire::find_allocator;
using placewire::register_allocator;
using placewire::ScopedAllocator;
using placewire::unregister_allocator;
using placewire::schema::program::kDeviceTypeMembers;

constexpr Device kCuda0{DeviceType::CUDA, 0};
constexpr Device kCuda1{DeviceType::CUDA, 1};
constexpr auto kUnknown = static_cast<DeviceType>(99);

std::shared_ptr<RecordingAllocator> recorder(DeviceType type = DeviceType::CUDA) {
  return std::make_shared<RecordingAllocator>(type);
}

bool finds(Device device, const std::shared_ptr<RecordingAllocator>& expected) {
  const auto found = find_allocator(device);
  return found.ok() && found.value() == expected;
}

// The registry.

void every_kind_of_the_schema_can_be_registered() {
  for (const DeviceType type : kDeviceTypeMembers) {
    const auto allocator = recorder(type);
    CHECK(register_allocator(allocator).ok());
    CHECK(finds({type, 0}, allocator));
    CHECK(finds({type, 127}, allocator));
    CHECK(find_allocator({type, 0}).value()->device_type() == type);
    CHECK(DeviceMemoryBuffer::create(8, {type, 3}).ok());
    CHECK(allocator->last_alignment ==
          static_cast<std::size_t>(placewire::schema::program::alignment(type)));
    const std::string name(placewire::schema::program::name(type));
    std::printf("kind %s\n", name.c_str());
  }
  for (const DeviceType type : kDeviceTypeMembers) {
    CHECK(unregister_allocator(type).ok());
  }
}

void a_missing_allocator_is_named() {
  CHECK(is_error(find_allocator(kCuda1), ErrorCode::NOT_FOUND,
                 "no allocator is registered for cuda:1"));
}

void the_cpu_can_be_asked_for() {
  CHECK(is_error(find_allocator(Device{}), ErrorCode::NOT_FOUND, "cpu:0"));
  const auto allocator = recorder(DeviceType::CPU);
  CHECK(register_allocator(allocator).ok());
  CHECK(finds(Device{}, allocator));
  CHECK(unregister_allocator(DeviceType::CPU).ok());
}

void null_is_not_registered() {
  CHECK(is_error(register_allocator(nullptr), ErrorCode::INVALID_ARGUMENT, "null"));
  CHECK(is_error(ScopedAllocator::install(nullptr), ErrorCode::INVALID_ARGUMENT, "null"));
}

void a_kind_that_the_schema_does_not_know_is_an_error() {
  CHECK(is_error(register_allocator(recorder(kUnknown)), ErrorCode::INVALID_ARGUMENT, "99 is not"));
  CHECK(is_error(ScopedAllocator::install(recorder(kUnknown)), ErrorCode::INVALID_ARGUMENT, "99"));
  CHECK(is_error(find_allocator({kUnknown, 0}), ErrorCode::INVALID_ARGUMENT, "99 is not"));
  CHECK(is_error(unregister_allocator(kUnknown), ErrorCode::NOT_FOUND, "99"));
}

void a_negative_index_is_an_error_everywhere() {
  const auto allocator = recorder();
  std::uint64_t word = 0;
  CHECK(is_error(find_allocator({DeviceType::CUDA, -1}), ErrorCode::INVALID_ARGUMENT, "cuda:-1"));
  CHECK(is_error(ScopedAllocator::install(allocator, static_cast<placewire::DeviceIndex>(-1)),
                 ErrorCode::INVALID_ARGUMENT, "cuda:-1"));
  const char* const text = "device index -1 is negative";
  CHECK(is_error(allocator->allocate(8, -1), ErrorCode::INVALID_ARGUMENT, text));
  CHECK(is_error(allocator->deallocate(&word, -1), ErrorCode::INVALID_ARGUMENT, text));
  CHECK(is_error(allocator->copy_host_to_device(&word, &word, 8, -1), ErrorCode::INVALID_ARGUMENT,
                 text));
  CHECK(is_error(allocator->copy_device_to_host(&word, &word, 8, -1), ErrorCode::INVALID_ARGUMENT,
                 text));
  CHECK(is_error(allocator->copy_device_to_device(&word, -1, &word, 0, 8),
                 ErrorCode::INVALID_ARGUMENT, text));
  CHECK(is_error(allocator->copy_device_to_device(&word, 0, &word, -1, 8),
                 ErrorCode::INVALID_ARGUMENT, text));
  CHECK(allocator->copies == 0 && allocator->freed == 0);
}

void a_second_registration_is_an_error_and_changes_nothing() {
  const auto first = recorder();
  CHECK(register_allocator(first).ok());
  CHECK(is_error(register_allocator(recorder()), ErrorCode::REGISTRATION_ALREADY_REGISTERED,
                 "an allocator for cuda is registered already"));
  CHECK(finds(kCuda0, first));
  CHECK(unregister_allocator(DeviceType::CUDA).value() == first);
}

void what_was_unregistered_is_gone_and_can_be_registered_again() {
  const auto allocator = recorder();
  CHECK(register_allocator(allocator).ok());
  CHECK(unregister_allocator(DeviceType::CUDA).value() == allocator);
  CHECK(is_error(find_allocator(kCuda0), ErrorCode::NOT_FOUND, "cuda:0"));
  CHECK(is_error(unregister_allocator(DeviceType::CUDA), ErrorCode::NOT_FOUND,
                 "no allocator for cuda is registered"));
  CHECK(register_allocator(allocator).ok());
  CHECK(unregister_allocator(DeviceType::CUDA).ok());
}

void the_registry_shares_ownership() {
  auto allocator = recorder();
  const std::weak_ptr<RecordingAllocator> watched = allocator;
  CHECK(register_allocator(std::move(allocator)).ok());
  CHECK(!watched.expired());
  CHECK(unregister_allocator(DeviceType::CUDA).ok());
  CHECK(watched.expired());
}

void a_scope_covers_what_is_registered_and_restores_it() {
  const auto registered = recorder();
  const auto outer = recorder();
  const auto inner = recorder();
  CHECK(register_allocator(registered).ok());
  {
    const auto first = ScopedAllocator::install(outer);
    CHECK(finds(kCuda0, outer));
    {
      const auto second = ScopedAllocator::install(inner);
      CHECK(finds(kCuda0, inner));
    }
    CHECK(finds(kCuda0, outer));
  }
  CHECK(finds(kCuda0, registered));
  CHECK(unregister_allocator(DeviceType::CUDA).ok());
}

void a_scope_needs_nothing_registered_and_leaves_nothing() {
  {
    const auto scope = ScopedAllocator::install(recorder());
    CHECK(find_allocator(kCuda0).ok());
    CHECK(is_error(unregister_allocator(DeviceType::CUDA), ErrorCode::NOT_FOUND, "cuda"));
  }
  CHECK(!find_allocator(kCuda0).ok());
}

void what_is_registered_inside_a_scope_appears_after_it() {
  const auto registered = recorder();
  const auto covering = recorder();
  {
    const auto scope = ScopedAllocator::install(covering);
    CHECK(register_allocator(registered).ok());
    CHECK(finds(kCuda0, covering));
  }
  CHECK(finds(kCuda0, registered));
  CHECK(unregister_allocator(DeviceType::CUDA).ok());
}

void a_scope_may_cover_one_device_of_its_kind() {
  const auto all = recorder();
  const auto one = recorder();
  const auto outer = ScopedAllocator::install(all);
  const auto inner = ScopedAllocator::install(one, kCuda1.index);
  CHECK(finds(kCuda0, all));
  CHECK(finds(kCuda1, one));
}

void scopes_may_end_in_any_order() {
  const auto old = recorder();
  const auto young = recorder();
  auto first = ScopedAllocator::install(old);
  auto second = ScopedAllocator::install(young);
  {
    const ScopedAllocator ended = std::move(first).value();
  }
  CHECK(finds(kCuda0, young));
  {
    const ScopedAllocator ended = std::move(second).value();
  }
  CHECK(!find_allocator(kCuda0).ok());
}

void a_scope_can_be_moved_and_assigned() {
  const auto allocator = recorder();
  const auto other = recorder();
  ScopedAllocator kept = ScopedAllocator::install(allocator).value();
  CHECK(finds(kCuda0, allocator));
  {
    ScopedAllocator assigned = ScopedAllocator::install(other).value();
    kept = std::move(assigned);
  }
  CHECK(finds(kCuda0, other));
}

// DeviceAllocator.

void nothing_is_asked_for_no_bytes() {
  const auto allocator = recorder();
  const auto pointer = allocator->allocate(0, 0);
  CHECK(pointer.ok() && pointer.value() == nullptr);
  CHECK(allocator->deallocate(nullptr, 0).ok());
  CHECK(allocator->copy_host_to_device(nullptr, nullptr, 0, 0).ok());
  CHECK(allocator->copy_device_to_host(nullptr, nullptr, 0, 0).ok());
  CHECK(allocator->copy_device_to_device(nullptr, 0, nullptr, 0, 0).ok());
  CHECK(allocator->allocated == 0 && allocator->freed == 0 && allocator->copies == 0);
}

void a_null_pointer_is_an_error_in_all_six_places() {
  const auto allocator = recorder();
  std::uint64_t word = 0;
  const auto invalid = ErrorCode::INVALID_ARGUMENT;
  const char* const destination = "cuda:1: the destination of a copy is null";
  const char* const source = "cuda:1: the source of a copy is null";
  CHECK(is_error(allocator->copy_host_to_device(nullptr, &word, 8, 1), invalid, destination));
  CHECK(is_error(allocator->copy_host_to_device(&word, nullptr, 8, 1), invalid, source));
  CHECK(is_error(allocator->copy_device_to_host(nullptr, &word, 8, 1), invalid, destination));
  CHECK(is_error(allocator->copy_device_to_host(&word, nullptr, 8, 1), invalid, source));
  CHECK(is_error(allocator->copy_device_to_device(nullptr, 1, &word, 0, 8), invalid, destination));
  CHECK(is_error(allocator->copy_device_to_device(&word, 1, nullptr, 0, 8), invalid, source));
  CHECK(allocator->copies == 0);
}

void copies_are_forwarded() {
  const auto allocator = recorder();
  const std::uint64_t source = 42;
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  std::uint64_t third = 0;
  CHECK(allocator->copy_host_to_device(&first, &source, 8, 5).ok());
  CHECK(first == 42 && allocator->last_index == 5 && allocator->last_nbytes == 8);
  CHECK(allocator->copy_device_to_device(&second, 6, &first, 5, 8).ok());
  CHECK(second == 42 && allocator->last_index == 6);
  CHECK(allocator->copy_device_to_host(&third, &second, 8, 7).ok());
  CHECK(third == 42 && allocator->last_index == 7);
  CHECK(allocator->copies == 3);
}

void ranges_that_overlap_are_refused_on_one_device_only() {
  const auto allocator = recorder();
  std::uint64_t words[2] = {1, 2};
  auto* const bytes = reinterpret_cast<unsigned char*>(words);
  const char* const text = "cuda:0: source and destination of a copy of 8 bytes overlap";
  CHECK(is_error(allocator->copy_device_to_device(bytes + 7, 0, bytes, 0, 8),
                 ErrorCode::INVALID_ARGUMENT, text));
  CHECK(is_error(allocator->copy_device_to_device(bytes, 0, bytes + 7, 0, 8),
                 ErrorCode::INVALID_ARGUMENT, text));
  CHECK(allocator->copy_device_to_device(bytes + 8, 0, bytes, 0, 8).ok());
  CHECK(allocator->copies == 1);
}

void an_alignment_that_is_no_power_of_two_is_refused() {
  const auto allocator = recorder();
  CHECK(is_error(allocator->allocate(8, 2, 24), ErrorCode::INVALID_ARGUMENT,
                 "cuda:2: alignment 24 is not a power of two"));
  CHECK(allocator->allocated == 0);
}

void an_address_that_is_null_or_not_aligned_is_an_error_and_freed() {
  const auto allocator = recorder();
  allocator->gives_null = true;
  CHECK(is_error(allocator->allocate(8, 0), ErrorCode::MEMORY_ALLOCATION_FAILED, "null"));
  CHECK(allocator->freed == 0);
  allocator->gives_null = false;
  allocator->offset = 8;
  CHECK(is_error(allocator->allocate(8, 0, 64), ErrorCode::MEMORY_ALLOCATION_FAILED,
                 "not aligned to 64 bytes"));
  CHECK(allocator->allocated == 1 && allocator->freed == 1);
}

// DeviceMemoryBuffer.

void a_default_buffer_is_empty() {
  DeviceMemoryBuffer buffer;
  CHECK(buffer.data() == nullptr && buffer.size() == 0 && buffer.empty());
  CHECK(buffer.allocator() == nullptr && buffer.device() == Device{});
  CHECK(buffer.free().ok());
}

void a_buffer_allocates_and_its_end_frees() {
  const auto allocator = recorder();
  const auto scope = ScopedAllocator::install(allocator);
  {
    const auto buffer = DeviceMemoryBuffer::create(48, kCuda1);
    CHECK(buffer.ok() && buffer.value().size() == 48 && !buffer.value().empty());
    CHECK(buffer.value().data() != nullptr && buffer.value().device() == kCuda1);
    CHECK(buffer.value().allocator() == allocator);
    CHECK(allocator->allocated == 1 && allocator->last_nbytes == 48 && allocator->last_index == 1);
    CHECK(allocator->freed == 0);
  }
  CHECK(allocator->freed == 1 && allocator->last_index == 1);
}

void a_buffer_without_an_allocator_is_an_error() {
  CHECK(is_error(DeviceMemoryBuffer::create(16, Device{}), ErrorCode::NOT_FOUND, "cpu:0"));
  CHECK(is_error(DeviceMemoryBuffer::create(16, kCuda0), ErrorCode::NOT_FOUND, "cuda:0"));
}

void the_error_of_the_allocator_is_passed_on() {
  const auto allocator = recorder();
  const auto scope = ScopedAllocator::install(allocator);
  allocator->fails = true;
  CHECK(is_error(DeviceMemoryBuffer::create(16, kCuda0), ErrorCode::MEMORY_ALLOCATION_FAILED,
                 "refused by the test"));
  CHECK(allocator->allocated == 0 && allocator->freed == 0);
}

void a_moved_buffer_is_freed_once() {
  const auto allocator = recorder();
  const auto scope = ScopedAllocator::install(allocator);
  {
    DeviceMemoryBuffer first = DeviceMemoryBuffer::create(16, kCuda1).value();
    const void* const data = first.data();
    const DeviceMemoryBuffer second = std::move(first);
    CHECK(second.data() == data && second.size() == 16 && second.device() == kCuda1);
    CHECK(first.data() == nullptr && first.empty() && first.allocator() == nullptr);
  }
  CHECK(allocator->allocated == 1 && allocator->freed == 1);
}

void assigning_to_a_buffer_frees_what_it_held() {
  const auto allocator = recorder();
  const auto scope = ScopedAllocator::install(allocator);
  {
    DeviceMemoryBuffer buffer = DeviceMemoryBuffer::create(16, kCuda0).value();
    DeviceMemoryBuffer other = DeviceMemoryBuffer::create(32, kCuda1).value();
    buffer = std::move(other);
    CHECK(allocator->freed == 1 && allocator->last_index == 0);
    CHECK(buffer.size() == 32 && buffer.device() == kCuda1 && other.empty());
  }
  CHECK(allocator->allocated == 2 && allocator->freed == 2);
}

void a_buffer_assigned_to_itself_keeps_its_memory() {
  const auto allocator = recorder();
  const auto scope = ScopedAllocator::install(allocator);
  DeviceMemoryBuffer buffer = DeviceMemoryBuffer::create(16, kCuda0).value();
  DeviceMemoryBuffer& same = buffer;
  buffer = std::move(same);
  CHECK(buffer.size() == 16 && buffer.data() != nullptr && allocator->freed == 0);
}

void a_freed_buffer_is_empty_whatever_the_allocator_says() {
  const auto allocator = recorder();
  const auto scope = ScopedAllocator::install(allocator);
  DeviceMemoryBuffer buffer = DeviceMemoryBuffer::create(16, kCuda0).value();
  allocator->fails = true;
  CHECK(is_error(buffer.free(), ErrorCode::MEMORY_ALLOCATION_FAILED, "refused by the test"));
  CHECK(buffer.empty() && buffer.data() == nullptr && buffer.free().ok());
  CHECK(allocator->freed == 1);
}

void an_empty_buffer_allocates_nothing() {
  const auto allocator = recorder();
  const auto scope = ScopedAllocator::install(allocator);
  {
    const auto buffer = DeviceMemoryBuffer::create(0, kCuda1);
    CHECK(buffer.ok() && buffer.value().empty() && buffer.value().data() == nullptr);
    CHECK(buffer.value().device() == kCuda1);
  }
  CHECK(allocator->allocated == 0 && allocator->freed == 0);
}

void the_alignment_is_the_devices_own_or_the_one_asked_for() {
  const auto allocator = recorder();
  const auto scope = ScopedAllocator::install(allocator);
  CHECK(DeviceMemoryBuffer::create(16, kCuda0).ok());
  CHECK(allocator->last_alignment == 256);
  const auto buffer = DeviceMemoryBuffer::create(16, kCuda0, 512);
  CHECK(allocator->last_alignment == 512);
  CHECK(reinterpret_cast<std::uintptr_t>(buffer.value().data()) % 512 == 0);
}

void a_buffer_keeps_its_allocator_alive() {
  auto allocator = recorder();
  const std::weak_ptr<RecordingAllocator> watched = allocator;
  DeviceMemoryBuffer buffer;
  {
    const auto scope = ScopedAllocator::install(std::move(allocator));
    buffer = DeviceMemoryBuffer::create(16, kCuda0).value();
  }
  CHECK(!watched.expired());
  CHECK(buffer.free().ok());
  CHECK(watched.expired());
}

static_assert(!std::is_copy_constructible_v<DeviceMemoryBuffer>);
static_assert(!std::is_copy_assignable_v<DeviceMemoryBuffer>);
static_assert(std::is_nothrow_move_constructible_v<DeviceMemoryBuffer>);
static_assert(std::is_nothrow_move_assignable_v<DeviceMemoryBuffer>);
static_assert(!std::is_copy_constructible_v<ScopedAllocator>);

constexpr std::array kCases = {
    CASE(every_kind_of_the_schema_can_be_registered),
    CASE(a_missing_allocator_is_named),
    CASE(the_cpu_can_be_asked_for),
    CASE(null_is_not_registered),
    CASE(a_kind_that_the_schema_does_not_know_is_an_error),
    CASE(a_negative_index_is_an_error_everywhere),
    CASE(a_second_registration_is_an_error_and_changes_nothing),
    CASE(what_was_unregistered_is_gone_and_can_be_registered_again),
    CASE(the_registry_shares_ownership),
    CASE(a_scope_covers_what_is_registered_and_restores_it),
    CASE(a_scope_needs_nothing_registered_and_leaves_nothing),
    CASE(what_is_registered_inside_a_scope_appears_after_it),
    CASE(a_scope_may_cover_one_device_of_its_kind),
    CASE(scopes_may_end_in_any_order),
    CASE(a_scope_can_be_moved_and_assigned),
    CASE(nothing_is_asked_for_no_bytes),
    CASE(a_null_pointer_is_an_error_in_all_six_places),
    CASE(copies_are_forwarded),
    CASE(ranges_that_overlap_are_refused_on_one_device_only),
    CASE(an_alignment_that_is_no_power_of_two_is_refused),
    CASE(an_address_that_is_null_or_not_aligned_is_an_error_and_freed),
    CASE(a_default_buffer_is_empty),
    CASE(a_buffer_allocates_and_its_end_frees),
    CASE(a_buffer_without_an_allocator_is_an_error),
    CASE(the_error_of_the_allocator_is_passed_on),
    CASE(a_moved_buffer_is_freed_once),
    CASE(assigning_to_a_buffer_frees_what_it_held),
    CASE(a_buffer_assigned_to_itself_keeps_its_memory),
    CASE(a_freed_buffer_is_empty_whatever_the_allocator_says),
    CASE(an_empty_buffer_allocates_nothing),
    CASE(the_alignment_is_the_devices_own_or_the_one_asked_for),
    CASE(a_buffer_keeps_its_allocator_alive),
};

}  // namespace

int main(int argc, char** argv) { return cases::run(argc, argv, kCases); }
