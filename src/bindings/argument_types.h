// Arguments of the classes that users get to know: wrong types, told in our words.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace placewire::bindings {

// All of these need the interpreter lock. `name` is that of the parameter.

/// What an object is, for a message: `an int`, `None`.
[[nodiscard]] std::string described(nanobind::handle value);

/// The text, which belongs to `value`. Throws InvalidTypeError for what is no str, and
/// InvalidArgumentError for one that UTF-8 cannot hold.
[[nodiscard]] std::string_view text_argument(const char* name, nanobind::handle value);

/// A number of 64 bits. Throws InvalidTypeError for what is no integer, and InvalidArgumentError
/// for one that is too large.
[[nodiscard]] std::int64_t integer_argument(const char* name, nanobind::handle value);

/// The sizes of a shape. Throws InvalidTypeError for what is no sequence, and for what in it is no
/// integer.
[[nodiscard]] std::vector<std::int64_t> shape_argument(const char* name, nanobind::handle value);

/// Throws InvalidTypeError for what has no buffer.
void check_buffer(const char* name, nanobind::handle value);

/// Throws InvalidTypeError: an object is part of this process, so it can be neither copied nor
/// pickled. `advice` says what to do.
[[noreturn]] void refuse_copy(nanobind::handle self, const char* advice);

}  // namespace placewire::bindings
