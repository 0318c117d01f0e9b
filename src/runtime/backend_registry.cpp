// The process-wide registry of backends.
#include <functional>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "placewire/runtime/backend.h"
#include "text.h"

namespace placewire {
namespace {

using BackendPointer = std::shared_ptr<Backend>;

class BackendRegistry {
 public:
  /// Adds a backend, unless there is one of that id.
  [[nodiscard]] bool add(std::string id, BackendPointer backend) {
    const std::unique_lock lock(mutex_);
    return backends_.try_emplace(std::move(id), std::move(backend)).second;
  }

  /// Takes a backend out; null if it is not there. The caller drops it, outside the lock, because
  /// its destructor may come back here.
  [[nodiscard]] BackendPointer remove(std::string_view id) noexcept {
    const std::unique_lock lock(mutex_);
    const auto found = backends_.find(id);
    if (found == backends_.end()) {
      return nullptr;
    }
    BackendPointer backend = std::move(found->second);
    backends_.erase(found);
    return backend;
  }

  [[nodiscard]] BackendPointer find(std::string_view id) const {
    const std::shared_lock lock(mutex_);
    const auto found = backends_.find(id);
    return found == backends_.end() ? nullptr : found->second;
  }

  [[nodiscard]] std::vector<std::string> ids() const {
    const std::shared_lock lock(mutex_);
    std::vector<std::string> all;
    for (const auto& [id, backend] : backends_) {
      all.push_back(id);
    }
    return all;
  }

 private:
  mutable std::shared_mutex mutex_;
  std::map<std::string, BackendPointer, std::less<>> backends_;
};

/// Never destroyed, so that backends may outlive `main`.
BackendRegistry& backend_registry() {
  static auto& registry = *new BackendRegistry;
  return registry;
}

}  // namespace

Status register_backend(std::shared_ptr<Backend> backend) {
  if (backend == nullptr) {
    return Error{ErrorCode::INVALID_ARGUMENT, "the backend to register is null"};
  }
  std::string id(backend->id());
  if (id.empty()) {
    return Error{ErrorCode::INVALID_ARGUMENT, "the backend to register has no id"};
  }
  if (!backend_registry().add(id, std::move(backend))) {
    return Error{ErrorCode::REGISTRATION_ALREADY_REGISTERED,
                 "a backend " + quoted(id) + " is registered already; unregister it first"};
  }
  return {};
}

Result<std::shared_ptr<Backend>> unregister_backend(std::string_view id) {
  BackendPointer backend = backend_registry().remove(id);
  if (backend == nullptr) {
    return Error{ErrorCode::NOT_FOUND, "no backend " + quoted(id) + " is registered"};
  }
  return backend;
}

std::shared_ptr<Backend> find_backend(std::string_view id) { return backend_registry().find(id); }

std::vector<std::string> backend_ids() { return backend_registry().ids(); }

}  // namespace placewire
