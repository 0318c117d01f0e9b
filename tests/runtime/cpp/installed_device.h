// A simulated device for the time of a test.
#pragma once

#include <cstdint>
#include <memory>

#include "placewire/runtime/simulated_device.h"

namespace cases {

/// A simulated device, installed for one index.
struct Installed {
  explicit Installed(placewire::Device device)
      : simulated(std::make_shared<placewire::SimulatedDevice>(device)),
        scope(placewire::ScopedAllocator::install(simulated, device.index).value()) {}

  [[nodiscard]] std::uint64_t calls(placewire::DeviceOperation operation) const {
    return simulated->count(operation).calls;
  }

  std::shared_ptr<placewire::SimulatedDevice> simulated;
  placewire::ScopedAllocator scope;
};

}  // namespace cases
