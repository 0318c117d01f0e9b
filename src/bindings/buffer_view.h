// The bytes of a Python object that supports the buffer protocol.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>

#include "placewire/schema/wire.h"

namespace placewire::bindings {

/// A contiguous buffer of a Python object, released in the end.
class BufferView {
 public:
  /// Throws if `object` has no buffer, or only one with gaps.
  explicit BufferView(nanobind::handle object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) {
      nanobind::raise_python_error();
    }
  }
  ~BufferView() { PyBuffer_Release(&view_); }
  BufferView(const BufferView&) = delete;
  BufferView& operator=(const BufferView&) = delete;

  [[nodiscard]] schema::Bytes bytes() const noexcept { return {data(), size()}; }
  [[nodiscard]] const void* data() const noexcept { return view_.buf; }
  [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(view_.len); }

 private:
  Py_buffer view_{};
};

}  // namespace placewire::bindings
