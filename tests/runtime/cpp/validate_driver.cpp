// Validates files under sanitizers and with instruments: counts steps and memory, lets allocations
// fail, mutates, and uses what was found sound as a loader would.
//
// Build with -fsanitize-coverage=trace-pc, which calls back at every basic block.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "loading.h"
#include "placewire/runtime/validate.h"

#if defined(__clang__)
#define NOT_COUNTED __attribute__((no_sanitize("coverage")))
#else
#define NOT_COUNTED __attribute__((no_sanitize_coverage))
#endif

namespace {

std::uint64_t steps = 0;
std::uint64_t allocations = 0;
std::uint64_t allocated_bytes = 0;
/// The allocation that fails, counted from 1; every later one does too. 0: none.
std::uint64_t first_failing_allocation = 0;

NOT_COUNTED void* allocate(std::size_t size) noexcept {
  ++allocations;
  allocated_bytes += size;
  if (first_failing_allocation != 0 && allocations >= first_failing_allocation) {
    return nullptr;
  }
  return std::malloc(size == 0 ? 1 : size);
}

}  // namespace

extern "C" NOT_COUNTED void __sanitizer_cov_trace_pc() { ++steps; }

void* operator new(std::size_t size) {
  void* const memory = allocate(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using Data = std::vector<std::uint8_t>;

Data read(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "cannot read %s\n", path);
    std::exit(2);
  }
  return Data(std::istreambuf_iterator<char>(file), {});
}

placewire::schema::Bytes bytes_of(const Data& data) { return {data.data(), data.size()}; }

/// Prints what one validation costs, and whether it found anything.
void measure(const Data& data) {
  steps = allocations = allocated_bytes = 0;
  const placewire::Validation validation = placewire::validate(bytes_of(data));
  const std::uint64_t steps_taken = steps;
  const std::uint64_t bytes_taken = allocated_bytes;
  std::printf("{\"findings\": %zu, \"complete\": %s, \"steps\": %llu, \"allocated\": %llu}\n",
              validation.findings.size(), validation.complete ? "true" : "false",
              static_cast<unsigned long long>(steps_taken),
              static_cast<unsigned long long>(bytes_taken));
}

/// Lets the first, the second, ... allocation fail until none does; prints how many there are.
int starve(const Data& data) {
  std::uint64_t failing = 0;
  for (bool is_complete = false; !is_complete; ++failing) {
    allocations = 0;
    first_failing_allocation = failing + 1;
    const placewire::Validation validation = placewire::validate(bytes_of(data));
    first_failing_allocation = 0;
    is_complete = validation.complete;
    if (!is_complete && (validation.is_loadable() || validation.findings.size() > 1)) {
      std::fprintf(stderr, "a validation that ran out of memory looks complete\n");
      return 1;
    }
  }
  std::printf("{\"failed\": %llu}\n", static_cast<unsigned long long>(failing - 1));
  return 0;
}

/// Changes some bytes: to values that matter in this format, or anything; or cuts the file.
void mutate(Data& data, std::mt19937_64& random) {
  static constexpr std::uint8_t kTelling[] = {0, 1, 2, 4, 7, 16, 127, 128, 254, 255};
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
  for (std::size_t count = 1 + below(4); count != 0 && !data.empty(); --count) {
    const std::size_t place =
        below(2) == 0 ? below(data.size()) : below(std::min<std::size_t>(data.size(), 4096));
    switch (below(6)) {
      case 0:
        data[place] = static_cast<std::uint8_t>(random());
        break;
      case 1:
        data[place] = static_cast<std::uint8_t>(data[place] ^ (1u << below(8)));
        break;
      case 2:
        data[place] = static_cast<std::uint8_t>(data[place] + (below(2) == 0 ? 1 : 255));
        break;
      case 3:
        if (data.size() >= 4) {
          const std::size_t word = place / 4 * 4;
          const std::size_t other = below(data.size() / 4) * 4;
          if (word + 4 <= data.size()) std::memmove(&data[word], &data[other], 4);
        }
        break;
      case 4:
        if (below(16) == 0) data.resize(place);
        break;
      default:
        data[place] = kTelling[below(sizeof kTelling)];
        break;
    }
  }
}

/// Validates mutated files; loads those that are sound. Prints how many were what.
void mutate_many(std::uint64_t seed, std::uint64_t rounds, const std::vector<Data>& files) {
  std::mt19937_64 random(seed);
  unsigned long long sound = 0, warned = 0, refused = 0, found = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    Data data = files[static_cast<std::size_t>(random() % files.size())];
    mutate(data, random);
    // Its own allocation of exactly that size, so that reading behind it is caught.
    const Data exact(data);
    const placewire::Validation validation = placewire::validate(bytes_of(exact));
    found += validation.findings.size();
    if (!validation.is_loadable()) {
      ++refused;
      continue;
    }
    ++(validation.findings.empty() ? sound : warned);
    load(bytes_of(exact));
  }
  std::printf("{\"sound\": %llu, \"warned\": %llu, \"refused\": %llu, \"findings\": %llu}\n", sound,
              warned, refused, found);
}

}  // namespace

int main(int count, char** arguments) {
  const std::string mode = count > 1 ? arguments[1] : "";
  if (mode == "measure" && count > 2) {
    for (int i = 2; i < count; ++i) measure(read(arguments[i]));
    return 0;
  }
  if (mode == "starve" && count == 3) {
    return starve(read(arguments[2]));
  }
  if (mode == "mutate" && count > 4) {
    std::vector<Data> files;
    for (int i = 4; i < count; ++i) files.push_back(read(arguments[i]));
    mutate_many(std::strtoull(arguments[2], nullptr, 10), std::strtoull(arguments[3], nullptr, 10),
                files);
    return 0;
  }
  std::fprintf(stderr,
               "usage: driver measure FILE... | starve FILE | mutate SEED ROUNDS FILE...\n");
  return 2;
}
