// Looks up the line of each instruction, plans how each access is counted, and collects notes.
#include "common/emulator/profile/code_view.hpp"

#include <algorithm>

#include "common/emulator/time/uniform_values.hpp"
#include "common/ptx/traits.hpp"
#include "common/source_map/source_map.hpp"

namespace stepwise::emulator {
namespace {

bool has(const ptx::instruction& i, std::string_view modifier) {
  return std::ranges::find(i.modifiers, modifier) != i.modifiers.end();
}

// True for shared-memory atomics that are loops around compare-and-swap. The hardware has only
// 32-bit integer atomics, and exchanges of 32 and 64 bits (seen in an H200's counters).
bool is_loop(const ptx::instruction& i, unsigned bytes) {
  if (has(i, "exch") || has(i, "cas")) return false;
  const bool floating = std::ranges::any_of(i.modifiers, [](std::string_view m) {
    return m == "f32" || m == "f64" || m.starts_with("f16") || m.starts_with("bf16");
  });
  return bytes != 4 || floating;
}

cache_use cache_of(const access_site& s, const ptx::instruction& i, const memory_rules& rules) {
  if (s.kind == access_kind::atomic && !s.ranged) return cache_use::atomic;
  const bool kept = s.space == memory_space::local ? rules.l1_keeps_stack
                    : s.kind == access_kind::store ? true  // caches::store() decides
                    : has(i, "nc")                 ? rules.l1_keeps_read_only_loads
                                                   : rules.l1_keeps_loads;
  if (s.ranged && i.opcode == "cp") return cache_use::l2_only;
  const bool around = s.order != memory_order::weak || has(i, "cg") || has(i, "cv");
  return around || !kept ? cache_use::l2_only : cache_use::cached;
}

std::string note_of(const dropped_access& d, const ptx::instruction& i) {
  const std::string what = std::string(i.opcode) + " (PTX line " + std::to_string(i.line) + ")";
  switch (d.reason) {
    case drop_reason::same_address:
      return what + " is not executed: the value was loaded before";
    case drop_reason::unused:
      return what + " is not executed: no instruction uses the value";
    case drop_reason::in_registers:
      return what + " is not executed: the machine code keeps the value in a register";
    case drop_reason::constant_bank:
      return what + " is no access of its own: the constant is an operand";
    default:
      return what + " is not executed: the machine code has no instruction for it";
  }
}

// Unrolled copies of a loop give equal notes. Keeps each note once, with its count.
void merge_equal(std::vector<std::string>& notes) {
  std::vector<std::string> merged;
  std::vector<std::size_t> times;
  for (const std::string& note : notes) {
    const auto known = std::ranges::find(merged, note);
    if (known != merged.end()) {
      ++times[static_cast<std::size_t>(known - merged.begin())];
    } else {
      merged.push_back(note);
      times.push_back(1);
    }
  }
  for (std::size_t n = 0; n < merged.size(); ++n)
    if (times[n] > 1) merged[n] += " (" + std::to_string(times[n]) + " times)";
  notes = std::move(merged);
}

}  // namespace

code_view::code_view(const program& code, const image::kernel_resources* machine_code,
                     const memory_rules& rules)
    : rules_(rules) {
  sites.resize(code.accesses.size());
  places.resize(code.code.empty() ? 0 : code.code.back().ordinal + 1);
  own_local_bytes = code.functions.front().local_bytes;
  sites_of_.resize(code.functions.size());
  for (std::uint32_t n = 0; n < code.accesses.size(); ++n)
    if (code.accesses[n].instruction >= 0) sites_of_.at(code.accesses[n].function).push_back(n);
  for (std::size_t n = 0; n < code.functions.size(); ++n) add_function(code, n, machine_code);
  for (line_place& l : lines) merge_equal(l.notes);
}

std::uint32_t code_view::line_of(const std::string& path, std::uint32_t line) {
  const auto [at, is_new] = line_index_.try_emplace(path + '\n' + std::to_string(line),
                                                    static_cast<std::uint32_t>(lines.size()));
  if (is_new) lines.push_back({path, line, {}});
  return at->second;
}

std::uint32_t code_view::inner_of(inner_place place) {
  const auto [at, is_new] = inner_index_.try_emplace(
      place.function + '\n' + place.path + '\n' + std::to_string(place.line),
      static_cast<std::uint32_t>(inner.size()));
  if (is_new) inner.push_back(std::move(place));
  return at->second;
}

void code_view::add_function(const program& code, std::size_t index,
                             const image::kernel_resources* machine_code) {
  const program_function& f = code.functions[index];
  if (f.body == nullptr || f.body->instructions.empty()) return;
  const source_map map(*f.module, *f.function, machine_code);
  knows_machine_code = knows_machine_code || map.knows_machine_code;

  std::vector<std::uint32_t> line_numbers, inner_numbers;
  for (const source_line& l : map.lines) line_numbers.push_back(line_of(l.file, l.line));
  for (const std::vector<source_frame>& chain : map.chains) {
    const source_frame& outer = chain.front();
    inner_numbers.push_back(inner_of({outer.function, outer.at.file, outer.at.line}));
  }

  const std::uint32_t first = code.code[f.first_op].ordinal;
  for (std::size_t n = 0; n < f.body->instructions.size() && first + n < places.size(); ++n) {
    const ptx::instruction& i = f.body->instructions[n];
    const instruction_source& s = map.instructions[n];
    instruction_place& p = places[first + n];
    if (s.line != no_index) p.line = line_numbers[s.line];
    if (s.inner != no_index) p.inner = inner_numbers[s.inner];
    p.on = ptx::traits_of(i).pipe;
    p.branches = ptx::is_branch(i);
    p.tensor = tensor_work_of(i);
    p.kind = kind_of(i);
  }
  plan_sites(code, index, map, line_numbers);
}

void code_view::plan_sites(const program& code, std::size_t index, const source_map& map,
                           const std::vector<std::uint32_t>& line_numbers) {
  const program_function& f = code.functions[index];
  const uniform_values uniform(f.body->instructions);
  for (const std::uint32_t n : sites_of_[index]) {
    const access_site& s = code.accesses[n];
    const auto at = static_cast<std::size_t>(s.instruction);
    const ptx::instruction& i = f.body->instructions[at];
    const instruction_source& source = map.instructions[at];
    site_plan& p = sites[n];
    p.counted =
        !s.constant && source.role != access_role::member && source.role != access_role::dropped;
    p.constant = s.constant;
    p.kind = s.kind;
    p.bytes = s.bytes;
    p.ordinal = s.ordinal;
    p.cache = cache_of(s, i, rules_);
    p.copies = i.opcode == "cp";
    p.ranged = s.ranged;
    if (std::uint32_t& first = places[s.ordinal].site; first == instruction_place::none) first = n;
    if (source.role == access_role::leader) {
      p.bytes = static_cast<std::uint8_t>(map.groups[source.group].bytes);
      p.offset = map.groups[source.group].offset;
    }
    p.combined = map.knows_machine_code && s.kind == access_kind::atomic &&
                 ptx::space_of(i) != ptx::state_space::shared && uniform.has_one_sum(i);
    p.loops = s.kind == access_kind::atomic && is_loop(i, s.element_bytes);
    p.shared = s.matrix                       ? shared_use::rows
               : s.kind == access_kind::load  ? shared_use::load
               : s.kind == access_kind::store ? shared_use::store
               : has(i, "cas")                ? shared_use::compare_and_swap
                                              : shared_use::atomic;
  }
  const auto line_at = [&](std::uint32_t instruction) -> line_place* {
    const std::uint32_t line = map.instructions[instruction].line;
    return line == no_index ? nullptr : &lines[line_numbers[line]];
  };
  for (const dropped_access& d : map.dropped)
    if (line_place* l = line_at(d.instruction))
      l->notes.push_back(note_of(d, f.body->instructions[d.instruction]));
  for (const std::uint32_t n : sites_of_[index])
    if (line_place* l = sites[n].combined
                            ? line_at(static_cast<std::uint32_t>(code.accesses[n].instruction))
                            : nullptr)
      l->notes.emplace_back("the machine code adds a warp's values first: one atomic per warp");
  for (const access_group& g : map.groups)
    if (line_place* l = line_at(g.leader))
      l->notes.push_back(std::to_string(g.members.size()) + " adjacent accesses are one of " +
                         std::to_string(g.bytes) + " bytes in the machine code");
  for (const thinned_access& t : map.thinned)
    if (line_place* l = line_at(t.instruction))
      l->notes.push_back(
          "the machine code shares accesses between iterations: the counts may be up to " +
          std::to_string(t.block_copies) + "/" + std::to_string(t.copies) + " times too high");
}

}  // namespace stepwise::emulator
