// A method that is loaded: its memory, its values, its kernels and delegates, ready to execute.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "placewire/runtime/api.h"
#include "placewire/runtime/backend.h"
#include "placewire/runtime/buffers.h"
#include "placewire/runtime/device.h"
#include "placewire/runtime/evalue.h"
#include "placewire/runtime/kernel.h"
#include "placewire/runtime/program.h"
#include "placewire/runtime/result.h"

namespace placewire {

/// Which device to take instead of one that a file names. The first pair whose left side is the
/// device of the file decides; a device that no pair names stays.
using DeviceMap = std::vector<std::pair<Device, Device>>;

class MemoryBlock;

/// Buffer, offset, and the bytes of the program that stand there: null for zeros.
using Initialized = std::set<std::tuple<std::size_t, std::size_t, const void*>>;

/// The planned memory of one method, or of several that share it.
///
/// One block for each planned buffer that is not empty, on the buffer's device. Host buffers come
/// from the host's own memory, and are zero at first, unless an allocator is registered for the
/// CPU.
/// It remembers which buffers of the model have their initial values already, so that loading a
/// second method does not reset what the first has changed.
/// Threads: of the methods that share it one uses it at a time; the others are BUSY meanwhile.
class PlannedMemory {
 public:
  /// Allocates; `sizes` and `devices` have one entry for each buffer, as has `alignments`, unless
  /// it is empty: then, and where it is 0, each device's own alignment is taken. If one allocation
  /// fails, those before it are freed. Errors: INVALID_ARGUMENT for lists of different lengths;
  /// those of DeviceMemoryBuffer::create, with the number of the buffer in front.
  [[nodiscard]] PLACEWIRE_API static Result<std::shared_ptr<PlannedMemory>> create(
      Span<const std::size_t> sizes, Span<const Device> devices,
      Span<const std::size_t> alignments = {});

  PlannedMemory(const PlannedMemory&) = delete;
  PlannedMemory& operator=(const PlannedMemory&) = delete;
  PLACEWIRE_API ~PlannedMemory();

  [[nodiscard]] PLACEWIRE_API std::size_t buffer_count() const noexcept;
  /// First byte of a buffer, on its device; null if it is empty.
  [[nodiscard]] PLACEWIRE_API void* data(std::size_t index) const noexcept;
  [[nodiscard]] PLACEWIRE_API std::size_t size(std::size_t index) const noexcept;
  [[nodiscard]] PLACEWIRE_API Device device(std::size_t index) const noexcept;
  /// Whether a buffer is the host's own memory, of no allocator, and so was zero at first.
  [[nodiscard]] PLACEWIRE_API bool is_host_memory(std::size_t index) const noexcept;

 private:
  friend class MemoryUse;

  PlannedMemory();

  std::vector<MemoryBlock> blocks_;
  /// Whether a method uses it right now.
  std::atomic<bool> is_in_use_ = false;
  /// What has been set to its initial value.
  Initialized initialized_;
};

/// What a caller may choose when a method is loaded.
struct MethodOptions {
  /// The devices of the file are requests; this map decides.
  DeviceMap device_map;
  /// Backends that come before the registered ones.
  std::vector<std::shared_ptr<Backend>> backends;
  /// Kernels for operators that the registry lacks; the first source that has one is taken.
  std::vector<std::shared_ptr<KernelSource>> kernel_sources;
  /// Memory to use instead of own: as many buffers as the method has, on the mapped devices, each
  /// at least as large as the method's.
  std::shared_ptr<PlannedMemory> planned_memory;
  /// Whether to do once what need not be done in each execution: calls of pure kernels whose
  /// inputs are all constant are made in the first one, and static copies of views share memory
  /// where lifetimes allow. Default: yes.
  bool prepare = true;
};

/// A method, ready to execute.
///
/// Owns its values and, unless it was given, its planned memory; shares ownership of the program,
/// kernels and backends. After `load`, a method whose shapes are static executes without allocating
/// anything of the core.
/// Threads: one at a time; a call during another thread's `execute` is BUSY.
class Method {
 public:
  /// Most instructions that one execution may run: a file whose jumps never end is an error.
  static constexpr std::uint64_t kMaximumInstructions = 10'000'000;

  /// Loads a method: allocates its memory, sets initial values, binds kernels, loads delegates. If
  /// anything fails, all of it is freed.
  ///
  /// Before anything is allocated, everything that is missing is reported in one message:
  /// OPERATOR_MISSING lists the operators without a kernel, NOT_FOUND the backends and the devices
  /// without an allocator. Other errors: NOT_FOUND if there is no such method; NOT_SUPPORTED for
  /// tensors whose data is in another file; INVALID_ARGUMENT for options that do not fit; what
  /// kernels, backends and allocators say, with the instruction in front.
  [[nodiscard]] PLACEWIRE_API static Result<std::unique_ptr<Method>> load(
      std::shared_ptr<const Program> program, std::string_view name, MethodOptions options = {});

  Method(const Method&) = delete;
  Method& operator=(const Method&) = delete;
  PLACEWIRE_API ~Method();

  [[nodiscard]] PLACEWIRE_API const MethodMeta& meta() const noexcept;
  [[nodiscard]] PLACEWIRE_API const std::shared_ptr<const Program>& program() const noexcept;

  /// Sets an input. A tensor whose input is planned is copied into the planned memory; otherwise
  /// its memory is used where it is, and must stay until the execution is over.
  ///
  /// Errors: INVALID_ARGUMENT for an index that is out of range, and for another type, element
  /// type, rank, size (each dimension), order of dimensions or device than the method says;
  /// numbers, strings and None must be what the program was exported with, for a program cannot be
  /// told otherwise. BUSY. The message names the input and both sides.
  PLACEWIRE_API Status set_input(std::size_t index, const EValue& value);

  /// Points an output that is not planned to memory of the caller, `nbytes` long and on the
  /// output's device. Errors: INVALID_ARGUMENT if the output is planned or no tensor, or the memory
  /// is too small. BUSY.
  PLACEWIRE_API Status set_output_memory(std::size_t index, void* data, std::size_t nbytes);

  /// Runs the method. Errors: INVALID_STATE if an input that is not planned was never set (or an
  /// output has no memory); INVALID_PROGRAM beyond kMaximumInstructions; BUSY; what a kernel or
  /// delegate says, with the instruction in front. After an error the method can be executed again.
  PLACEWIRE_API Status execute();
  /// Sets all inputs and runs the method, with no other thread's call in between. Errors:
  /// INVALID_ARGUMENT for another number of inputs than the method has; those of `set_input` and
  /// `execute`.
  PLACEWIRE_API Status execute(Span<const EValue> inputs);

  /// An input or output value; valid until the method goes, its elements until the next execution.
  /// Errors: INVALID_ARGUMENT for an index that is out of range.
  [[nodiscard]] PLACEWIRE_API Result<const EValue*> input(std::size_t index) const;
  [[nodiscard]] PLACEWIRE_API Result<const EValue*> output(std::size_t index) const;

  /// Devices that its planned memory lies on, after the device map.
  [[nodiscard]] PLACEWIRE_API const PlannedMemory& planned_memory() const noexcept;

  /// Not for callers: what it consists of.
  struct State;

 private:
  explicit Method(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace placewire
