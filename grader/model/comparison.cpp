// Sums each call, and pairs the sums.
#include "grader/model/comparison.hpp"

#include <algorithm>

namespace stepwise {
namespace {

constexpr double a_tenth_less = 0.9;

// The sums of a whole call.
struct call_sums {
  double us = 0, launches = 0, instructions = 0;
  level_bytes bytes;
  struct {
    double requests = 0, cost = 0, waste = 0;
  } of[access_kinds];
};

call_sums sums_of(const std::vector<kernel_profile>& call, int multiprocessors) {
  call_sums s;
  for (const kernel_profile& k : call) {
    const kernel_analysis a = analyse(k, k.timing.us, multiprocessors);
    const double all = k.timing.counted > 0 ? 1 / k.timing.counted : 1;
    s.us += k.timing.us;
    s.launches += static_cast<double>(k.launches);
    s.instructions += k.timing.instructions;
    s.bytes.global += a.bytes.global;
    s.bytes.shared += a.bytes.shared;
    s.bytes.l2 += a.bytes.l2;
    s.bytes.dram += a.bytes.dram;
    for (int n = 0; n < access_kinds; ++n) {
      const access_cost c = cost_of(k.total, static_cast<access>(n));
      s.of[n].requests += all * static_cast<double>(c.requests);
      s.of[n].cost += all * static_cast<double>(c.cost);
      s.of[n].waste += all * static_cast<double>(c.waste());
    }
  }
  return s;
}

std::optional<double> per_request(const call_sums& s, access what) {
  const auto& one = s.of[static_cast<int>(what)];
  if (one.requests <= 0) return {};
  return one.cost / one.requests;
}

std::optional<double> wasted_wavefronts(const call_sums& s) {
  double requests = 0, waste = 0;
  for (int n = static_cast<int>(access::shared_load); n < access_kinds; ++n) {
    requests += s.of[n].requests;
    waste += s.of[n].waste;
  }
  if (requests <= 0) return {};
  return waste;
}

}  // namespace

bool compared_figure::is_better() const {
  if (!before || !after || better == wanted::neither) return false;
  return better == wanted::less ? *after < a_tenth_less * *before : *before < a_tenth_less * *after;
}

bool compared_figure::is_worse() const {
  if (!before || !after || better == wanted::neither) return false;
  return better == wanted::less ? *before < a_tenth_less * *after : *after < a_tenth_less * *before;
}

call_comparison compare(const std::vector<kernel_profile>& before,
                        const std::vector<kernel_profile>& after, int multiprocessors) {
  using kind = compared_figure::kind;
  using wanted = compared_figure::wanted;
  const call_sums b = sums_of(before, multiprocessors), a = sums_of(after, multiprocessors);
  call_comparison c;
  c.before = analyse(*ranked(before).front(), b.us, multiprocessors);
  c.after = analyse(*ranked(after).front(), a.us, multiprocessors);
  const auto add = [&](std::string name, kind what, wanted better, std::optional<double> one,
                       std::optional<double> other) {
    if (one || other) c.figures.push_back({std::move(name), what, better, one, other});
  };
  add("time", kind::time_us, wanted::less, b.us, a.us);
  add("launches", kind::count, wanted::less, b.launches, a.launches);
  add("machine instructions", kind::count, wanted::less, b.instructions, a.instructions);
  add("bytes requested from L1", kind::bytes, wanted::less, b.bytes.global, a.bytes.global);
  add("bytes of shared memory", kind::bytes, wanted::neither, b.bytes.shared, a.bytes.shared);
  add("bytes at L2", kind::bytes, wanted::less, b.bytes.l2, a.bytes.l2);
  add("bytes at DRAM", kind::bytes, wanted::less, b.bytes.dram, a.bytes.dram);
  for (const access what : {access::global_load, access::global_store, access::local_load})
    add(std::string("sectors per ") + name_of(what), kind::number, wanted::neither,
        per_request(b, what), per_request(a, what));
  const auto wasted = [](const call_sums& s) {
    double waste = 0;
    for (int n = 0; n < static_cast<int>(access::shared_load); ++n) waste += s.of[n].waste;
    return waste;
  };
  add("uncoalesced (wasted sectors)", kind::count, wanted::less, wasted(b), wasted(a));
  add("bank conflicts (wasted wavefronts)", kind::count, wanted::less, wasted_wavefronts(b),
      wasted_wavefronts(a));
  for (int n = 0; n < busy_parts; ++n)
    add(std::string("busy: ") + name_of(static_cast<part>(n)), kind::share, wanted::neither,
        c.before.kernel->timing.busy[n], c.after.kernel->timing.busy[n]);
  add("active lanes of 32", kind::number, wanted::more, c.before.lanes, c.after.lanes);
  add("theoretical occupancy", kind::share, wanted::neither, c.before.theoretical_occupancy,
      c.after.theoretical_occupancy);
  add("achieved occupancy", kind::share, wanted::neither, c.before.achieved_occupancy,
      c.after.achieved_occupancy);
  for (int n = 0; n < stalls; ++n) {
    const auto why = static_cast<stall>(n);
    add(std::string("stalls: ") + name_of(why), kind::share, wanted::neither,
        c.before.stall_of(why), c.after.stall_of(why));
  }
  return c;
}

}  // namespace stepwise
