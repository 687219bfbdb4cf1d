// Treats copies and fills as accesses, which can race with kernels of other streams. Notes stores
// through which the host may learn, unseen, that a stream's work has ended.
#include "common/emulator/check/checker.hpp"

namespace stepwise::emulator {
namespace {

// A flag that the host polls is a single number. A larger copy transfers results.
constexpr std::uint64_t most_flag_bytes = 8;

}  // namespace

// While a program uses the legacy default stream only, everything is ordered.
bool checker::streams_matter() const { return stream_.stream != 0 || order_.several_streams(); }

void checker::begin_work() {
  order_.begin_work(stream_);
  work_origins_.resize(order_.current_work() + 1, origin_);
}

// A copy or fill of the current stream reads or writes these bytes.
void checker::copy_touches(device_address at, std::uint64_t bytes, bool writes) {
  begin_work();
  copy_uses(at, bytes, writes);
  if (writes && host_reads(at)) note_copy_to_host(bytes);
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
    return when >= a.settled && when != 0 && !order_.knows_work(order_.work_of(when)) &&
           !is_of_freed_memory(at, when);
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

// Whether the memory around a position that was accessed at `when` has been freed and allocated
// again since. Such accesses are ordered, even if a stream's allocation reuses memory that another
// stream has freed.
bool checker::is_of_freed_memory(std::uint64_t at, tick when) const {
  const auto* const now = allocation_at(live_, device_base_ + at);
  return now != nullptr && when <= now->second.allocated_at;
}

// --- flags for the host ------------------------------------------------------------------------

// Pinned, managed and registered memory.
bool checker::host_reads(device_address at) const {
  return !memory_.is_device(at) || memory_.is_shared(at);
}

// A copy or fill of the current stream has written bytes that the host can read at once.
void checker::note_copy_to_host(std::uint64_t bytes) {
  if (bytes <= most_flag_bytes) order_.host_may_know(stream_.stream);
}

// Called when an access left the window of its site; the window is now the allocation around `at`.
// For a store that the host may read, the window shrinks to its address as long as this is the only
// one, so that a store by the site to another address comes here, too.
void checker::note_host_memory(const access_event& e, device_address at, access_window& window) {
  if (!host_reads(at)) return;
  const access_site& s = *e.site;
  if (s.kind == access_kind::load) {
    host_flags_.loaded.insert(window.base);
    return;
  }
  const bool strong =
      s.kind == access_kind::store ? s.order != memory_order::weak : s.scope == sync_scope::system;
  if (strong) {
    host_flags_.strong = true;
    return;
  }
  auto& store =
      host_flags_.lone.try_emplace(e.index, host_flags::lone_store{at, window.base}).first->second;
  if (store.at != at) store.at = 0;
  if (store.at == at) window = {at, s.bytes};
}

// Called at the end of a launch. A flag means that the launch is over if PTX orders the flag after
// the launch's other accesses, or seems to: the store is strong, follows a fence, or is made by a
// single block. Any flag means that the earlier work in the stream is over. A plain store to an
// allocation that the launch also reads is a result rather than a flag.
void checker::note_host_flags() {
  bool any = host_flags_.strong, ends_launch = any;
  const extent& grid = config_->grid;
  const bool ordered = host_flags_.fenced || std::uint64_t{grid.x} * grid.y * grid.z == 1;
  for (const auto& [site, store] : host_flags_.lone) {
    if (store.at == 0) continue;
    any = true;
    const bool is_flag =
        site_at(site).kind == access_kind::atomic || !host_flags_.loaded.contains(store.base);
    ends_launch = ends_launch || (ordered && is_flag);
  }
  if (any) order_.host_may_know(stream_.stream, ends_launch);
}

}  // namespace stepwise::emulator
