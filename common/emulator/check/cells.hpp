// The memory of the race check: who wrote a cell last, and who read it.
//
// idea    A cell represents a word of four bytes, or two bytes or one byte in pages with narrower
//         accesses. Sixteen cells form a group. As long as all of them are accessed alike (by the
//         lanes of a warp, in order), a summary represents the group, and accessing a row costs
//         one comparison per group and little memory. Times are ticks of `order`:
//         anything that happened before a known tick is settled by one comparison. A field that was
//         never set is 0, which is before everything.
// watch   A cell keeps two readers: the last warp, with all its lanes, and the last other warp
//         before it. If three or more warps read between two writes, a race is still found, but it
//         may be reported with one of the last two readers. Once two blocks of a launch have read a
//         whole group of cells, and nothing has been written there, further loads are not recorded:
//         any block that writes there races with one of the two. This holds only until a block
//         releases something. From then on, a block may be ordered after one of them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/emulator/check/cell_groups.hpp"
#include "common/emulator/check/reserved_array.hpp"

namespace stepwise::emulator {

inline constexpr std::uint32_t no_site = 0xffffffffu;  // a copy or a fill

// One cell.
class cell {
 public:
  cell(cell_group& group, std::size_t number) : g_(&group), k_(number) {}
  std::uint32_t& write_time() const { return g_->write_time[k_]; }
  std::uint32_t& writer() const { return g_->writer[k_]; }
  std::uint32_t& write_site() const { return g_->write_site[k_]; }
  std::uint32_t& read_time() const { return g_->read_time[k_]; }
  std::uint32_t& reader() const { return g_->reader[k_]; }
  std::uint32_t& read_lanes() const { return g_->read_lanes[k_]; }
  std::uint32_t& read_site() const { return g_->read_site[k_]; }
  std::uint32_t& older_time() const { return g_->older_time[k_]; }
  std::uint32_t& older_reader() const { return g_->older_reader[k_]; }
  std::uint32_t& older_lanes() const { return g_->older_lanes[k_]; }
  std::uint32_t& older_site() const { return g_->older_site[k_]; }
  // Copies all fields of `other`.
  void copy(const cell& other) const;

 private:
  cell_group* g_;
  std::size_t k_;
};

// Stands for a group whose cells were accessed alike, or not at all. It has the fields of the
// group's first cell. lane_of() gives the lanes and writers of the other cells relative to it.
struct alignas(64) group_summary {
  std::uint32_t is_spread = 0;  // 1: the cells of the group hold the data instead
  std::uint32_t write_time, writer, write_shift, write_site;
  std::uint32_t read_time, reader, read_lanes, read_shift, read_site;
  std::uint32_t older_time, older_reader, older_lanes, older_shift, older_site;

  // These reuse two fields when the group is stored in full. two_readers() is the start tick of the
  // launch in which two blocks have read every cell, if nothing has been written since, and 0
  // otherwise. queries() counts the loads that asked for it.
  std::uint32_t& two_readers() { return write_time; }
  std::uint32_t& queries() { return writer; }

  // A shift contains log2 of the cells per lane, and whether the lanes fall.
  static constexpr std::uint32_t falls = 32;
  static std::uint32_t shift_of(const row_part& p) {
    return p.step == 1 ? p.shift : p.shift | falls;
  }
  // The lane of cell k minus the lane of cell 0, modulo 2^32.
  static std::uint32_t lane_of(std::uint32_t k, std::uint32_t shift) {
    const std::uint32_t place = k >> (shift % falls);
    return (shift & falls) == 0 ? place : 0 - place;
  }
  static std::uint32_t lanes_of(std::uint32_t lanes, std::uint32_t k, std::uint32_t shift) {
    return std::rotl(lanes, static_cast<int>(lane_of(k, shift) & 31));
  }
};

// All cells of a memory; number 0 is for its first bytes.
struct cells {
  cell_group* groups = nullptr;
  group_summary* summaries = nullptr;

  cell operator[](std::size_t number) const {
    const std::size_t group = number / cell_group::size;
    if (summaries[group].is_spread == 0) spread(group);
    return {groups[group], number % cell_group::size};
  }
  // Prefetches the summaries of 32 cells into the host's caches.
  void prefetch(std::size_t number) const {
    __builtin_prefetch(summaries + number / cell_group::size, 1);
    __builtin_prefetch(summaries + number / cell_group::size + 1, 1);
  }
  // Stores a group in full, from its summary.
  void spread(std::size_t group) const;
  // The tick at which a cell was last written.
  std::uint32_t write_time(std::size_t number) const {
    const group_summary& s = summaries[number / cell_group::size];
    return s.is_spread == 0
               ? s.write_time
               : groups[number / cell_group::size].write_time[number % cell_group::size];
  }
  // Whether loads of a group that is stored in full need not be recorded.
  bool may_skip_load(std::size_t group, const accessor& a) const {
    group_summary& s = summaries[group];
    if (a.two_readers == 0) return false;
    return s.two_readers() == a.two_readers ||
           (++s.queries() % queries_per_search == 0 && search_for_two_readers(group, a));
  }
  // Notes a write to the group of a cell.
  void forget_two_readers(std::size_t number) const {
    group_summary& s = summaries[number / cell_group::size];
    if (s.is_spread != 0) s.two_readers() = 0;
  }

