// Accesses to single cells, to rows (by groups and their summaries), and by scattered lanes.
#include "common/emulator/check/cells.hpp"

#include "common/emulator/check/open_accesses.hpp"

namespace stepwise::emulator {

namespace {

constexpr std::uint64_t worth_huge_pages = 64 << 20;  // for memories of more bytes than this

std::uint64_t groups_for(std::uint64_t bytes, unsigned cell_bytes) {
  return (bytes / cell_bytes + cell_group::size - 1) / cell_group::size;
}

pages pages_for(std::uint64_t bytes) {
  return bytes > worth_huge_pages ? pages::huge : pages::usual;
}

}  // namespace

cell_space::cell_space(std::uint64_t bytes, unsigned cell_bytes)
    : groups_(groups_for(bytes, cell_bytes), pages_for(bytes)),
      summaries_(groups_for(bytes, cell_bytes), pages_for(bytes)),
      all_{groups_.data(), summaries_.data()} {}

void cell_space::forget() {
  groups_.forget();
  summaries_.forget();
}

// --- pages -------------------------------------------------------------------------------------

namespace {

std::uint64_t whole_pages(std::uint64_t bytes) {
  return (bytes + 64 + memory_cells::page_bytes - 1) / memory_cells::page_bytes;
}

// Copies a group to groups of narrower cells, 1 << `finer` of them per group.
void refine(const cells& from, std::size_t group, const cells& to, u32 finer) {
  const group_summary& whole = from.summaries[group];
  for (std::size_t n = 0; n < std::size_t{1} << finer; ++n) {
    const std::size_t part = (group << finer) + n;
    if (whole.is_spread == 0) {
      const auto before = static_cast<u32>(n * cell_group::size >> finer);
      group_summary s = whole;
      s.writer += s.lane_of(before, s.write_shift);
      s.read_lanes = s.lanes_of(s.read_lanes, before, s.read_shift);
      s.older_lanes = s.lanes_of(s.older_lanes, before, s.older_shift);
      s.write_shift += finer;
      s.read_shift += finer;
      s.older_shift += finer;
      to.summaries[part] = s;
    } else {
      for (std::size_t k = part * cell_group::size; k < (part + 1) * cell_group::size; ++k)
        to[k].copy(from[k >> finer]);
    }
  }
}

}  // namespace

memory_cells::memory_cells(std::uint64_t bytes, std::uint64_t most_pages)
    : spaces_{{whole_pages(bytes) * page_bytes, 4},
              {whole_pages(bytes) * page_bytes, 2},
              {whole_pages(bytes) * page_bytes, 1}},
      pages_(whole_pages(bytes)),
      most_pages_(most_pages) {}

grain memory_cells::touch_pages(std::uint64_t first, std::uint64_t last, grain wanted) {
  for (std::uint64_t p = first; p <= last; ++p) {
    if (pages_[p] >= wanted) continue;
    const grain before = pages_[p];
    count(wanted);
    if (before != grain::untouched && pages_[p] == before) narrow(p, wanted);
    pages_[p] = wanted;
  }
  for (std::uint64_t p = first; p < last; ++p)
    if (pages_[p] != pages_[last]) return grain::untouched;
  return pages_[last];
}

// Counts another page of cells of this grain.
void memory_cells::count(grain g) {
  touched_ += std::uint64_t{4} >> log2_bytes(g);
  if (touched_ <= most_pages_) return;
  // Too much to remember: start over. Races across this moment are missed.
  for (cell_space& s : spaces_) s.forget();
  pages_.forget();
  touched_ = std::uint64_t{4} >> log2_bytes(g);
}

void memory_cells::narrow(std::uint64_t page, grain to) {
  const grain from = pages_[page];
  const std::uint64_t groups = (page_bytes >> log2_bytes(from)) / cell_group::size;
  for (std::uint64_t n = 0; n < groups; ++n)
    refine(of(from), page * groups + n, of(to), log2_bytes(from) - log2_bytes(to));
}

// --- cells -------------------------------------------------------------------------------------

void cell::copy(const cell& other) const {
  write_time() = other.write_time();
  writer() = other.writer();
  write_site() = other.write_site();
  read_time() = other.read_time();
  reader() = other.reader();
  read_lanes() = other.read_lanes();
  read_site() = other.read_site();
  older_time() = other.older_time();
  older_reader() = other.older_reader();
  older_lanes() = other.older_lanes();
  older_site() = other.older_site();
}

void cells::spread(std::size_t group) const {
  group_summary& s = summaries[group];
  cell_group& g = groups[group];
  s.is_spread = 1;
  for (u32 k = 0; k < cell_group::size; ++k) {
    g.write_time[k] = s.write_time;
    g.writer[k] = s.writer + s.lane_of(k, s.write_shift);
    g.write_site[k] = s.write_site;
    g.read_time[k] = s.read_time;
    g.reader[k] = s.reader;
    g.read_lanes[k] = s.lanes_of(s.read_lanes, k, s.read_shift);
    g.read_site[k] = s.read_site;
    g.older_time[k] = s.older_time;
    g.older_reader[k] = s.older_reader;
    g.older_lanes[k] = s.lanes_of(s.older_lanes, k, s.older_shift);
    g.older_site[k] = s.older_site;
  }
  s.two_readers() = s.queries() = 0;
}

bool cells::search_for_two_readers(std::size_t group, const accessor& a) const {
  const cell_group& g = groups[group];
  for (u32 k = 0; k < cell_group::size; ++k) {
    if (g.write_time[k] >= a.settled || g.read_time[k] < a.launch || g.older_time[k] < a.launch ||
        g.reader[k] / a.block_warps == g.older_reader[k] / a.block_warps)
      return false;
  }
  summaries[group].two_readers() = a.two_readers;
  return true;
}

// Reads only the fields that are needed, because each field is in its own cache line.
static inline bool is_open_to(const cell& c, u32 own, const accessor& a) {
  const u32 t = c.write_time();
  return t >= a.writes_settled() && open_write(t, c.writer(), own, a);
}

static inline void note_load_of(const cell& c, u32 lanes, const accessor& a) {
  const u32 t = c.read_time(), r = c.reader();
  if (t == a.now && r == a.warp) {
    c.read_lanes() |= lanes;
  } else {
    if (t >= a.settled && moves_back(t, r, c.older_time(), c.older_reader(), a)) {
      c.older_time() = t;
      c.older_reader() = r;
      c.older_lanes() = c.read_lanes();
      c.older_site() = c.read_site();
    }
    c.read_time() = a.now;
    c.reader() = a.warp;
    c.read_lanes() = lanes;
  }
  c.read_site() = a.site;
}

void note_load(const cell& c, u32 lanes, const accessor& a) { note_load_of(c, lanes, a); }

void note_store(const cell& c, unsigned lane, const accessor& a) {
  c.write_time() = a.now;
  c.writer() = a.warp * 32 + lane;
  c.write_site() = a.site;
}

// --- rows --------------------------------------------------------------------------------------

namespace {

const group_functions& vectors =
    *(groups_by_avx512() != nullptr ? groups_by_avx512() : groups_in_loops());
constexpr u32 whole_group = (1u << cell_group::size) - 1;

// The thread that accesses a place alone, or `no_thread`.
u32 only_thread(u32 first_lanes, const accessor& a) {
  const bool single = (first_lanes & (first_lanes - 1)) == 0;
  return single ? a.warp * 32 + static_cast<u32>(__builtin_ctz(first_lanes)) : row_part::no_thread;
}

// A row as its groups see it.
struct row {
  std::size_t first_group;
  u32 groups, lead, width;
  row_part part;

