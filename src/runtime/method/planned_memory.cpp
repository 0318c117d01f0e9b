// The planned buffers of methods: one block of memory for each.
#include <string>
#include <utility>

#include "memory_block.h"
#include "method/memory_use.h"
#include "placewire/runtime/method.h"

namespace placewire {

PlannedMemory::PlannedMemory() = default;
PlannedMemory::~PlannedMemory() = default;

Result<std::shared_ptr<PlannedMemory>> PlannedMemory::create(Span<const std::size_t> sizes,
                                                             Span<const Device> devices,
                                                             Span<const std::size_t> alignments) {
  if (sizes.size() != devices.size() ||
      (!alignments.empty() && alignments.size() != sizes.size())) {
    return Error{ErrorCode::INVALID_ARGUMENT,
                 "planned buffers: there are " + std::to_string(sizes.size()) + " sizes, " +
                     std::to_string(devices.size()) + " devices and " +
                     std::to_string(alignments.size()) + " alignments"};
  }
  std::shared_ptr<PlannedMemory> memory(new PlannedMemory);
  memory->blocks_.reserve(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Result<MemoryBlock> block =
        MemoryBlock::create(sizes[i], devices[i], alignments.empty() ? 0 : alignments[i]);
    if (!block.ok()) {
      return Error{block.error().code,
                   "planned buffer " + std::to_string(i) + ": " + block.error().message};
    }
    memory->blocks_.push_back(std::move(block).value());
  }
  return memory;
}

std::size_t PlannedMemory::buffer_count() const noexcept { return blocks_.size(); }

void* PlannedMemory::data(std::size_t index) const noexcept { return blocks_[index].data(); }

std::size_t PlannedMemory::size(std::size_t index) const noexcept { return blocks_[index].size(); }

Device PlannedMemory::device(std::size_t index) const noexcept { return blocks_[index].device(); }

bool PlannedMemory::is_host_memory(std::size_t index) const noexcept {
  return blocks_[index].is_host_memory();
}

MemoryUse::MemoryUse(PlannedMemory& memory) noexcept
    : memory_(memory.is_in_use_.exchange(true, std::memory_order_acquire) ? nullptr : &memory) {}

MemoryUse::~MemoryUse() {
  if (memory_ != nullptr) {
    memory_->is_in_use_.store(false, std::memory_order_release);
  }
}

}  // namespace placewire
