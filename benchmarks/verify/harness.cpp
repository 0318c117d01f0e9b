// Times verify and a full walk of one program, ours and FlatBuffers' in turn; prints JSON.
//
//     harness FILE ROUNDS

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "sides.h"

namespace {

/// Times of one task, in seconds.
class Timings {
 public:
  template <class Task>
  void measure(Task task) {
    const auto start = std::chrono::steady_clock::now();
    task();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    seconds_.push_back(taken.count());
  }

  void print(const char* name, const char* end) {
    std::sort(seconds_.begin(), seconds_.end());
    std::printf("\"%s\": {\"min\": %.9f, \"median\": %.9f}%s", name, seconds_.front(),
                seconds_[seconds_.size() / 2], end);
  }

 private:
  std::vector<double> seconds_;
};

void require(bool is_true, const char* what) {
  if (is_true) return;
  std::fprintf(stderr, "%s\n", what);
  std::exit(1);
}

}  // namespace

int main(int, char** arguments) {
  std::ifstream stream(arguments[1], std::ios::binary);
  const std::vector<char> file{std::istreambuf_iterator<char>(stream), {}};
  const auto* data = reinterpret_cast<const std::uint8_t*>(file.data());
  // The FlatBuffer without the segments; both sides get the same bytes.
  std::uint64_t size = 0;
  std::memcpy(&size, data + 16, sizeof size);

  Timings our_verify, peer_verify, our_walk, peer_walk;
  std::uint64_t our_sum = 0;
  std::uint64_t peer_sum = 0;
  bool is_sound = true;
  for (int round = std::atoi(arguments[2]); round > 0; --round) {
    our_verify.measure([&] { is_sound &= ours::verify(data, size); });
    peer_verify.measure([&] { is_sound &= peer::verify(data, size); });
    our_walk.measure([&] { our_sum += ours::walk(data, size); });
    peer_walk.measure([&] { peer_sum += peer::walk(data, size); });
  }
  require(is_sound, "the program is not sound");
  require(our_sum == peer_sum && our_sum != 0, "the walks did not read the same");
  std::printf("{\"bytes\": %zu, ", static_cast<std::size_t>(size));
  our_verify.print("our_verify", ", ");
  peer_verify.print("peer_verify", ", ");
  our_walk.print("our_walk", ", ");
  peer_walk.print("peer_walk", "}\n");
}
