// Receives events, visits accesses for three of the checks at once, and passes the rest on.
#include "common/emulator/check/checker.hpp"

#include <algorithm>

namespace stepwise::emulator {

void checker::begin_launch(const launch_info& info) {
  evidence_.begin_launch(info);
  bounds_.begin_launch(info);
  host_.begin_launch(info);
  races_.begin_launch(info);
  async_.begin_launch(info);
  unset_.begin_launch(info);
  copy_ = {};
  outside_ = {};
  last_arrival_ = {};
}

status checker::end_launch(const status& failure) {
  races_.end_launch(failure);
  initialisation_.settle(bounds_.stored());
  barriers_.end_launch(failure);
  async_.end_launch(failure);
  unset_.end_launch();
  evidence_.blocks.end_launch();
  const status found = bounds_.end_launch(failure);
  host_.end_launch(failure);
  evidence_.end_launch(host_.fences_system());
  return failure.ok() ? found : failure;
}

void checker::begin_block(const block& b) {
  evidence_.begin_block(b);
  races_.begin_block(b);
  barriers_.begin_block(b);
  async_.begin_block(b);
  unset_.begin_block(b);
}

void checker::switch_to(const block& b) {
  evidence_.blocks.switch_to(b);
  races_.switch_to(b);
  barriers_.switch_to(b);
  async_.switch_to(b);
  unset_.switch_to(b);
}

std::uint32_t checker::access(const access_event& e) {
  unset_.note_access(e);
  if (e.site->counted_only) {
    if (!e.site->matrix) visit_copy(e);
    return e.active;
  }
  switch (e.space) {
    case memory_space::global:
      return visit(e, evidence_.global, evidence_.device_base);
    case memory_space::shared:
      if (evidence_.running().now->together != nullptr) [[unlikely]]
        return visit_cluster(e);
      if (async_.has_loads()) [[unlikely]]
        async_.use(e);
      return visit(e, *evidence_.running().shared, 0);
    case memory_space::local:
      return bounds_.in_bounds_local(e);
    default:
      return e.active;
  }
}

// Handles the usual case of a run that begins at `at`, in pages of grain `g`. Returns false, with
// nothing recorded, if this is not the usual case.
inline bool checker::visit_run(const access_site& s, shadow_memory& m, grain g, const accessor& a,
                               std::uint64_t at, const lane_run& run, bool falls) {
  const std::uint64_t bytes = std::uint64_t{s.bytes} * run.count;
  const cells& c = m.cells.of(g);
  const std::uint64_t first = at >> log2_bytes(g);
  const unsigned per_lane = unsigned{s.bytes} >> log2_bytes(g);
  const bool stores = s.kind == access_kind::store;
  const bool alone = (run.first_lanes & (run.first_lanes - 1)) == 0;
  if (stores ? !alone : !m.written.all(at, bytes)) return false;
  const auto is_recorded = [&](const accessor& by) {
    return (stores ? store_row : load_row)(c, first, per_lane, run.first_lanes, run.count, by,
                                           falls);
  };
  if (!is_recorded(a) && (races_.may_hold_copies(c, first, per_lane * run.count, a) ||
                          !is_recorded(a.without_copies())))
    return false;
  if (stores) m.written.mark(at, bytes);
  return true;
}

// Returns the lanes whose accesses are allowed. Usually all lanes lie in the allocation of the last
// access and are recorded run by run. Otherwise, they are visited one by one.
std::uint32_t checker::visit(const access_event& e, shadow_memory& m, std::uint64_t base) {
  if (e.active == 0) return 0;
  const access_site& s = *e.site;
  const access_shape& shape = *e.shape;
  const std::uint64_t lowest = e.address[shape.first] + shape.low;
  if (!m.is_shared && lowest - base < m.bytes_watched) m.cells.prefetch(lowest - base);
  const access_window& window = bounds_.window(e.index);
  const auto in_window = [&] {
    return shape.span <= window.bytes && lowest - window.base <= window.bytes - shape.span &&
           shape.aligned && (lowest & (s.bytes - 1)) == 0 && shape.active == e.active;
  };
  if (!in_window()) [[unlikely]] {
    const std::uint32_t allowed =
        m.is_shared ? bounds_.in_bounds_shared(e, e.active) : bounds_.in_bounds_global(e, e.active);
    if (allowed != e.active || !in_window()) {
      if (m.is_shared) races_.end_keeping(e.warp, s.kind);
      if (!s.constant) visit_lanes(e, m, base, allowed);
      return allowed;
    }
  }
  if (m.is_shared) {
    if (races_.keep_back(e)) return e.active;
    races_.end_keeping(e.warp, s.kind);
  } else if (s.kind != access_kind::load) {
    races_.note_walks();
  }
  // Registered host memory is elsewhere and is not watched.
  if (s.constant || lowest - base >= m.bytes_watched) return e.active;
  const accessor a = races_.accessor_of(e.warp, e.index, m);
  const bool quick = s.order == memory_order::weak;
  const bool falls = shape.runs == 0 && shape.falling_runs != 0;
  if (shape.runs == 0 && !falls) {
    visit_lanes(e, m, base, quick ? visit_scattered(e, m, a, base) : e.active);
    return e.active;
  }
  const std::uint64_t first = e.address[shape.first] - base;
  const lane_run* const runs = falls ? shape.falling : shape.run;
  for (const lane_run* r = runs; r != runs + (falls ? shape.falling_runs : shape.runs); ++r) {
    const std::uint64_t at = first + r->offset;
    const grain g = m.cells.touch(at, std::uint64_t{s.bytes} * r->count, grain_for(s.bytes));
    if (!quick || g == grain::untouched || !visit_run(s, m, g, a, at, *r, falls))
      visit_lanes(e, m, base, r->lanes);
  }
  return e.active;
}

// The block of the running block's cluster to whose shared memory an address belongs; null if there
// is none.
const block* checker::owner_of(std::uint64_t at) const {
  const block* const own = evidence_.running().now;
  if (at < peer_bytes || own->together == nullptr) return own;
  const std::uint64_t rank = at / peer_bytes - 1;
  return rank < own->together->blocks.size() ? own->together->blocks[rank] : nullptr;
}

void checker::note_peer_access(const block& peer, const access_site& s, std::uint32_t number,
                               std::uint32_t warp, int lane, std::uint64_t at) {
  const block_clock& own = evidence_.running().clock;
  races_.note_peer_access(evidence_.blocks.of(peer),
                          {own.first_warp + warp, lane, number, own.warps[warp].now, at,
                           s.element_bytes, s.kind != access_kind::load});
}

// Visits an access to shared memory of any block of a cluster. Lanes that access another block's
// memory out of bounds, or after that block has exited, are left to the op, which stops the launch.
std::uint32_t checker::visit_cluster(const access_event& e) {
  std::uint32_t own = 0;
  for (std::uint32_t l = e.active; l != 0; l &= l - 1)
    if (e.address[__builtin_ctz(l)] < peer_bytes) own |= l & -l;
  if (own == e.active) return visit(e, *evidence_.running().shared, 0);
  const std::uint64_t bytes = e.site->bytes;
  const std::uint32_t in_bounds = own != 0 ? bounds_.in_bounds_shared(e, own) : 0;
  if (in_bounds != 0) visit_lanes(e, *evidence_.running().shared, 0, in_bounds);
  for (std::uint32_t l = e.active & ~own; l != 0; l &= l - 1) {
    const std::uint64_t at = e.address[__builtin_ctz(l)], offset = at % peer_bytes;
    const block* const peer = owner_of(at);
    if (peer == nullptr || peer->alive == 0 || offset % bytes != 0 ||
        offset + bytes > evidence_.state->shared_bytes)
      continue;
    visit_lanes(e, *evidence_.blocks.of(*peer).shared, at - offset, l & -l);
    note_peer_access(*peer, *e.site, e.index, e.warp, __builtin_ctz(l), offset);
  }
  return in_bounds | (e.active & ~own);
}

// Visits lanes with scattered addresses. Returns the lanes that need a closer look.
std::uint32_t checker::visit_scattered(const access_event& e, shadow_memory& m, const accessor& a,
                                       std::uint64_t base) {
  const std::uint64_t bytes = e.site->bytes;
  const bool stores = e.site->kind == access_kind::store;
  std::uint64_t at[lanes] = {};
  std::uint32_t usual = 0;
  const grain g = m.cells.touch(e.address[e.shape->first] - base, bytes, grain_for(bytes));
  for (std::uint32_t l = e.active; l != 0; l &= l - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(l));
    const std::uint64_t offset = e.address[lane] - base;
    at[lane] = offset >> log2_bytes(g);
    const bool is_usual = m.cells.touch(offset, bytes, grain_for(bytes)) == g &&
                          (stores || m.written.all_aligned(offset, static_cast<unsigned>(bytes)));
    usual |= is_usual ? l & -l : 0;
  }
  const auto per_lane = static_cast<unsigned>(bytes >> log2_bytes(g));
  if (!stores && usual == e.active &&
      races_.try_keep_walk(e, m, a, base, m.cells.of(g), at, per_lane))
    return 0;
  const std::uint32_t open = stores ? store_lanes(m.cells.of(g), at, per_lane, usual, a)
                                    : load_lanes(m.cells.of(g), at, per_lane, usual, a);
  for (std::uint32_t l = stores ? usual & ~open : 0; l != 0; l &= l - 1)
    m.written.mark(e.address[__builtin_ctz(l)] - base, bytes);
  return (e.active & ~usual) | open;
}

