// A program around generated headers that tests talk to over pipes.
//
//     driver verify   reads cases from stdin, each a line "<type> <size>\n" and so many bytes, and
//                     answers each with one line of JSON: what `verify` says, and the sum of a full
//                     walk if the buffer is sound.
//     driver print    reads such cases, of sound buffers, and prints each tree as a line of JSON.
//     driver audit    reads such cases, of sound buffers, and prints for each a line of JSON: what
//                     `audit_tree` finds; for types from print_findings.h.

#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string_view>

#include "placewire/schema/verify.h"
#include "print_json.h"
#include "walk.h"

namespace placewire::tests {

/// A table type that can be the root of a case.
struct Root {
  std::string_view name;
  schema::VerifyResult (*verify)(schema::Bytes);
  std::uint64_t (*walk)(schema::Bytes);
  void (*print)(schema::Bytes);
  void (*audit)(schema::Bytes) = nullptr;
};

template <class T>
Root root(std::string_view name) {
  return {name, [](schema::Bytes buffer) { return schema::verify<T>(buffer); },
          [](schema::Bytes buffer) { return walk(T(schema::wire::follow(buffer.data()))); },
          [](schema::Bytes buffer) {
            print_json(T(schema::wire::follow(buffer.data())));
            std::putchar('\n');
          }};
}

/// One case. The buffer is exactly as large as the case, so that a sanitizer sees reads beyond it.
class Case {
 public:
  /// Reads the next case; false at the end of stdin.
  bool read() {
    std::size_t size = 0;
    if (std::scanf("%63s %zu", type_, &size) != 2) return false;
    std::getchar();
    data_ = std::make_unique<std::uint8_t[]>(size);
    bytes_ = schema::Bytes(data_.get(), size);
    return std::fread(data_.get(), 1, size, stdin) == size;
  }

  std::string_view type() const { return type_; }
  schema::Bytes bytes() const { return bytes_; }

 private:
  char type_[64] = "";
  std::unique_ptr<std::uint8_t[]> data_;
  schema::Bytes bytes_;
};

inline void answer(const Root& root, schema::Bytes bytes) {
  const schema::VerifyResult result = root.verify(bytes);
  if (result.ok()) {
    std::printf("{\"sum\":%llu}\n", static_cast<unsigned long long>(root.walk(bytes)));
    return;
  }
  char message[256];
  schema::describe(result, message, sizeof message);
  std::fputs("{\"rule\":", stdout);
  print_text(name(result.rule()));
  std::fputs(",\"path\":", stdout);
  print_text(result.path());
  std::printf(",\"offset\":%lld,\"found\":%lld,\"expected\":%lld,\"message\":",
              static_cast<long long>(result.offset()), static_cast<long long>(result.found()),
              static_cast<long long>(result.expected()));
  print_text(message);
  std::puts("}");
}

/// Does what the command line says with tables of the given types.
inline int serve(int argument_count, char** arguments, std::initializer_list<Root> roots) {
  const std::string_view mode = argument_count > 1 ? arguments[1] : "";
  Case next;
  while (next.read()) {
    const Root* found = nullptr;
    for (const Root& root : roots) {
      if (root.name == next.type()) found = &root;
    }
    if (found == nullptr) return 2;
    if (mode == "verify") {
      answer(*found, next.bytes());
    } else if (mode == "print") {
      found->print(next.bytes());
    } else if (found->audit != nullptr) {
      found->audit(next.bytes());
    } else {
      return 2;
    }
  }
  return 0;
}

}  // namespace placewire::tests
