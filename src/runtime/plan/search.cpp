// Searches at random for a better order of preference for the skyline.
#include "plan/search.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "plan/orders.h"
#include "plan/skyline.h"

namespace placewire::planning {
namespace {

constexpr std::uint64_t kTensorsPerEvaluation = 256;
/// From here on bits, whose memory is quadratic, give way to a tree.
constexpr std::uint32_t kMostTensorsInBits = 2048;
constexpr std::uint64_t kProgressInterval = 256;

// By how much a plan may grow, in millionths of the lower bound, at the start and at the end; and
// how many of ten changes begin with a tensor at the top of the plan. Found by trials on
// minimalloc's instances.
constexpr std::uint64_t kHot = 6000;
constexpr std::uint64_t kCold = 1000;
constexpr std::uint32_t kTopChangesOfTen = 7;

/// SplitMix64: small, and the same on every machine, which the library's distributions are not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() noexcept {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
  }

  /// A number from 0 to `end` - 1.
  std::uint32_t below(std::uint32_t end) noexcept {
    return static_cast<std::uint32_t>(((next() >> 32) * end) >> 32);
  }

  /// A number whose distribution is close to the exponential one with mean 1, in units of 2^-16.
  std::uint64_t exponential() noexcept {
    constexpr std::uint64_t kLogarithmOf2 = 45426;  // times 2^16
    const std::uint64_t bits = next();
    const auto zeros = static_cast<std::uint64_t>(__builtin_ctzll(bits | (std::uint64_t{1} << 40)));
    return ((zeros << 16 | bits >> 48) * kLogarithmOf2) >> 16;
  }

 private:
  std::uint64_t state_;
};

class Search {
 public:
  Search(const Instance& instance, const PlanOptions& options, Best& best)
      : instance_(instance),
        options_(options),
        best_(best),
        random_(options.seed),
        skyline_(instance),
        order_(greatest_area_first(instance)) {
    if (instance.count() <= kMostTensorsInBits) {
      bits_.emplace(instance);
    }
  }

  bool run() {
    const std::uint64_t tensors = std::max<std::uint64_t>(instance_.count(), kTensorsPerEvaluation);
    // As many whole plans as the evaluations are enough for.
    const std::uint64_t limit = options_.evaluations / tensors * kTensorsPerEvaluation +
                                options_.evaluations % tensors * kTensorsPerEvaluation / tensors;
    if (limit > 0) {
      (void)accept(order_, std::numeric_limits<std::int64_t>::max());
    }
    for (std::uint64_t done = 1; done < limit && !best_.is_good_enough(); ++done) {
      if (done % kProgressInterval == 0 && options_.progress &&
          !options_.progress({"search", done, limit, best_.total()})) {
        return false;
      }
      changed_ = order_;
      change();
      if (accept(changed_, total_ + tolerance(done, limit))) {
        std::swap(order_, changed_);
      }
    }
    return true;
  }

 private:
  /// Evaluates an order; returns whether the total is not above `most`.
  bool accept(const Preference& order, std::int64_t most) {
    Placement& trial = best_.trial();
    const std::int64_t limit = most == std::numeric_limits<std::int64_t>::max() ? most : most + 1;
    bool is_placed = false;
    if (bits_) {
      bits_->reset(order);
      is_placed = skyline_.place(*bits_, limit, trial);
    } else {
      CandidateTree tree(instance_, order);
      is_placed = skyline_.place(tree, limit, trial);
    }
    if (!is_placed) {
      return false;
    }
    total_ = trial.total;
    top_.clear();
    for (std::uint32_t i = 0; i < instance_.count(); ++i) {
      if (trial.offsets[i] + instance_.size[i] == total_) {
        top_.push_back(i);
      }
    }
    best_.offer_trial("search");
    return true;
  }

  /// Moves a tensor at the top forward, or any tensor anywhere, or lets two change places.
  void change() {
    const auto count = instance_.count();
    if (!top_.empty() && random_.below(10) < kTopChangesOfTen) {
      const std::uint32_t tensor = top_[random_.below(static_cast<std::uint32_t>(top_.size()))];
      const auto found = std::find(changed_.begin(), changed_.end(), tensor);
      const auto from = static_cast<std::uint32_t>(found - changed_.begin());
      move(from, random_.below(from + 1));
      return;
    }
    const std::uint32_t from = random_.below(count);
    const std::uint32_t to = random_.below(count);
    if (random_.below(2) == 0) {
      std::swap(changed_[from], changed_[to]);
    } else {
      move(from, to);
    }
  }

  void move(std::uint32_t from, std::uint32_t to) {
    const auto begin = changed_.begin();
    if (to < from) {
      std::rotate(begin + to, begin + from, begin + from + 1);
    } else {
      std::rotate(begin + from, begin + from + 1, begin + to + 1);
    }
  }

  /// By how many bytes the next plan may be larger.
  std::int64_t tolerance(std::uint64_t done, std::uint64_t limit) {
    const auto left = static_cast<std::uint64_t>(static_cast<double>(limit - done) /
                                                 static_cast<double>(limit) * 4096);
    const std::uint64_t rate = kCold + ((kHot - kCold) * left * left >> 24);
    const double scale = static_cast<double>(rate * random_.exponential()) / (65536.0 * 1e6);
    // At most 2^63 * 0.006 * 41, which could still overflow with the total.
    const double bytes = static_cast<double>(instance_.lower_bound) * scale;
    const std::int64_t room = std::numeric_limits<std::int64_t>::max() - total_;
    return bytes < static_cast<double>(room / 2) ? static_cast<std::int64_t>(bytes) : room / 2;
  }

  const Instance& instance_;
  const PlanOptions& options_;
  Best& best_;
  Random random_;
  Skyline skyline_;
  std::optional<CandidateBits> bits_;
  Preference order_;
  Preference changed_;
  std::int64_t total_ = 0;
  std::vector<std::uint32_t> top_;  // tensors that end where the current plan does
};

}  // namespace

bool run_search(const Instance& instance, const PlanOptions& options, Best& best) {
  return Search(instance, options, best).run();
}

}  // namespace placewire::planning
