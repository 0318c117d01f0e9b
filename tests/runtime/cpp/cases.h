// Runs the named checks of a test program: one by its name, or `--list` for all names.
#pragma once

#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>

namespace cases {

struct Case {
  const char* name;
  void (*run)();
};

inline std::atomic<int> failures = 0;

inline bool check(bool condition, const char* expression, const char* file, int line) {
  if (!condition) {
    std::printf("%s:%d: not so: %s\n", file, line, expression);
    ++failures;
  }
  return condition;
}

/// Whether a Result or Status is an error of that code whose message contains `part`.
template <typename Outcome, typename Code>
bool is_error(const Outcome& outcome, Code code, const char* part) {
  if (outcome.ok()) {
    std::printf("it succeeded, but should say: %s\n", part);
    return false;
  }
  const auto& error = outcome.error();
  if (error.code == code && error.message.find(part) != std::string::npos) {
    return true;
  }
  std::printf("found error %d: %s\nexpected error %d: %s\n", static_cast<int>(error.code),
              error.message.c_str(), static_cast<int>(code), part);
  return false;
}

template <std::size_t count>
int run(int argc, char** argv, const std::array<Case, count>& all) {
  const char* const wanted = argc == 2 ? argv[1] : "";
  const bool list = std::strcmp(wanted, "--list") == 0;
  bool found = list;
  for (const Case& each : all) {
    if (list) {
      std::printf("%s\n", each.name);
    } else if (std::strcmp(each.name, wanted) == 0) {
      found = true;
      each.run();
    }
  }
  if (!found) {
    std::printf("there is no case \"%s\"\n", wanted);
    return 2;
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace cases

#define CASE(name) \
  cases::Case { #name, &name }
#define CHECK(condition) cases::check((condition), #condition, __FILE__, __LINE__)