  row(std::size_t first, unsigned per_lane, u32 first_lanes, unsigned places, const accessor& a,
      bool falls)
      : first_group(first / cell_group::size),
        lead(static_cast<u32>(first % cell_group::size)),
        width(places * per_lane),
        part{0,
             0,
             static_cast<u32>(__builtin_ctz(per_lane)),
             first_lanes,
             only_thread(first_lanes, a),
             falls ? ~u32{0} : 1} {
    groups = (lead + width + cell_group::size - 1) / cell_group::size;
  }
  // Whether the row has whole groups only, as most rows do. whole(n) is then its part in group n.
  bool is_whole() const { return (lead | width % cell_group::size) == 0; }
  const row_part& whole(u32 n) {
    part.inside = whole_group;
    part.before = n * cell_group::size;
    return part;
  }
  const row_part& in(u32 n) {
    const u32 begin = n == 0 ? lead : 0, end = lead + width - n * cell_group::size;
    const u32 up_to_end = end >= cell_group::size ? whole_group : (1u << end) - 1;
    part.inside = up_to_end & (whole_group << begin);
    part.before = n * cell_group::size - lead;
    return part;
  }
};

// These handle a whole group that a summary represents.
bool load_is_open(const group_summary& s, const row_part& p, const accessor& a) {
  // If the cells per lane differ, the writers count as other threads.
  const u32 own = s.write_shift == s.shift_of(p) ? p.thread_of(p.place(0)) : row_part::no_thread;
  return open_write(s.write_time, s.writer, own, a);
}

bool store_is_open(const group_summary& s, const row_part& p, const accessor& a) {
  const u32 lanes = s.read_shift == s.shift_of(p) ? p.lanes_of(p.place(0)) : 0;
  return load_is_open(s, p, a) ||
         open_reads(s.read_time, s.reader, s.read_lanes, s.older_time, s.older_reader, lanes, a);
}

// Returns false, with nothing changed, if the load would make the group's cells differ.
bool note_load(group_summary& s, const row_part& p, const accessor& a) {
  u32 lanes = p.lanes_of(p.place(0));
  if (s.read_time == a.now && s.reader == a.warp) {
    if (s.read_shift != s.shift_of(p)) return false;
    lanes |= s.read_lanes;
  }
  if (moves_back(s.read_time, s.reader, s.older_time, s.older_reader, a)) {
    s.older_time = s.read_time;
    s.older_reader = s.reader;
    s.older_lanes = s.read_lanes;
    s.older_shift = s.read_shift;
    s.older_site = s.read_site;
  }
  s.read_time = a.now;
  s.reader = a.warp;
  s.read_lanes = lanes;
  s.read_shift = s.shift_of(p);
  s.read_site = a.site;
  return true;
}

void note_store(group_summary& s, const row_part& p, const accessor& a) {
  s.write_time = a.now;
  s.writer = p.thread_of(p.place(0));
  s.write_shift = s.shift_of(p);
  s.write_site = a.site;
}

// Whether the group's summary can represent such an access. If not, the group is stored in full
// from now on.
inline bool is_alike(const cells& c, std::size_t group, const row_part& p) {
  if (c.summaries[group].is_spread != 0) return false;
  if (p.inside == whole_group) return true;
  c.spread(group);
  return false;
}

// Records a load of a group that a summary represents so far.
inline void note_whole(const cells& c, std::size_t group, const row_part& p, const accessor& a) {
  if (note_load(c.summaries[group], p, a)) return;
  c.spread(group);
  vectors.note_load(c.groups[group], p, a);
}

// Records a row's load.
void note(const cells& c, row& r, const accessor& a) {
  for (u32 n = 0; n < r.groups; ++n) {
    const row_part& p = r.in(n);
    const std::size_t group = r.first_group + n;
    if (is_alike(c, group, p))
      note_whole(c, group, p, a);
    else if (a.two_readers == 0 || c.summaries[group].two_readers() != a.two_readers)
      vectors.note_load(c.groups[group], p, a);
  }
}

}  // namespace

bool load_row(const cells& c, std::size_t first, unsigned per_lane, u32 first_lanes,
              unsigned places, const accessor& a, bool falls) {
  if (places * per_lane == 1) {
    const cell x = c[first];
    if (c.may_skip_load(first / cell_group::size, a)) return true;
    if (is_open_to(x, only_thread(first_lanes, a), a)) return false;
    note_load_of(x, first_lanes, a);
    return true;
  }
  row r(first, per_lane, first_lanes, places, a, falls);
  if (r.groups <= 2 && r.is_whole()) {
    group_summary &s = c.summaries[r.first_group],
                  &last = c.summaries[r.first_group + r.groups - 1];
    if ((s.is_spread | last.is_spread) == 0) {
      if (load_is_open(s, r.whole(0), a)) return false;
      if (r.groups == 2) {
        if (load_is_open(last, r.whole(1), a)) return false;
        note_whole(c, r.first_group + 1, r.whole(1), a);
      }
      note_whole(c, r.first_group, r.whole(0), a);
      return true;
    }
  }
  for (u32 n = 0; n < r.groups; ++n) {
    const row_part& p = r.in(n);
    const std::size_t group = r.first_group + n;
    if (is_alike(c, group, p)
            ? load_is_open(c.summaries[group], p, a)
            : !c.may_skip_load(group, a) && vectors.load_is_open(c.groups[group], p, a))
      return false;
  }
  note(c, r, a);
  return true;
}

void note_load_row(const cells& c, std::size_t first, unsigned per_lane, u32 first_lanes,
                   unsigned places, const accessor& a, bool falls) {
  if (places * per_lane == 1) return note_load(c[first], first_lanes, a);
  row r(first, per_lane, first_lanes, places, a, falls);
  note(c, r, a);
}

bool store_row(const cells& c, std::size_t first, unsigned per_lane, u32 first_lane,
               unsigned places, const accessor& a, bool falls) {
  row r(first, per_lane, first_lane, places, a, falls);
  for (u32 n = 0; n < r.groups; ++n) {
    const row_part& p = r.in(n);
    const std::size_t group = r.first_group + n;
    if (is_alike(c, group, p) ? store_is_open(c.summaries[group], p, a)
                              : vectors.store_is_open(c.groups[group], p, a))
      return false;
  }
  for (u32 n = 0; n < r.groups; ++n) {
    const row_part& p = r.in(n);
    const std::size_t group = r.first_group + n;
    if (is_alike(c, group, p)) {
      note_store(c.summaries[group], p, a);
    } else {
      c.summaries[group].two_readers() = 0;
      vectors.note_store(c.groups[group], p, a);
    }
  }
  return true;
}

// --- lanes -------------------------------------------------------------------------------------

namespace {

u32 load_lanes_of(const cells& c, const std::uint64_t* at, unsigned per_lane, u32 lanes,
                  const accessor& given) {
  const accessor a = given;
  u32 rest = 0;
  for (u32 m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<u32>(__builtin_ctz(m));
    bool open = false;
    for (unsigned k = 0; k < per_lane; ++k)
      open = open || is_open_to(c[at[lane] + k], a.warp * 32 + lane, a);
    for (unsigned k = 0; k < per_lane && !open; ++k) note_load(c[at[lane] + k], m & -m, a);
    rest |= open ? m & -m : 0;
  }
  return rest;
}

u32 store_lanes_of(const cells& c, const std::uint64_t* at, unsigned per_lane, u32 lanes,
                   const accessor& given) {
  const accessor a = given;
  u32 rest = 0;
  for (u32 m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<u32>(__builtin_ctz(m));
    bool open = false;
    for (unsigned k = 0; k < per_lane; ++k) {
      const cell x = c[at[lane] + k];
      open = open || is_open_to(x, a.warp * 32 + lane, a) ||
             ((x.read_time() >= a.settled || x.older_time() >= a.settled) &&
              open_reads(x.read_time(), x.reader(), x.read_lanes(), x.older_time(),
                         x.older_reader(), m & -m, a));
    }
    for (unsigned k = 0; k < per_lane && !open; ++k) note_store(c[at[lane] + k], lane, a);
    rest |= open ? m & -m : 0;
  }
  return rest;
}

const lane_functions& apart =
    *(lanes_by_avx512() != nullptr ? lanes_by_avx512() : lanes_in_loops());

}  // namespace

const lane_functions* lanes_in_loops() {
  static constexpr lane_functions all{&load_lanes_of, &store_lanes_of};
  return &all;
}

u32 load_lanes(const cells& c, const std::uint64_t* at, unsigned per_lane, u32 lanes,
               const accessor& a) {
  if (a.two_readers != 0) {
    for (u32 m = lanes; m != 0; m &= m - 1) {
      const std::size_t group = at[__builtin_ctz(m)] / cell_group::size;
      if (c.summaries[group].is_spread != 0 && c.may_skip_load(group, a)) lanes &= ~(m & -m);
    }
  }
  return lanes == 0 ? 0 : apart.load(c, at, per_lane, lanes, a);
}

u32 store_lanes(const cells& c, const std::uint64_t* at, unsigned per_lane, u32 lanes,
                const accessor& a) {
  for (u32 m = lanes; m != 0; m &= m - 1) c.forget_two_readers(at[__builtin_ctz(m)]);
  return apart.store(c, at, per_lane, lanes, a);
}

}  // namespace stepwise::emulator
