// L1 of the simulated multiprocessor: which sectors of which lines it holds, and from which cycle
// on. Like L1 in the profiler's caches, it has 32 sets and evicts the least recently used line.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace stepwise::emulator {

class l1_lines {
 public:
  static constexpr unsigned set_bits = 5;

  explicit l1_lines(std::uint64_t bytes);

  // The state of the `wanted` sectors (bits 0 ... 3) of a line.
  struct found {
    std::uint32_t missing = 0;  // of the wanted sectors
    double at = 0;              // cycle at which the last of the other sectors arrives
  };
  found find(std::uint64_t line, std::uint32_t wanted);
  // These sectors are present from cycle `at` on.
  void put(std::uint64_t line, std::uint32_t sectors, double at);

 private:
  struct entry {
    std::uint64_t number = 0;  // the line's number plus one; 0: empty
    std::uint32_t valid = 0;
    std::uint32_t used = 0;  // last use, counted in accesses
    std::array<double, 4> at = {};
  };
  entry& entry_of(std::uint64_t line);

  std::size_t ways_;
  std::uint32_t uses_ = 0;
  std::vector<entry> entries_;  // set by set
};

}  // namespace stepwise::emulator
