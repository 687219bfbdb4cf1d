// The order in which a launch's requests reach the caches.
//
// idea    The emulator runs a launch's blocks, and a block's warps, one after the other, but a GPU
//         runs as many as fit at once. The requests of every warp are therefore recorded. When as
//         many blocks have ended as a GPU holds, the requests are played to the caches round-robin:
//         every warp of every block one request, then the next.
// watch   Memory is bounded. When the memory is full, only half of the caches' sets are recorded
//         from then on, later a quarter, and so on down to one of 32. A site's counts are then
//         those of its share of the sets (DESIGN.md, Decisions). If even that is not enough, the
//         recorded requests are played at once.
// Tested by tests/caches_test.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/emulator/profile/caches.hpp"
#include "common/emulator/profile/code_view.hpp"
#include "common/emulator/profile/requests.hpp"

namespace stepwise::emulator {

class trace {
 public:
  static constexpr std::size_t most_bytes = 8u << 20;

  explicit trace(const gpu& model, std::size_t bytes = most_bytes);

  struct launch_shape {
    unsigned resident = 1;  // per multiprocessor
    unsigned warps = 1;     // per block
    std::uint64_t blocks = 1;
    std::uint64_t local_bytes = 0;  // per lane
    std::uint64_t l1_bytes = 0;
  };
  void begin(const launch_shape& shape, const std::vector<site_plan>& sites);
  void begin_block(std::uint64_t index);
  void switch_to(std::uint64_t index);
  void end_block(std::uint64_t index);
  // Adds a request of a warp of the current block. `whole`: a store writes every byte of its
  // sectors. `local`: the lines are in local memory.
  void add(std::uint32_t warp, std::uint32_t site, const touched_lines& t, bool whole, bool local);
  // The first line of that warp's local memory, among the lines of local memory.
  std::uint64_t local_line(std::uint32_t warp) const;
  void end();

  const cache_counts& of(std::uint32_t site) const { return caches_.of(site); }
  // The share of the caches' sets that was simulated last: 1, or less if memory was full.
  double share() const { return 1.0 / (1u << dropped_bits_); }

 private:
  static constexpr unsigned chunk_records = 15;
  static constexpr std::uint32_t none = 0xffffffffu;
  // A record has the line from bit 24, its sectors from 20, whether it begins a request (19),
  // whether a store is whole (18), whether the line is in local memory (17), and the site.
  struct alignas(128) chunk {
    std::uint64_t records[chunk_records];
    std::uint32_t used, next;
  };
  struct stream {
    std::uint32_t first = none, last = none;
    std::uint64_t skipped = 0;  // requests after the last record, see skips()
    std::uint32_t read_chunk = none, read_at = 0;
    std::uint64_t idle = 0;  // rounds left of the skipped requests that are being played
  };
  struct slot {
    std::uint64_t block = 0;
    bool taken = false, ended = false;
  };

  stream& stream_of(std::size_t slot, std::uint32_t warp) {
    return streams_[slot * shape_.warps + warp];
  }
  void append(stream& s, std::uint64_t record) {
    if (s.last == none || chunks_[s.last].used == chunk_records) add_chunk(s);
    chunk& c = chunks_[s.last];
    c.records[c.used++] = record;
  }
  void add_chunk(stream& s);
  std::uint32_t take_chunk();
  void make_room();
  void thin(stream& s);
  void play();
  bool play_request(stream& s, unsigned multiprocessor);
  bool is_sampled(std::uint64_t line) const {
    return (caches::sample_of(line) & ((1u << dropped_bits_) - 1)) == 0;
  }

  unsigned multiprocessors_;
  caches caches_;
  std::size_t capacity_;  // chunks
  std::unique_ptr<chunk[]> chunks_;
  std::uint32_t used_chunks_ = 0, free_chunk_ = none;
  launch_shape shape_;
  const site_plan* sites_ = nullptr;
  std::vector<slot> slots_;
  std::vector<stream> streams_;
  std::vector<std::vector<std::uint32_t>> on_;  // by multiprocessor: streams that continue
  std::size_t now_ = 0, begun_ = 0, ended_ = 0;
  unsigned dropped_bits_ = 0;
};

}  // namespace stepwise::emulator
