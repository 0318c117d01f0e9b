// The instructions of a method, one after the other through all chains, and what they do to values.
#include "method/instructions.h"

#include "placewire/runtime/kernel.h"

namespace placewire {
namespace {

bool ends_with(std::string_view text, std::string_view end) noexcept {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

Writes writes_of(std::string_view name, std::string_view overload) noexcept {
  if (overload == "out" || ends_with(overload, "_out")) {
    return Writes::kLast;
  }
  if (name == "executorch_prim::et_copy_index" ||
      (ends_with(name, "_") && !ends_with(name, "__"))) {
    return Writes::kFirst;
  }
  const std::string_view space = name.substr(0, name.find(':'));
  return space == "executorch_prim" || name == "aten::sym_size" || name == "aten::sym_stride" ||
                 name == "aten::sym_numel" || name == "aten::_local_scalar_dense"
             ? Writes::kLast
             : Writes::kUnknown;
}

}  // namespace

OperatorFacts operator_facts(const schema::program::Operator& op) {
  return {kernel_name(op.name(), op.overload()), writes_of(op.name(), op.overload()),
          op.name() == "executorch_prim::et_view"};
}

std::vector<Instruction> instructions_of(const schema::program::ExecutionPlan& plan) {
  std::vector<Instruction> all;
  for (const schema::program::Chain chain : plan.chains()) {
    const std::size_t begin = all.size();
    const std::size_t end = begin + chain.instructions().size();
    for (const schema::program::Instruction instruction : chain.instructions()) {
      all.push_back({instruction, begin, end});
    }
  }
  return all;
}

}  // namespace placewire
