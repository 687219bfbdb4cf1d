// What the race check remembers of memory: who wrote a cell last, and who read it.
//
// idea    A cell stands for a word of four bytes, or for one byte where narrower accesses happen.
//         Its fields lie in arrays of their own, so that a warp's contiguous access works on whole
//         vectors. Times are ticks of `order`: anything that happened before a known tick is
//         settled by one comparison. A field that was never set is 0, which is before everything.
// watch   Of a cell's readers the last warp is kept with all its lanes, and the last one before it
//         of another warp: with three or more warps reading between two writes, a race is still
//         found, though it may be reported with one of the later two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace stepwise::emulator {

inline constexpr std::uint32_t no_site = 0xffffffffu;  // a copy or a fill

// Arrays of cells; index 0 is the first byte of the memory.
struct cells {
  std::uint32_t* write_time;
  std::uint32_t* writer;  // warp of the launch * 32 + lane
  std::uint32_t* write_site;
  std::uint32_t* read_time;
  std::uint32_t* reader;  // warp of the launch
  std::uint32_t* read_lanes;
  std::uint32_t* read_site;
  std::uint32_t* older_time;  // the last reader of another warp
  std::uint32_t* older_reader;
  std::uint32_t* older_lanes;
  std::uint32_t* older_site;

  static constexpr std::size_t bytes_per_cell = 11 * sizeof(std::uint32_t);
};

// One warp's view for a run of accesses: what is settled, and what to write down.
struct accessor {
  std::uint32_t settled;                  // anything before this tick is ordered before the warp
  std::uint32_t block_settled;            // anything of the warp's own block before this one too
  std::uint32_t first_warp, block_warps;  // of the own block
  std::uint32_t launch;                   // when the running launch began
  std::uint32_t now;                      // the tick that its accesses get
  std::uint32_t warp;                     // of the launch
  std::uint32_t site;
};

// Cells for `bytes` bytes of memory, reserved but not committed: a page costs memory when it is
// first touched. Throws std::bad_alloc where the address space cannot be reserved.
class cell_space {
 public:
  cell_space(std::uint64_t bytes, unsigned cell_bytes);
  ~cell_space();
  cell_space(const cell_space&) = delete;
  cell_space& operator=(const cell_space&) = delete;

  const cells& all() const { return all_; }
  // Makes every cell one that was never touched.
  void forget();

 private:
  cells all_{};
  std::byte* base_ = nullptr;
  std::uint64_t bytes_ = 0;
};

// Lanes first_lane .. first_lane + count - 1 touch `per_lane` cells each (a power of two), one lane
// after the other from cell `first` on. True if nothing speaks against it and it has been written
// down; false, with nothing changed, if some cell needs a closer look.
bool load_row(const cells& c, std::size_t first, unsigned per_lane, unsigned first_lane,
              unsigned count, const accessor& a);
bool store_row(const cells& c, std::size_t first, unsigned per_lane, unsigned first_lane,
               unsigned count, const accessor& a);
// All lanes of `lanes` load the same `count` cells.
bool load_same(const cells& c, std::size_t first, unsigned count, std::uint32_t lanes,
               const accessor& a);
// One lane's access of `count` cells: true if nothing speaks against it, and then written down.
bool load_lane(const cells& c, std::size_t first, unsigned count, unsigned lane, const accessor& a);
bool store_lane(const cells& c, std::size_t first, unsigned count, unsigned lane,
                const accessor& a);
// One lane's load of one cell, written down; and its store.
void note_load(const cells& c, std::size_t at, std::uint32_t lanes, const accessor& a);
void note_store(const cells& c, std::size_t at, unsigned lane, const accessor& a);

}  // namespace stepwise::emulator
