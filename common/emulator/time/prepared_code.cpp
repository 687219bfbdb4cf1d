// Schedules each run once per number of copies, and caches it.
#include "common/emulator/time/prepared_code.hpp"

#include <algorithm>
#include <bit>

#include "common/emulator/time/schedule.hpp"

namespace stepwise::emulator {
namespace {

constexpr std::size_t most_unrolled = 768;  // instructions that are scheduled together

}  // namespace

prepared_code::prepared_code(const launch_trace& trace, const code_costs& code,
                             const gpu_costs& costs)
    : trace_(trace),
      code_(code),
      costs_(costs),
      runs_(trace.runs.size()),
      there_(code.at.size(), -1) {}

std::uint32_t prepared_code::most_copies(std::uint32_t run) const {
  const launch_trace::run& r = trace_.runs[run];
  std::uint32_t copies = std::bit_floor(std::uint32_t{code_.copies[r.end - 1]});
  while (copies > 1 && copies * (r.end - r.first) > most_unrolled) copies /= 2;
  return copies;
}

const timed_run& prepared_code::run(std::uint32_t run, std::uint32_t copies) {
  auto& known = runs_[run].by_copies;
  for (const auto& p : known)
    if (p->copies == copies) return *p;
  const launch_trace::run& r = trace_.runs[run];
  const std::uint32_t length = r.end - r.first;
  auto fresh = std::make_unique<timed_run>();
  fresh->copies = copies;
  std::vector<std::uint32_t> slot(length);
  for (std::uint32_t n = 0; n < length; ++n)
    slot[n] = code_.at[r.first + n].is_memory ? fresh->memory_ops++ : 0;
  for (const std::uint32_t n : schedule(code_, costs_, r.first, r.end, copies).order) {
    const std::uint32_t ordinal = r.first + n % length;
    const instruction_cost& c = code_.at[ordinal];
    if (c.slots == 0 && c.written == 0 && !c.is_memory && c.kind == step_kind::compute) continue;
    // An unrolled loop has one branch after all its copies.
    const bool is_unrolled = copies > 1 && c.kind == step_kind::branch && c.slots < 1;
    if (is_unrolled && n / length + 1 != copies) continue;
    const float slots =
        is_unrolled ? std::min(1.0F, c.slots * static_cast<float>(copies)) : c.slots;
    fresh->ops.push_back({ordinal, c.kind, c.on, c.is_memory, c.is_shared, c.groups_left, slots,
                          c.first_read, c.reads, c.first_written, c.written,
                          n / length * fresh->memory_ops + slot[n % length], c.tensor});
  }
  known.push_back(std::move(fresh));
  return *known.back();
}

std::uint32_t prepared_code::memory_place(std::uint32_t run, std::uint32_t ordinal) {
  auto& places = runs_[run].places;
  const launch_trace::run& r = trace_.runs[run];
  if (places.empty()) {
    std::uint32_t n = 0;
    for (std::uint32_t o = r.first; o < r.end; ++o)
      places.push_back(code_.at[o].is_memory ? n++ : 0);
  }
  return places[ordinal - r.first];
}

double prepared_code::fetched(std::uint32_t run, double at) {
  const launch_trace::run& r = trace_.runs[run];
  known_run& known = runs_[run];
  if (known.is_there && at >= fetch_) return at;
  double slots = 0, there = at;
  for (std::uint32_t n = r.first; n < r.end; ++n)
    if (there_[n] < 0) slots += code_.at[n].slots * code_.copies[n];
  if (slots > 0) fetch_ = std::max(fetch_, at) + slots * costs_.first_instruction;
  for (std::uint32_t n = r.first; n < r.end; ++n) {
    if (there_[n] < 0) there_[n] = fetch_;
    there = std::max(there, there_[n]);
  }
  known.is_there = true;
  return there;
}

}  // namespace stepwise::emulator
