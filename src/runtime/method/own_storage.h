// Memory of a method's own beside its planned buffers: one block for each device.
#pragma once

#include <cstddef>
#include <vector>

#include "memory_block.h"

namespace placewire {

/// Places for tensors, asked for one by one and then allocated at once. Each must be written as a
/// whole before it is read: nothing else sets them.
class OwnStorage {
 public:
  /// Asks for a place, and returns its number.
  std::size_t request(Device device, std::size_t nbytes);

  /// Allocates all places, one block for each device that has any bytes, and hands the blocks over.
  /// Errors: those of MemoryBlock::create.
  [[nodiscard]] Status allocate(std::vector<MemoryBlock>& blocks);

  /// First byte of a place; null if it has no bytes.
  [[nodiscard]] void* data(std::size_t place) const noexcept;

 private:
  struct Place {
    std::size_t block;
    std::size_t offset;
    std::size_t nbytes;
  };
  struct Block {
    Device device;
    std::size_t nbytes;
    std::uint8_t* data;
  };

  std::vector<Place> places_;
  std::vector<Block> blocks_;
};

}  // namespace placewire
