// The core's one error convention: a function that can fail returns `Result<T>`, or
// `Status` if it has nothing else to return.
//
// No function of the core throws or aborts because of what a caller or a file says. An `Error` has
// a code for programs and a message for people: what was found, what was expected, what to do.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "placewire/schema/errors/enums.h"

namespace placewire {

using schema::errors::ErrorCode;

/// Why a call failed. `code` is never `ErrorCode::OK`.
struct Error {
  ErrorCode code;
  std::string message;
};

/// A value of type T, or the Error that took its place.
///
/// Owns what it holds. `value()` and `error()` may be called only if `ok()` says that the one asked
/// for is there; the other call is a fault in the calling code, and undefined.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : content_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool ok() const noexcept { return content_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  [[nodiscard]] const T& value() const& noexcept { return *std::get_if<0>(&content_); }
  [[nodiscard]] T& value() & noexcept { return *std::get_if<0>(&content_); }
  [[nodiscard]] T&& value() && noexcept { return std::move(*std::get_if<0>(&content_)); }

  [[nodiscard]] const Error& error() const& noexcept { return *std::get_if<1>(&content_); }
  [[nodiscard]] Error& error() & noexcept { return *std::get_if<1>(&content_); }
  [[nodiscard]] Error&& error() && noexcept { return std::move(*std::get_if<1>(&content_)); }

 private:
  std::variant<T, Error> content_;
};

/// What a call returns that gives nothing back: success, or the Error. Default: success.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() noexcept = default;
  Result(Error error) : error_(std::move(error)) {}

  [[nodiscard]] bool ok() const noexcept { return !error_.has_value(); }
  explicit operator bool() const noexcept { return ok(); }

  [[nodiscard]] const Error& error() const& noexcept { return *error_; }
  [[nodiscard]] Error&& error() && noexcept { return std::move(*error_); }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace placewire
