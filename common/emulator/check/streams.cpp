// Treats copies and fills as accesses, which can race with kernels of other streams.
#include <algorithm>

#include "common/emulator/check/races.hpp"

namespace stepwise::emulator {

// While a program uses the legacy default stream only, everything is ordered.
bool race_check::streams_matter() const {
  return evidence_.stream.stream != 0 || evidence_.sequence.several_streams();
}

void race_check::copy_touches(device_address at, std::uint64_t bytes, bool writes) {
  evidence_.begin_work();
  host_.copy_uses(at, bytes, writes);
  if (writes && host_.host_reads(at)) host_.note_copy_to_host(bytes);
  if (!streams_matter() || bytes == 0 || !evidence_.memory.is_device(at)) return;
  shadow_memory& m = evidence_.global;
  const accessor a{
      evidence_.sequence.settled(), 0,       0,      0, evidence_.sequence.launch_began(),
      evidence_.sequence.now(),     no_warp, no_site};
  const std::uint64_t first = at - evidence_.device_base, end = first + bytes;
  for (std::uint64_t k = first; k < end;) {
    const std::uint64_t stop =
        std::min(end, (k / memory_cells::page_bytes + 1) * memory_cells::page_bytes);
    const grain g = m.cells.touch(k, stop - k, grain_for(k | stop));
    for (; k < stop; k += std::uint64_t{1} << log2_bytes(g))
      copy_touches_cell(m.cells.of(g)[k >> log2_bytes(g)], k, writes, a);
  }
}

void race_check::copy_touches_cell(const cell& c, std::uint64_t at, bool writes,
                                   const accessor& a) {
  const auto open = [&](tick when) {
    return when >= a.settled && when != 0 &&
           !evidence_.sequence.knows_work(evidence_.sequence.work_of(when)) &&
           !evidence_.is_of_freed_memory(at, when);
  };
  if (open(c.write_time()))
    report_.add_copy(at, writes, c.writer() / 32, c.writer() % 32, c.write_site(), c.write_time(),
                     true);
  else if (writes && open(c.read_time()))
    report_.add_copy(at, writes, c.reader(),
                     static_cast<unsigned>(__builtin_ctz(c.read_lanes() | (1u << 31))),
                     c.read_site(), c.read_time(), false);
  if (writes) {
    c.write_time() = a.now;
    c.writer() = ~std::uint32_t{0};
    c.write_site() = no_site;
  } else {
    note_load(c, 1, a);
  }
}

}  // namespace stepwise::emulator
