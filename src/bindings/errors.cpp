// Turns the core's errors into the Python exceptions that are generated for their codes.
#include "errors.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include <string_view>

#include "python_exceptions.h"

namespace nb = nanobind;

namespace placewire::bindings {

void raise(const Error& error) {
  const nb::object classes =
      nb::module_::import_("placewire_schema.errors").attr("PLACEWIRE_ERRORS");
  const nb::object type = classes[nb::int_(static_cast<std::uint32_t>(error.code))];
  const nb::object exception = type(nb::cast(std::string_view(error.message)));
  if (PyObject* const cause = release_cause(error.message)) {
    if (PyErr_GivenExceptionMatches(cause, PyExc_Exception) == 0) {
      PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(cause)), cause);
      Py_DECREF(cause);  // such as KeyboardInterrupt: nobody wants it as something else
      throw nb::python_error();
    }
    PyException_SetCause(exception.ptr(), cause);
  }
  PyErr_SetObject(type.ptr(), exception.ptr());
  throw nb::python_error();
}

}  // namespace placewire::bindings
