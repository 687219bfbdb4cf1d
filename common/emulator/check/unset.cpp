// Follows unset values through memory, and describes their uses.
#include "common/emulator/check/unset.hpp"

#include <algorithm>
#include <limits>

#include "common/emulator/check/statements.hpp"

namespace stepwise::emulator {
namespace {

// Lines that are searched for a variable's declaration, before the line that reads it.
constexpr int most_lines_before = 400;
constexpr int most_lines_after = 6;

const char* effect_words(unset_use::effect what) {
  switch (what) {
    case unset_use::effect::store:
      return "stores the result";
    case unset_use::effect::address:
      return "computes an address from it";
    case unset_use::effect::branch:
      return "branches on it";
    case unset_use::effect::argument:
      return "passes it to a function";
  }
  return "";
}

}  // namespace

void unset_check::begin_launch(const launch_info& info) {
  watches_ = !info.code->unset_uses.empty();
  first_reads_.assign(info.code->unset_origins.size(), {});
  reads_ = 0;
  store_ = {};
}

void unset_check::begin_block(const block& b) {
  if (!watches_) return;
  block_memory& m = blocks_.begin(b);
  m.unset_local.assign(evidence_.block_warps * local_bytes(), all_lanes);
  m.unset_shared.clear();
}

void unset_check::switch_to(const block& b) {
  if (watches_) blocks_.switch_to(b);
}

void unset_check::read_unset(const warp_event& e, std::uint32_t origin) {
  first_read& first = first_reads_[origin];
  if (first.at != nullptr) return;
  first = {e.at, e.warp, evidence_.running().clock.index, first_lane(e.lanes), ++reads_};
}

void unset_check::used_unset(const warp_event& e, std::uint32_t use, bool by_store) {
  if (by_store)
    store_ = {e.warp, e.lanes, use, e.at};
  else
    report(e, use);
}

std::uint32_t unset_check::loaded_unset(std::uint32_t, unsigned element) {
  return element < std::size(loaded_) ? loaded_[element] : 0;
}

void unset_check::follow(const access_event& e) {
  const access_site& s = *e.site;
  std::uint32_t unset = 0;
  if (s.kind == access_kind::store && store_.lanes != 0) {
    if (store_.warp == e.warp) unset = store_.lanes & e.active;
    if (unset != 0 && e.space == memory_space::global)
      report({e.warp, unset, store_.at}, store_.use);
    store_.lanes &= ~e.active;
  }
  std::ranges::fill(loaded_, 0);
  if (e.space == memory_space::local && local_bytes() != 0) follow_local(e, unset);
  if (e.space == memory_space::shared) follow_shared(e, unset);
}

void unset_check::follow_local(const access_event& e, std::uint32_t unset) {
  const access_site& s = *e.site;
  const std::uint64_t first = evidence_.code->checked_local.base, size = local_bytes();
  std::uint32_t* const memory = blocks_.current().unset_local.data() + e.warp * size;
  const unsigned elements = std::max(1, s.element_bytes != 0 ? s.bytes / s.element_bytes : 1);
  for (std::uint32_t m = e.active; m != 0;) {
    const std::uint64_t at = e.address[first_lane(m)];
    std::uint32_t same = 0;
    for (std::uint32_t l = m; l != 0; l &= l - 1)
      if (e.address[first_lane(l)] == at) same |= l & -l;
    m &= ~same;
    if (at < first || at - first >= size || s.bytes > size - (at - first)) continue;
    std::uint32_t* const bytes = memory + (at - first);
    if (s.kind != access_kind::load) {
      for (unsigned k = 0; k < s.bytes; ++k) bytes[k] = (bytes[k] & ~same) | (unset & same);
      continue;
    }
    for (unsigned n = 0; n < elements && n < std::size(loaded_); ++n) {
      std::uint32_t all = same;
      for (unsigned k = 0; k < s.bytes / elements; ++k) all &= bytes[n * (s.bytes / elements) + k];
      loaded_[n] |= all;
    }
  }
}

void unset_check::follow_shared(const access_event& e, std::uint32_t unset) {
  const access_site& s = *e.site;
  std::vector<std::uint8_t>& memory = blocks_.current().unset_shared;
  if (memory.empty()) {
    if (unset == 0) return;
    memory.assign(evidence_.state->shared_bytes, 0);
  }
  const unsigned elements = std::max(1, s.element_bytes != 0 ? s.bytes / s.element_bytes : 1);
  for (std::uint32_t m = e.active; m != 0; m &= m - 1) {
    const int lane = first_lane(m);
    const std::uint64_t at = e.address[lane];
    if (at >= memory.size() || s.bytes > memory.size() - at) continue;
    const auto from = memory.begin() + static_cast<std::ptrdiff_t>(at);
    if (s.kind != access_kind::load) {
      std::fill_n(from, s.bytes, static_cast<std::uint8_t>((unset >> lane) & 1));
      continue;
    }
    const std::ptrdiff_t each = s.bytes / static_cast<std::ptrdiff_t>(elements);
    for (unsigned n = 0; n < elements && n < std::size(loaded_); ++n)
      if (std::all_of(from + n * each, from + (n + 1) * each, [](auto b) { return b != 0; }))
        loaded_[n] |= m & -m;
  }
}

void unset_check::note_written_shared(std::uint64_t at, std::uint64_t bytes) {
  if (!watches_) return;
  std::vector<std::uint8_t>& memory = blocks_.current().unset_shared;
  if (at >= memory.size()) return;
  std::fill_n(memory.begin() + static_cast<std::ptrdiff_t>(at),
              std::min<std::uint64_t>(bytes, memory.size() - at), std::uint8_t{0});
}

// Names the line that reads the variable first, and the line where the value has an effect.
void unset_check::report(const warp_event& e, std::uint32_t use) {
  const unset_use& u = evidence_.code->unset_uses[use];
  const first_read* first = nullptr;
  for (const std::uint32_t origin : u.origins) {
    const first_read& r = first_reads_[origin];
    if (r.at != nullptr && (first == nullptr || r.number < first->number)) first = &r;
  }
  if (first == nullptr) return;
  const auto [function, instruction] = evidence_.instruction_of(first->at);
  std::uint32_t number = 0;
  while (&evidence_.code->functions[number] != function) ++number;
  if (evidence_.source.is_library(*evidence_.code, number, instruction)) return;
  const code_place at = evidence_.source.of(*evidence_.code, first->at);
  const finding_key k =
      evidence_.key(finding_kind::unset_variable, at.line != 0 ? at.line : -2 - instruction, -1, 0);
  if (!evidence_.log.is_new(k, count_of(e.lanes))) return;

  std::vector<std::string> names;
  for (const source_line& level : evidence_.source.chain_of(*evidence_.code, first->at)) {
    const int line = static_cast<int>(level.line), from = std::max(1, line - most_lines_before);
    names = unset_names(evidence_.source.lines(level.file, static_cast<std::uint32_t>(from),
                                               level.line + most_lines_after),
                        line - from);
    if (!names.empty()) break;
  }
  std::string variable = "a local variable";
  if (!names.empty()) variable = names[0];
  for (std::size_t n = 1; n < names.size(); ++n) variable += " or " + names[n];

  finding f;
  f.kind = finding_kind::unset_variable;
  f.message = "a thread uses " + variable + " before it is set";
  const code_place effect = evidence_.source.of(*evidence_.code, e.at);
  if (effect.line != 0 && effect.line != at.line)
    f.message += ", and line " + std::to_string(effect.line) + " " + effect_words(u.what);
  f.parties.push_back(evidence_.party(first->at, first->warp, first->lane, "reads " + variable));
  f.parties[0].block = place(first->block, evidence_.config->grid);
  const std::string it = names.size() == 1 ? variable : "it";
  const bool is_array = names.size() == 1 && at.text.find(variable + "[") != std::string::npos;
  f.advice = is_array
                 ? "Every thread has a " + it +
                       " of its own, which initially has arbitrary values: store to it first, or "
                       "declare it __shared__ if the threads of a block share it."
                 : "A local variable has an arbitrary value at first: give " + it +
                       " a value where it is declared, or on every path to this line.";
  f.count = count_of(e.lanes);
  f.origin = evidence_.launch_origin;
  evidence_.log.add(k, std::move(f));
}

}  // namespace stepwise::emulator