// Visits lanes one by one.
void checker::visit_lanes(const access_event& e, shadow_memory& m, std::uint64_t base,
                          std::uint32_t lanes_in) {
  const access_site& s = *e.site;
  const bool reads = s.kind != access_kind::store, writes = s.kind != access_kind::load;
  for (std::uint32_t l = lanes_in & ~races_.visit_ordered(e, m, base, lanes_in); l != 0;
       l &= l - 1) {
    const int lane = __builtin_ctz(l);
    const std::uint64_t at = e.address[lane] - base;
    if (at >= m.bytes_watched) continue;
    m.cells.touch(at, s.bytes, grain_for(s.bytes));
    const lane_access t{&m, &s, e.index, at, s.bytes, lane, e.warp, e.at, &e};
    if (reads && !m.written.all(at, s.bytes)) initialisation_.read_unwritten(t);
    if (writes) m.written.mark(at, s.bytes);
    races_.look_closer(t);
  }
}

// Visits the read or the write of a cp.async, which are described by the two ops before it. Lanes
// in whole rows are visited here, and access_range() then skips them.
void checker::visit_copy(const access_event& e) {
  const bool writes = e.site->kind == access_kind::store;
  const op* const copy = e.at + (writes ? 1 : 2);
  if (!writes || copy_.at != copy || copy_.warp != e.warp) copy_ = {copy, e.warp};
  (writes ? copy_.write_site : copy_.read_site) = e.index;
  (writes ? copy_.written : copy_.read) = visit_copied(e);
}

