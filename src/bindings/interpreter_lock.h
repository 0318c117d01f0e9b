// The interpreter lock for code that the core calls.
#pragma once

#include <Python.h>

#include <utility>

#include "placewire/runtime/kernel.h"

namespace placewire::bindings {

/// Holds the interpreter lock, whether or not the thread had it before.
class InterpreterLock {
 public:
  InterpreterLock() noexcept : state_(PyGILState_Ensure()) {}
  InterpreterLock(const InterpreterLock&) = delete;
  InterpreterLock& operator=(const InterpreterLock&) = delete;
  ~InterpreterLock() { PyGILState_Release(state_); }

 private:
  PyGILState_STATE state_;
};

/// The interpreter lock for a stretch of calls. There is one object, which lives forever.
class InterpreterStretch final : public KernelLock {
 public:
  [[nodiscard]] static InterpreterStretch* instance() noexcept {
    static auto* const stretch = new InterpreterStretch;
    return stretch;
  }

  [[nodiscard]] int acquire() noexcept override { return PyGILState_Ensure(); }
  void release(int acquired) noexcept override {
    PyGILState_Release(static_cast<PyGILState_STATE>(acquired));
  }
};

/// Python objects in an object of C++ that any thread may destroy, also after the interpreter has
/// gone; then they are left where they are.
template <typename T>
class HeldByCore {
 public:
  template <typename... Arguments>
  explicit HeldByCore(std::in_place_t, Arguments&&... arguments)
      : content_(std::forward<Arguments>(arguments)...) {}
  HeldByCore(const HeldByCore&) = delete;
  HeldByCore& operator=(const HeldByCore&) = delete;
  ~HeldByCore() {
    if (Py_IsInitialized() != 0) {
      const InterpreterLock lock;
      content_.~T();
    }
  }

  [[nodiscard]] T& operator*() const noexcept { return content_; }
  [[nodiscard]] T* operator->() const noexcept { return &content_; }

 private:
  union {
    mutable T content_;
  };
};

}  // namespace placewire::bindings
