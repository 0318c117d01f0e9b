// Arrays of Python's libraries over the memory of tensors.
#include "arrays.h"

#include <nanobind/ndarray.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "dlpack.h"
#include "placewire/runtime/simulated_device.h"
#include "python_exceptions.h"
#include "torch_lookup.h"

namespace nb = nanobind;

namespace placewire::bindings {
namespace {

/// A tensor that is handed over, with the lists that it points to.
struct Handover {
  DLManagedTensor managed{};
  std::array<std::int64_t, kMaximumRank> shape{};
  std::array<std::int64_t, kMaximumRank> strides{};
};

void release(DLManagedTensor* managed) { delete static_cast<Handover*>(managed->manager_ctx); }

/// What is left of a capsule that nobody took over.
void release_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kDLTensorCapsule) == 0) {
    return;
  }
  auto* const managed =
      static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, kDLTensorCapsule));
  managed->deleter(managed);
}

Result<DLDataType> data_type_of(const TensorImpl& tensor) {
  const auto code = schema::program::dlpack(tensor.scalar_type());
  const auto bits = schema::program::dlpack_bits(tensor.scalar_type());
  if (!code || !bits) {
    return Error{ErrorCode::NOT_SUPPORTED, "a kernel of Python's cannot get " + to_string(tensor) +
                                               ": DLPack has no such element type"};
  }
  return DLDataType{static_cast<std::uint8_t>(*code), static_cast<std::uint8_t>(*bits), 1};
}

/// Why a library cannot reach a tensor's memory; success if it can.
Status check_reachable(ArrayLibrary library, const TensorImpl& tensor) {
  if (tensor.data() == nullptr && tensor.numel() != 0) {
    return Error{ErrorCode::INVALID_STATE, to_string(tensor) + " has no memory"};
  }
  if (tensor.device().type == DeviceType::CPU) {
    return {};
  }
  if (library == ArrayLibrary::kNumpy || SimulatedDevice::owns(tensor.data())) {
    const char* const who = library == ArrayLibrary::kNumpy ? "numpy" : "torch";
    return Error{ErrorCode::NOT_SUPPORTED,
                 std::string(who) + " cannot reach the memory of " + to_string(tensor)};
  }
  return {};
}

/// A capsule of a tensor's memory with the given sizes, whose strides follow from its order.
nb::object capsule_of(const TensorImpl& tensor, Span<const std::int64_t> sizes, DLDataType type) {
  auto handover = std::make_unique<Handover>();
  std::copy(sizes.begin(), sizes.end(), handover->shape.begin());
  std::int64_t stride = 1;
  for (std::size_t place = tensor.rank(); place-- > 0;) {
    const std::size_t dimension = tensor.dim_order()[place];
    handover->strides[dimension] = stride;
    stride *= std::max<std::int64_t>(sizes[dimension], 1);
  }
  const Device device = tensor.device();
  DLTensor& shown = handover->managed.dl_tensor;
  shown.data = tensor.data();
  shown.device = {static_cast<std::int32_t>(schema::program::dlpack(device.type)),
                  device.type == DeviceType::CPU ? 0 : device.index};
  shown.ndim = static_cast<std::int32_t>(tensor.rank());
  shown.dtype = type;
  shown.shape = handover->shape.data();
  shown.strides = handover->strides.data();
  handover->managed.manager_ctx = handover.get();
  handover->managed.deleter = &release;
  nb::object capsule =
      nb::steal(PyCapsule_New(&handover->managed, kDLTensorCapsule, &release_capsule));
  if (capsule.is_valid()) {
    static_cast<void>(handover.release());
  }
  return capsule;
}

/// The function that makes a tensor of torch's of a capsule; null with an exception set if there is
/// no torch. Never freed: it is torch's, and lives as long as the process.
PyObject* torch_from_capsule() {
  static PyObject* function = nullptr;
  if (function == nullptr) {
    function = find_in_torch("_from_dlpack");
  }
  return function;
}

