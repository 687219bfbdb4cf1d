// Advice for a race that is a lost update: both threads read, change and write the same word.
#include <algorithm>

#include "common/emulator/check/advice/race_report.hpp"
#include "common/ptx/traits.hpp"

namespace stepwise::emulator {
namespace {

struct update_words {
  const char *changes, *change, *noun, *instead;
};

update_words words_for(word_change how) {
  switch (how) {
    case word_change::addition:
      return {"adds", "add", "addition", "atomicAdd()"};
    case word_change::minimum:
      return {"compares", "compare", "value", "atomicMin()"};
    case word_change::maximum:
      return {"compares", "compare", "value", "atomicMax()"};
    case word_change::bits_and:
      return {"changes", "change", "change", "atomicAnd()"};
    case word_change::bits_or:
      return {"changes", "change", "change", "atomicOr()"};
    case word_change::bits_xor:
      return {"changes", "change", "change", "atomicXor()"};
    case word_change::compared:
      return {"compares", "compare", "value", "an atomic operation or a reduction"};
    default:
      return {"changes", "change", "change", "an atomic operation or a reduction"};
  }
}

// Whether a thread can execute the load and end without the store, as in
// `if (threadIdx.x == 0) count += 1; out[i] = count;`, for which nvcc may emit one load.
bool may_skip_store(const function_flow& f, const word_update& u) {
  const std::vector<ptx::instruction>& all = f.body.instructions;
  const std::uint32_t from = f.flow.block_of[u.load], store = f.flow.block_of[u.store];
  const ptx::instruction &load = all[u.load], &last = all[u.store];
  if (from == store) return load.guard != last.guard || load.guard_negated != last.guard_negated;
  std::vector<bool> seen(f.flow.blocks.size());
  std::vector<std::uint32_t> open = {from};
  while (!open.empty()) {
    const std::uint32_t block = open.back();
    open.pop_back();
    if (block == store || seen[block]) continue;
    seen[block] = true;
    const std::vector<std::uint32_t>& next = f.flow.blocks[block].successors;
    if (next.empty()) return true;
    open.insert(open.end(), next.begin(), next.end());
  }
  return false;
}

}  // namespace

std::optional<word_update> race_report::update_at(std::uint32_t site) {
  if (site >= evidence_.code->accesses.size()) return std::nullopt;
  const access_site& s = evidence_.site_at(site);
  if (s.kind == access_kind::atomic || s.asynchronous || s.instruction < 0) return std::nullopt;
  function_flow& f = evidence_.flow_of(evidence_.code->functions[s.function]);
  return s.kind == access_kind::load ? update_by_load(f.values(), f.flow, s.instruction)
                                     : update_by_store(f.values(), f.flow, s.instruction);
}

// Empty if the race is of another kind. In a loop, two stores by one statement may also race
// because a barrier is missing between iterations. That is assumed if only the iteration decides
// which word a thread changes.
std::string race_report::lost_update_advice(const lane_access& t, race_between who,
                                            std::uint32_t other_site) {
  if (who == race_between::streams || who == race_between::copy || other_site == no_site) return {};
  const auto mine = update_at(t.number), theirs = update_at(other_site);
  const std::uint32_t function = t.site->function;
  if (!mine || !theirs || evidence_.site_at(other_site).function != function) return {};
  function_flow& f = evidence_.flow_of(evidence_.code->functions[function]);
  // A thread that only reads has no update to lose: the two accesses need an order.
  const auto only_reads = [&](const access_site& s, const word_update& u) {
    return s.kind == access_kind::load && u.how != word_change::compared && may_skip_store(f, u);
  };
  if (only_reads(*t.site, *mine) || only_reads(evidence_.site_at(other_site), *theirs)) return {};
  const code_place read = evidence_.source.of(*evidence_.code, function, mine->load);
  const code_place written = evidence_.source.of(*evidence_.code, function, mine->store);
  const bool same_address = f.values().same_address(mine->store, theirs->store);
  const bool same_line =
      written.line != 0 &&
      written.line == evidence_.source.of(*evidence_.code, function, theirs->store).line;
  if (!same_address && !same_line) return {};
  const bool one_pass = mine->store == theirs->store && !f.is_in_loop(mine->store);
  const register_flow::sources index = f.values().of_address(mine->store);
  const bool from_data = std::ranges::any_of(index.instructions, [&](std::int32_t n) {
    return f.values().at(n).opcode == "ld" &&
           ptx::space_of(f.values().at(n)) != ptx::state_space::param;
  });
  if (who != race_between::one_store && who != race_between::blocks && !one_pass && !from_data &&
      (!same_address || index.merges))
    return {};
  // If lanes store to one element with one store, `who` is race_between::one_store. Otherwise, an
  // index that depends on the lane gives each lane its own element, and the accesses of two lanes
  // need an order.
  const bool by_lane = std::ranges::any_of(index.names, [](std::string_view name) {
    return name.starts_with("%tid.x") || name.starts_with("%laneid");
  });
  if (who == race_between::lanes && by_lane && !from_data) return {};
  const update_words words = words_for(mine->how);
  const bool one_line = read.line == written.line && read.file == written.file;
  std::string text = one_line ? std::string("The statement reads, ") + words.changes + " and writes"
                              : "Lines " + std::to_string(std::min(read.line, written.line)) +
                                    " and " + std::to_string(std::max(read.line, written.line)) +
                                    " read, " + words.change + " and write";
  text += std::string(" in three steps, so another thread's ") + words.noun + " is lost: use " +
          words.instead;
  // A variable with only one element has no index that could be wrong.
  const bool is_array = evidence_.describe(*t.memory, t.at, t.site->element_bytes).object.bytes >
                        t.site->element_bytes;
  return text +
         (is_array ? ", or check the index if every thread should have its own element." : ".");
}

}  // namespace stepwise::emulator
