// Reads /proc/self/maps, and joins adjacent readable areas. Without /proc, tests page by page.
#include "common/runtime/mapped.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace stepwise::runtime {
namespace {

// Without /proc: the kernel copies a byte of each page into a pipe, or reports that it cannot.
std::uint64_t bytes_by_pages(std::uint64_t at) {
  constexpr std::uint64_t page = 4096, most = std::uint64_t{1} << 28;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return most;
  std::uint64_t end = at;
  char byte = 0;
  while (end - at < most && write(ends[1], reinterpret_cast<const void*>(end), 1) == 1 &&
         read(ends[0], &byte, 1) == 1)
    end = (end / page + 1) * page;
  close(ends[0]);
  close(ends[1]);
  return end - at;
}

}  // namespace

// source  proc(5), /proc/pid/maps: "first-end rwxp ..." in ascending order, hexadecimal.
std::uint64_t mapped_bytes(const void* address) {
  const auto at = reinterpret_cast<std::uint64_t>(address);
  std::ifstream maps("/proc/self/maps");
  if (!maps) return bytes_by_pages(at);
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