// Visits a copy's accesses. Returns the lanes that need no further visit.
std::uint32_t checker::visit_copied(const access_event& e) {
  const access_site& s = *e.site;
  const access_shape& shape = *e.shape;
  const bool writes = s.kind == access_kind::store;
  if (e.active == 0 || shape.active != e.active || shape.runs == 0 || !shape.aligned ||
      (e.space == memory_space::shared) != writes)
    return 0;
  // A lane may copy fewer bytes than the instruction's size.
  if (!writes && e.at->c != 0)
    for (std::uint32_t l = e.active; l != 0; l &= l - 1)
      if (evidence_.state->vreg<std::uint32_t>(e.at->c)[__builtin_ctz(l)] != s.bytes) return 0;
  const std::uint64_t lowest = e.address[shape.first] + shape.low;
  access_window& window = bounds_.window(e.index);
  const auto in_window = [&] {
    return shape.span <= window.bytes && lowest - window.base <= window.bytes - shape.span;
  };
  if (!in_window()) {
    window = writes ? access_window{0, evidence_.state->shared_bytes}
                    : evidence_.memory.find(lowest).value_or(access_window());
    if (!in_window()) return 0;
  }
  shadow_memory& m = writes ? *evidence_.running().shared : evidence_.global;
  const std::uint64_t base = writes ? 0 : evidence_.device_base;
  if ((lowest & (s.bytes - 1)) != 0 || lowest - base >= m.bytes_watched) return 0;
  if (writes) races_.end_keeping(e.warp, s.kind);
  const accessor a = races_.accessor_of(e.warp, e.index, m);
  std::uint32_t usual = 0;
  for (const lane_run* r = shape.run; r != shape.run + shape.runs; ++r) {
    const std::uint64_t at = e.address[shape.first] - base + r->offset;
    const grain g = m.cells.touch(at, std::uint64_t{s.bytes} * r->count, grain_for(s.bytes));
    const bool is_usual = g != grain::untouched && visit_run(s, m, g, a, at, *r, false);
    usual |= is_usual ? r->lanes : races_.visit_ordered(e, m, base, r->lanes);
  }
  warp_clock& w = evidence_.running().clock.warps[e.warp];
  if (writes) w.copied = w.now;
  return usual;
}

