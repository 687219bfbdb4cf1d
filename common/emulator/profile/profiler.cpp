// Counts events by kernel and site, adds what the caches did, and sums it all up by source line.
#include "common/emulator/profile/profiler.hpp"

#include <algorithm>
#include <bit>

#include "common/device/names.hpp"
#include "common/device/occupancy.hpp"
#include "common/emulator/machine/program.hpp"
#include "common/emulator/run/scheduler.hpp"
#include "common/source_map/source_text.hpp"

namespace stepwise::emulator {
namespace {

unsigned count_of_lanes(std::uint32_t mask) {
  return mask == all_lanes ? 32 : static_cast<unsigned>(std::popcount(mask));
}

bool same(const extent& a, const extent& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

// One memory instruction, in each of the memories that its addresses may lead to.
struct profiler::site_counts {
  sector_counts global, local;
  std::uint64_t global_before = 0, local_before = 0;  // sectors of earlier launches
  wavefront_counts shared;
  wavefront_counts loop_loads;  // of an atomic that is a loop
  // What an access to shared memory took last: another of the same shape takes the same, if it lies
  // a multiple of a bank's width away.
  std::uint64_t shape = 0;  // its serial; 0: none of this launch
  std::uint64_t at = 0;
  std::uint32_t taken = 0, ideal = 0;
};

// A kernel in one configuration.
struct profiler::record {
  const program* code = nullptr;
  std::size_t ops = 0;  // of the program: another one may have come to lie at its address
  std::shared_ptr<const code_view> view;
  kernel_profile profile;
  std::vector<site_counts> sites;
  // By ordinal, one more than there are: how many more warps (and lanes) execute this instruction
  // than the one before it.
  std::vector<std::uint64_t> warp_steps, lane_steps;
  std::vector<std::uint64_t> divergences;  // by ordinal
};

profiler::profiler(const gpu& model) : model_(model), trace_(model) {}
profiler::~profiler() = default;

// --- launches ------------------------------------------------------------------------------------

profiler::record& profiler::record_for(const launch_info& launch) {
  const program& code = *launch.code;
  std::shared_ptr<const code_view> view;
  for (const auto& r : records_) {
    if (r->code != &code || r->ops != code.code.size() || r->profile.mangled != code.name) continue;
    view = r->view;
    const kernel_profile& k = r->profile;
    if (same(k.grid, launch.config->grid) && same(k.block, launch.config->block) &&
        k.dynamic_shared_bytes == launch.config->dynamic_shared_bytes)
      return *r;
  }
  if (view == nullptr) view = std::make_shared<code_view>(code, launch.machine_code);
  auto fresh = std::make_unique<record>();
  fresh->code = &code;
  fresh->ops = code.code.size();
  fresh->view = view;
  fresh->profile = describe(launch, *view);
  fresh->sites.resize(view->sites.size());
  fresh->warp_steps.resize(view->places.size() + 1);
  fresh->lane_steps.resize(view->places.size() + 1);
  fresh->divergences.resize(view->places.size() + 1);
  records_.push_back(std::move(fresh));
  return *records_.back();
}

kernel_profile profiler::describe(const launch_info& launch, const code_view& view) const {
  const kernel_attributes& a = *launch.attributes;
  kernel_profile k;
  k.kernel = readable_name(launch.code->name);
  k.mangled = launch.code->name;
  k.grid = launch.config->grid;
  k.block = launch.config->block;
  k.static_shared_bytes = a.static_shared_bytes;
  k.dynamic_shared_bytes = launch.config->dynamic_shared_bytes;
  k.registers = a.registers;
  k.local_bytes = a.local_bytes;
  if (launch.machine_code != nullptr && a.local_bytes > view.own_local_bytes)
    k.spill_bytes = a.local_bytes - view.own_local_bytes;
  k.knows_machine_code = view.knows_machine_code;
  if (const auto fits =
          resident_blocks(model_, a, launch.threads, launch.config->dynamic_shared_bytes);
      fits.ok())
    k.fits = *fits;
  k.resident_warps = k.fits.blocks * static_cast<int>(launch.warps);
  const std::uint64_t shared_per_block = a.static_shared_bytes +
                                         launch.config->dynamic_shared_bytes +
                                         model_.reserved_shared_bytes_per_block;
  const std::uint64_t carved = shared_carveout(
      model_, shared_per_block * static_cast<std::uint64_t>(std::max(1, k.fits.blocks)));
  k.l1_bytes = caches::multiprocessor_kb * 1024 - std::min<std::uint64_t>(carved, 228 * 1024);
  k.l2_bytes = model_.l2_bytes;
  k.most_warps = model_.max_threads_per_multiprocessor / model_.warp_size;
  return k;
}

void profiler::begin_launch(const launch_info& launch) {
  now_ = &record_for(launch);
  plans_ = now_->view->sites.data();
  sites_ = now_->sites.data();
  for (site_counts& s : now_->sites) s.shape = 0;
  kernel_profile& k = now_->profile;
  ++k.launches;
  trace::launch_shape shape;
  shape.resident = static_cast<unsigned>(std::max(1, k.fits.blocks));
  shape.warps = launch.warps;
  shape.blocks = volume(launch.config->grid);
  shape.local_bytes = launch.state->local_bytes;
  shape.l1_bytes = k.l1_bytes;
  trace_.begin(shape, now_->view->sites);
}

status profiler::end_launch(const status& failure) {
  add_cache_counts();
  now_ = nullptr;
  return failure;
}

void profiler::begin_block(const block& b) { trace_.begin_block(b.index); }
void profiler::end_block(const block& b) { trace_.end_block(b.index); }
void profiler::turn_to(const block& b) { trace_.turn_to(b.index); }

// What the caches did for this launch's requests. Where only some of their sets were simulated,
// each site's rates are those of the sets that were.
void profiler::add_cache_counts() {
  trace_.end();
  record& r = *now_;
  r.profile.cache_share = std::min(r.profile.cache_share, trace_.share());
  for (std::uint32_t n = 0; n < r.sites.size(); ++n) {
    const cache_counts& seen = trace_.of(n);
    site_counts& s = r.sites[n];
    sector_counts& to = s.global.sectors - s.global_before != 0 ? s.global : s.local;
    std::uint64_t& before = &to == &s.global ? s.global_before : s.local_before;
    const std::uint64_t sectors = to.sectors - before;
    before = to.sectors;
    if (seen.sectors == 0) continue;
    const bool atomic = r.view->sites[n].kind == access_kind::atomic;
    const auto all = [&](std::uint64_t part) {
      return trace_.share() == 1 && !atomic
                 ? part
                 : static_cast<std::uint64_t>(static_cast<double>(part) *
                                              static_cast<double>(sectors) /
                                              static_cast<double>(seen.sectors));
    };
    const double scale = 1 / trace_.share();
    to.l1_hits += all(seen.l1_hits);
    to.l2_sectors += all(seen.l2_sectors);
    // Of an atomic, only a sector's first turn can miss.
    to.l2_hits +=
        atomic
            ? sectors - std::min(sectors,
                                 static_cast<std::uint64_t>(
                                     static_cast<double>(seen.l2_sectors - seen.l2_hits) * scale))
            : all(seen.l2_hits);
    to.dram_read_bytes +=
        static_cast<std::uint64_t>(static_cast<double>(seen.dram_read_bytes) * scale);
    to.dram_write_bytes +=
        static_cast<std::uint64_t>(static_cast<double>(seen.dram_write_bytes) * scale);
  }
}

// --- events --------------------------------------------------------------------------------------

// Whether the event's shape is that of what the machine code does.
static bool is_as_written(const access_event& e, const site_plan& p) {
  return e.shape->active == e.active && p.bytes == e.site->bytes;
}

static unsigned count_of_lanes(const access_event& e) {
  return e.shape->active == e.active ? e.shape->lanes : count_of_lanes(e.active);
}

inline void profiler::count_shared(const access_event& e, const site_plan& p,
                                   const std::uint64_t* offset) {
  site_counts& site = sites_[e.index];
  wavefront_counts& c = site.shared;
  const unsigned n = count_of_lanes(e);
  if (p.loops) {
    const swap_loop loop = loop_of(offset, e.active, p.bytes);
    c.requests += loop.rounds;
    c.lanes += n;
    c.wavefronts += loop.swap_wavefronts;
    c.ideal_wavefronts +=
        ideal_wavefronts(shared_use::compare_and_swap, e.active, p.bytes, loop.swap_wavefronts);
    wavefront_counts& loads = site.loop_loads;
    loads.requests += loop.rounds;
    loads.lanes += n;
    loads.wavefronts += loop.load_wavefronts;
    loads.ideal_wavefronts +=
        ideal_wavefronts(shared_use::load, e.active, p.bytes, loop.load_wavefronts);
    return;
  }
  const bool repeats = !p.copies && e.shape->active == e.active;
  const std::uint64_t at = offset[e.shape->first];
  if (!repeats || site.shape != e.shape->serial ||
      ((at - site.at) & (std::max(4u, unsigned{p.bytes}) - 1)) != 0) {
    site.shape = repeats ? e.shape->serial : 0;
    site.at = at;
    const bool around_l1 = p.copies && p.cache == cache_use::l2_only;
    site.taken = p.copies ? copy_wavefronts(copied_from_, offset, e.active, p.bytes, around_l1)
                          : wavefronts(p.shared, offset, e.active, p.bytes);
    if (around_l1)
      sites_[copied_at_].global.sectors += sectors_again(copied_from_, offset, e.active);
    site.ideal = ideal_wavefronts(p.shared, e.active, p.bytes, site.taken);
  }
  ++c.requests;
  c.lanes += n;
  c.wavefronts += site.taken;
  c.ideal_wavefronts += site.ideal;
}

std::uint32_t profiler::access(const access_event& e) {
  const site_plan& p = plans_[e.index];
  if (!p.counted) return e.active;
  if (p.copies && p.kind == access_kind::load) {
    for (int l = 0; l < 32; ++l) copied_from_[l] = ((e.active >> l) & 1) != 0 ? e.address[l] : 0;
    copied_at_ = e.index;
  }
  if (e.active == 0) return 0;
  const std::uint64_t* address = e.address;
  std::uint64_t moved[32];
  if (p.offset != 0) {
    for (int l = 0; l < 32; ++l)
      moved[l] = address[l] + static_cast<std::uint64_t>(std::int64_t{p.offset});
    address = moved;
  }
  if (e.space == memory_space::shared) {
    count_shared(e, p, address);
  } else if (e.space != memory_space::parameter) {
    const bool global = e.space == memory_space::global;
    sector_counts& c = global ? sites_[e.index].global : sites_[e.index].local;
    unsigned sectors;
    if (p.kind == access_kind::atomic && global) {
      sectors = atomic_sectors(address, e.active, touched_);
    } else {
      if (global && e.shape->runs != 0 && is_as_written(e, p))
        touch_runs(address[e.shape->first], *e.shape, p.bytes, touched_);
      else if (global)
        touch(address, e.active, p.bytes, touched_);
      else
        touch_local(address, e.active, p.bytes, trace_.local_line(e.warp), touched_);
      sectors = touched_.sectors;
    }
    const unsigned n = count_of_lanes(e);
    ++c.requests;
    c.lanes += n;
    c.sectors += sectors;
    c.ideal_sectors += ideal_sectors(n, p.bytes, sectors);
    // Each byte of the sectors is some lane's, if there are as many.
    const bool whole = n * p.bytes == touched_.sectors * sector_bytes;
    trace_.add(e.warp, e.index, touched_, whole, !global);
  }
  return e.active;
}

void profiler::executed(std::uint32_t first, std::uint32_t end, std::uint32_t lanes) {
  const unsigned n = count_of_lanes(lanes);
  record& r = *now_;
  ++r.warp_steps[first];
  --r.warp_steps[end];
  r.lane_steps[first] += n;
  r.lane_steps[end] -= n;
}

void profiler::diverged(const warp_event& e, std::uint32_t) { ++now_->divergences[e.at->ordinal]; }

// --- what comes of it ----------------------------------------------------------------------------

namespace {

void add_sectors(profile_counts& to, const sector_counts& global, const sector_counts& local,
                 access_kind kind) {
  (kind == access_kind::load    ? to.global_load
   : kind == access_kind::store ? to.global_store
                                : to.global_atomic) += global;
  (kind == access_kind::store ? to.local_store : to.local_load) += local;
}

void add_wavefronts(profile_counts& to, const wavefront_counts& shared, const site_plan& p) {
  (p.copies                       ? to.shared_copy
   : p.kind == access_kind::load  ? to.shared_load
   : p.kind == access_kind::store ? to.shared_store
                                  : to.shared_atomic) += shared;
}

// What a line costs, to put the dearest inner line first.
std::uint64_t cost_of(const profile_counts& c) { return c.all_instructions().warps; }

}  // namespace

// The counts of one line, apart for each function inlined into it.
struct line_parts {
  profile_counts own;  // in the line itself
  std::vector<std::pair<std::uint32_t, profile_counts>> inner;

  profile_counts& of(std::uint32_t which) {
    if (which == instruction_place::none) return own;
    for (auto& [known, counts] : inner)
      if (known == which) return counts;
    return inner.emplace_back(which, profile_counts{}).second;
  }
};

static code_place place_in(source_text& text, const std::string& path, std::uint32_t line) {
  code_place at;
  at.file = file_name(path);
  at.line = static_cast<int>(line);
  at.text = text.line(path, line);
  return at;
}

kernel_profile profiler::finish(record& r) const {
  const code_view& view = *r.view;
  std::vector<line_parts> parts(view.lines.size() + 1);  // the last: of no line
  const auto part_at = [&](std::uint32_t ordinal) -> profile_counts& {
    const instruction_place& p = view.places[ordinal];
    return parts[p.line == instruction_place::none ? view.lines.size() : p.line].of(p.inner);
  };
  std::uint64_t warps = 0, lanes = 0;
  for (std::uint32_t n = 0; n < view.places.size(); ++n) {
    warps += r.warp_steps[n];
    lanes += r.lane_steps[n];
    if (warps == 0) continue;
    profile_counts& c = part_at(n);
    instruction_counts& i = c.instructions[static_cast<int>(view.places[n].on)];
    i.warps += warps;
    i.lanes += lanes;
    if (view.places[n].branches) {
      c.branches += warps;
      c.divergent_branches += r.divergences[n];
    }
  }
  for (std::size_t n = 0; n < r.sites.size(); ++n) {
    const site_counts& s = r.sites[n];
    const site_plan& p = view.sites[n];
    profile_counts& c = part_at(p.ordinal);
    add_sectors(c, s.global, s.local, p.kind);
    add_wavefronts(c, s.shared, p);
    c.shared_load += s.loop_loads;
  }

  kernel_profile k = r.profile;
  source_text text;
  for (std::size_t n = 0; n < parts.size(); ++n) {
    line_profile line;
    line.counts = parts[n].own;
    for (const auto& [which, counts] : parts[n].inner) line.counts += counts;
    if (cost_of(line.counts) == 0) continue;
    if (n < view.lines.size()) {
      line.at = place_in(text, view.lines[n].path, view.lines[n].line);
      line.path = view.lines[n].path;
      line.notes = view.lines[n].notes;
    }
    for (const auto& [which, counts] : parts[n].inner) {
      const code_view::inner_place& p = view.inner[which];
      line.inner.push_back({place_in(text, p.path, p.line), p.path, counts, {}, {}});
      line.inner.back().at.inner = p.function;
    }
    std::ranges::stable_sort(line.inner, std::ranges::greater{},
                             [](const line_profile& l) { return cost_of(l.counts); });
    k.total += line.counts;
    k.lines.push_back(std::move(line));
  }
  std::ranges::stable_sort(k.lines, [](const line_profile& a, const line_profile& b) {
    return a.path != b.path ? a.path < b.path : a.at.line < b.at.line;
  });
  return k;
}

std::vector<kernel_profile> profiler::take() {
  std::vector<kernel_profile> all;
  for (const auto& r : records_) all.push_back(finish(*r));
  records_.clear();
  return all;
}

}  // namespace stepwise::emulator
