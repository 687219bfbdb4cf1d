// Follows groups, phases and fences; describes what it finds. Compiled with less optimisation.
#include "common/emulator/check/async/async_check.hpp"

#include <cstring>

#include "common/emulator/check/advice/wrong_parity.hpp"
#include "common/emulator/machine/async.hpp"
#include "common/ptx/traits.hpp"

namespace stepwise::emulator {
namespace {

constexpr const char* advice_to_see_phase =
    "Let each thread that uses the data wait for the copy's mbarrier, or put __syncthreads() after "
    "the wait of one thread.";

}  // namespace

void async_check::begin_launch(const launch_info&) {
  last_write_ = {};
  maps_released_ = 0;
  last_fence_.clear();
  arrivals_.clear();
  has_early_sums_ = false;
  sum_steps_.clear();
  if (!evidence_.code->has_warpgroup_products) return;
  for (std::uint32_t f = 0; f < evidence_.code->functions.size(); ++f) {
    const program_function& function = evidence_.code->functions[f];
    if (may_use_sums_early(*function.body, evidence_.flow_of(function).flow))
      sum_steps_.add_function(*evidence_.code, f);
  }
}

status async_check::end_launch(const status& failure) {
  states_.end_launch();
  return failure;
}

void async_check::begin_block(const block& b) {
  block_state& s = states_.begin(b);
  s.loads.clear();
  s.barrier_inits.clear();
  s.groups.clear();
  s.fences.begin_block(evidence_.block_warps);
  s.fenced_products.assign(evidence_.block_warps, false);
  s.sums.assign(sum_steps_.empty() ? 0 : evidence_.block_warps, {});
  s.products.assign(evidence_.code->has_warpgroup_products ? evidence_.block_warps : 0, {});
  s.map_acquired.clear();
}

// A block that was stopped early has not missed a wait.
void async_check::end_block(const block& b) {
  if (b.alive != 0) return;
  block_state& s = states_.of(b);
  if (const bulk_load* const c = s.loads.unseen())
    add(finding_kind::not_awaited, c->by, nullptr, {},
        "a block ends while a bulk copy may still write to its shared memory: no thread waits for "
        "the phase of the copy's mbarrier",
        advice_to_see_phase);
  const auto end_last = [&](const unit_access& a) {
    end(a);
    const access_site& site = evidence_.site_at(a.what.number);
    if (site.kind != access_kind::load) return;
    const bool is_product = site.unit == async_unit::products;
    if (is_product && has_early_sums_) return;
    add(finding_kind::not_awaited, maker_of(a.what), nullptr, {},
        is_product ? "a block ends without waiting for its wgmma products"
                   : "a block ends while a bulk copy may still read its shared memory: the thread "
                     "that issued the copy does not wait for it",
        is_product ? "Put wgmma.commit_group after the products, and wgmma.wait_group 0 before "
                     "their sums are used."
                   : "Let the thread that issued the copy execute cp.async.bulk.commit_group, and "
                     "cp.async.bulk.wait_group.read 0 before it exits.");
  };
  for (const auto& [key, groups] : s.groups) groups.each(end_last);
  s.groups.clear();
}

void async_check::released_barrier(unsigned, bool whole_block) {
  if (whole_block) states_.current().loads.all_met();
}

// --- waits -------------------------------------------------------------------------------------

void async_check::took_step(const warp_event& e, async_step step, std::int64_t value) {
  block_state& s = states_.current();
  block_clock& clock = evidence_.running().clock;
  const tick now = evidence_.sequence.advance(clock.warps[e.warp]);
  switch (step) {
    case async_step::commit_copies:
      return evidence_.sequence.committed_copies(clock.warps[e.warp]);
    case async_step::wait_for_copies:
      return evidence_.sequence.waited_for_copies(clock.warps[e.warp], static_cast<int>(value));
    case async_step::commit_bulk:
      for (std::uint32_t l = e.lanes; l != 0; l &= l - 1)
        s.groups[{e.warp, __builtin_ctz(l), async_unit::grouped_copy}].commit();
      return;
    case async_step::commit_products:
      return s.groups[{e.warp, 0, async_unit::products}].commit();
    case async_step::wait_for_bulk:
    case async_step::wait_for_bulk_reads:
      for (std::uint32_t l = e.lanes; l != 0; l &= l - 1)
        wait(s.groups[{e.warp, __builtin_ctz(l), async_unit::grouped_copy}],
             static_cast<std::size_t>(value), step == async_step::wait_for_bulk_reads);
      return;
    case async_step::wait_for_products:
      return wait(s.groups[{e.warp, 0, async_unit::products}], static_cast<std::size_t>(value),
                  false);
    case async_step::fence_products:
      s.fenced_products[e.warp] = true;
      return;
    case async_step::fence_copies:
      s.fences.fenced(evidence_.sequence, clock, e.warp, e.lanes, now);
      last_fence_[clock.index] = now;
      return;
    case async_step::acquire_map:
      s.map_acquired[static_cast<device_address>(value)] = now;
      return;
    case async_step::release_maps:
      maps_released_ = now;
      return;
    case async_step::wait_for_grids:
      return evidence_.sequence.waited_for_grids(clock, e);
  }
}

void async_check::wait(unit_groups& groups, std::size_t left, bool only_reads) {
  groups.wait(
      left,
      [&](const unit_access& a) {
        return !only_reads || evidence_.site_at(a.what.number).kind == access_kind::load;
      },
      [&](const unit_access& a) { end(a); });
}

// Records the access again, because it has now ended for the thread that waits.
void async_check::end(const unit_access& a) {
  lane_access t = a.what;
  const access_site site = evidence_.site_at(t.number);
  t.site = &site;
  if (t.memory->is_shared) races_.end_keeping(t.warp, site.kind);
  races_.unit_ended(t, a.issued);
}

// Reports a use of an mbarrier that is not ordered after its initialisation by another thread.
void async_check::check_initialised(const warp_event& e, int lane, const block& owner,
                                    std::uint64_t barrier) {
  auto& inits = states_.of(owner).barrier_inits;
  const auto found = inits.find(barrier);
  if (found == inits.end()) return;
  const access_maker init = found->second;
  const block_clock& b = evidence_.running().clock;
  const std::uint32_t warp = b.first_warp + e.warp;
  if (evidence_.sequence.unordered(b, warp, lane, init.when, init.warp, 1u << init.lane) == 0)
    return;
  const std::uint32_t site = evidence_.extra_site(
      e, {memory_space::shared, access_kind::atomic, memory_order::relaxed, false, barrier, 8, 0});
  const place_in_memory where =
      evidence_.describe(*evidence_.blocks.of(owner).shared, barrier, sizeof(std::uint64_t));
  add(finding_kind::race, {warp, lane, site, b.warps[e.warp].now}, &init, where.object,
      "a thread uses the mbarrier " + where.object.name +
          ", which another thread initialises, and nothing orders the two",
      "Put __syncthreads() between mbarrier.init and the first use by another thread; in a "
      "cluster, put cluster.sync() there.");
  inits.erase(found);
}

void async_check::used_mbarrier(const warp_event& e, const mbarrier_event& m, const block& owner) {
  const std::uint64_t barrier = m.address % peer_bytes;
  const block_clock& b = evidence_.running().clock;
  if (m.use == mbarrier_use::begins) {
    const std::uint32_t site = evidence_.extra_site(
        e, {memory_space::shared, access_kind::store, memory_order::weak, false, barrier, 8, 0});
    states_.of(owner).barrier_inits[barrier] = {b.first_warp + e.warp, m.lane, site,
                                                b.warps[e.warp].now};
    return;
  }
  if (m.use == mbarrier_use::expects) return;
  check_initialised(e, m.lane, owner, barrier);
  if (m.use == mbarrier_use::passes)
    states_.of(owner).loads.saw(barrier, parity_of(owner, barrier), e.warp, m.lane,
                                b.warps[e.warp].now);
  else
    arrived_at(e, m, owner);
}

void async_check::arrived_at(const warp_event& e, const mbarrier_event& m, const block& owner) {
  const std::uint64_t barrier = m.address % peer_bytes;
  const last_write w = std::exchange(last_write_, {});
  const lane_access& t = w.what;
  arrivals& here = arrivals_[barrier][e.at];
  here.bytes = here.count == 0 || here.bytes == m.bytes ? m.bytes : -1;
  ++here.count;
  here.by_copies = t.op_at == e.at;
  if (w.owner != &owner || t.op_at != e.at || t.warp != e.warp || t.lane != m.lane) return;
  const auto before = states_.of(owner).loads.add(
      {t.at, t.at + t.bytes, barrier, parity_of(owner, barrier), maker_of(t), false, {}});
  if (!before) return;
  const place_in_memory where = evidence_.describe(*t.memory, t.at, 1);
  std::string advice = wrong_parity_advice(evidence_, maker_of(t));
  if (advice.empty())
    advice =
        "Let the thread that issues a copy wait until the data of the previous copy has been used. "
        "Two threads must not issue the same copy.";
  add(finding_kind::race, maker_of(t), &before->by, where.object,
      "a bulk copy writes " + where.words +
          ", and no thread has waited for the previous copy to this memory",
      advice);
}

std::vector<finding_party> async_check::arrivals_at(std::uint64_t barrier) const {
  std::vector<finding_party> parties;
  const auto found = arrivals_.find(barrier);
  if (found == arrivals_.end()) return parties;
  for (const auto& [at, here] : found->second) {
    finding_party p;
    p.kernel = evidence_.kernel_name();
    p.action = (here.by_copies ? "bulk copies counted here: " : "arrivals from here: ") +
               std::to_string(here.count);
    if (here.bytes > 0)
      p.action += std::string(here.count == 1 ? ", " : ", each ") +
                  (here.by_copies ? "of " : "announcing ") + std::to_string(here.bytes) + " bytes";
    p.at = evidence_.source.of(*evidence_.code, at);
    p.has_thread = false;
    parties.push_back(std::move(p));
  }
  return parties;
}

std::uint64_t async_check::word_of(const block& owner, std::uint64_t barrier) const {
  std::uint64_t word = 0;
  if (barrier + sizeof word <= evidence_.state->shared_bytes)
    std::memcpy(&word, owner.shared + barrier, sizeof word);
  return word;
}

unsigned async_check::parity_of(const block& owner, std::uint64_t barrier) const {
  return static_cast<unsigned>(word_of(owner, barrier) >> mbarrier_parity_at) & 1;
}

void async_check::use(std::uint32_t warp, int lane, std::uint64_t first, std::uint64_t bytes,
                      std::uint32_t site) {
  const checked_block& b = evidence_.running();
  const block_clock& clock = b.clock;
  const auto is_known = [&](const phase_observation& s) {
    return evidence_.sequence.unordered(clock, clock.first_warp + warp, lane, s.when,
                                        clock.first_warp + s.warp, s.lanes) != s.lanes;
  };
  bulk_load* const c = states_.current().loads.unfinished(first, bytes, warp, lane, is_known);
  if (c == nullptr) return;
  c->is_reported = true;
  // The byte count is negative if more bytes were copied than the phase that ended had expected.
  const auto count =
      static_cast<std::int64_t>(word_of(*b.now, c->barrier) << (64 - mbarrier_parity_at));
  const place_in_memory where =
      evidence_.describe(*b.shared, first, evidence_.site_at(site).element_bytes);
  const access_maker user{clock.first_warp + warp, lane, site, clock.warps[warp].now};
  const std::string about_parity = count < 0 ? "" : wrong_parity_advice(evidence_, user);
  add(finding_kind::race, user, &c->by, where.object,
      (evidence_.site_at(site).unit == async_unit::products ? "wgmma uses " : "a thread uses ") +
          where.words + ", but the thread has not waited for the bulk copy that writes it",
      count < 0 ? "The mbarrier's phase ended before this copy: announce the bytes of all copies "
                  "with expect_tx."
      : about_parity.empty() ? advice_to_see_phase
                             : about_parity);
}

void async_check::use(const access_event& e) {
  for (std::uint32_t l = e.active; l != 0; l &= l - 1) {
    const int lane = __builtin_ctz(l);
    use(e.warp, lane, e.address[lane], e.site->bytes, e.index);
  }
}

// --- proxies -----------------------------------------------------------------------------------

void async_check::unit_accesses(const lane_access& t, const block* owner) {
  const access_site& s = *t.site;
  block_state& state = states_.current();
  if (s.unit == async_unit::products && !state.fenced_products[t.warp]) {
    state.fenced_products[t.warp] = true;
    add(finding_kind::missing_fence, maker_of(t), nullptr, {},
        "the first wgmma of a warp has no wgmma.fence before it",
        "wgmma.fence orders the threads' accesses to registers before the products that use these "
        "registers: put it before the first wgmma, and again after the registers have changed.");
  }
  if (s.unit == async_unit::products) note_product(t);
  constexpr std::uint64_t most_stored_at_once = 16;  // bytes, by a thread
  if (s.kind == access_kind::load)
    for (std::uint64_t k = 0; k < t.bytes; k += most_stored_at_once) read_by_proxy(t, t.at + k);
  if (s.unit == async_unit::counted_copy) {
    if (s.kind == access_kind::store) last_write_ = {owner, t};
    return;
  }
  const int lane = s.unit == async_unit::products ? 0 : t.lane;
  state.groups[{t.warp, lane, s.unit}].add({t, evidence_.running().clock.warps[t.warp].now});
}

// A unit reads memory that a thread of this launch may have written.
void async_check::read_by_proxy(const lane_access& t, std::uint64_t at) {
  if (t.memory->cells.grain_at(at) == grain::untouched) return;
  const cell c = t.memory->cells.at(at);
  if (c.write_time() < evidence_.sequence.launch_began() || c.write_site() == no_site) return;
  const access_site& store = evidence_.site_at(c.write_site());
  if (store.unit != async_unit::none || store.asynchronous) return;
  if (is_fenced(c.writer(), c.write_time())) return;
  const place_in_memory where = evidence_.describe(*t.memory, at, store.element_bytes);
  const access_maker by = writer_of(c);
  add(finding_kind::missing_fence, maker_of(t), &by, where.object,
      (t.site->unit == async_unit::products ? "wgmma reads " : "a bulk copy reads ") + where.words +
          ", and no fence.proxy.async follows the store to it",
      "Without this fence, the read may miss the threads' stores: put fence.proxy.async after the "
      "stores, in each thread that stores, and before the barrier.");
}

// Whether a fence.proxy.async follows a store. A store by another block counts as fenced after any
// fence by that block or this one.
bool async_check::is_fenced(std::uint32_t writer, tick when) {
  const block_clock& b = evidence_.running().clock;
  const std::uint32_t warp = writer / 32 - b.first_warp;
  if (warp < evidence_.block_warps)
    return states_.current().fences.covers(evidence_.sequence, b, warp,
                                           static_cast<int>(writer % 32), when);
  const auto fenced_by = [&](std::uint32_t block) {
    const auto last = last_fence_.find(block);
    return last != last_fence_.end() && last->second > when;
  };
  return fenced_by(b.index) || fenced_by(writer / 32 / evidence_.block_warps);
}

void async_check::reads_map(const lane_access& t) {
  if (t.memory->cells.grain_at(t.at) == grain::untouched) return;
  cell c = t.memory->cells.at(t.at);
  for (std::uint64_t k = 0; k < t.bytes; k += sizeof(std::uint32_t))
    if (const cell other = t.memory->cells.at(t.at + k); other.write_time() > c.write_time())
      c = other;
  if (c.write_time() < evidence_.sequence.launch_began() || c.write_site() == no_site) return;
  const access_site& store = evidence_.site_at(c.write_site());
  const ptx::instruction& writer =
      evidence_.code->functions[store.function]
          .body->instructions[static_cast<std::size_t>(store.instruction)];
  const auto& acquired = states_.current().map_acquired;
  const auto found = acquired.find(evidence_.device_base + t.at);
  const bool is_released =
      ptx::has_modifier(writer, "cp_fenceproxy") || maps_released_ > c.write_time();
  const bool is_acquired = found != acquired.end() && found->second > c.write_time();
  if (is_released && is_acquired) return;
  const access_maker by = writer_of(c);
  add(finding_kind::missing_fence, maker_of(t), &by, evidence_.describe(*t.memory, t.at, 1).object,
      is_released
          ? "a copy uses a tensor map that this launch has written, and no thread of the "
            "block has acquired the map since"
          : "a copy uses a tensor map that was written but not released to the tensormap proxy",
      is_released ? "Put fence.proxy.tensormap::generic.acquire.gpu [map], 128 before the first "
                    "copy that uses the map in each block."
                  : "Edit the map in shared memory, and copy it with tensormap.cp_fenceproxy.");
}

// Notes the product that reads an operand, once for all of its reads.
void async_check::note_product(const lane_access& t) {
  const auto& f = *reinterpret_cast<const matrix_form*>(t.op_at->immediate);
  const auto descriptor = [&](std::uint32_t vreg) {
    return vreg == 0 ? 0 : evidence_.state->vreg<std::uint64_t>(vreg)[0];
  };
  const issued_product now{t.op_at, descriptor(f.a_descriptor), descriptor(f.b_descriptor)};
  auto& issued = states_.current().products[t.warp];
  if (!issued.empty() && issued.back() == now) return;
  issued.push_back(now);
  check_alignment(t, now.a);
  check_alignment(t, now.b);
}

// Warns of a swizzled tile that threads have stored and that does not begin where the swizzle
// pattern does. wgmma swizzles by the address. Threads usually swizzle by the row within the tile,
// which is then wrong. TMA swizzles by the address, too.
void async_check::check_alignment(const lane_access& t, std::uint64_t descriptor) {
  constexpr std::uint64_t line = 128, periods[] = {1, 1024, 512, 256};
  const std::uint64_t period = periods[descriptor >> 62];
  const std::uint64_t start = (descriptor & 0x3fff) << 4, base_offset = (descriptor >> 49) & 7;
  if (start % period < line || base_offset != 0) return;
  const shadow_memory& shared = *evidence_.running().shared;
  if (start >= evidence_.state->shared_bytes || shared.cells.grain_at(start) == grain::untouched)
    return;
  const cell c = shared.cells.at(start);
  if (c.write_time() < evidence_.sequence.launch_began() || c.write_site() == no_site ||
      evidence_.site_at(c.write_site()).unit != async_unit::none)
    return;
  constexpr std::uint64_t chunk = 16;
  const place_in_memory where = evidence_.describe_shared(start, chunk);
  const finding_object& o = where.object;
  const finding_key k =
      evidence_.key(finding_kind::unaligned_tile, evidence_.line_number(t.number), -1, o.address);
  if (!evidence_.log.is_new(k)) return;
  finding f;
  f.kind = finding_kind::unaligned_tile;
  const std::string multiple = std::to_string(period);
  f.message = "the swizzled tile of wgmma at " + where.words + " has the address " +
              std::to_string(start) + " in shared memory, which is not a multiple of " + multiple;
  f.parties.push_back(
      evidence_.party(t.op_at, t.warp, t.lane, evidence::action_words(*t.site, false)));
  f.object = o;
  f.advice =
      "wgmma swizzles by the address, so chunks that threads store by their row within the "
      "tile are read from the wrong places. " +
      (o.address % period != 0
           ? "Declare " + (o.name.empty() ? "the variable" : o.name) + " with alignas(" + multiple +
                 ")."
           : "Make the offset of the tile a multiple of " + multiple + " bytes.");
  f.origin = evidence_.launch_origin;
  evidence_.log.add(k, std::move(f));
}

// Compares the products that the warps of a warpgroup have issued since they met last.
void async_check::met_in_warpgroup(std::span<const warp_event> warps) {
  auto& products = states_.current().products;
  const warp_event& first = warps.front();
  for (const warp_event& other : warps.subspan(1)) {
    const auto &mine = products[first.warp], &theirs = products[other.warp];
    const auto [here, there] = std::ranges::mismatch(
        mine, theirs,
        [](const issued_product& x, const issued_product& y) { return x.a == y.a && x.b == y.b; });
    if (here == mine.end() && there == theirs.end()) continue;
    add_different_products(first, here == mine.end() ? nullptr : here->at, other,
                           there == theirs.end() ? nullptr : there->at);
    break;
  }
  for (const warp_event& w : warps) products[w.warp].clear();
}

// `at`: a warp's first product that differs; null: it has issued fewer products.
void async_check::add_different_products(const warp_event& one, const op* at,
                                         const warp_event& other, const op* other_at) {
  const finding_key k = evidence_.key(finding_kind::barrier_divergence,
                                      evidence_.place_number(at != nullptr ? at : other_at), -1, 0);
  if (!evidence_.log.is_new(k)) return;
  finding f;
  f.kind = finding_kind::barrier_divergence;
  f.message = at != nullptr && other_at != nullptr
                  ? "the warps of a warpgroup pass different descriptors to wgmma"
                  : "only some of the four warps of a warpgroup execute a wgmma";
  for (const auto& [warp, product] : {std::pair(&one, at), std::pair(&other, other_at)})
    f.parties.push_back(evidence_.party(
        product != nullptr ? product : warp->at, warp->warp, first_lane(warp->lanes),
        product != nullptr ? "multiplies" : "waits without having executed the wgmma"));
  f.advice = advice_for_warpgroup;
  f.origin = evidence_.launch_origin;
  evidence_.log.add(k, std::move(f));
}

void async_check::follow_sums(std::uint32_t warp, std::uint32_t first, std::uint32_t end,
                              std::uint32_t lanes) {
  const auto [from, to] = sum_steps_.between(first, end);
  for (auto s = from; s != to; ++s)
    states_.current().sums[warp].pass(*s, lanes, [&](const early_sum& e) { add_early_sum(e); });
}

void async_check::add_early_sum(const early_sum& e) {
  has_early_sums_ = true;
  const std::int64_t place = std::int64_t{e.function} << 32 | e.product;
  const finding_key k = evidence_.key(finding_kind::not_awaited, place, -1, 0);
  if (!evidence_.log.is_new(k)) return;
  finding f;
  f.kind = finding_kind::not_awaited;
  f.message = "the sums of a wgmma are used before wgmma.wait_group has waited for it";
  for (const auto& [instruction, action] :
       {std::pair(e.product, "multiplies"), std::pair(e.use, "uses its sums")}) {
    finding_party p;
    p.kernel = evidence_.kernel_name();
    p.action = action;
    p.at = evidence_.source.of(*evidence_.code, e.function, static_cast<std::int32_t>(instruction));
    p.has_thread = false;
    f.parties.push_back(std::move(p));
  }
  f.advice = std::string(e.is_committed
                             ? "Put wgmma.wait_group after wgmma.commit_group and before the "
                               "first use, on every path that leads to it."
                             : "Put wgmma.commit_group after the products: wgmma.wait_group waits "
                               "only for groups. Let it wait before the first use.") +
             " The compiler may insert a wait of its own, which slows down all products of the "
             "kernel.";
  f.origin = evidence_.launch_origin;
  evidence_.log.add(k, std::move(f));
}

// --- findings ----------------------------------------------------------------------------------

std::uint32_t async_check::first_warp() const { return evidence_.running().clock.first_warp; }

access_maker async_check::maker_of(const lane_access& t) const {
  const checked_block& b = evidence_.running();
  return {b.clock.first_warp + t.warp, t.lane, t.number, b.clock.warps[t.warp].now};
}

access_maker async_check::writer_of(const cell& c) {
  return {c.writer() / 32, static_cast<int>(c.writer() % 32), c.write_site(), c.write_time()};
}

void async_check::add(finding_kind kind, const access_maker& first, const access_maker* second,
                      const finding_object& object, std::string message,
                      const std::string& advice) {
  const std::int64_t here = evidence_.line_number(first.site);
  // One fence covers the stores of several lines.
  const bool is_pair = second != nullptr && kind != finding_kind::missing_fence;
  const std::int64_t there = is_pair ? evidence_.line_number(second->site) : -1;
  const finding_key k =
      evidence_.key(kind, std::min(here, there), std::max(here, there), object.address);
  if (!evidence_.log.is_new(k)) return;
  finding f;
  f.kind = kind;
  if (kind == finding_kind::race) f.between = race_between::copy;
  f.message = std::move(message);
  for (const access_maker* m : {&first, second}) {
    if (m == nullptr) continue;
    const bool writes = m->site != no_site && evidence_.site_at(m->site).kind != access_kind::load;
    f.parties.push_back(evidence_.party_of_other(m->warp, m->lane, m->site, m->when, writes));
  }
  f.object = object;
  f.advice = advice;
  f.origin = evidence_.launch_origin;
  evidence_.log.add(k, std::move(f));
}

}  // namespace stepwise::emulator
