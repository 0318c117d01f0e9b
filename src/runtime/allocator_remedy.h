// What to do where a device has no allocator.
#pragma once

namespace placewire {

/// The end of a message about a missing allocator. It is true in C++ and Python, whose names are
/// the same.
inline constexpr const char* kAllocatorRemedy =
    ": register_cuda_allocator makes GPUs available, SimulatedDevice stands for a device that is "
    "not there";

}  // namespace placewire
