// The process-wide registry of kernels.
#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "kernels/native_kernels.h"
#include "placewire/runtime/kernel.h"
#include "text.h"

namespace placewire {
namespace {

using KernelPointer = std::shared_ptr<Kernel>;

constexpr std::uint64_t kRegistered = 0;

struct KernelEntry {
  /// Number of the scope, or kRegistered.
  std::uint64_t scope;
  KernelPointer kernel;
};

/// The entries of one operator: the registered one, if any, then the scopes by age.
using KernelEntries = std::vector<KernelEntry>;

class KernelRegistry {
 public:
  KernelRegistry() {
    for (auto& [name, kernel] : native_kernels()) {
      entries_[std::move(name)].push_back({kRegistered, std::move(kernel)});
    }
  }

  /// Adds an operator's registered kernel, unless it has one.
  [[nodiscard]] bool add_registered(std::string name, KernelPointer kernel) {
    const std::unique_lock lock(mutex_);
    KernelEntries& entries = entries_[std::move(name)];
    if (!entries.empty() && entries.front().scope == kRegistered) {
      return false;
    }
    entries.insert(entries.begin(), {kRegistered, std::move(kernel)});
    return true;
  }

  /// Adds a scope, and returns its number.
  [[nodiscard]] std::uint64_t add_scope(std::string name, KernelPointer kernel) {
    const std::unique_lock lock(mutex_);
    entries_[std::move(name)].push_back({++last_scope_, std::move(kernel)});
    return last_scope_;
  }

  /// Takes an entry out; null if it is not there. The caller drops the kernel, outside the lock,
  /// because its destructor may come back here.
  [[nodiscard]] KernelPointer remove(std::string_view name, std::uint64_t scope) noexcept {
    const std::unique_lock lock(mutex_);
    const auto named = entries_.find(name);
    if (named == entries_.end()) {
      return nullptr;
    }
    KernelEntries& entries = named->second;
    const auto found =
        std::find_if(entries.begin(), entries.end(),
                     [scope](const KernelEntry& entry) { return entry.scope == scope; });
    if (found == entries.end()) {
      return nullptr;
    }
    KernelPointer kernel = std::move(found->kernel);
    entries.erase(found);
    if (entries.empty()) {
      entries_.erase(named);
    }
    return kernel;
  }

  [[nodiscard]] KernelPointer find(std::string_view name) const {
    const std::shared_lock lock(mutex_);
    const auto found = entries_.find(name);
    return found == entries_.end() ? nullptr : found->second.back().kernel;
  }

 private:
  mutable std::shared_mutex mutex_;
  /// No list is empty.
  std::map<std::string, KernelEntries, std::less<>> entries_;
  std::uint64_t last_scope_ = kRegistered;
};

/// Never destroyed, so that scopes may outlive `main`.
KernelRegistry& kernel_registry() {
  static auto& registry = *new KernelRegistry;
  return registry;
}

Status check_kernel(std::string_view name, const KernelPointer& kernel) {
  if (name.empty()) {
    return Error{ErrorCode::INVALID_ARGUMENT, "the kernel to register has no name"};
  }
  if (kernel == nullptr) {
    return Error{ErrorCode::INVALID_ARGUMENT,
                 "the kernel to register for " + quoted(name) + " is null"};
  }
  return {};
}

}  // namespace

Status register_kernel(std::string name, std::shared_ptr<Kernel> kernel) {
  if (Status status = check_kernel(name, kernel); !status.ok()) {
    return status;
  }
  if (!kernel_registry().add_registered(name, std::move(kernel))) {
    return Error{ErrorCode::REGISTRATION_ALREADY_REGISTERED,
                 "a kernel for " + quoted(name) + " is registered already; unregister it first"};
  }
  return {};
}

Result<std::shared_ptr<Kernel>> unregister_kernel(std::string_view name) {
  KernelPointer kernel = kernel_registry().remove(name, kRegistered);
  if (kernel == nullptr) {
    return Error{ErrorCode::NOT_FOUND, "no kernel for " + quoted(name) + " is registered"};
  }
  return kernel;
}

std::shared_ptr<Kernel> find_kernel(std::string_view name) { return kernel_registry().find(name); }

std::string kernel_name(std::string_view name, std::string_view overload) {
  std::string full(name);
  if (!overload.empty()) {
    full.append(1, '.').append(overload);
  }
  return full;
}

Result<ScopedKernel> ScopedKernel::install(std::string name, std::shared_ptr<Kernel> kernel) {
  if (Status status = check_kernel(name, kernel); !status.ok()) {
    return std::move(status).error();
  }
  const std::uint64_t scope = kernel_registry().add_scope(name, std::move(kernel));
  return ScopedKernel(std::move(name), scope);
}

ScopedKernel::ScopedKernel(ScopedKernel&& other) noexcept
    : name_(std::move(other.name_)), scope_(std::exchange(other.scope_, 0)) {}

ScopedKernel& ScopedKernel::operator=(ScopedKernel&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(scope_, other.scope_);
  return *this;
}

ScopedKernel::~ScopedKernel() {
  if (scope_ != 0) {
    (void)kernel_registry().remove(name_, scope_);
  }
}

}  // namespace placewire
