// Turns the core's errors into the Python exceptions that are generated for their codes, and back.
#include "errors.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include <string>
#include <string_view>

namespace nb = nanobind;

namespace placewire::bindings {
namespace {

/// The last exception that became an Error on this thread. Whoever gets the Error may lose it, so
/// the text tells whether what is raised later is still about this exception.
struct PendingCause {
  /// Owned. No object that frees it by itself: a thread may end without the interpreter lock.
  PyObject* exception = nullptr;
  std::string text;
};
thread_local PendingCause pending_cause;

bool ends_with(std::string_view text, std::string_view end) noexcept {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// The exception behind an Error's message, taken out; null if there is none.
nb::object take_cause(std::string_view message) {
  PendingCause pending = std::exchange(pending_cause, {});
  const nb::object exception = nb::steal(pending.exception);
  return exception.is_valid() && ends_with(message, pending.text) ? exception : nb::object();
}

}  // namespace

void raise(const Error& error) {
  const nb::object cause = take_cause(error.message);
  const nb::object classes =
      nb::module_::import_("placewire_schema.errors").attr("PLACEWIRE_ERRORS");
  const nb::object type = classes[nb::int_(static_cast<std::uint32_t>(error.code))];
  const nb::object exception = type(nb::cast(std::string_view(error.message)));
  if (cause.is_valid()) {
    exception.attr("__cause__") = cause;
  }
  PyErr_SetObject(type.ptr(), exception.ptr());
  throw nb::python_error();
}

Error error_of(nb::python_error& exception, ErrorCode code) {
  const nb::object value = nb::borrow(exception.value());
  std::string text = nb::type_name(value.type()).c_str();
  text += ": ";
  try {
    text += nb::str(value).c_str();
  } catch (nb::python_error&) {
    text += "(its text cannot be read)";
  }
  const nb::object before = nb::steal(pending_cause.exception);
  pending_cause = {nb::object(value).release().ptr(), text};
  return {code, std::move(text)};
}

}  // namespace placewire::bindings