void checker::access_range(const warp_event& e, const range_event& r) {
  const bool shared = r.space == memory_space::shared;
  const bool is_peers = shared && r.inside && r.address >= peer_bytes;
  shadow_memory& m = is_peers ? *evidence_.blocks.of(*owner_of(r.address)).shared
                     : shared ? *evidence_.running().shared
                              : evidence_.global;
  const bool reads = r.kind == access_kind::load;
  const bool is_copy = e.at == copy_.at && e.warp == copy_.warp;
  if (is_copy && (((reads ? copy_.read : copy_.written) >> r.lane) & 1) != 0) return;
  if (shared) races_.end_keeping(e.warp, r.kind);
  const std::uint32_t number = is_copy && r.inside ? (reads ? copy_.read_site : copy_.write_site)
                                                   : evidence_.extra_site(e, r);
  access_site s = evidence_.site_at(number);
  if (!r.inside && !r.asynchronous && !is_copy) {
    outside_ = {e.at, number, r};
    return;
  }
  if (!r.inside) {
    std::uint64_t address[lanes] = {};
    address[r.lane] = r.address;
    bounds_.outside({&s, number, r.space, 1u << r.lane, e.warp, address, nullptr, e.at}, r.lane,
                    r.address);
    evidence_.reported = evidence_.instruction_of(e.at);
    return;
  }
  const std::uint64_t at = is_peers ? r.address % peer_bytes
                           : shared ? r.address
                                    : r.address - evidence_.device_base;
  if (at >= m.bytes_watched) return;
  if (is_peers) note_peer_access(*owner_of(r.address), s, number, e.warp, r.lane, at);
  if (!shared) {
    if (const auto found = evidence_.areas.usable(r.address))
      host_.kernel_uses(*found, r.kind != access_kind::load);
  }
  if (shared && !is_peers && r.kind == access_kind::store) unset_.note_written_shared(at, r.bytes);
  const bool loads_in_bulk = s.unit == async_unit::counted_copy && r.kind == access_kind::store;
  if (shared && !is_peers && !loads_in_bulk && async_.has_loads())
    async_.use(e.warp, r.lane, at, r.bytes, number);
  m.cells.touch(at, r.bytes, grain::words);
  if (!shared && r.kind != access_kind::load) races_.note_walks();
  if (r.asynchronous) {
    warp_clock& w = evidence_.running().clock.warps[e.warp];
    w.copied = w.now;
  }
  const lane_access whole{&m, &s, number, at, r.bytes, r.lane, e.warp, e.at};
  if (s.unit != async_unit::none)
    async_.unit_accesses(whole, shared ? owner_of(r.address) : nullptr);
  else if (r.of_tensor_map && !shared)
    async_.reads_map(whole);
  for (std::uint64_t k = 0; k < r.bytes; k += 16) {
    const std::uint64_t n = std::min<std::uint64_t>(16, r.bytes - k);
    const lane_access t{&m, &s, number, at + k, n, r.lane, e.warp, e.at};
    if (r.kind != access_kind::store && !m.written.all(t.at, n)) initialisation_.read_unwritten(t);
    if (r.kind != access_kind::load) m.written.mark(t.at, n);
    races_.look_closer(t);
  }
}

