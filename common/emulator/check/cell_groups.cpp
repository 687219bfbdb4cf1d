// The group functions as plain loops, which the compiler vectorises for each instruction set.
#include "common/emulator/check/cell_groups.hpp"

#include "common/cpu/clones.hpp"
#include "common/emulator/check/open_accesses.hpp"

namespace stepwise::emulator {
namespace {

constexpr u32 size = cell_group::size;

STEPWISE_CLONES bool load_is_open(const cell_group& g, const row_part& p, const accessor& given) {
  const accessor a = given;
  const row_part part = p;
  u32 open = 0;
  for (u32 k = 0; k < size; ++k)
    open |= ((part.inside >> k) & 1) &
            open_write(g.write_time[k], g.writer[k], part.thread_of(part.place(k)), a);
  return open != 0;
}

STEPWISE_CLONES void note_load_of(cell_group& g, const row_part& p, const accessor& given) {
  const accessor a = given;
  const row_part part = p;
  for (u32 k = 0; k < size; ++k) {
    const bool inside = (part.inside >> k) & 1;
    const bool back =
        inside & moves_back(g.read_time[k], g.reader[k], g.older_time[k], g.older_reader[k], a);
    g.older_time[k] = back ? g.read_time[k] : g.older_time[k];
    g.older_reader[k] = back ? g.reader[k] : g.older_reader[k];
    g.older_lanes[k] = back ? g.read_lanes[k] : g.older_lanes[k];
    g.older_site[k] = back ? g.read_site[k] : g.older_site[k];
  }
  for (u32 k = 0; k < size; ++k) {
    const bool inside = (part.inside >> k) & 1;
    const u32 lanes = part.lanes_of(part.place(k));
    const bool again = (g.read_time[k] == a.now) & (g.reader[k] == a.warp);
    g.read_lanes[k] = inside ? (again ? g.read_lanes[k] | lanes : lanes) : g.read_lanes[k];
    g.read_time[k] = inside ? a.now : g.read_time[k];
    g.reader[k] = inside ? a.warp : g.reader[k];
    g.read_site[k] = inside ? a.site : g.read_site[k];
  }
}

STEPWISE_CLONES bool store_is_open(const cell_group& g, const row_part& p, const accessor& given) {
  const accessor a = given;
  const row_part part = p;
  u32 open = 0;
  for (u32 k = 0; k < size; ++k) {
    const u32 place = part.place(k);
    open |= ((part.inside >> k) & 1) &
            (open_write(g.write_time[k], g.writer[k], part.thread_of(place), a) |
             open_reads(g.read_time[k], g.reader[k], g.read_lanes[k], g.older_time[k],
                        g.older_reader[k], part.lanes_of(place), a));
  }
  return open != 0;
}

STEPWISE_CLONES void note_store_of(cell_group& g, const row_part& p, const accessor& given) {
  const accessor a = given;
  const row_part part = p;
  for (u32 k = 0; k < size; ++k) {
    const bool inside = (part.inside >> k) & 1;
    g.write_time[k] = inside ? a.now : g.write_time[k];
    g.writer[k] = inside ? part.thread_of(part.place(k)) : g.writer[k];
    g.write_site[k] = inside ? a.site : g.write_site[k];
  }
}

}  // namespace

const group_functions* groups_in_loops() {
  static constexpr group_functions all{&load_is_open, &note_load_of, &store_is_open,
                                       &note_store_of};
  return &all;
}

}  // namespace stepwise::emulator
