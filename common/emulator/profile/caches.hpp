// The GPU's caches as far as programs can observe them: which access hits which sectors in which
// cache.
//
// idea    There is one L1 per multiprocessor, in the part of its 256 KB that shared memory leaves.
//         L1's lines have 128 bytes, whose 32-byte sectors are filled one by one. The least
//         recently used line is evicted. L2 has two halves. Each line has its home in one half, and
//         the multiprocessors of the other half keep a copy in their own half. Memory is read in
//         pairs of sectors. Other GPUs have other sizes, one half, reads of single sectors, or no
//         caches (common/device/memory_rules.hpp).
// watch   NVIDIA does not document which set a line belongs to; here, neighbouring lines spread
//         evenly. The set's lowest `sampled_bits` bits are the same in both levels, so that some
//         sets can be simulated without the others.
// source  Measured on an H200 (DESIGN.md, Limits). Tested by tests/caches_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "common/device/gpu.hpp"
#include "common/device/memory_rules.hpp"

namespace stepwise::emulator {

// Lines of local memory have this bit. No line of global memory has it, because global addresses
// have 40 bits.
constexpr std::uint64_t local_lines = std::uint64_t{1} << 40;

// The outcome of an access to some sectors of a line.
struct cache_counts {
  std::uint64_t sectors = 0;  // requested
  std::uint64_t l1_hits = 0;
  std::uint64_t l2_sectors = 0, l2_hits = 0;
  std::uint64_t shared_sectors = 0;  // that bulk copies of several multiprocessors read
  std::uint64_t dram_read_bytes = 0;
  std::uint64_t dram_write_bytes = 0;  // of dirty sectors that were evicted
};

class caches {
 public:
  static constexpr unsigned sampled_bits = 5;

  explicit caches(const gpu& model);

  // Empties all caches and sets the L1 size of each multiprocessor. `sites`: number of sites.
  void clear(std::uint64_t l1_bytes, std::size_t sites);

  // Does the same for L1 only, because another kernel begins.
  void clear_l1(std::uint64_t l1_bytes);

  // A site's access from a multiprocessor to sectors (bits) of a line. `whole`: a store writes all
  // of their bytes.
  void load(unsigned multiprocessor, std::uint64_t line, std::uint32_t sectors, std::uint32_t site);
  void load_around_l1(unsigned multiprocessor, std::uint64_t line, std::uint32_t sectors,
                      std::uint32_t site);
  // Loads for a bulk copy. Also counts sectors that another multiprocessor has just copied.
  void load_by_copy(unsigned multiprocessor, std::uint64_t line, std::uint32_t sectors,
                    std::uint32_t site);
  void store(unsigned multiprocessor, std::uint64_t line, std::uint32_t sectors, bool whole,
             std::uint32_t site);
  void atomic(unsigned multiprocessor, std::uint64_t line, std::uint32_t sectors,
              std::uint32_t site);

  // Prefetches the line's sets into the host's caches.
  void prefetch(unsigned multiprocessor, std::uint64_t line) {
    __builtin_prefetch(l1_set(multiprocessor, line));
    for (unsigned half = 0; half < 2; ++half) {
      if (half != side_of(multiprocessor) && half != home_of(line)) continue;
      const entry* const set = l2_set(half, line);
      __builtin_prefetch(set);
      __builtin_prefetch(set + 8);
    }
  }

  const cache_counts& of(std::uint32_t site) const { return counts_[site]; }

  // The bits of the set number that both levels share.
  static std::uint32_t sample_of(std::uint64_t line) {
    const std::uint64_t folded = line ^ (line >> 5) ^ (line >> 10) ^ (line >> 15) ^ (line >> 20);
    return static_cast<std::uint32_t>(folded & ((1u << sampled_bits) - 1));
  }

 private:
  // The lines that bulk copies read last: the line number plus one, and the multiprocessor. This is
  // a hash table in which a line replaces any other line with the same hash.
  static constexpr std::size_t recent_lines = 32768;
  struct recent_line {
    std::uint64_t line = 0;
    unsigned multiprocessor = 0;
  };
  std::vector<recent_line> recent_ = std::vector<recent_line>(recent_lines);

  // An entry of L1 has the line number plus one (0: empty) from bit 8, the written sectors from bit
  // 4, and the readable sectors from bit 0. An entry of L2 has the line number plus one from bit
  // 22, dirty sectors from 18, valid sectors from 14, and the site that wrote last below that.
  using entry = std::uint64_t;

  entry* l1_set(unsigned multiprocessor, std::uint64_t line) {
    return l1_.data() + (std::size_t{multiprocessor} * l1_sets + sample_of(line)) * l1_ways_;
  }
  entry* l2_set(unsigned half, std::uint64_t line) {
    const std::uint64_t upper = line >> sampled_bits;
    const std::uint64_t set =
        ((upper ^ (upper >> 12) ^ (upper >> 24)) << sampled_bits | sample_of(line)) &
        (l2_sets_ - 1);
    return l2_.data() + (std::uint64_t{half} * l2_sets_ + set) * l2_ways_;
  }
  entry& l2_line(unsigned half, std::uint64_t line);
  void read_l2(unsigned multiprocessor, std::uint64_t line, std::uint32_t sectors,
               std::uint32_t site);
  std::uint32_t fetch(entry& e, std::uint32_t sectors, cache_counts& c);
  void write_l2(unsigned multiprocessor, std::uint64_t line, std::uint32_t sectors,
                std::uint32_t site);
  unsigned side_of(unsigned multiprocessor) const {
    return rules_.l2_halves == 2 && multiprocessor * 2 >= multiprocessors_;
  }
  unsigned home_of(std::uint64_t line) const;

  static constexpr unsigned l1_sets = 1u << sampled_bits;
  memory_rules rules_;
  unsigned multiprocessors_, l1_ways_ = 0, l2_sets_, l2_ways_;
  std::vector<entry> l1_, l2_;
  std::vector<cache_counts> counts_;
};

}  // namespace stepwise::emulator
