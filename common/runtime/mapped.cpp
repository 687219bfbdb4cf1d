// Reads /proc/self/maps, and joins adjacent readable areas.
#include "common/runtime/mapped.hpp"

#include <fstream>
#include <limits>
#include <sstream>
#include <string>

namespace stepwise::runtime {

// source  proc(5), /proc/pid/maps: "first-end rwxp ..." in ascending order, hexadecimal.
std::uint64_t mapped_bytes(const void* address) {
  const auto at = reinterpret_cast<std::uint64_t>(address);
  std::ifstream maps("/proc/self/maps");
  if (!maps) return std::numeric_limits<std::uint64_t>::max() - at;
  std::uint64_t end = at;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::uint64_t first = 0, last = 0;
    char dash = 0;
    std::string rights;
    words >> std::hex >> first >> dash >> last >> rights;
    if (last <= end) continue;
    if (first > end || !rights.starts_with('r')) break;
    end = last;
  }
  return end - at;
}

}  // namespace stepwise::runtime
