// A call of Python with everything that it is made of.
#pragma once

#include <nanobind/nanobind.h>

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "fixed_tensors.h"

namespace placewire::bindings {

/// A function and its arguments. All functions need the interpreter lock.
struct PythonCall {
  nanobind::object function;
  nanobind::object positional;
  /// Null without any.
  nanobind::object keywords;
  /// Those of the arguments that lie at fixed places.
  std::vector<std::shared_ptr<FixedTensor>> tensors;

  /// What the function returns; null with an exception set if it raised one.
  [[nodiscard]] nanobind::object operator()() const noexcept {
    return nanobind::steal(PyObject_Call(function.ptr(), positional.ptr(), keywords.ptr()));
  }
  /// Makes good what a call that failed may have done to the sizes of those tensors.
  void restore_tensors() const noexcept {
    for (const std::shared_ptr<FixedTensor>& tensor : tensors) {
      tensor->restore();
    }
  }
};

/// A call that never changes again: all that are made of the same objects are one.
///
/// A program does the same to the same places over and over; what it shares stays in the
/// processor's caches. The function must leave its arguments as they are, but for elements.
class SettledCall {
 public:
  /// The one that is like `call`, which is kept as long as somebody has it.
  [[nodiscard]] static std::shared_ptr<const SettledCall> of(PythonCall call);

  SettledCall(const SettledCall&) = delete;
  SettledCall& operator=(const SettledCall&) = delete;
  ~SettledCall();

  [[nodiscard]] const PythonCall& operator*() const noexcept { return call_; }

 private:
  /// The function, its arguments, null, then names and arguments by name.
  using Parts = std::vector<const PyObject*>;
  /// Does not keep anything alive. Guarded by the interpreter lock.
  using All = std::map<Parts, std::weak_ptr<const SettledCall>>;

  SettledCall(PythonCall call, All::iterator entry) noexcept
      : call_(std::move(call)), entry_(entry) {}
  [[nodiscard]] static All& all();
  [[nodiscard]] static Parts parts_of(const PythonCall& call);

  PythonCall call_;
  All::iterator entry_;
};

}  // namespace placewire::bindings
