// The part of placewire._runtime that plans memory.
#include "planner.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "buffer_view.h"
#include "placewire/runtime/plan.h"

namespace nb = nanobind;

namespace placewire::bindings {
namespace {

[[noreturn]] void raise(const Error& error) {
  const nb::object errors = nb::module_::import_("placewire_schema.errors");
  const nb::object code = errors.attr("ErrorCode")(static_cast<std::uint32_t>(error.code));
  const nb::object type = errors.attr("PLACEWIRE_ERRORS")[code];
  PyErr_SetObject(type.ptr(), type(std::string_view(error.message)).ptr());
  nb::raise_python_error();
}

std::vector<std::int64_t> numbers(nb::handle buffer) {
  const BufferView view(buffer);
  std::vector<std::int64_t> result(view.bytes().size() / sizeof(std::int64_t));
  if (!result.empty()) {
    std::memcpy(result.data(), view.bytes().data(), result.size() * sizeof(std::int64_t));
  }
  return result;
}

std::vector<PlannedTensor> tensors_of(nb::handle sizes, nb::handle lowers, nb::handle uppers) {
  const std::vector<std::int64_t> size = numbers(sizes);
  const std::vector<std::int64_t> lower = numbers(lowers);
  const std::vector<std::int64_t> upper = numbers(uppers);
  if (lower.size() != size.size() || upper.size() != size.size()) {
    raise({ErrorCode::INVALID_ARGUMENT, "there are " + std::to_string(size.size()) + " sizes, " +
                                            std::to_string(lower.size()) + " starts and " +
                                            std::to_string(upper.size()) + " ends of lifetimes"});
  }
  std::vector<PlannedTensor> tensors(size.size());
  for (std::size_t i = 0; i < size.size(); ++i) {
    tensors[i] = {size[i], lower[i], upper[i]};
  }
  return tensors;
}

/// Calls a Python function from within `plan`, and keeps what it raises for afterwards.
class ProgressCall {
 public:
  explicit ProgressCall(nb::object function) : function_(std::move(function)) {}

  /// Tells about progress, unless there is nobody to tell, and looks for signals such as Ctrl+C.
  /// Returns whether to go on.
  bool operator()(const PlanProgress& progress) {
    const nb::gil_scoped_acquire lock;
    try {
      if (PyErr_CheckSignals() != 0) {
        nb::raise_python_error();
      }
      if (!function_.is_none()) {
        function_(progress.stage, progress.done, progress.limit, progress.total);
      }
      return true;
    } catch (nb::python_error& error) {
      raised_.emplace(std::move(error));
      return false;
    }
  }

  void raise_if_raised() {
    if (raised_) {
      raised_->restore();
      nb::raise_python_error();
    }
  }

 private:
  nb::object function_;
  std::optional<nb::python_error> raised_;
};

nb::tuple plan(nb::handle sizes, nb::handle lowers, nb::handle uppers, unsigned mode,
               std::int64_t alignment, std::uint64_t seed, std::uint64_t evaluations,
               std::uint64_t nodes, std::optional<std::int64_t> capacity, nb::object progress) {
  const std::vector<PlannedTensor> tensors = tensors_of(sizes, lowers, uppers);
  ProgressCall call(std::move(progress));
  PlanOptions options;
  options.mode = static_cast<PlanMode>(mode);
  options.alignment = alignment;
  options.seed = seed;
  options.evaluations = evaluations;
  options.nodes = nodes;
  options.capacity = capacity;
  options.progress = [&call](const PlanProgress& state) { return call(state); };
  std::optional<Result<Plan>> result;
  {
    const nb::gil_scoped_release unlocked;
    result.emplace(placewire::plan(tensors, options));
  }
  call.raise_if_raised();
  if (!result->ok()) {
    raise(result->error());
  }
  const Plan& plan = result->value();
  const nb::bytes offsets(reinterpret_cast<const char*>(plan.offsets.data()),
                          plan.offsets.size() * sizeof(std::int64_t));
  return nb::make_tuple(offsets, plan.total, plan.lower_bound, plan.algorithm, plan.is_optimal);
}

std::int64_t verify_plan(nb::handle sizes, nb::handle lowers, nb::handle uppers, nb::handle offsets,
                         std::int64_t alignment) {
  const std::vector<PlannedTensor> tensors = tensors_of(sizes, lowers, uppers);
  const std::vector<std::int64_t> places = numbers(offsets);
  std::optional<Result<std::int64_t>> result;
  {
    const nb::gil_scoped_release unlocked;
    result.emplace(placewire::verify_plan(tensors, places, alignment));
  }
  if (!result->ok()) {
    raise(result->error());
  }
  return result->value();
}

}  // namespace

void add_planner(nb::module_& module) {
  module.def("plan", &plan, nb::arg("sizes"), nb::arg("lowers"), nb::arg("uppers"), nb::arg("mode"),
             nb::arg("alignment"), nb::arg("seed"), nb::arg("evaluations"), nb::arg("nodes"),
             nb::arg("capacity").none(), nb::arg("progress").none());
  module.def("verify_plan", &verify_plan, nb::arg("sizes"), nb::arg("lowers"), nb::arg("uppers"),
             nb::arg("offsets"), nb::arg("alignment"));
}

}  // namespace placewire::bindings
