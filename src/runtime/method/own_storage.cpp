// Memory of a method's own beside its planned buffers: one block for each device.
#include "method/own_storage.h"

#include <algorithm>
#include <utility>

namespace placewire {
namespace {

/// Bytes at whose multiples places begin on a device.
std::size_t alignment_on(Device device) noexcept {
  const auto own = static_cast<std::size_t>(schema::program::alignment(device.type));
  return std::max(own, MemoryBlock::kHostAlignment);
}

}  // namespace

std::size_t OwnStorage::request(Device device, std::size_t nbytes) {
  auto block = std::find_if(blocks_.begin(), blocks_.end(),
                            [device](const Block& each) { return each.device == device; });
  if (block == blocks_.end()) {
    blocks_.push_back({device, 0, nullptr});
    block = std::prev(blocks_.end());
  }
  const std::size_t alignment = alignment_on(device);
  const std::size_t offset = (block->nbytes + alignment - 1) / alignment * alignment;
  block->nbytes = offset + nbytes;
  places_.push_back({static_cast<std::size_t>(block - blocks_.begin()), offset, nbytes});
  return places_.size() - 1;
}

Status OwnStorage::allocate(std::vector<MemoryBlock>& blocks) {
  for (Block& block : blocks_) {
    Result<MemoryBlock> allocated = MemoryBlock::create_unset(block.nbytes, block.device);
    if (!allocated.ok()) {
      return std::move(allocated).error();
    }
    block.data = allocated.value().data();
    blocks.push_back(std::move(allocated).value());
  }
  return {};
}

void* OwnStorage::data(std::size_t place) const noexcept {
  const Place& at = places_[place];
  return at.nbytes == 0 ? nullptr : blocks_[at.block].data + at.offset;
}

}  // namespace placewire
