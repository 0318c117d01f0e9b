// Tensors between Python and the core, without copying.
#include "tensors.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "argument_types.h"
#include "buffer_view.h"
#include "errors.h"
#include "placewire/runtime/simulated_device.h"
#include "python_exceptions.h"

namespace nb = nanobind;

namespace placewire::bindings {
namespace {

using schema::program::kDeviceTypeMembers;
using schema::program::kScalarTypeMembers;

template <typename T>
nb::tuple to_tuple(Span<T> items) {
  nb::list list;
  for (const auto item : items) {
    list.append(nb::int_(static_cast<std::int64_t>(item)));
  }
  return nb::tuple(list);
}

std::optional<nb::dlpack::dtype> dlpack_dtype(ScalarType type) {
  const auto code = dlpack(type);
  const auto bits = dlpack_bits(type);
  if (!code || !bits) {
    return std::nullopt;
  }
  return nb::dlpack::dtype{static_cast<std::uint8_t>(*code), static_cast<std::uint8_t>(*bits), 1};
}

std::optional<ScalarType> scalar_type_of(nb::dlpack::dtype dtype) {
  for (const ScalarType type : kScalarTypeMembers) {
    if (dlpack_dtype(type) == dtype) {
      return type;
    }
  }
  return std::nullopt;
}

std::optional<Device> device_of(int type, int index) {
  for (const DeviceType known : kDeviceTypeMembers) {
    if (schema::program::dlpack(known) == type && index >= 0 && index <= INT8_MAX) {
      return Device{known, static_cast<DeviceIndex>(index)};
    }
  }
  return std::nullopt;
}

/// Whether elements lie without gaps, the dimensions in this order from outermost to innermost.
bool lies_in_order(const nb::ndarray<nb::ro>& array, Span<const std::uint8_t> order) {
  std::int64_t expected = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    const std::size_t dimension = order[i];
    const auto size = static_cast<std::int64_t>(array.shape(dimension));
    if (size != 1 && array.stride(dimension) != expected) {
      return false;
    }
    expected *= size;
  }
  return true;
}

/// The order of the dimensions in memory; nothing if the elements have gaps.
std::optional<std::vector<std::uint8_t>> order_of(const nb::ndarray<nb::ro>& array,
                                                  Span<const std::uint8_t> preferred) {
  std::vector<std::uint8_t> order(array.ndim());
  std::iota(order.begin(), order.end(), std::uint8_t{0});
  if (preferred.size() == order.size() && (array.size() == 0 || lies_in_order(array, preferred))) {
    return std::vector<std::uint8_t>(preferred.begin(), preferred.end());
  }
  std::stable_sort(order.begin(), order.end(), [&](std::uint8_t left, std::uint8_t right) {
    return array.stride(left) > array.stride(right);
  });
  if (array.size() != 0 && !lies_in_order(array, order)) {
    return std::nullopt;
  }
  return order;
}

/// What the object's own `__dlpack__` raises; nothing if it raises nothing, or there is none. The
/// exception becomes the cause of an error whose message has this text.
std::optional<std::string> dlpack_failure(nb::handle object) {
  if (!nb::hasattr(object, "__dlpack__")) {
    return std::nullopt;
  }
  try {
    (void)object.attr("__dlpack__")();
    return std::nullopt;
  } catch (nb::python_error& exception) {
    exception.restore();
    return take_exception(ErrorCode::INVALID_TYPE).message;
  }
}

/// The element type of an array, as its own library calls it: ` complex64`; nothing if it has none.
std::string own_dtype(nb::handle array) {
  const nb::object dtype = nb::getattr(array, "dtype", nb::none());
  return dtype.is_none() ? std::string() : std::string(" ") + nb::str(dtype).c_str();
}

/// Why an object is taken for no tensor, after the name of its type.
std::string why_no_tensor(nb::handle object) {
  const nb::object dtype = nb::getattr(object, "dtype", nb::none());
  const nb::object is_native = nb::getattr(dtype, "isnative", nb::none());
  if (is_native.is(nb::handle(Py_False))) {
    return std::string(" has elements (") + nb::str(nb::getattr(dtype, "str", dtype)).c_str() +
           ") in the other byte order than this machine's; give "
           "x.astype(x.dtype.newbyteorder('='))";
  }
  if (const auto failure = dlpack_failure(object)) {
    return " cannot be taken as a tensor: " + *failure;
  }
  return " is no tensor: it has neither __dlpack__ nor a buffer of numbers";
}

nb::object dlpack_of(const PythonTensor& self, const nb::kwargs& wishes) {
  const TensorImpl& tensor = self.tensor();
  const auto dtype = dlpack_dtype(tensor.scalar_type());
  if (!dtype) {
    raise({ErrorCode::NOT_SUPPORTED,
           "DLPack has no type for elements of " + std::string(name(tensor.scalar_type()))});
  }
  const std::vector<std::size_t> shape(tensor.sizes().begin(), tensor.sizes().end());
  const nb::ndarray<nb::array_api> array(
      tensor.data(), shape.size(), shape.data(), self.owner(), tensor.strides().data(), *dtype,
      static_cast<int>(schema::program::dlpack(tensor.device().type)), tensor.device().index);
  return nb::cast(array, nb::rv_policy::reference).attr("__dlpack__")(**wishes);
}

/// Where code that plays a device's part finds the bytes on the host; None if it cannot.
nb::object host_address(const PythonTensor& self) {
  const TensorImpl& tensor = self.tensor();
  void* address = tensor.data();
  if (tensor.device().type != DeviceType::CPU) {
    const auto backing =
        SimulatedDevice::backing_on(tensor.device(), tensor.data(), tensor.nbytes());
    address = backing.ok() ? backing.value() : nullptr;
  }
  return address == nullptr ? nb::object(nb::none())
                            : nb::object(nb::int_(reinterpret_cast<std::uintptr_t>(address)));
}

TensorPtr host_tensor(const TensorImpl& like, void* data) {
  return value_or_raise(
      make_tensor_ptr(like.sizes(), like.scalar_type(), data, Device{}, like.dim_order()));
}

nb::bytes read(const PythonTensor& self) {
  const TensorImpl& tensor = self.tensor();
  std::string bytes(tensor.nbytes(), '\0');
  if (!bytes.empty()) {
    raise_if_failed(copy_tensor_data(tensor, *host_tensor(tensor, bytes.data())));
  }
  return nb::bytes(bytes.data(), bytes.size());
}

void write(const PythonTensor& self, nb::handle data) {
  TensorImpl& tensor = self.tensor();
  check_buffer("data", data);
  const BufferView view(data);
  if (view.size() != tensor.nbytes()) {
    raise({ErrorCode::INVALID_ARGUMENT, std::to_string(view.size()) + " bytes were given for " +
                                            to_string(tensor) + ", which has " +
                                            std::to_string(tensor.nbytes())});
  }
  if (tensor.is_read_only()) {
    raise({ErrorCode::INVALID_ARGUMENT, to_string(tensor) + " is read-only"});
  }
  if (view.size() != 0) {
    // The copy only reads from it.
    raise_if_failed(copy_tensor_data(*host_tensor(tensor, const_cast<void*>(view.data())), tensor));
  }
}

void resize(const PythonTensor& self, nb::handle shape) {
  const std::vector<std::int64_t> sizes = shape_argument("shape", shape);
  raise_if_failed(self.tensor().resize(Span<const std::int64_t>(sizes)));
}

/// Keeps a tensor that no method owns.
struct TensorOwner {
  TensorPtr tensor;
};

PythonTensor copy(const TensorImpl& tensor, std::int64_t device_type, std::int64_t device_index) {
  constexpr int kHighest = std::numeric_limits<DeviceIndex>::max();
  if (device_type < 0 || device_type > kHighest || device_index < 0 || device_index > kHighest) {
    raise({ErrorCode::INVALID_ARGUMENT, "there is no device of kind " +
                                            std::to_string(device_type) + " with the index " +
                                            std::to_string(device_index)});
  }
  const Device device{static_cast<DeviceType>(device_type), static_cast<DeviceIndex>(device_index)};
  TensorPtr made = value_or_raise(clone_tensor_ptr_to(tensor, device));
  TensorImpl& reference = *made;
  return {reference, nb::cast(TensorOwner{std::move(made)})};
}

PythonTensor copy_of_object(nb::handle object, std::int64_t device_type,
                            std::int64_t device_index) {
  TensorImpl scalar(ScalarType::FLOAT, 0, {});
  const BorrowedTensor borrowed = value_or_raise(borrow_tensor(object, scalar));
  return copy(*borrowed.tensor, device_type, device_index);
}

/// What a list of values becomes; null entries are None.
nb::list list_of(Span<EValue* const> items, const nb::object& owner) {
  nb::list list;
  for (const EValue* const item : items) {
    list.append(item == nullptr ? nb::none() : to_python(*item, owner));
  }
  return list;
}

struct ToPython {
  const nb::object& owner;

