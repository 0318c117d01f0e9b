// How much memory this process may use: what the host has, and what control groups allow.
#include "host_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string_view>

namespace placewire {
namespace {

std::size_t physical_memory() noexcept {
  return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// The number in a file; `otherwise` if there is none, as where a group has `max`.
std::size_t number_in(const std::string& path, std::size_t otherwise) {
  std::ifstream file(path);
  std::size_t number = 0;
  return file >> number ? number : otherwise;
}

/// The least that a group and those around it allow, at most `limit`.
std::size_t least_of_groups(const std::string& mount, std::string group, const char* file,
                            std::size_t limit) {
  for (;;) {
    const std::string path = mount + group + '/' + file;
    limit = std::min(limit, number_in(path, limit));
    if (group.empty()) {
      return limit;
    }
    const std::size_t slash = group.find_last_of('/');
    group.erase(slash == std::string::npos ? 0 : slash);
  }
}

/// Whether `memory` is among the controllers of a group, as in `cpu,memory`.
bool has_memory(std::string_view controllers) noexcept {
  while (!controllers.empty()) {
    const std::size_t comma = std::min(controllers.find(','), controllers.size());
    if (controllers.substr(0, comma) == "memory") {
      return true;
    }
    controllers.remove_prefix(std::min(comma + 1, controllers.size()));
  }
  return false;
}

/// The least that a line of /proc/self/cgroup stands for, `NUMBER:CONTROLLERS:GROUP`.
std::size_t least_of_line(const std::string& root, const std::string& line, std::size_t limit) {
  const std::size_t first = line.find(':');
  const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
  if (second == std::string::npos) {
    return limit;
  }
  const std::string controllers = line.substr(first + 1, second - first - 1);
  const std::string group = line.substr(second + 1);
  if (controllers.empty()) {
    return least_of_groups(root + "/sys/fs/cgroup", group, "memory.max", limit);
  }
  return has_memory(controllers) ? least_of_groups(root + "/sys/fs/cgroup/memory", group,
                                                   "memory.limit_in_bytes", limit)
                                 : limit;
}

}  // namespace

std::size_t usable_memory(const std::string& root) {
  std::size_t limit = physical_memory();
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    limit = least_of_line(root, line, limit);
  }
  return limit;
}

}  // namespace placewire
