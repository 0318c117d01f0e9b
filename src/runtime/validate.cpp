// The stages of the validator, and what happens if memory runs out.
#include "placewire/runtime/validate.h"

#include <algorithm>
#include <new>
#include <utility>

#include "placewire/schema/program/verifier.h"
#include "validate/container.h"
#include "validate/context.h"
#include "validate/device_table.h"
#include "validate/duplicates.h"
#include "validate/generated_rules.h"
#include "validate/plan.h"
#include "validate/storage.h"
#include "validate/usage.h"

namespace placewire {
namespace validation {
namespace {

/// The version of the schema that this reader knows: the only one there is.
constexpr std::uint32_t kSchemaVersion = 0;

void check_version(const Context& context) {
  const std::uint32_t version = context.program.version();
  if (version > kSchemaVersion) {
    context.report.add(Rule::VERSION_UNSUPPORTED, Path(kRootPath, "version"),
                       context.offset_of(context.program), "the schema version is ", version,
                       ", this reader knows up to ", kSchemaVersion,
                       ": use a newer placewire, or export for this one");
  }
}

void check_method_names(const Context& context) {
  const auto plans = context.program.execution_plan();
  if (plans.is_present() && plans.empty()) {
    context.report.add(Rule::NO_METHODS, Path(kRootPath, "execution_plan"),
                       context.offset_of(context.program),
                       "the program has no method, so nothing in it can run");
  }
  std::vector<std::pair<std::string_view, std::size_t>> names;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (plans[i].has_name()) {
      names.emplace_back(plans[i].name(), i);
    }
  }
  find_duplicates(std::move(names), [&](std::size_t first, std::size_t again) {
    const Path path(kRootPath, "execution_plan", again);
    context.report.add(Rule::DUPLICATE_METHOD, Path(path, "name"), context.offset_of(plans[again]),
                       "the method ", quoted(plans[again].name()), " is execution_plan[", first,
                       "] already; readers take the first");
  });
}

void check_meaning(Context& context) {
  report_audit(context.report, context.program, kRootPath, context.head, 0);
  check_version(context);
  check_method_names(context);
  Storage storage(context);
  storage.check_references(context);
  Usage usage;
  const auto plans = context.program.execution_plan();
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const Path path(kRootPath, "execution_plan", i);
    PlanCheck check{context, storage, usage, plans[i], path};
    check_plan(check);
  }
  check_device_table(context, storage, usage);
}

void check_file(schema::Bytes file, const ValidationOptions& options, Report& report) {
  const bool is_copied = options.head_copy.data() != nullptr;
  const schema::Bytes head = is_copied ? options.head_copy : file;
  const auto layout = check_container(head, file.size(), report);
  if (!layout) {
    return;
  }
  const schema::VerifyResult result = schema::program::verify_program(head);
  if (!result.ok()) {
    report_structure(report, result, kRootPath, 0);
    return;
  }
  Context context{file, is_copied, head, *layout, schema::program::view_program(head), report};
  if (options.last_stage == Stage::kMeaning) {
    check_meaning(context);
  } else {
    const Storage storage(context);
  }
}

/// What is returned if memory ran out on the way.
Validation out_of_memory() noexcept {
  Validation validation;
  try {
    const RuleInfo& rule = rule_info(Rule::OUT_OF_MEMORY);
    validation.findings.push_back(
        {rule.name, rule.level, "", std::nullopt, "memory ran out before the file was checked"});
  } catch (const std::bad_alloc&) {
    validation.findings.clear();
  }
  return validation;
}

}  // namespace
}  // namespace validation

bool Validation::is_loadable() const noexcept {
  return complete && std::none_of(findings.begin(), findings.end(), [](const Finding& finding) {
           return finding.level == Level::kError;
         });
}

Validation validate(schema::Bytes file, const ValidationOptions& options) noexcept {
  try {
    validation::Report report(options.maximum_findings);
    validation::check_file(file, options, report);
    return {report.take(), true};
  } catch (const std::bad_alloc&) {
    return validation::out_of_memory();
  }
}

std::size_t head_size(schema::Bytes file) noexcept { return validation::head_size(file); }

std::vector<RuleInfo> rules() {
  std::vector<RuleInfo> all = validation::own_rules();
  for (int i = 1; !name(static_cast<schema::Rule>(i)).empty(); ++i) {
    const auto rule = static_cast<schema::Rule>(i);
    all.push_back({name(rule), Level::kError, schema::wire::message_format(rule)});
  }
  for (std::size_t i = 0; i < schema::kAuditRuleCount; ++i) {
    const auto rule = static_cast<schema::AuditRule>(i);
    if (rule != schema::AuditRule::BUDGET_EXCEEDED) {
      all.push_back({name(rule), Level::kError, text(rule)});
    }
  }
  return all;
}

}  // namespace placewire