nb::object torch_tensor(const TensorImpl& tensor, Span<const std::int64_t> sizes, DLDataType type) {
  PyObject* const function = torch_from_capsule();
  const nb::object capsule = function == nullptr ? nb::object() : capsule_of(tensor, sizes, type);
  return capsule.is_valid() ? nb::steal(PyObject_CallOneArg(function, capsule.ptr()))
                            : nb::object();
}

nb::object numpy_array(const TensorImpl& tensor, Span<const std::int64_t> sizes, DLDataType type) {
  std::array<std::size_t, kMaximumRank> shape{};
  std::copy(sizes.begin(), sizes.end(), shape.begin());
  const nb::dlpack::dtype dtype{type.code, type.bits, type.lanes};
  try {
    if (tensor.is_read_only()) {
      return nb::cast(nb::ndarray<nb::numpy, nb::ro>(tensor.data(), tensor.rank(), shape.data(),
                                                     nb::handle(), tensor.strides().data(), dtype),
                      nb::rv_policy::reference);
    }
    return nb::cast(nb::ndarray<nb::numpy>(tensor.data(), tensor.rank(), shape.data(), nb::handle(),
                                           tensor.strides().data(), dtype),
                    nb::rv_policy::reference);
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_TypeError, error.what());
  }
  return {};
}

nb::object tuple_of(Span<const std::int64_t> numbers) {
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(numbers.size())));
  for (std::size_t i = 0; tuple.is_valid() && i < numbers.size(); ++i) {
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromLongLong(numbers[i]));
  }
  return tuple;
}

bool are_same(const nb::object& left, const nb::object& right) {
  return left.is_valid() && right.is_valid() &&
         PyObject_RichCompareBool(left.ptr(), right.ptr(), Py_EQ) == 1;
}

}  // namespace

Status check_viewable(ArrayLibrary library, const TensorImpl& tensor) {
  if (Status status = check_reachable(library, tensor); !status) {
    return status;
  }
  const Result<DLDataType> type = data_type_of(tensor);
  return type ? Status() : type.error();
}

Result<nb::object> array_over(ArrayLibrary library, const TensorImpl& tensor,
                              Span<const std::int64_t> sizes) {
  if (Status status = check_viewable(library, tensor); !status) {
    return std::move(status).error();
  }
  const Result<DLDataType> type = data_type_of(tensor);
  nb::object made = library == ArrayLibrary::kNumpy ? numpy_array(tensor, sizes, type.value())
                                                    : torch_tensor(tensor, sizes, type.value());
  return made.is_valid() ? Result<nb::object>(std::move(made))
                         : take_exception(ErrorCode::NOT_SUPPORTED);
}

Result<std::vector<std::int64_t>> sizes_of(PyObject* array) {
  static PyObject* const name = PyUnicode_InternFromString("shape");
  const nb::object shape = nb::steal(PyObject_GetAttr(array, name));
  if (!shape.is_valid() || !PyTuple_Check(shape.ptr())) {
    return take_exception(ErrorCode::INTERNAL);
  }
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(PyTuple_GET_SIZE(shape.ptr())));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    sizes[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(shape.ptr(), static_cast<Py_ssize_t>(i)));
  }
  return sizes;
}

void restore_layout(PyObject* tensor, Span<const std::int64_t> sizes,
                    Span<const std::int64_t> strides) noexcept {
  const nb::object wanted_sizes = tuple_of(sizes);
  const nb::object wanted_strides = tuple_of(strides);
  const nb::object shape = nb::steal(PyObject_GetAttrString(tensor, "shape"));
  const nb::object stride = nb::steal(PyObject_CallMethod(tensor, "stride", nullptr));
  if (!are_same(shape, wanted_sizes) || !are_same(stride, wanted_strides)) {
    Py_XDECREF(
        PyObject_CallMethod(tensor, "as_strided_", "OO", wanted_sizes.ptr(), wanted_strides.ptr()));
  }
  PyErr_Clear();
}

}  // namespace placewire::bindings
