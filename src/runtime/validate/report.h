// Collects findings: names their rules, spells their paths, and keeps their number bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "placewire/runtime/validate.h"
#include "placewire/schema/audit.h"
#include "text.h"

namespace placewire::validation {

using schema::kRootPath;
using schema::Path;

/// The rules that this validator adds to the generated ones.
enum class Rule : std::uint8_t {
#define PLACEWIRE_RULE(name, level, meaning) name,
#include "validate/rules.def"
#undef PLACEWIRE_RULE
};

/// Name, level and meaning of a rule.
[[nodiscard]] const RuleInfo& rule_info(Rule rule) noexcept;

/// The rules in rules.def.
[[nodiscard]] std::vector<RuleInfo> own_rules();

/// What all checks report to.
///
/// Beyond the limit findings are counted but not spelled, so a hostile file can neither fill the
/// memory nor make us format millions of messages.
class Report {
 public:
  /// Lists at most `maximum` findings.
  explicit Report(std::size_t maximum) noexcept : maximum_(maximum) {}

  /// Adds a finding about the field at `path`. The message is made of `parts`: texts and integers.
  template <class... Parts>
  void add(Rule rule, const Path& path, std::optional<std::uint64_t> offset,
           const Parts&... parts) {
    const RuleInfo& info = rule_info(rule);
    if (count(info.level)) {
      findings_.push_back({info.name, info.level, path.text(), offset, joined(parts...)});
    }
  }

  /// Adds a finding for a rule that generated code owns; `message` is called for its text.
  template <class Message>
  void add_generated(std::string_view rule, const Path& path, std::uint64_t offset,
                     const Message& message) {
    if (count(Level::kError)) {
      findings_.push_back({rule, Level::kError, path.text(), offset, message()});
    }
  }

  /// Everything reported, followed by one line about what did not fit. Leaves the report empty.
  [[nodiscard]] std::vector<Finding> take();

 private:
  template <class... Parts>
  static std::string joined(const Parts&... parts) {
    std::string text;
    (append_to(text, parts), ...);
    return text;
  }
  static void append_to(std::string& text, std::string_view part) { text += part; }
  template <class Integer, std::enable_if_t<std::is_integral_v<Integer>, int> = 0>
  static void append_to(std::string& text, Integer part) {
    text += std::to_string(part);
  }

  /// Counts a finding; whether it is to be listed.
  bool count(Level level) noexcept;

  std::size_t maximum_;
  std::size_t omitted_errors_ = 0;
  std::size_t omitted_warnings_ = 0;
  std::vector<Finding> findings_;
};

}  // namespace placewire::validation
