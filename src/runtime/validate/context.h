// What every check of a program's meaning needs: the file, its parts, and where to report.
#pragma once

#include <cstdint>

#include "placewire/schema/program/audit.h"
#include "placewire/schema/program/views.h"
#include "validate/container.h"
#include "validate/report.h"

namespace placewire::validation {

namespace program = schema::program;

struct Context {
  schema::Bytes file;
  /// Whether `file` may change meanwhile, so that what is read of it must be copied before.
  bool is_volatile;
  /// The file from its start to the end of the program or beyond; it does not change.
  schema::Bytes head;
  Layout layout;
  program::Program program;
  Report& report;

  /// Where a table of the program lies in the file. It must be there.
  [[nodiscard]] std::uint64_t offset_of(const schema::TableView& view) const noexcept {
    return static_cast<std::uint64_t>(wire_table(view).position() - head.data());
  }

  /// Where an element of a vector of the program lies in the file.
  template <class T>
  [[nodiscard]] std::uint64_t offset_of(schema::Vector<T> vector,
                                        std::size_t index) const noexcept {
    const std::uint8_t* const element = vector.data() + index * schema::wire::stride<T>();
    return static_cast<std::uint64_t>(element - head.data());
  }
};

}  // namespace placewire::validation