  nb::object operator()(std::monostate /*none*/) const { return nb::none(); }
  nb::object operator()(std::int64_t value) const { return nb::int_(value); }
  nb::object operator()(bool value) const { return nb::bool_(value); }
  nb::object operator()(double value) const { return nb::float_(value); }
  nb::object operator()(std::string_view value) const {
    return nb::str(value.data(), value.size());
  }
  nb::object operator()(TensorImpl* tensor) const { return nb::cast(PythonTensor(*tensor, owner)); }
  nb::object operator()(const IntList& list) const { return list_of(list.items, owner); }
  nb::object operator()(const TensorList& list) const { return list_of(list.items, owner); }
  nb::object operator()(const OptionalTensorList& list) const { return list_of(list.items, owner); }
  template <typename T>
  nb::object operator()(Span<T> items) const {
    nb::list list;
    for (const auto item : items) {
      list.append((*this)(item));
    }
    return std::move(list);
  }
};

}  // namespace

nb::object device_object(Device device) {
  return nb::module_::import_("placewire.device")
      .attr("Device")(static_cast<int>(device.type), static_cast<int>(device.index));
}

Result<BorrowedTensor> borrow_tensor(nb::handle object, const TensorImpl& like) {
  nb::ndarray<nb::ro> array;
  if (!nb::try_cast(object, array, false)) {
    return Error{ErrorCode::INVALID_TYPE,
                 std::string(nb::type_name(object.type()).c_str()) + why_no_tensor(object)};
  }
  const auto scalar_type = scalar_type_of(array.dtype());
  if (!scalar_type) {
    return Error{ErrorCode::INVALID_TYPE, "its elements" + own_dtype(object) + " (DLPack type " +
                                              std::to_string(array.dtype().code) + ", " +
                                              std::to_string(array.dtype().bits) +
                                              " bits) are of no type that programs have"};
  }
  const auto device = device_of(array.device_type(), array.device_id());
  if (!device) {
    return Error{ErrorCode::INVALID_ARGUMENT,
                 "it is on a device that the schema does not know (DLPack device " +
                     std::to_string(array.device_type()) + ", index " +
                     std::to_string(array.device_id()) + ")"};
  }
  const auto order = order_of(array, like.dim_order());
  if (!order) {
    return Error{ErrorCode::INVALID_ARGUMENT,
                 "its elements do not lie one after the other; make it contiguous first"};
  }
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < array.ndim(); ++i) {
    sizes.push_back(static_cast<std::int64_t>(array.shape(i)));
  }
  Result<TensorPtr> tensor =
      make_tensor_ptr(Span<const std::int64_t>(sizes), *scalar_type,
                      const_cast<void*>(array.data()), *device, Span<const std::uint8_t>(*order));
  if (!tensor.ok()) {
    return std::move(tensor).error();
  }
  tensor.value()->set_read_only(true);
  return BorrowedTensor{std::move(tensor).value(), nb::cast(array, nb::rv_policy::reference)};
}

