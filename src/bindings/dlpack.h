// The part of DLPack that tensors are handed over with: its first, widest known version.
//
// Names and layout are DLPack's; see https://dmlc.github.io/dlpack/latest/c_api.html.
#pragma once

#include <cstdint>

namespace placewire::bindings {

struct DLDevice {
  std::int32_t device_type;
  std::int32_t device_id;
};

struct DLDataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};

struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);
};

/// Name of a capsule that holds a DLManagedTensor, until somebody takes it over.
inline constexpr const char* kDLTensorCapsule = "dltensor";

}  // namespace placewire::bindings