void checker::reached_exited_block(const warp_event& e, const block& owner, const range_event& r) {
  const block_clock& own = evidence_.running().clock;
  races_.reached_exited_block(
      evidence_.blocks.of(owner),
      {own.first_warp + e.warp, r.lane, evidence_.extra_site(e, r), own.warps[e.warp].now,
       r.address, r.bytes, r.kind != access_kind::load});
}

void checker::reached_barrier(const warp_event& e, unsigned id, bool arrive_only, bool aligned) {
  evidence_.sequence.reached_barrier(evidence_.running().clock, e, id, !arrive_only);
  barriers_.reached_barrier(e, id, arrive_only, aligned);
}

void checker::released_barrier(unsigned id, bool whole_block) {
  barriers_.released_barrier(id, whole_block);
  evidence_.sequence.released_barrier(evidence_.running().clock, id, whole_block);
  async_.released_barrier(id, whole_block);
}

void checker::released_cluster_barrier(std::span<block* const> blocks) {
  barriers_.released_barrier(cluster_barrier, true);
  std::vector<block_clock*> clocks;
  for (const block* b : blocks) clocks.push_back(&evidence_.blocks.of(*b).clock);
  evidence_.sequence.released_cluster_barrier(clocks);
  async_.released_barrier(cluster_barrier, true);
}

// The emulator reads the operands of a warpgroup's products one warp at a time. The end of the
// products orders these reads, as a barrier of these warps would.
void checker::met_in_warpgroup(std::span<const warp_event> warps) {
  async_.met_in_warpgroup(warps);
  block_clock& clock = evidence_.running().clock;
  for (const warp_event& w : warps)
    evidence_.sequence.reached_barrier(clock, w, warpgroup_barrier, true);
  evidence_.sequence.released_barrier(clock, warpgroup_barrier, false);
}

void checker::warp_met(const warp_event& e, bool orders_memory) {
  if (!orders_memory) return;
  checked_block& b = evidence_.running();
  evidence_.sequence.warp_met(b.clock, b.clock.first_warp + e.warp, e.lanes,
                              b.now->warps[e.warp].alive);
}

void checker::fenced(const warp_event& e, memory_order o, sync_scope s) {
  host_.fenced(e, o, s);
  evidence_.sequence.fenced(evidence_.running().clock, e, o, s);
}

void checker::used_mbarrier(const warp_event& e, const mbarrier_event& m) {
  if (m.use == mbarrier_use::polls) return;
  block_clock& b = evidence_.running().clock;
  const block& owner = *owner_of(m.address);
  if (m.use == mbarrier_use::arrives) last_arrival_ = {e.at, m.address % peer_bytes};
  checked_block& of = evidence_.blocks.of(owner);
  of.mbarriers.note(m, m.address % peer_bytes, e.warp, b.warps[e.warp].now);
  async_.used_mbarrier(e, m, owner);
  const order::key place{m.address % peer_bytes, std::uint64_t{of.clock.index} + 1};
  if (m.use == mbarrier_use::arrives || m.use == mbarrier_use::receives)
    evidence_.sequence.arrive(b, b.first_warp + e.warp, m.lane, place);
  else if (m.use == mbarrier_use::passes)
    evidence_.sequence.see_phase(b, b.first_warp + e.warp, m.lane, place);
}

// --- the device's memory and findings ------------------------------------------------------------

void checker::allocated(device_address at, std::uint64_t bytes) {
  evidence_.areas.allocated(
      at,
      {.bytes = bytes, .allocated_by = evidence_.origin, .allocated_at = evidence_.sequence.now()});
  evidence_.global.written.clear(at - evidence_.device_base, bytes);
}

void checker::mapped(device_address at, std::uint64_t bytes) {
  evidence_.areas.allocated(at, {.bytes = bytes,
                                 .allocated_by = evidence_.origin,
                                 .mapped = true,
                                 .allocated_at = evidence_.sequence.now()});
  evidence_.global.written.clear(at - evidence_.device_base, bytes);
}

void checker::initialised(device_address at, std::uint64_t bytes) {
  host_.memory_is_shared();
  evidence_.global.written.mark(at - evidence_.device_base, bytes);
}

void checker::placed(const std::string& name, device_address at, std::uint64_t bytes,
                     bool constant) {
  evidence_.areas.placed(at,
                         {.bytes = bytes, .name = name, .variable = true, .constant = constant});
  if (evidence_.memory.is_shared(at)) host_.memory_is_shared();
  evidence_.global.written.mark(at - evidence_.device_base, bytes);
}

