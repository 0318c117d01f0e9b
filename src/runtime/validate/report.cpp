// Collects findings: what the rules are, and the limit.
#include "validate/report.h"

#include <iterator>

namespace placewire::validation {
namespace {

constexpr RuleInfo kRules[] = {
#define PLACEWIRE_RULE(name, level, meaning) {#name, Level::level, meaning},
#include "validate/rules.def"
#undef PLACEWIRE_RULE
};

}  // namespace

const RuleInfo& rule_info(Rule rule) noexcept { return kRules[static_cast<std::size_t>(rule)]; }

std::vector<RuleInfo> own_rules() { return {std::begin(kRules), std::end(kRules)}; }

bool Report::count(Level level) noexcept {
  if (findings_.size() < maximum_) {
    return true;
  }
  ++(level == Level::kError ? omitted_errors_ : omitted_warnings_);
  return false;
}

std::vector<Finding> Report::take() {
  const std::size_t omitted = omitted_errors_ + omitted_warnings_;
  if (omitted != 0) {
    const Level level = omitted_errors_ != 0 ? Level::kError : Level::kWarning;
    findings_.push_back({rule_info(Rule::MORE_FINDINGS).name, level, "", std::nullopt,
                         joined("and ", omitted, " more, ", omitted_errors_, " of them errors")});
  }
  return std::exchange(findings_, {});
}

}  // namespace placewire::validation
