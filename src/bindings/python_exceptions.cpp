// Python exceptions on their way through the core: they become Errors, and causes again.
#include "python_exceptions.h"

#include <nanobind/nanobind.h>

#include <string>
#include <utility>

namespace nb = nanobind;

namespace placewire::bindings {
namespace {

/// The exception that this thread took last, and what its Error says.
///
/// A pointer without an owner, because a thread may end after the interpreter.
struct Taken {
  PyObject* exception = nullptr;
  std::string message;
};
thread_local Taken taken;

/// The text of an exception; what cannot be turned into text has none.
std::string text_of(nb::handle exception) {
  const nb::object text = nb::steal(PyObject_Str(exception.ptr()));
  const char* const bytes = text.is_valid() ? PyUnicode_AsUTF8(text.ptr()) : nullptr;
  if (bytes == nullptr) {
    PyErr_Clear();
    return "";
  }
  return bytes;
}

/// The code of an exception of placewire's own; nothing for others.
std::optional<ErrorCode> code_of(nb::handle exception) {
  const nb::object base = nb::module_::import_("placewire_schema.errors").attr("PlacewireError");
  if (PyObject_IsInstance(exception.ptr(), base.ptr()) != 1) {
    PyErr_Clear();
    return std::nullopt;
  }
  const nb::object code = nb::steal(PyObject_GetAttrString(exception.ptr(), "code"));
  const long number = code.is_valid() ? PyLong_AsLong(code.ptr()) : -1;
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    return std::nullopt;
  }
  return static_cast<ErrorCode>(number);
}

}  // namespace

Error take_exception(ErrorCode code) {
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback != nullptr) {
    PyException_SetTraceback(value, traceback);
  }
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  Error error{code, text_of(value)};
  if (const std::optional<ErrorCode> own = code_of(value)) {
    error.code = *own;
  } else {
    const std::string name = Py_TYPE(value)->tp_name;
    error.message = error.message.empty() ? name : name + ": " + error.message;
  }
  Py_XDECREF(std::exchange(taken.exception, value));
  taken.message = error.message;
  return error;
}

PyObject* release_cause(std::string_view message) {
  PyObject* const exception = std::exchange(taken.exception, nullptr);
  if (exception != nullptr && message.find(taken.message) == std::string_view::npos) {
    Py_DECREF(exception);  // that of another error, which was dropped
    return nullptr;
  }
  return exception;
}

}  // namespace placewire::bindings
