// Arguments of the classes that users get to know: wrong types, told in our words.
#include "argument_types.h"

#include <nanobind/stl/string_view.h>

#include "errors.h"

namespace nb = nanobind;

namespace placewire::bindings {
namespace {

[[noreturn]] void raise_type(const std::string& message) {
  raise({ErrorCode::INVALID_TYPE, message});
}

}  // namespace

std::string described(nb::handle value) {
  return nb::str(nb::module_::import_("placewire.wording").attr("described")(value)).c_str();
}

std::string_view text_argument(const char* name, nb::handle value) {
  if (PyUnicode_Check(value.ptr()) == 0) {
    raise_type(std::string(name) + " is " + described(value) + "; expected a text");
  }
  std::string_view text;
  if (!nb::try_cast(value, text)) {
    raise({ErrorCode::INVALID_ARGUMENT,
           std::string(name) + " is " + nb::repr(value).c_str() + ", which UTF-8 cannot hold"});
  }
  return text;
}

std::int64_t integer_argument(const char* name, nb::handle value) {
  if (PyIndex_Check(value.ptr()) == 0) {
    raise_type(std::string(name) + " is " + described(value) + "; expected an integer");
  }
  const nb::object number = nb::steal(PyNumber_Index(value.ptr()));
  if (!number.is_valid()) {
    nb::raise_python_error();
  }
  std::int64_t integer = 0;
  if (!nb::try_cast(number, integer)) {
    raise({ErrorCode::INVALID_ARGUMENT, std::string(name) + " is " + nb::str(number).c_str() +
                                            ", which does not fit into 64 bits"});
  }
  return integer;
}

std::vector<std::int64_t> shape_argument(const char* name, nb::handle value) {
  if (PySequence_Check(value.ptr()) == 0 || PyUnicode_Check(value.ptr()) != 0) {
    raise_type(std::string(name) + " is " + described(value) + "; expected a list of integers");
  }
  const std::string item_name = "a size in " + std::string(name);
  std::vector<std::int64_t> sizes;
  for (const nb::handle item : nb::borrow(value)) {
    sizes.push_back(integer_argument(item_name.c_str(), item));
  }
  return sizes;
}

void check_buffer(const char* name, nb::handle value) {
  if (PyObject_CheckBuffer(value.ptr()) == 0) {
    raise_type(std::string(name) + " is " + described(value) +
               "; expected bytes, an array, or anything else that has a buffer");
  }
}

void refuse_copy(nb::handle self, const char* advice) {
  raise_type(described(self) +
             " can be neither copied nor pickled: it refers to memory of this "
             "process; " +
             advice);
}

}  // namespace placewire::bindings