  // Host memory per cell, for its group and its summary.
  static constexpr std::size_t bytes_per_cell =
      (sizeof(cell_group) + sizeof(group_summary)) / cell_group::size;

 private:
  static constexpr std::uint32_t queries_per_search = 16;
  bool search_for_two_readers(std::size_t group, const accessor& a) const;
};

// Cells for `bytes` bytes of memory, reserved but not committed: a page costs memory when it is
// first touched. Throws std::bad_alloc if the address space cannot be reserved.
class cell_space {
 public:
  cell_space(std::uint64_t bytes, unsigned cell_bytes);

  const cells& all() const { return all_; }
  // Resets every cell to untouched.
  void forget();

 private:
  reserved_array<cell_group> groups_;
  reserved_array<group_summary> summaries_;
  cells all_;
};

// The number of bytes that each cell of a page represents: four, two or one.
enum class grain : std::uint8_t { untouched, words, halves, bytes };
constexpr unsigned log2_bytes(grain g) { return 3 - static_cast<unsigned>(g); }
// The widest cells such that an access that begins and ends at multiples of this number covers
// whole cells.
constexpr grain grain_for(std::uint64_t multiple) {
  return multiple % 4 == 0 ? grain::words : multiple % 2 == 0 ? grain::halves : grain::bytes;
}

// The cells of a memory. In each page they are as wide as the narrowest access so far allows.
class memory_cells {
 public:
  static constexpr std::uint64_t page_bytes = 4096;
  // For `bytes` bytes of memory. Remembers at most as many cells as `most_pages` pages of words
  // have. Throws std::bad_alloc if the address space cannot be reserved.
  memory_cells(std::uint64_t bytes, std::uint64_t most_pages);

  // Prepares the cells of an area for accesses that need `wanted` or narrower cells. Afterwards,
  // all pages of the area have cells of this grain or narrower ones. Returns the grain of the
  // pages, or `untouched` if the pages differ.
  grain touch(std::uint64_t at, std::uint64_t bytes, grain wanted) {
    const std::uint64_t page = at / page_bytes;
    if ((at + bytes - 1) / page_bytes == page && pages_[page] >= wanted) return pages_[page];
    return touch_pages(page, (at + bytes - 1) / page_bytes, wanted);
  }
  grain grain_at(std::uint64_t at) const { return pages_[at / page_bytes]; }
  // The cells of pages with this grain. The cell of byte `at` has the number at >> log2_bytes(g).
  const cells& of(grain g) const { return spaces_[static_cast<unsigned>(g) - 1].all(); }
  // The cell that a byte of a touched page belongs to.
  cell at(std::uint64_t byte) const {
    const grain g = grain_at(byte);
    return of(g)[byte >> log2_bytes(g)];
  }
  // Prefetches the cells of the bytes that a warp accesses next into the host's caches.
  void prefetch(std::uint64_t byte) const {
    if (const grain g = grain_at(byte); g != grain::untouched)
      of(g).prefetch(byte >> log2_bytes(g));
  }

 private:
  grain touch_pages(std::uint64_t first, std::uint64_t last, grain wanted);
  void narrow(std::uint64_t page, grain to);
  void count(grain g);

  cell_space spaces_[3];
  reserved_array<grain> pages_;
  std::uint64_t most_pages_, touched_ = 0;  // counted in pages of words
};

// A row: each lane of a warp accesses `per_lane` cells (a power of two). `first_lanes` access the
// first place, at cell `first`, a multiple of `per_lane`. The next higher lanes (the next lower
// ones if the lanes fall) access the next place, and so on for `places` places. A store has one
// lane per place. Returns true, with the access recorded, if all accesses are ordered. Returns
// false, with nothing changed, if a cell needs a closer look.
bool load_row(const cells& c, std::size_t first, unsigned per_lane, std::uint32_t first_lanes,
              unsigned places, const accessor& a, bool falls = false);
bool store_row(const cells& c, std::size_t first, unsigned per_lane, std::uint32_t first_lane,
               unsigned places, const accessor& a, bool falls = false);
// Records a row's load without comparing it with earlier accesses.
void note_load_row(const cells& c, std::size_t first, unsigned per_lane, std::uint32_t first_lanes,
                   unsigned places, const accessor& a, bool falls = false);
// Loads and stores of lanes at independent places. `at` is each lane's first cell, a multiple of
// `per_lane`. Returns the lanes that need a closer look.
struct lane_functions {
  using visit = std::uint32_t(const cells& c, const std::uint64_t* at, unsigned per_lane,
                              std::uint32_t lanes, const accessor& a);
  visit* load;
  visit* store;
};
// Implemented by plain loops and by AVX-512 (null if the CPU lacks it), with the same results.
const lane_functions* lanes_in_loops();
const lane_functions* lanes_by_avx512();
std::uint32_t load_lanes(const cells& c, const std::uint64_t* at, unsigned per_lane,
                         std::uint32_t lanes, const accessor& a);
std::uint32_t store_lanes(const cells& c, const std::uint64_t* at, unsigned per_lane,
                          std::uint32_t lanes, const accessor& a);
// Records a load of one cell by `lanes`, or a store by one lane.
void note_load(const cell& c, std::uint32_t lanes, const accessor& a);
void note_store(const cell& c, unsigned lane, const accessor& a);

}  // namespace stepwise::emulator
