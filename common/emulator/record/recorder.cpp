// Follows the block's warps, and keeps each instruction with its reads, its writes and its cost.
#include "common/emulator/record/recorder.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "common/device/names.hpp"
#include "common/emulator/machine/async.hpp"
#include "common/emulator/machine/memory.hpp"
#include "common/emulator/machine/program.hpp"
#include "common/emulator/profile/older_requests.hpp"
#include "common/emulator/run/scheduler.hpp"
#include "common/ptx/spelling.hpp"
#include "common/ptx/traits.hpp"

namespace stepwise::emulator {

using ptx::instruction_kind;

struct warp_recorder::known_instruction {
  std::uint32_t number = 0;  // in the recording
  const program_function* function = nullptr;
  const ptx::instruction* is = nullptr;  // null: the end of a body without ret
};

// Data that is looked up once per function.
struct warp_recorder::function_text {
  std::vector<std::string_view> lines;
  std::unordered_map<std::string_view, std::string_view> floats;  // registers that hold f32 or f64
};

namespace {

// By ptx::instruction_kind.
constexpr const char* kind_names[] = {"arithmetic", "move",    "conversion", "special", "tensor",
                                      "load",       "store",   "atomic",     "copy",    "warp",
                                      "barrier",    "control", "other"};
static_assert(std::size(kind_names) == static_cast<int>(instruction_kind::other) + 1);

std::string_view trimmed(std::string_view line) {
  const auto first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  line.remove_prefix(first);
  return line.substr(0, line.find_last_not_of(" \t\r") + 1);
}

void add_registers(const ptx::operand& o, std::vector<std::string_view>& to) {
  if (o.kind == ptx::operand_kind::name) to.push_back(o.name);
  if (o.kind == ptx::operand_kind::vector || o.kind == ptx::operand_kind::pair)
    for (const ptx::operand& e : o.elements) add_registers(e, to);
}

bool is_wgmma_product(const ptx::instruction& i) {
  return i.opcode == "wgmma" && has_modifier(i, "mma_async");
}

// What an asynchronous instruction begins, or "". Its results are not in this step.
std::string note_on_async(const ptx::instruction& i) {
  if (is_wgmma_product(i))
    return "begins a product of tiles in shared memory; the sums are not known before "
           "wgmma.wait_group";
  if (i.opcode == "fence" && has_modifier(i, "proxy") && has_modifier(i, "async"))
    return "orders this thread's accesses before later ones by TMA and wgmma";
  if (i.opcode != "cp" || !has_modifier(i, "bulk")) return "";
  const auto to = std::ranges::find_if(
      i.modifiers, [](std::string_view m) { return m == "global" || m.starts_with("shared"); });
  if (to == i.modifiers.end() || has_modifier(i, "prefetch")) return "";
  if (*to == "global")
    return "begins a copy by TMA from shared to global memory; cp.async.bulk.wait_group waits for "
           "it";
  return std::string("begins a copy by TMA to shared memory") +
         (has_modifier(i, "multicast::cluster") ? " of several blocks" : "") +
         "; the mbarrier counts its bytes when they arrive";
}

// Shortens a list of many registers, such as the sums of a wgmma, to its first and its last one.
std::string with_short_lists(std::string_view text) {
  const auto begin = text.find('{'), end = text.find('}', begin);
  if (begin == std::string_view::npos || end == std::string_view::npos) return std::string(text);
  const std::string_view list = text.substr(begin, end - begin);
  if (std::ranges::count(list, ',') < 16) return std::string(text);
  return std::string(text.substr(0, begin + list.find(','))) + ", ...," +
         std::string(list.substr(list.rfind(',') + 1)) + std::string(text.substr(end));
}

}  // namespace

warp_recorder::warp_recorder(const gpu& model, recording_choice choice)
    : model_(model), rules_(memory_rules_of(model)), choice_(std::move(choice)) {}
warp_recorder::~warp_recorder() = default;

// --- launches ------------------------------------------------------------------------------------

void warp_recorder::begin_launch(const launch_info& launch) {
  on_ = here_ = false;
  block_ = nullptr;
  if (++launches_ != choice_.launch) return;
  on_ = true;
  launch_ = launch;
  launch_.work_of_block = nullptr;
  view_ = std::make_unique<code_view>(*launch.code, launch.machine_code, rules_);
  kept_.gpu = model_.name;
  kept_.kernel = readable_name(launch.code->name);
  kept_.grid = launch.config->grid;
  kept_.block = launch.config->block;
  kept_.launch = launches_;
  const auto& at = choice_.block;
  kept_.block_index = at[0];
  if (at.size() > 1) kept_.block_index += kept_.grid.x * at[1];
  if (at.size() > 2) kept_.block_index += std::uint64_t{kept_.grid.x} * kept_.grid.y * at[2];
  kept_.warps_of_block = launch.warps;
  kept_.warps = choice_.warps;
  if (choice_.warps.empty())
    for (std::uint32_t w = 0; w < launch.warps; ++w) kept_.warps.push_back(w);
  kept_.shared_bytes = launch.state->shared_bytes;
  for (const auto& v : launch.code->shared_variables)
    kept_.variables.push_back({v.name, v.offset, v.bytes});
  if (!launch.code->dynamic_shared.empty() && launch.config->dynamic_shared_bytes != 0)
    kept_.variables.push_back({launch.code->dynamic_shared, launch.code->static_shared_bytes,
                               launch.config->dynamic_shared_bytes});
  for (auto& v : kept_.variables) v.name = readable_name(v.name);
}

status warp_recorder::end_launch(const status& failure) {
  if (!on_) return failure;
  on_ = here_ = false;
  if (!failure.ok()) kept_.failure = failure.message;
  leave_out_unused();
  write();
  return failure;
}

// Drops instructions without a step: those before the first requested instruction, and those after
// the last.
void warp_recorder::leave_out_unused() {
  std::vector<std::uint32_t> number(kept_.instructions.size(), 0);
  for (const auto& s : kept_.steps) number[s.instruction] = 1;
  std::vector<warp_recording::instruction> used;
  for (std::size_t n = 0; n < number.size(); ++n) {
    if (number[n] == 0) continue;
    number[n] = static_cast<std::uint32_t>(used.size());
    used.push_back(std::move(kept_.instructions[n]));
  }
  kept_.instructions = std::move(used);
  for (auto& s : kept_.steps) s.instruction = number[s.instruction];
}

void warp_recorder::write() const {
  std::ofstream file(choice_.file, std::ios::binary | std::ios::trunc);
  file << recording_text(kept_);
  if (!file.flush())
    std::fprintf(stderr, "stepwise: the recorded warp cannot be written to %s\n",
                 choice_.file.c_str());
}

void warp_recorder::begin_block(const block& b) {
  if (on_ && b.index == kept_.block_index) block_ = &b;
}
void warp_recorder::end_block(const block& b) {
  if (&b == block_) block_ = nullptr;
}
void warp_recorder::switch_to(const block& b) { here_ = on_ && &b == block_; }

bool warp_recorder::is_recorded(std::uint32_t warp) const {
  return std::ranges::find(kept_.warps, warp) != kept_.warps.end();
}
bool warp_recorder::is_full() const { return kept_.steps.size() >= choice_.steps; }

bool warp_recorder::follows(const block& b, std::uint32_t warp) {
  return on_ && &b == block_ && is_recorded(warp) && !is_full();
}

// --- instructions --------------------------------------------------------------------------------

// This is for nvcc's PTX, which has one statement per line.
std::string warp_recorder::text_of(std::uint32_t function, const ptx::instruction& i) {
  const program_function& f = launch_.code->functions[function];
  function_text& t = texts_[function];
  if (t.lines.empty()) {
    std::string_view rest = f.function->body_text;
    while (!rest.empty()) {
      const auto end = rest.find('\n');
      t.lines.push_back(trimmed(rest.substr(0, end)));
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    }
    for (const ptx::instruction& n : f.body->instructions) {
      const ptx::scalar_type type = ptx::value_type(n);
      if ((type != ptx::scalar_type::f32 && type != ptx::scalar_type::f64) || n.opcode == "cvt")
        continue;
      std::vector<std::string_view> names;
      for (const ptx::operand& o : n.operands) add_registers(o, names);
      for (const std::string_view name : names) t.floats[name] = ptx::name_of(type);
    }
  }
  const std::uint32_t line = i.line - f.function->body_line;
  std::string_view text = line < t.lines.size() ? t.lines[line] : std::string_view();
  text = trimmed(text.substr(0, text.find(';')));
  if (text.find(i.opcode) == std::string_view::npos) return ptx::spelled(i);
  std::string one;
  for (const char c : with_short_lists(text).substr(0, 200)) {
    const char blank = c == '\t' ? ' ' : c;
    if (blank != ' ' || (!one.empty() && one.back() != ' ')) one += blank;
  }
  return one;
}

std::vector<warp_recording::written_register> warp_recorder::registers_of(
    std::uint32_t function, const ptx::instruction& i) {
  std::vector<warp_recording::written_register> found;
  const bool reads_only = i.opcode == "red" || i.opcode == "st" || i.opcode == "call" ||
                          i.opcode == "cp" || i.opcode == "bra";
  if (!ptx::has_result(i) || reads_only || is_wgmma_product(i)) return found;
  std::vector<std::string_view> names;
  add_registers(i.operands[0], names);
  const program_function& f = launch_.code->functions[function];
  const auto& floats = texts_[function].floats;
  ptx::scalar_type type = ptx::value_type(i);
  if (i.opcode == "cvt" || i.opcode == "set")
    for (const std::string_view m : i.modifiers)
      if (const auto t = ptx::type_of(m); t != ptx::scalar_type::none) {
        type = t;
        break;
      }
  for (const std::string_view name : names) {
    const auto vreg = f.registers.find(std::string(name));
    if (vreg == f.registers.end()) continue;
    const std::string bits = std::to_string(8 * vreg->second.bytes);
    std::string shown = vreg->second.bytes == 0               ? "pred"
                        : ptx::name_of(type).starts_with("u") ? "u" + bits
                                                              : "s" + bits;
    const auto is_float = floats.find(name);
    if (vreg->second.bytes >= 4 && is_float != floats.end() && is_float->second == "f" + bits)
      shown = is_float->second;
    found.push_back({std::string(name), shown});
  }
  return found;
}

void warp_recorder::place(warp_recording::instruction& to, std::uint32_t ordinal) {
  const instruction_place& p = view_->places[ordinal];
  if (p.line == instruction_place::none || view_->lines[p.line].path.empty()) return;
  const auto& at = view_->lines[p.line];
  const auto [known, is_new] =
      files_.try_emplace(at.path, static_cast<std::int32_t>(kept_.files.size()));
  if (is_new) kept_.files.push_back({at.path, {}});
  to.file = known->second;
  to.line = at.line;
  kept_.files[static_cast<std::size_t>(to.file)].lines[at.line] =
      std::string(sources_.whole_line(at.path, at.line));
  if (p.inner != instruction_place::none) to.inner = view_->inner[p.inner].function;
}

const warp_recorder::known_instruction& warp_recorder::instruction_at(std::uint32_t ordinal) {
  const auto [at, is_new] = known_.try_emplace(ordinal);
  known_instruction& k = at->second;
  if (!is_new) return k;
  const program& code = *launch_.code;
  std::uint32_t function = 0;
  while (function + 1 < code.functions.size() &&
         code.code[code.functions[function + 1].first_op].ordinal <= ordinal)
    ++function;
  k.function = &code.functions[function];
  const std::uint32_t n = ordinal - code.code[k.function->first_op].ordinal;
  k.number = static_cast<std::uint32_t>(kept_.instructions.size());
  warp_recording::instruction one;
  if (n < k.function->body->instructions.size()) {
    k.is = &k.function->body->instructions[n];
    one.ptx = text_of(function, *k.is);
    one.kind = kind_names[static_cast<int>(ptx::traits_of(*k.is).kind)];
    one.ptx_line = k.is->line;
    one.writes = registers_of(function, *k.is);
    one.note = note_on_async(*k.is);
    place(one, ordinal);
  } else {
    one.ptx = "ret";
    one.kind = "control";
  }
  kept_.instructions.push_back(std::move(one));
  return k;
}

// --- events --------------------------------------------------------------------------------------

void warp_recorder::before(const context& x, const op* i) {
  if (!here_ || is_full()) return;
  if (begun_.empty() || begun_.back().ordinal != i->ordinal) {
    begun_.push_back({i->ordinal, {}, x.registers});
    begun_.back().step.warp = x.owner->warp_index();
    begun_.back().step.fills = take_fills();
  }
  begun& b = begun_.back();
  b.step.mask = b.step.active = x.mask;
  const known_instruction& k = instruction_at(i->ordinal);
  // All lanes execute a branch. Its guard only selects the lanes that take it.
  if (k.is == nullptr || k.is->guard.empty()) return;
  if (ptx::traits_of(*k.is).kind == instruction_kind::control) return;
  const auto vreg = k.function->registers.find(std::string(k.is->guard));
  if (vreg == k.function->registers.end()) return;
  const std::uint32_t holds = x.predicate(vreg->second.offset);
  b.step.active &= k.is->guard_negated ? ~holds : holds;
}

void warp_recorder::after(const context& x, const op* i, const op* next) {
  if (!begun_.empty() && begun_.back().ordinal == i->ordinal &&
      (next == nullptr || next->ordinal != i->ordinal))
    capture(begun_.back(), x);
  // Ops of the rest of the run have not been executed. The warp waits, and they are reported again.
  if (next == nullptr) begun_.clear();
}

// Records the values that an instruction has left in its registers, and in shared memory.
void warp_recorder::capture(begun& b, const context& x) {
  const known_instruction& k = instruction_at(b.ordinal);
  b.step.values.clear();
  for (const auto& w : kept_.instructions[k.number].writes) {
    const auto& place = k.function->registers.at(w.name);
    lane_row values;
    values.bytes = static_cast<std::uint8_t>(place.bytes);
    const std::byte* from = b.registers + place.offset;
    if (place.bytes == 0) std::memcpy(&values.of[0], from, 4);
    for (std::size_t l = 0; place.bytes != 0 && l < 32; ++l)
      std::memcpy(&values.of[l], from + l * place.bytes, place.bytes);
    if (place.bytes == 8 && b.step.active != 0) {
      const std::uint64_t first = values.of[static_cast<std::size_t>(first_lane(b.step.active))];
      values.area = area_at(first);
      if (values.area >= 0) {
        const std::uint64_t base = launch_.memory->allocation_at(first)->base;
        for (auto& v : values.of) v -= base;
      }
    }
    b.step.values.push_back(values);
  }
  for (std::size_t n = 0; n < b.mbarriers.size(); ++n) {
    auto& use = b.step.barriers[n];
    const std::uint64_t word = *b.mbarriers[n];
    const auto field = [&](int from, int to) {
      return static_cast<std::uint32_t>(word >> from & ((std::uint64_t{1} << (to - from)) - 1));
    };
    use.parity = field(mbarrier_parity_at, mbarrier_parity_at + 1);
    use.arrivals = field(mbarrier_pending_at, mbarrier_bytes_at);
    constexpr int unused = 32 - (mbarrier_parity_at - mbarrier_bytes_at);
    use.bytes =
        static_cast<std::int32_t>(field(mbarrier_bytes_at, mbarrier_parity_at) << unused) >> unused;
  }
  for (auto& a : b.step.accesses) {
    a.stored.clear();
    if (a.space != "shared" || a.kind == "load" || a.lanes == 0) continue;
    for (unsigned word = 0; word < std::max(1u, a.bytes / 4); ++word) {
      lane_row values;
      for (std::uint32_t m = a.lanes; m != 0; m &= m - 1) {
        const auto l = static_cast<std::size_t>(first_lane(m));
        const std::uint64_t at = (a.at.of[l] & ~std::uint64_t{3}) + 4 * word;
        if (at + 4 <= x.shared_bytes) std::memcpy(&values.of[l], x.shared + at, 4);
      }
      a.stored.push_back(values);
    }
  }
}

std::int32_t warp_recorder::area_at(std::uint64_t address) {
  const auto at = launch_.memory->allocation_at(address);
  if (!at) return -1;
  const auto [known, is_new] =
      areas_.try_emplace(at->base, static_cast<std::int32_t>(kept_.areas.size()));
  if (is_new) {
    std::string name = name_of_allocation ? name_of_allocation(at->base) : "";
    if (name.empty()) name = "memory " + std::to_string(kept_.areas.size() + 1);
    kept_.areas.push_back({name, 0, at->bytes});
  }
  return known->second;
}

// The words of shared memory that other warps have written since the last step, in runs.
std::vector<warp_recording::fill> warp_recorder::take_fills() {
  std::map<std::uint32_t, std::vector<std::uint32_t>> words;  // by warp, ascending
  for (const auto& [word, warp] : filled_)
    if (4 * std::uint64_t{word} + 4 <= kept_.shared_bytes) words[warp].push_back(word);
  std::vector<warp_recording::fill> fills;
  for (const auto& [warp, list] : words) {
    for (std::size_t at = 0; at < list.size();) {
      const std::uint32_t stride = at + 1 < list.size() ? list[at + 1] - list[at] : 1;
      std::size_t end = at + 1;
      while (end < list.size() && list[end] - list[end - 1] == stride) ++end;
      if (end == at + 2 && stride != 1) end = at + 1;
      const auto count = static_cast<std::uint32_t>(end - at);
      fills.push_back({warp, list[at], count, count == 1 ? 1 : stride});
      at = end;
    }
  }
  filled_.clear();
  return fills;
}

// Computes the cost of an access by the profiler's rules.
void warp_recorder::cost(warp_recording::access& a, const site_plan& p, const access_event& e,
                         const std::uint64_t* address) {
  const auto served = [&](shared_use use) {
    return rules_.are_todays() ? wavefronts(use, address, e.active, p.bytes)
                               : older_wavefronts(rules_, use, address, e.active, p.bytes);
  };
  const auto best = [&](shared_use use, unsigned taken) {
    return rules_.are_todays() ? ideal_wavefronts(use, e.active, p.bytes, taken)
                               : older_ideal_wavefronts(rules_, use, e.active, p.bytes, taken);
  };
  if (e.space == memory_space::shared && p.loops) {
    const swap_loop loop = loop_of(address, e.active, p.bytes);
    a.taken = loop.load_wavefronts + loop.swap_wavefronts;
    a.ideal =
        ideal_wavefronts(shared_use::compare_and_swap, e.active, p.bytes, loop.swap_wavefronts) +
        ideal_wavefronts(shared_use::load, e.active, p.bytes, loop.load_wavefronts);
    return;
  }
  if (e.space == memory_space::shared) {
    const bool around_l1 = p.copies && p.cache == cache_use::l2_only;
    a.taken = p.copies ? copy_wavefronts(copied_from_, address, e.active, p.bytes, around_l1)
                       : served(p.shared);
    a.ideal = best(p.shared, a.taken);
    if (around_l1 && !begun_.back().step.accesses.empty())
      begun_.back().step.accesses.back().taken += sectors_again(copied_from_, address, e.active);
    return;
  }
  touched_lines touched;
  const bool global = e.space == memory_space::global;
  if (global && p.kind == access_kind::atomic) {
    a.taken = atomic_sectors(address, e.active, touched);
  } else {
    if (!global)
      touch_local(address, e.active, p.bytes, 0, touched);
    else if (rules_.are_todays())
      touch(address, e.active, p.bytes, touched);
    else
      touch_older(rules_, address, e.active, p.bytes,
                  p.kind == access_kind::load && p.cache == cache_use::cached, touched);
    a.taken = touched.sectors;
  }
  a.ideal = ideal_sectors(static_cast<unsigned>(std::popcount(e.active)), p.bytes, a.taken);
}

std::uint32_t warp_recorder::access(const access_event& e) {
  if (!here_ || e.active == 0 || e.space == memory_space::parameter) return e.active;
  const site_plan& p = view_->sites[e.index];
  const bool stores = e.site->kind != access_kind::load;
  if (!is_recorded(e.warp)) {
    if (e.space == memory_space::shared && stores)
      for (std::uint32_t m = e.active; m != 0; m &= m - 1)
        for (unsigned k = 0; k < std::max(4u, unsigned{e.site->bytes}); k += 4)
          filled_[static_cast<std::uint32_t>((e.address[first_lane(m)] + k) / 4)] = e.warp;
    return e.active;
  }
  if (begun_.empty() || begun_.back().ordinal != e.at->ordinal) return e.active;
  if (p.copies && p.kind == access_kind::load)
    for (int l = 0; l < 32; ++l) copied_from_[l] = ((e.active >> l) & 1) != 0 ? e.address[l] : 0;
  warp_recording::access a;
  a.kind = e.site->kind == access_kind::load    ? "load"
           : e.site->kind == access_kind::store ? "store"
                                                : "atomic";
  a.space = e.space == memory_space::global   ? "global"
            : e.space == memory_space::shared ? "shared"
                                              : "local";
  a.lanes = e.active;
  a.counted = p.counted;
  a.bytes = p.counted ? p.bytes : e.site->bytes;
  std::uint64_t address[32] = {};
  for (std::uint32_t m = e.active; m != 0; m &= m - 1) {
    const int l = first_lane(m);
    address[l] = e.address[l] + static_cast<std::uint64_t>(p.counted ? std::int64_t{p.offset} : 0);
  }
  if (p.counted) cost(a, p, e, address);
  a.at.bytes = 8;
  std::copy(address, address + 32, a.at.of.begin());
  if (e.space == memory_space::global) {
    const std::uint64_t first = address[first_lane(e.active)];
    a.at.area = area_at(first);
    if (a.at.area >= 0)
      for (auto& v : a.at.of) v -= launch_.memory->allocation_at(first)->base;
  }
  const known_instruction& k = instruction_at(e.at->ordinal);
  std::string& note = kept_.instructions[k.number].note;
  if (!p.counted)
    note = e.site->constant ? "reads the constant bank"
                            : "no access in the machine code: merged with a neighbour, or left out";
  else if (p.bytes != e.site->bytes)
    note = "the machine code makes one access of " + std::to_string(p.bytes) +
           " bytes of it and its neighbours";
  begun_.back().step.accesses.push_back(std::move(a));
  return e.active;
}

void warp_recorder::access_range(const warp_event& e, const range_event& r) {
  if (!here_ || r.space != memory_space::shared || r.kind == access_kind::load) return;
  const std::uint64_t end = std::min(r.address + r.bytes, kept_.shared_bytes);
  for (std::uint64_t at = r.address; at < end; at += 4)
    filled_[static_cast<std::uint32_t>(at / 4)] = e.warp;
}

// The effect on the mbarrier is read when the instruction is done, in capture().
void warp_recorder::used_mbarrier(const warp_event& e, const mbarrier_event& m) {
  const bool is_shown = m.use != mbarrier_use::receives && m.use != mbarrier_use::expects;
  if (!here_ || !is_shown || !is_recorded(e.warp)) return;
  if (begun_.empty() || begun_.back().ordinal != e.at->ordinal) return;
  const char* const use = m.use == mbarrier_use::begins    ? "begins"
                          : m.use == mbarrier_use::arrives ? "arrives"
                          : m.use == mbarrier_use::passes  ? "passes"
                                                           : "polls";
  begun& b = begun_.back();
  auto& uses = b.step.barriers;
  auto same = std::ranges::find_if(
      uses, [&](const auto& known) { return known.use == use && known.at == m.address; });
  if (same == uses.end()) {
    same = uses.insert(uses.end(), {use, m.address});
    b.mbarriers.push_back(m.word);
  }
  same->lanes |= 1u << m.lane;
}

void warp_recorder::keep(warp_recording::step step, std::uint32_t ordinal, std::uint32_t lanes) {
  if (is_full()) return;
  const known_instruction& k = instruction_at(ordinal);
  step.instruction = k.number;
  step.mask = lanes;
  step.active &= lanes;
  kept_.steps.push_back(std::move(step));
}

// In the straight run [first, end), every begun instruction has been executed. An instruction that
// has not begun has no op, such as a product that is part of a fused multiply-add.
void warp_recorder::executed(std::uint32_t warp, std::uint32_t first, std::uint32_t end,
                             std::uint32_t lanes) {
  if (!here_ || !is_recorded(warp)) return;
  std::size_t at = 0;
  for (std::uint32_t ordinal = first; ordinal < end; ++ordinal) {
    const bool wanted = ++kept_.executed >= choice_.first;
    while (at < begun_.size() && begun_[at].ordinal < ordinal) ++at;
    if (at < begun_.size() && begun_[at].ordinal == ordinal) {
      if (wanted) keep(std::move(begun_[at].step), ordinal, lanes);
    } else if (wanted && !is_full()) {
      warp_recording::step bare;
      bare.warp = warp;
      bare.active = lanes;
      const known_instruction& k = instruction_at(ordinal);
      if (k.is != nullptr && kept_.instructions[k.number].note.empty())
        kept_.instructions[k.number].note = "part of a fused multiply-add";
      keep(std::move(bare), ordinal, lanes);
    }
  }
  std::erase_if(begun_, [&](const begun& b) { return b.ordinal < end; });
}

}  // namespace stepwise::emulator
