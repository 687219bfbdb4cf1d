// Issues the instructions of a run one after the other.
#include "common/emulator/time/issue_clock.hpp"

#include "common/emulator/time/schedule.hpp"

namespace stepwise::emulator {

const std::vector<std::uint32_t>& issue_order::of(std::uint32_t first, std::uint32_t end) {
  const std::uint64_t key = std::uint64_t{first} << 32 | end;
  if (key == last_key_) return *last_;
  const auto [found, is_new] = known_.try_emplace(key);
  if (is_new) {
    for (const std::uint32_t n : schedule(code_, costs_, first, end, 1).order)
      found->second.push_back(first + n);
  }
  last_key_ = key;
  last_ = &found->second;
  return *last_;
}

issue_clock::issue_clock(const issue_order& order, double begins)
    : now_(begins), registers_(order.code().register_count, {begins, false}) {}

void issue_clock::accessed(std::uint32_t ordinal, double latency, double l1_pipe) {
  if (!accesses_.empty() && accesses_.back().ordinal == ordinal) {
    access& same = accesses_.back();  // the other half of a copy
    same.latency = std::max(same.latency, latency);
    same.l1_pipe += l1_pipe;
    return;
  }
  accesses_.push_back({ordinal, latency, l1_pipe});
}

void issue_clock::executed(issue_order& order, std::uint32_t first, std::uint32_t end) {
  if (first == end) return;
  for (const std::uint32_t ordinal : order.of(first, end))
    issue(order, ordinal, ordinal + 1 == end);
  accesses_.clear();
}

double issue_clock::copies_done(int groups_left) const {
  double done = groups_left < 0 ? open_group_ : 0;
  const std::size_t keep = groups_left < 0 ? 0 : static_cast<std::size_t>(groups_left);
  for (std::size_t g = 0; g + keep < groups_.size(); ++g) done = std::max(done, groups_[g]);
  return done;
}

// When it can issue, apart from its pipe.
double issue_clock::needed(const code_costs& code, const gpu_costs& costs,
                           const instruction_cost& c) const {
  // A branch waits longer for a comparison than arithmetic does. In a loop that ptxas unrolled,
  // each iteration has its share of this wait.
  const double alu = costs.of[static_cast<int>(unit::alu)].latency;
  const double longer = c.kind == step_kind::branch
                            ? std::max(0.0, costs.predicate - alu) * std::min(1.0F, c.slots)
                            : 0;
  double at = now_;
  for (std::uint32_t r = 0; r < c.reads; ++r) {
    const value& v = registers_[code.names[c.first_read + r]];
    at = std::max(at, v.at + (v.computed ? longer : 0));
  }
  if (c.kind == step_kind::wait_phase) return std::max(at, copies_done(-1));
  const bool waits = c.kind == step_kind::wait_copies || c.kind == step_kind::wait_bulk;
  return waits ? std::max(at, copies_done(c.groups_left)) : at;
}

void issue_clock::issue(const issue_order& order, std::uint32_t ordinal, bool ends_run) {
  const gpu_costs& costs = order.costs();
  const instruction_cost& c = order.code().at[ordinal];
  const auto write = [&](double at, bool computed) {
    for (std::uint32_t r = 0; r < c.written; ++r)
      registers_[order.code().names[c.first_written + r]] = {at, computed};
  };
  double at = needed(order.code(), costs, c);
  const bool acts = c.slots > 0 || c.kind == step_kind::barrier ||
                    c.kind == step_kind::wait_copies || c.kind == step_kind::commit ||
                    is_asynchronous(c.kind);
  if (!acts) return write(at, at > now_);
  const unit_cost& pipe = costs.of[static_cast<int>(c.on)];
  double done;
  if (c.is_memory) {
    const auto found = std::ranges::find(accesses_, ordinal, &access::ordinal);
    const access what = found != accesses_.end() ? *found : access{};  // none: no lane takes part
    at = std::max(at, l1_pipe_free_);
    l1_pipe_free_ = at + what.l1_pipe;
    done = at + std::max(pipe.latency, what.latency + std::max(0.0, what.l1_pipe - 1));
    if (c.kind == step_kind::copy || c.kind == step_kind::bulk_copy)
      open_group_ = std::max(open_group_, done);
  } else {
    double& free = unit_free_[static_cast<int>(c.on)];
    at = std::max(at, free);
    if (c.on != unit::none && c.on != unit::branch) free = at + double{c.slots} * pipe.interval;
    done = at + result_latency(costs, c.on, c.slots);
  }
  now_ = at + c.slots;
  write(done, true);
  if (c.kind == step_kind::branch && (ends_run || c.slots < 1))
    now_ = at + costs.branch * std::min(1.0F, c.slots);
  if (c.kind == step_kind::commit || c.kind == step_kind::commit_bulk) {
    groups_.push_back(open_group_);
    open_group_ = 0;
  }
}

}  // namespace stepwise::emulator
