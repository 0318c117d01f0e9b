// A call of Python with everything that it is made of.
#include "python_call.h"

#include <utility>

namespace placewire::bindings {

SettledCall::All& SettledCall::all() {
  // Never destroyed, because kernels may outlive everything static.
  static auto* const known = new All;
  return *known;
}

SettledCall::Parts SettledCall::parts_of(const PythonCall& call) {
  Parts parts{call.function.ptr()};
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(call.positional.ptr()); ++i) {
    parts.push_back(PyTuple_GET_ITEM(call.positional.ptr(), i));
  }
  parts.push_back(nullptr);
  PyObject* name = nullptr;
  PyObject* argument = nullptr;
  Py_ssize_t position = 0;
  while (call.keywords.is_valid() &&
         PyDict_Next(call.keywords.ptr(), &position, &name, &argument) != 0) {
    parts.insert(parts.end(), {name, argument});
  }
  return parts;
}

std::shared_ptr<const SettledCall> SettledCall::of(PythonCall call) {
  const auto [entry, is_new] = all().try_emplace(parts_of(call));
  if (!is_new) {
    return entry->second.lock();
  }
  std::shared_ptr<const SettledCall> settled(new SettledCall(std::move(call), entry));
  entry->second = settled;
  return settled;
}

SettledCall::~SettledCall() { all().erase(entry_); }

}  // namespace placewire::bindings