void checker::wrote(device_address at, std::uint64_t bytes) {
  if (bytes == 0 || !evidence_.memory.is_device(at)) return;
  races_.copy_touches(at, bytes, true);
  evidence_.global.written.mark(at - evidence_.device_base, bytes);
}

void checker::filled(device_address at, std::uint64_t bytes) {
  wrote(at, bytes);
  host_.last_use_is_fill();
}

void checker::forgot(device_address at, std::uint64_t bytes) {
  if (bytes != 0 && evidence_.memory.is_device(at))
    evidence_.global.written.clear(at - evidence_.device_base, bytes);
}

void checker::copied(device_address to, device_address from, std::uint64_t bytes) {
  if (bytes == 0 || !evidence_.memory.is_device(to)) return;
  if (!evidence_.memory.is_device(from)) return wrote(to, bytes);
  races_.copy_touches(from, bytes, false);
  races_.copy_touches(to, bytes, true);
  evidence_.global.written.copy(to - evidence_.device_base, from - evidence_.device_base, bytes);
}

void checker::copied_to_host(device_address from, std::uint64_t bytes) {
  if (bytes == 0 || !evidence_.memory.is_device(from)) return;
  races_.copy_touches(from, bytes, false);
  host_.note_copy_to_host(bytes);
  initialisation_.copied_to_host(from, bytes);
}

void checker::heap_gave(const warp_event& e, int lane, device_address at, std::uint64_t bytes) {
  bounds_.heap_gave(e, lane, at, bytes);
}

finding_object checker::object_at(device_address at, bool& freed) {
  const allocations& areas = evidence_.areas;
  freed = areas.live_at(at) == nullptr && areas.freed_at(at) != nullptr;
  return evidence_.describe_global(at, 1).object;
}

std::vector<finding> checker::take(bool at_exit) {
  initialisation_.settle(bounds_.stored());  // for a launch that is still running
  if (at_exit) bounds_.report_leaks();
  return evidence_.log.take();
}

// Completes the finding about an operation whose run of bytes is misaligned or outside memory.
void checker::describe_outside(finding& f) {
  const range_event& r = outside_.range;
  const bool shared = r.space == memory_space::shared;
  const access_site& s = evidence_.site_at(outside_.site);
  // The finding's kind already says what the first words of the message say.
  f.message.erase(0, f.message.find(": ") + 2);
  f.object = (shared ? evidence_.describe_shared(r.address % peer_bytes, 0)
                     : evidence_.describe_global(r.address, 0))
                 .object;
  f.parties.front().action = evidence::action_words(s, r.kind != access_kind::load);
  if (f.kind != finding_kind::misaligned)
    f.advice = "Compare the offset and the number of bytes with the size of the memory.";
  else if (shared)
    f.advice = "Declare the variable with alignas(" + std::to_string(r.alignment) +
               "), and make the offset a multiple of this number.";
  else
    f.advice = "Check the index: the address must be a multiple of " + std::to_string(r.alignment) +
               " bytes.";
}

void checker::faulted(const warp_event& e, error code, const std::string& what, int lane,
                      const std::string& advice) {
  if (evidence_.instruction_of(e.at) == evidence_.reported) return;
  finding f;
  f.kind = code == error::misaligned_address                 ? finding_kind::misaligned
           : what.find("out of bounds") != std::string::npos ? finding_kind::out_of_bounds
                                                             : finding_kind::failed;
  f.message = what;
  f.parties.push_back(evidence_.party(e.at, e.warp, lane, "stopped the launch"));
  f.advice = advice;
  if (outside_.at == e.at) describe_outside(f);
  if (last_arrival_.at == e.at)
    f.object = evidence_.describe_shared(last_arrival_.barrier, sizeof(std::uint64_t)).object;
  f.origin = evidence_.launch_origin;
  const finding_key k = evidence_.key(f.kind, evidence_.place_number(e.at), -1, 0);
  if (evidence_.log.is_new(k)) evidence_.log.add(k, std::move(f));
}

}  // namespace stepwise::emulator
