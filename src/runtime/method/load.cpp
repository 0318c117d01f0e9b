// Loads methods.
#include <new>
#include <string>
#include <utility>

#include "method/bind.h"
#include "method/device_choice.h"
#include "method/instructions.h"
#include "method/memory_use.h"
#include "method/placement.h"
#include "method/resolve.h"
#include "method/state.h"
#include "method/value_facts.h"
#include "text.h"

namespace placewire {
namespace {

namespace program = schema::program;

std::vector<Port> ports(const Method::State& state, schema::Vector<std::int32_t> indices,
                        const AllValueFacts& facts) {
  std::vector<Port> all;
  for (const std::int32_t index : indices) {
    const auto value = static_cast<std::size_t>(index);
    all.push_back(
        {value, state.values->tensor(value), facts[value].is_planned || facts[value].is_constant});
  }
  return all;
}

/// Notes what has to be set back before each execution.
void note_replaced(Method::State& state, const AllValueFacts& facts) {
  for (std::size_t i = 0; i < state.values->size(); ++i) {
    if (facts[i].is_replaced) {
      state.replaced.push_back({&(*state.values)[i], (*state.values)[i]});
    }
    // Tensors with a place of their own are refused by the kernel, and keep it.
    if (facts[i].is_pointed && !facts[i].is_planned && !facts[i].is_constant &&
        !facts[i].is_input) {
      state.pointed.push_back(state.values->tensor(i));
    }
  }
}

Status initialize(Method::State& state, bool is_fresh) {
  MemoryUse use(*state.memory);
  return use.ok() ? set_initial_values(state, use.initialized(), is_fresh) : busy(state.meta);
}

Status fill(Method::State& state, const MethodOptions& options) {
  const program::ExecutionPlan& plan = state.meta.plan();
  const std::vector<Instruction> instructions = instructions_of(plan);
  std::vector<OperatorFacts> operators;
  for (const program::Operator op : plan.operators()) {
    operators.push_back(operator_facts(op));
  }
  const DeviceChoice choice = choose_devices(*state.program, state.meta, options.device_map);
  if (Status status = resolve(state, options, instructions, operators, choice); !status.ok()) {
    return status;
  }
  state.values = std::make_unique<Values>(plan, choice.values);
  AllValueFacts facts(plan, *state.values, instructions, operators);
  state.inputs = ports(state, plan.inputs(), facts);
  state.outputs = ports(state, plan.outputs(), facts);
  note_replaced(state, facts);
  if (Status status = provide_memory(state, choice, options.planned_memory); !status.ok()) {
    return status;
  }
  if (Status status = place_tensors(state); !status.ok()) {
    return status;
  }
  if (Status status = initialize(state, options.planned_memory == nullptr); !status.ok()) {
    return status;
  }
  return Binder(state, options, instructions, operators, facts).run();
}

}  // namespace

Result<std::unique_ptr<Method>> Method::load(std::shared_ptr<const Program> program,
                                             std::string_view name, MethodOptions options) {
  if (program == nullptr) {
    return Error{ErrorCode::INVALID_ARGUMENT, "the program is null"};
  }
  try {
    Result<MethodMeta> meta = program->method_meta(name);
    if (!meta.ok()) {
      return std::move(meta).error();
    }
    auto state = std::make_unique<State>(std::move(program), meta.value());
    if (Status status = fill(*state, options); !status.ok()) {
      return std::move(status).error();
    }
    return std::unique_ptr<Method>(new Method(std::move(state)));
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

Method::Method(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}

Method::~Method() = default;

}  // namespace placewire
