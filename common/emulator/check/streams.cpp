// Copies and fills as accesses: they race with kernels of other streams.
#include "common/emulator/check/checker.hpp"

namespace stepwise::emulator {

// While a program uses the legacy default stream only, everything is ordered.
bool checker::streams_matter() const { return stream_.stream != 0 || order_.several_streams(); }

// A copy or fill of the current stream reads or writes these bytes.
void checker::copy_touches(device_address at, std::uint64_t bytes, bool writes) {
  order_.begin_work(stream_);
  if (!streams_matter() || bytes == 0 || !memory_.is_device(at)) return;
  watched_memory& m = *global_;
  const accessor a{order_.settled(), 0,       0,      0, order_.launch_began(),
                   order_.now(),     no_warp, no_site};
  const std::uint64_t first = at - device_base_, end = first + bytes;
  for (std::uint64_t k = first; k < end;) {
    const std::uint64_t stop =
        std::min(end, (k / memory_cells::page_bytes + 1) * memory_cells::page_bytes);
    const grain g = m.cells.touch(k, stop - k, grain_for(k | stop));
    for (; k < stop; k += std::uint64_t{1} << log2_bytes(g))
      copy_touches_cell(m.cells.of(g)[k >> log2_bytes(g)], k, writes, a);
  }
}

void checker::copy_touches_cell(const cell& c, std::uint64_t at, bool writes, const accessor& a) {
  const auto open = [&](tick when) {
    return when >= a.settled && when != 0 && !order_.knows_work(order_.work_of(when));
  };
  if (open(c.write_time()))
    copy_races(at, writes, c.writer() / 32, c.writer() % 32, c.write_site(), c.write_time(), true);
  else if (writes && open(c.read_time()))
    copy_races(at, writes, c.reader(),
               static_cast<unsigned>(__builtin_ctz(c.read_lanes() | (1u << 31))), c.read_site(),
               c.read_time(), false);
  if (writes) {
    c.write_time() = a.now;
    c.writer() = ~std::uint32_t{0};
    c.write_site() = no_site;
  } else {
    note_load(c, 1, a);
  }
}

}  // namespace stepwise::emulator
