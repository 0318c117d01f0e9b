// The process-wide registry of allocators.
#include <algorithm>
#include <array>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "allocator_remedy.h"
#include "placewire/runtime/allocator.h"

namespace placewire {
namespace {

using schema::program::kDeviceTypeCount;
using schema::program::kDeviceTypeMembers;

using AllocatorPointer = std::shared_ptr<DeviceAllocator>;

constexpr std::uint64_t kRegistered = 0;

struct AllocatorEntry {
  /// Number of the scope, or kRegistered.
  std::uint64_t scope;
  /// The only device that it serves; none means all of its kind.
  std::optional<DeviceIndex> index;
  AllocatorPointer allocator;

  [[nodiscard]] bool covers(DeviceIndex wanted) const noexcept {
    return !index || *index == wanted;
  }
};

/// The entries of one kind of device: the registered one, if any, then the scopes by age.
using AllocatorEntries = std::vector<AllocatorEntry>;

class AllocatorRegistry {
 public:
  /// Adds an entry, unless it is to be the registered one and there is one.
  [[nodiscard]] bool add(std::size_t place, AllocatorEntry entry) {
    const std::unique_lock lock(mutex_);
    AllocatorEntries& entries = entries_[place];
    if (entry.scope != kRegistered) {
      entries.push_back(std::move(entry));
      return true;
    }
    if (!entries.empty() && entries.front().scope == kRegistered) {
      return false;
    }
    entries.insert(entries.begin(), std::move(entry));
    return true;
  }

  /// Takes an entry out; null if it is not there. The caller drops the allocator, outside the lock,
  /// because its destructor may come back here.
  [[nodiscard]] AllocatorPointer remove(std::size_t place, std::uint64_t scope) noexcept {
    const std::unique_lock lock(mutex_);
    AllocatorEntries& entries = entries_[place];
    const auto found =
        std::find_if(entries.begin(), entries.end(),
                     [scope](const AllocatorEntry& entry) { return entry.scope == scope; });
    if (found == entries.end()) {
      return nullptr;
    }
    AllocatorPointer allocator = std::move(found->allocator);
    entries.erase(found);
    return allocator;
  }

  [[nodiscard]] AllocatorPointer find(std::size_t place, DeviceIndex index) const {
    const std::shared_lock lock(mutex_);
    const AllocatorEntries& entries = entries_[place];
    const auto found =
        std::find_if(entries.rbegin(), entries.rend(),
                     [index](const AllocatorEntry& entry) { return entry.covers(index); });
    return found == entries.rend() ? nullptr : found->allocator;
  }

  [[nodiscard]] std::uint64_t next_scope() {
    const std::unique_lock lock(mutex_);
    return ++last_scope_;
  }

 private:
  mutable std::shared_mutex mutex_;
  std::array<AllocatorEntries, kDeviceTypeCount> entries_;
  std::uint64_t last_scope_ = kRegistered;
};

/// Never destroyed, so that buffers and scopes may outlive `main`.
AllocatorRegistry& allocator_registry() {
  static auto& registry = *new AllocatorRegistry;
  return registry;
}

/// Where the entries of a kind are; kDeviceTypeCount if the schema does not know it.
std::size_t place_of(DeviceType type) noexcept {
  const auto found = std::find(kDeviceTypeMembers.begin(), kDeviceTypeMembers.end(), type);
  return static_cast<std::size_t>(found - kDeviceTypeMembers.begin());
}

/// `cuda`, or the number of a kind that the schema does not know.
std::string kind_of(DeviceType type) {
  std::string text = to_string(Device{type, 0});
  return text.erase(text.find(':'));
}

Error unknown_kind(DeviceType type) {
  return {ErrorCode::INVALID_ARGUMENT, kind_of(type) + " is not a kind of device of the schema"};
}

/// What to do about it holds for all languages, because the names are the same in all of them.
Error no_allocator(Device device) {
  const char* const remedy =
      device.is_cpu() ? "; the host's own memory needs none" : kAllocatorRemedy;
  return {ErrorCode::NOT_FOUND, "no allocator is registered for " + to_string(device) + remedy};
}

Status check_allocator(const AllocatorPointer& allocator) {
  if (allocator == nullptr) {
    return Error{ErrorCode::INVALID_ARGUMENT, "the allocator to register is null"};
  }
  const DeviceType type = allocator->device_type();
  return is_valid(type) ? Status() : unknown_kind(type);
}

}  // namespace

Status register_allocator(std::shared_ptr<DeviceAllocator> allocator) {
  if (Status status = check_allocator(allocator); !status.ok()) {
    return status;
  }
  const DeviceType type = allocator->device_type();
  if (!allocator_registry().add(place_of(type), {kRegistered, {}, std::move(allocator)})) {
    return Error{
        ErrorCode::REGISTRATION_ALREADY_REGISTERED,
        "an allocator for " + kind_of(type) + " is registered already; unregister it first"};
  }
  return {};
}

Result<std::shared_ptr<DeviceAllocator>> unregister_allocator(DeviceType type) {
  AllocatorPointer allocator =
      is_valid(type) ? allocator_registry().remove(place_of(type), kRegistered) : nullptr;
  if (allocator == nullptr) {
    return Error{ErrorCode::NOT_FOUND, "no allocator for " + kind_of(type) + " is registered"};
  }
  return allocator;
}

Result<std::shared_ptr<DeviceAllocator>> find_allocator(Device device) {
  if (!is_valid(device.type)) {
    return unknown_kind(device.type);
  }
  if (device.index < 0) {
    return Error{ErrorCode::INVALID_ARGUMENT, to_string(device) + " has a negative index"};
  }
  AllocatorPointer allocator = allocator_registry().find(place_of(device.type), device.index);
  if (allocator == nullptr) {
    return no_allocator(device);
  }
  return allocator;
}

Result<ScopedAllocator> ScopedAllocator::install(std::shared_ptr<DeviceAllocator> allocator,
                                                 std::optional<DeviceIndex> index) {
  if (Status status = check_allocator(allocator); !status.ok()) {
    return std::move(status).error();
  }
  const DeviceType type = allocator->device_type();
  if (index.value_or(0) < 0) {
    return Error{ErrorCode::INVALID_ARGUMENT,
                 to_string(Device{type, *index}) + " has a negative index"};
  }
  const std::uint64_t scope = allocator_registry().next_scope();
  (void)allocator_registry().add(place_of(type), {scope, index, std::move(allocator)});
  return ScopedAllocator(type, scope);
}

ScopedAllocator::ScopedAllocator(ScopedAllocator&& other) noexcept
    : type_(other.type_), scope_(std::exchange(other.scope_, 0)) {}

ScopedAllocator& ScopedAllocator::operator=(ScopedAllocator&& other) noexcept {
  std::swap(type_, other.type_);
  std::swap(scope_, other.scope_);
  return *this;
}

ScopedAllocator::~ScopedAllocator() {
  if (scope_ != 0) {
    (void)allocator_registry().remove(place_of(type_), scope_);
  }
}

}  // namespace placewire
