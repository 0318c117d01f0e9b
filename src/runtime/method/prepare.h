// What can be done once instead of in each execution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "method/instructions.h"
#include "method/own_storage.h"
#include "method/state.h"
#include "method/value_facts.h"

namespace placewire {

/// Decides which calls are computed once, and which copies share the memory of what they copy.
///
/// Calls are then gone through in the order of the file; what is decided of one may depend on what
/// became of those before it. Methods that jump back are left as they are, and so is every value
/// that a move touches: only where each instruction runs at most once, in the order of the file,
/// can be told what memory holds.
class Preparation {
 public:
  Preparation(Method::State& state, const std::vector<Instruction>& instructions,
              const std::vector<OperatorFacts>& operators, AllValueFacts& facts) noexcept
      : state_(state), instructions_(instructions), operators_(operators), facts_(facts) {}

  /// Looks at the whole method and allocates storage for results. Without it, nothing is prepared.
  [[nodiscard]] Status plan();

  /// Lets the result of a copy share the memory of its source, if it can; then the call is done.
  [[nodiscard]] bool alias(std::size_t index);

  /// Points the result of a call to storage of its own, if the call is to be made only once.
  [[nodiscard]] bool begin_result(std::size_t index);
  /// Makes the result a constant, or takes it back if the call cannot be made.
  void end_result(std::size_t index, bool is_constant);

 private:
  static constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

  // There is one of these for each value, so they are small: a program of 2 GiB has fewer than 2^32
  // instructions.

  /// Where and how often the instructions use a value.
  struct Use {
    std::uint32_t writes = 0;
    std::uint32_t first = std::numeric_limits<std::uint32_t>::max();
    std::uint32_t last = 0;
    /// A move copies it, or copies to it; or it may be written by who does not say so.
    bool is_entangled = false;
  };
  /// A part of a planned buffer; nowhere if the buffer is 0.
  struct Region {
    std::uint32_t buffer = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;

    explicit operator bool() const noexcept { return buffer != 0; }
  };
  /// A use of a tensor by an instruction, in the order of the file; reads before writes.
  struct Touch {
    std::uint32_t instruction;
    std::uint32_t value;
    bool is_written;
  };
  /// A result, and everything else that is only another view of it: exporters give a view that
  /// needs no copy a value of its own in the same place.
  struct Result {
    std::size_t value;
    std::vector<std::size_t> views;
    /// The last instruction that reads any of them.
    std::size_t last;
  };
  /// A call of which something may be done once.
  struct Candidate {
    std::size_t instruction;
    Result result;
    /// The operator copies.
    bool is_copy;
    /// The place in the storage for the result; kNever if it is not computed.
    std::size_t place;
  };

  [[nodiscard]] bool jumps_back() const noexcept;
  /// Which operators give the elements of their first argument.
  [[nodiscard]] std::vector<bool> copying_operators() const;
  void note_uses();
  void note_call(std::size_t index, schema::Vector<std::int32_t> arguments, Writes writes);
  void note_use(std::size_t index, std::size_t value, bool is_written);

  /// The only result of a call: a planned tensor of static shape that nothing else writes, and that
  /// nobody sees but through itself and its views. Nothing if it cannot be told.
  [[nodiscard]] std::optional<Result> result_of(std::size_t index);
  [[nodiscard]] bool find_views(std::size_t index, Result& result);
  [[nodiscard]] bool is_view(std::size_t index, std::size_t result, std::size_t value) const;
  /// Whether a caller, or the next execution, sees what is in a region at the end.
  [[nodiscard]] bool is_visible(const Region& region, std::size_t except);
  /// Whether a call is pure, and its arguments are constants or among `results`.
  [[nodiscard]] bool is_computable(const schema::program::KernelCall& call,
                                   const std::vector<bool>& results) const;
  /// The candidate at an instruction, null if it is none. To be asked in the order of the file.
  [[nodiscard]] const Candidate* candidate_at(std::size_t index) noexcept;
  /// Points a result and its views to other memory.
  void move(const Result& result, void* data, bool is_read_only, bool is_constant,
            const Region& region);
  /// Whether two tensors have equally many elements of one type, in the same order.
  [[nodiscard]] bool is_alike(std::size_t source, std::size_t result) const;
  /// Whether something writes to a region after one instruction and until another.
  [[nodiscard]] bool is_written_between(std::size_t after, std::size_t until, const Region& region);
  /// Whether a region is only used on the way: written before, and nobody outside can see it.
  [[nodiscard]] bool is_temporary(std::size_t index, const Region& region);
  [[nodiscard]] static bool overlap(const Region& left, const Region& right) noexcept;
  [[nodiscard]] static bool same(const Region& left, const Region& right) noexcept;
  /// Spends some of what loading may look at; false if nothing is left.
  [[nodiscard]] bool spend() noexcept { return budget_ != 0 && --budget_ != 0; }

  Method::State& state_;
  const std::vector<Instruction>& instructions_;
  const std::vector<OperatorFacts>& operators_;
  AllValueFacts& facts_;

  std::vector<Use> uses_;
  std::vector<Touch> touches_;
  /// Values that are seen from outside: inputs, outputs, buffers of the model.
  std::vector<std::size_t> visible_;
  /// Where each value was planned.
  std::vector<Region> planned_;
  /// Where each value is: where it was planned at first, then where what it shares memory with is.
  std::vector<Region> regions_;
  OwnStorage storage_;
  /// In the order of the file.
  std::vector<Candidate> candidates_;
  /// Where the next question about a candidate starts to look.
  std::size_t next_candidate_ = 0;
  /// How many writes and values may still be looked at, so that loading takes bounded time.
  std::size_t budget_ = 20'000'000;
  /// Where the result that gets storage of its own was to be.
  void* planned_data_ = nullptr;
};

}  // namespace placewire
