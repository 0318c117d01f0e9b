// What torch's own operators run under: the interpreter lock, and torch's inference mode.
#include "inference_stretch.h"

#include <nanobind/nanobind.h>

#include <utility>
#include <vector>

#include "interpreter_lock.h"
#include "torch_lookup.h"

namespace nb = nanobind;

namespace placewire::bindings {
namespace {

/// The modes that this thread has entered. It is empty when the thread ends.
thread_local std::vector<PyObject*> entered;

/// torch's class of contexts; null if there is no torch. Never freed: it lives as long as torch.
PyObject* inference_mode() {
  static PyObject* type = nullptr;
  if (type == nullptr) {
    type = find_in_torch("_InferenceMode");
  }
  return type;
}

/// A mode that has been entered; null if that failed: then the calls say what they cannot do.
PyObject* enter() {
  static PyObject* const name = PyUnicode_InternFromString("__enter__");
  PyObject* const type = inference_mode();
  nb::object mode = type == nullptr ? nb::object() : nb::steal(PyObject_CallOneArg(type, Py_True));
  if (mode.is_valid() && !nb::steal(PyObject_CallMethodNoArgs(mode.ptr(), name)).is_valid()) {
    mode = nb::object();
  }
  PyErr_Clear();
  return mode.release().ptr();
}

void leave(PyObject* mode) {
  static PyObject* const name = PyUnicode_InternFromString("__exit__");
  const nb::object held = nb::steal(mode);
  if (held.is_valid()) {
    Py_XDECREF(PyObject_CallMethodObjArgs(mode, name, Py_None, Py_None, Py_None, nullptr));
    PyErr_Clear();
  }
}

}  // namespace

InferenceStretch* InferenceStretch::instance() noexcept {
  static auto* const stretch = new InferenceStretch;
  return stretch;
}

int InferenceStretch::acquire() noexcept {
  const int acquired = InterpreterStretch::instance()->acquire();
  entered.push_back(enter());
  return acquired;
}

void InferenceStretch::release(int acquired) noexcept {
  leave(entered.back());
  entered.pop_back();
  InterpreterStretch::instance()->release(acquired);
}

}  // namespace placewire::bindings
