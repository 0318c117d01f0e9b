// A loaded .pte file, and what it says about its methods.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "placewire/runtime/api.h"
#include "placewire/runtime/device.h"
#include "placewire/runtime/finding.h"
#include "placewire/runtime/result.h"
#include "placewire/runtime/span.h"
#include "placewire/runtime/tensor.h"
#include "placewire/schema/program/views.h"
#include "placewire/schema/wire.h"

namespace placewire {

/// What a method says of one of its tensors: an input, an output, or a buffer of the model.
struct TensorMeta {
  ScalarType scalar_type;
  /// Upper bounds if the shape is dynamic.
  std::vector<std::int64_t> sizes;
  std::vector<std::uint8_t> dim_order;
  TensorShapeDynamism dynamism;
  Device device;
  /// Whether its memory is part of the method's planned buffers. If not, the caller supplies it.
  bool is_memory_planned;
  /// Its name in the model; "" if the file has none.
  std::string name;
};

/// What a method takes or gives: a tensor, or a value of another type.
struct ValueMeta {
  schema::program::KernelTypes type;
  /// There if `type` is a tensor.
  std::optional<TensorMeta> tensor;
};

class Program;

/// What a file says of one method. A view: valid as long as its Program.
///
/// Threads: only reads.
class MethodMeta {
 public:
  [[nodiscard]] PLACEWIRE_API std::string_view name() const noexcept;

  [[nodiscard]] PLACEWIRE_API std::size_t input_count() const noexcept;
  [[nodiscard]] PLACEWIRE_API std::size_t output_count() const noexcept;
  /// Errors: INVALID_ARGUMENT for an index that is out of range.
  [[nodiscard]] PLACEWIRE_API Result<ValueMeta> input(std::size_t index) const;
  [[nodiscard]] PLACEWIRE_API Result<ValueMeta> output(std::size_t index) const;

  /// How inputs and outputs nest, in ExecuTorch's pytree notation; "" for constant methods.
  [[nodiscard]] PLACEWIRE_API std::string_view input_tree() const noexcept;
  [[nodiscard]] PLACEWIRE_API std::string_view output_tree() const noexcept;

  /// Number of planned buffers: counted from 0 here, the file's reserved entry 0 left out.
  [[nodiscard]] PLACEWIRE_API std::size_t memory_planned_buffer_count() const noexcept;
  /// Bytes of a planned buffer. Errors: INVALID_ARGUMENT for an index that is out of range.
  [[nodiscard]] PLACEWIRE_API Result<std::size_t> memory_planned_buffer_size(
      std::size_t index) const;
  /// Device of a planned buffer, as the file has it. Errors: as above.
  [[nodiscard]] PLACEWIRE_API Result<Device> memory_planned_buffer_device(std::size_t index) const;

  [[nodiscard]] PLACEWIRE_API std::size_t instruction_count() const noexcept;
  /// Ids of the backends that its delegates need, each once, in order of first use.
  [[nodiscard]] PLACEWIRE_API std::vector<std::string_view> backends() const;
  /// Operators that it calls, named as in the kernel registry, in the order of the file.
  [[nodiscard]] PLACEWIRE_API std::vector<std::string> operators() const;

  /// The method's table in the file.
  [[nodiscard]] const schema::program::ExecutionPlan& plan() const noexcept { return plan_; }

 private:
  friend class Program;
  explicit MethodMeta(schema::program::ExecutionPlan plan) noexcept : plan_(plan) {}

  schema::program::ExecutionPlan plan_;
};

/// Bytes with somebody who keeps them alive: a mapped file, a string, a Python buffer.
struct OwnedBytes {
  schema::Bytes bytes;
  std::shared_ptr<const void> owner;
  /// Nobody can write to them, neither in this process nor in another.
  bool is_immutable = false;
};

/// A validated .pte file. Shares ownership of its bytes; methods share ownership of it.
///
/// Loading validates the whole file (validate.h) and copies its head, the FlatBuffer, unless it is
/// immutable: nobody can change afterwards what was checked. The data behind it is used where it
/// lies: pages that no method needs are never touched.
///
/// Threads: only reads, from any number of threads.
class Program {
 public:
  /// Maps a file, privately. Nobody may shorten it while the Program or one of its methods lives.
  ///
  /// Errors: ACCESS_FAILED if it cannot be read, else those of `load`.
  [[nodiscard]] PLACEWIRE_API static Result<std::shared_ptr<const Program>> open(
      const std::string& path);

  /// Takes a file that is in memory. Errors: INVALID_PROGRAM if the validator refuses it; the
  /// message has the first finding and how many there are. MEMORY_ALLOCATION_FAILED.
  [[nodiscard]] PLACEWIRE_API static Result<std::shared_ptr<const Program>> load(OwnedBytes file);

  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  PLACEWIRE_API ~Program();

  /// What the validator found that does not keep the file from being loaded.
  [[nodiscard]] const std::vector<Finding>& warnings() const noexcept { return warnings_; }

  /// Names of the methods, in the order of the file.
  [[nodiscard]] PLACEWIRE_API std::vector<std::string_view> method_names() const;
  /// Errors: NOT_FOUND, with the names that there are.
  [[nodiscard]] PLACEWIRE_API Result<MethodMeta> method_meta(std::string_view name) const;

  /// Data that the file has under a name; nothing if it has none.
  [[nodiscard]] PLACEWIRE_API std::optional<schema::Bytes> named_data(std::string_view key) const;
  /// Names of all named data, in the order of the file.
  [[nodiscard]] PLACEWIRE_API std::vector<std::string_view> named_data_keys() const;

  /// Value of a constant: entry `index` of the constant segment, or of the constants of old files.
  /// As long as the tensors that name it, which the validator has checked. Null if it has no bytes.
  [[nodiscard]] PLACEWIRE_API const std::uint8_t* constant(std::uint32_t index) const noexcept;
  /// Initial value of a planned tensor: entry `index` of mutable segment `segment`.
  [[nodiscard]] PLACEWIRE_API const std::uint8_t* initial_value(std::uint64_t segment,
                                                                std::uint32_t index) const noexcept;
  /// A delegate's blob, wherever it is stored.
  [[nodiscard]] PLACEWIRE_API schema::Bytes delegate_blob(
      const schema::program::BackendDelegateDataReference& reference) const noexcept;

  /// The program's root table.
  [[nodiscard]] const schema::program::Program& view() const noexcept { return view_; }

 private:
  Program(OwnedBytes file, std::unique_ptr<std::uint8_t[]> head_copy, schema::Bytes head);

  [[nodiscard]] schema::Bytes segment(std::size_t index) const noexcept;
  /// Entry `index` of a list of values that share a segment; null if the segment is empty.
  [[nodiscard]] const std::uint8_t* stored(const schema::program::SubsegmentOffsets& list,
                                           std::uint32_t index) const noexcept;

  OwnedBytes file_;
  /// Null if the head is read where it lies.
  std::unique_ptr<std::uint8_t[]> head_copy_;
  schema::program::Program view_;
  std::uint64_t segment_base_ = 0;
  std::vector<Finding> warnings_;
};

}  // namespace placewire
