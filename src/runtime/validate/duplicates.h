// Finds equal names in a list.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace placewire::validation {

/// Calls `found(first, again)` for every index whose name occurred at the lower index `first`.
///
/// Sorts, because a file can be built so that all its names fall into one bucket of a hash table.
template <class Found>
void find_duplicates(std::vector<std::pair<std::string_view, std::size_t>> names,
                     const Found& found) {
  std::sort(names.begin(), names.end());
  std::size_t first = 0;
  for (std::size_t i = 1; i < names.size(); ++i) {
    if (names[i].first == names[first].first) {
      found(names[first].second, names[i].second);
    } else {
      first = i;
    }
  }
}

}  // namespace placewire::validation
