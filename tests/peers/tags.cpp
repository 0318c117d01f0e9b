// Says what flatc's own C++ reads from each file, and writes it again with flatc's object API.
//
// Output: one line of JSON per file; beside each FILE that is sound, FILE.again. It is not written
// if a vector has an element without a value, which flatc's writer aborts on.

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tags_generated.h"

namespace {

std::string tagged(long long tag, const std::string& value) {
  return "[" + std::to_string(tag) + ", " + value + "]";
}

std::string json(const tags::FindUnion& find) {
  std::string value = "null";
  if (const auto* leaf = find.AsLeaf()) value = std::to_string(leaf->weight);
  if (const auto* stone = find.AsStone()) value = '"' + stone->name + '"';
  if (const auto* spot = find.AsSpot()) value = tagged(spot->x(), std::to_string(spot->y()));
  if (const auto* text = find.Astext()) value = '"' + *text + '"';
  return tagged(static_cast<long long>(find.type), value);
}

std::string json(const tags::PrizeUnion& prize) {
  std::string value = "null";
  if (const auto* leaf = prize.AsLeaf()) value = std::to_string(leaf->weight);
  if (const auto* gem = prize.Asgem()) value = '"' + gem->name + '"';
  if (const auto* most = prize.Asmost()) value = std::to_string(most->weight);
  return tagged(static_cast<long long>(prize.type), value);
}

}  // namespace

int main(int count, char** paths) {
  for (int i = 1; i < count; ++i) {
    std::ifstream file(paths[i], std::ios::binary);
    const std::string data{std::istreambuf_iterator<char>(file), {}};
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(data.data());
    flatbuffers::Verifier verifier(bytes, data.size());
    if (!tags::VerifyWalkBuffer(verifier)) {
      std::printf("\"refused\"\n");
      continue;
    }
    tags::WalkT walk;
    tags::GetWalk(bytes)->UnPackTo(&walk);
    std::string finds;
    bool can_be_written = true;
    for (const tags::FindUnion& find : walk.finds) {
      can_be_written = can_be_written && find.type != tags::Find_NONE;
      finds += (finds.empty() ? "" : ", ") + json(find);
    }
    std::printf("[%s, %s, [%s]]\n", json(walk.first).c_str(), json(walk.prize).c_str(),
                finds.c_str());
    if (!can_be_written) continue;
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(tags::Walk::Pack(builder, &walk));
    std::ofstream again(std::string(paths[i]) + ".again", std::ios::binary);
    again.write(reinterpret_cast<const char*>(builder.GetBufferPointer()),
                static_cast<std::streamsize>(builder.GetSize()));
  }
}
