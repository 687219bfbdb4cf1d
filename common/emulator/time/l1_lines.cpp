// A lookup scans a whole set, which has a few dozen entries.
#include "common/emulator/time/l1_lines.hpp"

#include <algorithm>

namespace stepwise::emulator {
namespace {

constexpr std::uint64_t line_bytes = 128;

// Neighbouring lines spread evenly over the sets, as in the profiler's caches.
std::size_t set_of(std::uint64_t line) {
  std::uint64_t folded = 0;
  for (unsigned n = 0; n < 5; ++n) folded ^= line >> (n * l1_lines::set_bits);
  return folded & ((1U << l1_lines::set_bits) - 1);
}

}  // namespace

l1_lines::l1_lines(std::uint64_t bytes)
    : ways_(std::max<std::size_t>(1, bytes / line_bytes >> set_bits)),
      entries_(ways_ << set_bits) {}

// The line's entry; a new entry is empty.
l1_lines::entry& l1_lines::entry_of(std::uint64_t line) {
  entry* const set = entries_.data() + set_of(line) * ways_;
  entry* oldest = set;
  ++uses_;
  for (entry* e = set; e != set + ways_; ++e) {
    if (e->number == line + 1) {
      e->used = uses_;
      return *e;
    }
    if (e->used < oldest->used) oldest = e;
  }
  *oldest = {line + 1, 0, uses_, {}};
  return *oldest;
}

l1_lines::found l1_lines::find(std::uint64_t line, std::uint32_t wanted) {
  const entry& e = entry_of(line);
  found f;
  f.missing = wanted & ~e.valid;
  for (unsigned n = 0; n < 4; ++n)
    if (((wanted & e.valid) >> n & 1) != 0) f.at = std::max(f.at, e.at[n]);
  return f;
}

void l1_lines::put(std::uint64_t line, std::uint32_t sectors, double at) {
  entry& e = entry_of(line);
  for (unsigned n = 0; n < 4; ++n)
    if ((sectors >> n & 1) != 0) e.at[n] = at;
  e.valid |= sectors;
}

}  // namespace stepwise::emulator
