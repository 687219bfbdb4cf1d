// Recognises launches that can never end, and reports where the threads of a launch are.
#include "common/emulator/run/hangs.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>

#include "common/emulator/machine/async.hpp"
#include "common/emulator/machine/influence.hpp"
#include "common/emulator/machine/standstill.hpp"
#include "common/emulator/run/block_maker.hpp"

namespace stepwise::emulator {
namespace {

// A launch is examined closely after this many passes in which all blocks only wait.
constexpr unsigned passes_before_search = 4;
// The most words of memory that are followed in a period.
constexpr std::size_t most_words = 1 << 16;
// If a state still repeats after this much time on the kernel's clocks, it is not waiting for time.
constexpr std::uint64_t longest_timeout_ns = std::uint64_t{3600} * 1'000'000'000;
constexpr std::uint64_t first_skip_ns = 1'000'000;

const std::unordered_set<std::string_view> clocks{
    "%clock", "%clock_hi", "%clock64", "%globaltimer", "%globaltimer_lo", "%globaltimer_hi"};

void add_word(std::uint64_t& hash, std::uint64_t word) {
  hash = (std::rotl(hash, 5) ^ word) * 0x9e3779b97f4a7c15;
}

const std::byte* word_around(const std::byte* at) {
  return reinterpret_cast<const std::byte*>(reinterpret_cast<std::uintptr_t>(at) &
                                            ~std::uintptr_t{7});
}
std::uint64_t word_at(const std::byte* at) {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

}  // namespace

// --- memory that is read and written -------------------------------------------------------------

void hang_watch::begin_period() {
  before_.clear();
  polls_.clear();
  known_ = {};
  is_lost_ = reads_host_memory_ = reads_device_memory_ = false;
}

bool hang_watch::memory_is_as_before() const {
  return !is_lost_ && std::ranges::all_of(before_, [](const auto& word) {
    return word_at(word.first) == word.second;
  });
}

bool hang_watch::others_could_intervene(bool blocks_begin) const {
  return reads_host_memory_ || (reads_device_memory_ && (launch_.others_write || blocks_begin));
}

const std::byte* hang_watch::bytes_at(memory_space space, std::uint64_t address, int lane) const {
  switch (space) {
    case memory_space::shared:
      return x_.shared + address;
    case memory_space::local:
      return x_.local + static_cast<std::uint64_t>(lane) * x_.local_bytes + address;
    default:
      return launch_.memory->host(address);
  }
}

void hang_watch::note_read(std::uint64_t address) {
  if (address - known_.base < known_.bytes) return;
  // No other stream can reach the words of the grid's barrier.
  if (launch_.grid_workspace != 0 && address - launch_.grid_workspace < grid_workspace_bytes)
    return;
  const auto found = launch_.memory->allocation_at(address);
  if (!found || launch_.memory->is_shared(address)) {
    reads_host_memory_ = true;
  } else {
    known_ = *found;
    reads_device_memory_ = true;
  }
}

void hang_watch::note_write(const std::byte* at, std::uint64_t bytes) {
  if (is_lost_) return;
  for (const std::byte* w = word_around(at); w < at + bytes; w += 8) {
    if (before_.size() >= most_words) {
      is_lost_ = true;
      return;
    }
    before_.try_emplace(w, word_at(w));
  }
}

void hang_watch::note_poll(std::uint32_t warp, const op* at, const poll& p) {
  poll& known = polls_[block_][{warp, at}];
  const std::uint32_t lanes_so_far = known.lanes;
  known = p;
  known.lanes |= lanes_so_far;
}

std::uint32_t hang_watch::access(const access_event& e) {
  if (e.active == 0 || e.site->counted_only || e.space == memory_space::parameter) return e.active;
  const std::uint64_t bytes = e.site->matrix ? 16 : e.site->bytes;
  const bool reads = e.site->kind != access_kind::store, writes = e.site->kind != access_kind::load;
  for (std::uint32_t m = e.active; m != 0; m &= m - 1) {
    const int lane = first_lane(m);
    const std::uint64_t at = e.address[lane];
    if (reads && e.space == memory_space::global && !e.site->constant) note_read(at);
    if (writes) note_write(bytes_at(e.space, at, lane), bytes);
  }
  const bool is_strong = e.site->is_volatile || e.site->order != memory_order::weak;
  if (reads && is_strong && !e.site->reduction) {
    const int lane = first_lane(e.active);
    note_poll(e.warp, e.at, {e.active, lane, e.space, e.address[lane], bytes});
  }
  return e.active;
}

void hang_watch::access_range(const warp_event& e, const range_event& r) {
  if (!r.inside) return;
  if (r.kind != access_kind::store && r.space == memory_space::global) note_read(r.address);
  if (r.kind != access_kind::load) note_write(bytes_at(r.space, r.address, r.lane), r.bytes);
  if (r.kind != access_kind::store && r.order != memory_order::weak)
    note_poll(e.warp, e.at, {std::uint32_t{1} << r.lane, r.lane, r.space, r.address, r.bytes});
}

// --- states --------------------------------------------------------------------------------------

hang_search::hang_search(context& x, const launch_state& launch)
    : notes(x, launch), code_(*launch.code) {
  both.add(*x.watch);
  both.add(notes);
}

const std::vector<hang_search::range>& hang_search::ranges_of(std::uint32_t function) {
  const auto [at, is_new] = ranges_.try_emplace(function);
  if (!is_new) return at->second;
  const program_function& f = code_.functions[function];
  if (!code_.reads_clock && !code_.reads_timer) {
    at->second.push_back({0, f.register_bytes});
    return at->second;
  }
  const auto timed = registers_influenced_by(*f.body, clocks);
  for (const auto& [name, vreg] : f.registers)
    if (!timed.contains(name))
      at->second.push_back({vreg.offset, vreg.bytes == 0 ? 4 : vreg.bytes * lanes});
  std::ranges::sort(at->second, {}, &range::offset);
  return at->second;
}

void hang_search::add_registers(std::uint64_t& hash, std::uint32_t function,
                                const std::byte* registers) {
  for (const range& r : ranges_of(function)) {
    std::uint32_t n = 0;
    for (; n + 8 <= r.bytes; n += 8) add_word(hash, word_at(registers + r.offset + n));
    if (n == r.bytes) continue;
    std::uint32_t rest;
    std::memcpy(&rest, registers + r.offset + n, sizeof rest);
    add_word(hash, rest);
  }
}

std::uint64_t hang_detector::state_of_all(const block_queue& resident) {
  std::uint64_t hash = 0;
  std::set<const frame*> added;
  const auto add_split = [&](const split& s) {
    add_word(hash, static_cast<std::uint64_t>(s.at - launch_.code->code.data()));
    add_word(hash, s.mask);
    add_word(hash, static_cast<std::uint64_t>(s.join));
    for (const frame* f = s.in; f != nullptr && added.insert(f).second; f = f->caller) {
      add_word(hash, f->function);
      add_word(hash, f->local_base);
      add_word(hash, static_cast<std::uint64_t>(
                         f->call == nullptr ? 0 : f->call - launch_.code->code.data()));
      search_->add_registers(hash, f->function, f->registers);
    }
  };
  for (const auto& b : resident) {
    add_word(hash, b->index);
    for (const block_barrier& barrier : b->barriers)
      add_word(hash, barrier.arrived + (std::uint64_t{barrier.count} << 32));
    for (const warp& w : b->warps) {
      added.clear();
      add_word(hash, w.alive + (std::uint64_t{w.in_cluster} << 32));
      for (const split& s : w.ready) add_split(s);
      for (const auto& p : w.parked) add_split(p.waiting);
      for (const auto& p : w.at_barrier) add_split(p.waiting);
      for (const join_point& j : w.joins) {
        if (j.at == nullptr) continue;
        add_word(hash, static_cast<std::uint64_t>(j.at - launch_.code->code.data()));
        add_word(hash, j.arrived + (std::uint64_t{j.expected} << 32));
        // Lanes at a join continue once they have waited long enough.
        if (j.arrived != 0) add_word(hash, w.since_arrival.weight);
      }
    }
  }
  return hash;
}

std::uint64_t hang_detector::elapsed_ns() const {
  if (launch_.time != nullptr) return static_cast<std::uint64_t>(launch_.time->waited_us() * 1e3);
  return launch_.skipped_ns + counters_.warp_instructions;
}

void hang_detector::end_search() {
  waiting_slices_ = 0;
  if (search_ == nullptr) return;
  x_.watch = launch_.watch;
  search_.reset();
}

std::optional<standstill> hang_detector::look(const block_queue& resident,
                                              std::uint64_t clock_readings) {
  if (++waiting_slices_ % resident.size() != 0) return std::nullopt;
  if (search_ == nullptr) {
    if (waiting_slices_ / resident.size() < passes_before_search) return std::nullopt;
    search_ = std::make_unique<hang_search>(x_, launch_);
  }
  hang_search& s = *search_;
  const std::uint64_t state = state_of_all(resident);
  const bool repeats = s.passes++ != 0 && state == s.state;
  if (repeats && s.is_noting) {
    if (auto hang = prove(resident, clock_readings)) return hang;
    if (s.only_time_passes) return std::nullopt;
  }
  // Brent's algorithm: a period of any length is found once the saved state lies within it.
  if (s.passes < s.next_period && (!repeats || s.is_noting)) return std::nullopt;
  if (repeats) {
    s.is_noting = true;
    x_.watch = &s.both;
  }
  s.next_period = 2 * s.passes;
  s.state = state;
  s.since_ns = elapsed_ns();
  s.readings = clock_readings;
  s.notes.begin_period();
  return std::nullopt;
}

// Called when the warps and registers are the same as when the period began.
std::optional<standstill> hang_detector::prove(const block_queue& resident,
                                               std::uint64_t clock_readings) {
  hang_search& s = *search_;
  const bool blocks_begin =
      launch_.next_block.load(std::memory_order_relaxed) < launch_.block_count &&
      has_room(launch_, resident);
  s.only_time_passes =
      s.notes.memory_is_as_before() && !s.notes.others_could_intervene(blocks_begin);
  if (!s.only_time_passes) return std::nullopt;
  const std::uint64_t passed = elapsed_ns() - s.since_ns;
  if (clock_readings != s.readings && passed < longest_timeout_ns) {
    if (launch_.time == nullptr) launch_.skipped_ns += std::max(passed, first_skip_ns);
    return std::nullopt;
  }
  standstill all = stand(launch_, resident, notes());
  all.is_proven = true;
  all.is_full = !blocks_begin;
  return all;
}

// --- where the threads are -----------------------------------------------------------------------

namespace {

void add_stuck(std::vector<stuck_warps>& groups, const program& code, const block& b,
               stuck_warps one) {
  const std::string line = code.source_line(one.at);
  const auto known = std::ranges::find_if(groups, [&](const stuck_warps& g) {
    return g.what == one.what && g.barrier == one.barrier && code.source_line(g.at) == line;
  });
  one.warps = 1;
  one.blocks = 1;
  one.first_block = one.last_block = b.index;
  if (known == groups.end()) {
    groups.push_back(one);
    return;
  }
  known->threads += one.threads;
  if (known->last_block != b.index) ++known->blocks;
  if (known->last_block != b.index || known->last_warp != one.last_warp) ++known->warps;
  known->last_block = b.index;
  known->last_warp = one.last_warp;
}

// Adds what the warps of a block polled during the repeating period. Returns these warps.
std::set<std::uint32_t> add_polls(std::vector<stuck_warps>& groups, const program& code,
                                  const hang_watch& notes, const block& b) {
  std::set<std::uint32_t> warps;
  const auto found = notes.polls().find(&b);
  if (found == notes.polls().end()) return warps;
  for (const auto& [at, p] : found->second) {
    stuck_warps one;
    one.what = stuck_warps::doing::poll;
    one.at = at.second;
    one.last_warp = at.first;
    one.threads = count_of(p.lanes);
    one.knows_memory = true;
    one.space = p.space;
    one.address = p.address;
    one.bytes = p.bytes;
    const std::int32_t n = code.instruction[static_cast<std::size_t>(one.at - code.code.data())];
    one.is_mbarrier =
        n >= 0 && p.space == memory_space::shared &&
        code.function_of(one.at).body->instructions[static_cast<std::size_t>(n)].opcode ==
            "mbarrier";
    if (one.is_mbarrier) one.word = word_at(b.shared + p.address);
    add_stuck(groups, code, b, one);
    warps.insert(one.last_warp);
  }
  return warps;
}

}  // namespace

standstill stand(const launch_state& launch, const block_queue& resident, const hang_watch* notes) {
  standstill all;
  const std::uint64_t begun = launch.next_block.load(std::memory_order_relaxed);
  all.unbegun_blocks = launch.block_count - std::min(begun, launch.block_count);
  using doing = stuck_warps::doing;
  for (const auto& b : resident) {
    all.threads += b->alive;
    if (all.about_registers.empty()) all.about_registers = words_about_registers(*b, *launch.code);
    const auto add = [&](const warp& w, const split& s, doing what, unsigned barrier) {
      stuck_warps one;
      one.what = what;
      one.at = s.at;
      one.barrier = barrier;
      one.last_warp = static_cast<std::uint32_t>(&w - b->warps.data());
      one.threads = count_of(s.mask);
      add_stuck(all.groups, *launch.code, *b, one);
    };
    std::set<std::uint32_t> polling;  // warps whose polled memory is known
    if (notes != nullptr) polling = add_polls(all.groups, *launch.code, *notes, *b);
    for (const warp& w : b->warps) {
      const doing now = b->only_polled ? doing::poll : doing::run;
      if (!polling.contains(static_cast<std::uint32_t>(&w - b->warps.data())))
        for (const split& s : w.ready) add(w, s, now, 0);
      for (const auto& p : w.parked) add(w, p.waiting, doing::wait_for_lanes, 0);
      for (const auto& p : w.at_barrier)
        add(w, p.waiting,
            p.barrier == cluster_barrier ? doing::wait_for_cluster : doing::wait_at_barrier,
            p.barrier);
    }
  }
  return all;
}

}  // namespace stepwise::emulator
