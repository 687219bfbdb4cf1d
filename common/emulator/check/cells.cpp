#include "common/emulator/check/cells.hpp"

#include <sys/mman.h>

#include <new>

// Compiled for several instruction sets; the loader picks one. Sanitizers cannot live with that.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__clang__)
#define STEPWISE_CLONES
#else
#define STEPWISE_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#endif

namespace stepwise::emulator {

namespace {
constexpr std::uint64_t huge_page_bytes = 64 << 20;  // of what is worth them
}

cell_space::cell_space(std::uint64_t bytes, unsigned cell_bytes) {
  const std::uint64_t count = bytes / cell_bytes;
  bytes_ = count * cells::bytes_per_cell;
  void* const at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<std::byte*>(at);
  if (bytes_ > huge_page_bytes) madvise(at, bytes_, MADV_HUGEPAGE);  // only for speed
  std::byte* next = base_;
  const auto take = [&]<class T>(T*& array) {
    array = reinterpret_cast<T*>(next);
    next += count * sizeof(T);
  };
  take(all_.write_time);
  take(all_.writer);
  take(all_.read_time);
  take(all_.reader);
  take(all_.read_lanes);
  take(all_.older_time);
  take(all_.older_reader);
  take(all_.older_lanes);
  take(all_.write_site);
  take(all_.read_site);
  take(all_.older_site);
}

cell_space::~cell_space() { munmap(base_, bytes_); }

void cell_space::forget() { madvise(base_, bytes_, MADV_DONTNEED); }

namespace {

unsigned log2_of(unsigned n) { return static_cast<unsigned>(__builtin_ctz(n)); }

// Done before the access for the cell's last writer or reader: 0 if so.
[[gnu::always_inline]] inline bool open_write(const cells& c, std::size_t at, std::uint32_t own,
                                              const accessor& a) {
  const std::uint32_t t = c.write_time[at], w = c.writer[at];
  const bool in_block =
      (t < a.block_settled) & (t >= a.launch) & (w - a.first_warp * 32 < a.block_warps * 32);
  return !((t < a.settled) | in_block | ((w == own) & (t >= a.launch)));
}

[[gnu::always_inline]] inline bool open_reads(const cells& c, std::size_t at, std::uint32_t bit,
                                              const accessor& a) {
  const std::uint32_t t = c.read_time[at], r = c.reader[at], l = c.read_lanes[at];
  const std::uint32_t u = c.older_time[at], o = c.older_reader[at];
  const bool settled =
      (t < a.settled) |
      ((t < a.block_settled) & (t >= a.launch) & (r - a.first_warp < a.block_warps)) |
      ((r == a.warp) & (l == bit) & (t >= a.launch));
  const bool older = (u < a.settled) |
                     ((u < a.block_settled) & (u >= a.launch) & (o - a.first_warp < a.block_warps));
  return !(settled & older);
}

// Whether an access of one time by one warp is ordered before the accessor.
[[gnu::always_inline]] inline bool is_settled(std::uint32_t t, std::uint32_t warp,
                                              const accessor& a) {
  return (t < a.settled) |
         ((t < a.block_settled) & (t >= a.launch) & (warp - a.first_warp < a.block_warps));
}

// Whether a new reader makes the last one the older one: if that tells of an unordered reader that
// the present older one does not tell of.
[[gnu::always_inline]] inline bool moves_back(const cells& c, std::size_t at, const accessor& a) {
  const std::uint32_t t = c.read_time[at], r = c.reader[at];
  return (r != a.warp) & !is_settled(t, r, a) &
         (is_settled(c.older_time[at], c.older_reader[at], a) | (c.older_reader[at] == a.warp));
}

}  // namespace

STEPWISE_CLONES
bool load_row(const cells& memory, std::size_t first, unsigned per_lane, unsigned first_lane,
              unsigned count, const accessor& a) {
  const cells c = memory;  // a copy: no store changes its pointers
  const unsigned shift = log2_of(per_lane), n = count * per_lane;
  const std::uint32_t own = a.warp * 32 + first_lane;
  std::uint32_t open = 0, moves = 0;
  for (unsigned k = 0; k < n; ++k) {
    open |= open_write(c, first + k, own + (k >> shift), a);
    moves |= moves_back(c, first + k, a);
  }
  if (open != 0) return false;
  if (moves != 0) {
#pragma GCC ivdep
    for (unsigned k = 0; k < n; ++k) {
      const std::size_t at = first + k;
      const bool back = moves_back(c, at, a);
      c.older_time[at] = back ? c.read_time[at] : c.older_time[at];
      c.older_reader[at] = back ? c.reader[at] : c.older_reader[at];
      c.older_lanes[at] = back ? c.read_lanes[at] : c.older_lanes[at];
      c.older_site[at] = back ? c.read_site[at] : c.older_site[at];
    }
  }
#pragma GCC ivdep
  for (unsigned k = 0; k < n; ++k) {
    const std::size_t at = first + k;
    const std::uint32_t bit = std::uint32_t{1} << (first_lane + (k >> shift));
    const bool again = (c.read_time[at] == a.now) & (c.reader[at] == a.warp);
    c.read_lanes[at] = again ? c.read_lanes[at] | bit : bit;
    c.read_time[at] = a.now;
    c.reader[at] = a.warp;
    c.read_site[at] = a.site;
  }
  return true;
}

STEPWISE_CLONES
bool store_row(const cells& memory, std::size_t first, unsigned per_lane, unsigned first_lane,
               unsigned count, const accessor& a) {
  const cells c = memory;  // a copy: no store changes its pointers
  const unsigned shift = log2_of(per_lane), n = count * per_lane;
  const std::uint32_t own = a.warp * 32 + first_lane;
  std::uint32_t open = 0;
  for (unsigned k = 0; k < n; ++k) {
    const std::uint32_t bit = std::uint32_t{1} << (first_lane + (k >> shift));
    open |= open_write(c, first + k, own + (k >> shift), a) | open_reads(c, first + k, bit, a);
  }
  if (open != 0) return false;
#pragma GCC ivdep
  for (unsigned k = 0; k < n; ++k) {
    c.write_time[first + k] = a.now;
    c.writer[first + k] = own + (k >> shift);
    c.write_site[first + k] = a.site;
  }
  return true;
}

bool load_same(const cells& c, std::size_t first, unsigned count, std::uint32_t lanes,
               const accessor& a) {
  // A writer among several readers is not alone, so it does not count as its own.
  const bool single = (lanes & (lanes - 1)) == 0;
  const std::uint32_t own =
      single ? a.warp * 32 + static_cast<std::uint32_t>(__builtin_ctz(lanes)) : ~std::uint32_t{0};
  for (unsigned k = 0; k < count; ++k)
    if (open_write(c, first + k, own, a)) return false;
  for (unsigned k = 0; k < count; ++k) note_load(c, first + k, lanes, a);
  return true;
}

bool load_lane(const cells& c, std::size_t first, unsigned count, unsigned lane,
               const accessor& a) {
  for (unsigned k = 0; k < count; ++k)
    if (open_write(c, first + k, a.warp * 32 + lane, a)) return false;
  for (unsigned k = 0; k < count; ++k) note_load(c, first + k, std::uint32_t{1} << lane, a);
  return true;
}

bool store_lane(const cells& c, std::size_t first, unsigned count, unsigned lane,
                const accessor& a) {
  for (unsigned k = 0; k < count; ++k) {
    if (open_write(c, first + k, a.warp * 32 + lane, a) ||
        open_reads(c, first + k, std::uint32_t{1} << lane, a))
      return false;
  }
  for (unsigned k = 0; k < count; ++k) note_store(c, first + k, lane, a);
  return true;
}

void note_load(const cells& c, std::size_t at, std::uint32_t lanes, const accessor& a) {
  const std::uint32_t t = c.read_time[at], r = c.reader[at];
  if (t == a.now && r == a.warp) {
    c.read_lanes[at] |= lanes;
  } else {
    if (moves_back(c, at, a)) {
      c.older_time[at] = t;
      c.older_reader[at] = r;
      c.older_lanes[at] = c.read_lanes[at];
      c.older_site[at] = c.read_site[at];
    }
    c.read_time[at] = a.now;
    c.reader[at] = a.warp;
    c.read_lanes[at] = lanes;
  }
  c.read_site[at] = a.site;
}

void note_store(const cells& c, std::size_t at, unsigned lane, const accessor& a) {
  c.write_time[at] = a.now;
  c.writer[at] = a.warp * 32 + lane;
  c.write_site[at] = a.site;
}

}  // namespace stepwise::emulator