nb::object to_python(const EValue& value, const nb::object& owner) {
  return std::visit(ToPython{owner}, value.content());
}

void bind_tensors(nb::module_& module) {
  nb::class_<TensorOwner>(module, "_TensorOwner");
  module.def("copy_tensor", &copy_of_object, nb::arg("value").none(), nb::arg("device_type"),
             nb::arg("device_index"));
  nb::class_<PythonTensor>(module, "Tensor")
      .def_prop_ro("shape",
                   [](const PythonTensor& self) { return to_tuple(self.tensor().sizes()); })
      .def_prop_ro("strides",
                   [](const PythonTensor& self) { return to_tuple(self.tensor().strides()); })
      .def_prop_ro("dim_order",
                   [](const PythonTensor& self) { return to_tuple(self.tensor().dim_order()); })
      .def_prop_ro(
          "scalar_type",
          [](const PythonTensor& self) { return static_cast<int>(self.tensor().scalar_type()); })
      .def_prop_ro(
          "device_type",
          [](const PythonTensor& self) { return static_cast<int>(self.tensor().device().type); })
      .def_prop_ro(
          "device_index",
          [](const PythonTensor& self) { return static_cast<int>(self.tensor().device().index); })
      .def_prop_ro("device",
                   [](const PythonTensor& self) { return device_object(self.tensor().device()); })
      .def_prop_ro("address",
                   [](const PythonTensor& self) {
                     return reinterpret_cast<std::uintptr_t>(self.tensor().data());
                   })
      .def_prop_ro("host_address", &host_address)
      .def_prop_ro("nbytes", [](const PythonTensor& self) { return self.tensor().nbytes(); })
      .def_prop_ro("is_static", [](const PythonTensor& self) { return self.tensor().is_static(); })
      .def("__dlpack__", &dlpack_of)
      .def("__dlpack_device__",
           [](const PythonTensor& self) {
             const Device device = self.tensor().device();
             return nb::make_tuple(schema::program::dlpack(device.type), device.index);
           })
      .def("read", &read)
      .def("write", &write, nb::arg("data").none())
      .def("resize", &resize, nb::arg("shape").none())
      .def(
          "copy_to",
          [](const PythonTensor& self, nb::handle device_type, nb::handle device_index) {
            return copy(self.tensor(), integer_argument("device_type", device_type),
                        integer_argument("device_index", device_index));
          },
          nb::arg("device_type").none(), nb::arg("device_index").none())
      .def("__reduce_ex__",
           [](nb::handle self, nb::handle /*protocol*/) {
             refuse_copy(self,
                         "placewire.tensors.copy_tensor copies it, to_numpy makes an array of it");
           })
      .def("__repr__", [](const PythonTensor& self) { return to_string(self.tensor()); });
}

}  // namespace placewire::bindings
