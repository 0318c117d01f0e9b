// Says what flatc's own C++ reads from each file, and what it writes for an object that says
// nothing.
//
// Output: one line of JSON per file, then one line with the bytes in hex.

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "contents_generated.h"

namespace {

std::vector<std::uint8_t> read(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void print(const char* name, const flatbuffers::String* text, const char* end) {
  if (text == nullptr) {
    std::printf("\"%s\": null%s", name, end);
  } else {
    std::printf("\"%s\": \"%s\"%s", name, text->c_str(), end);
  }
}

void print(const char* name, const flatbuffers::Vector<std::int32_t>* items, const char* end) {
  std::printf("\"%s\": %d%s", name, items == nullptr ? -1 : static_cast<int>(items->size()), end);
}

}  // namespace

int main(int count, char** paths) {
  for (int i = 1; i < count; ++i) {
    const std::vector<std::uint8_t> data = read(paths[i]);
    flatbuffers::Verifier verifier(data.data(), data.size());
    if (!VerifyContentsBuffer(verifier)) {
      std::printf("\"refused\"\n");
      continue;
    }
    const Contents* contents = GetContents(data.data());
    std::printf("{");
    print("text", contents->text(), ", ");
    print("must", contents->must(), ", ");
    print("empty", contents->empty(), ", ");
    print("numbers", contents->numbers(), "}\n");
  }
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(CreateContentsDirect(builder));
  for (std::size_t i = 0; i < builder.GetSize(); ++i) {
    std::printf("%02x", builder.GetBufferPointer()[i]);
  }
  std::printf("\n");
}
