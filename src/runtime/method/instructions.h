// The instructions of a method, one after the other through all chains, and what they do to values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "placewire/runtime/program.h"

namespace placewire {

/// Which of its arguments an operator writes, as its name tells.
enum class Writes : std::uint8_t {
  kUnknown,  ///< Nothing is known; it may write all that can be written.
  kFirst,    ///< It works in place, such as `aten::copy_`.
  kLast,     ///< It returns its last argument: an out variant, or one that gives a number.
};

/// What is known of an operator.
struct OperatorFacts {
  /// As in the kernel registry.
  std::string name;
  Writes writes = Writes::kUnknown;
  /// Points its last argument to the data of the first.
  bool points_last = false;
};

[[nodiscard]] OperatorFacts operator_facts(const schema::program::Operator& op);

/// A number of a value, an operator or an instruction, which the validator has checked.
[[nodiscard]] inline std::size_t checked(std::int32_t index) noexcept {
  return static_cast<std::size_t>(index);
}

/// One instruction.
struct Instruction {
  schema::program::Instruction view;
  /// Number of the first instruction of its chain, and of the one behind its last.
  std::size_t begin;
  std::size_t end;
};

/// All instructions of a method, in the order of the file.
[[nodiscard]] std::vector<Instruction> instructions_of(const schema::program::ExecutionPlan& plan);

}  // namespace placewire
