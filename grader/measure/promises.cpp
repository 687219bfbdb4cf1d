// Divides the earlier step's time by the step's own time, at each promised size.
#include "grader/measure/promises.hpp"

#include <fmt/format.h>

namespace stepwise {

std::vector<promise> judge_promises(const lab& l, const step_times& time_ms) {
  std::vector<promise> judged;
  for (const step& s : l.steps) {
    if (!s.at_least) continue;
    for (const lab_size& size : s.promised.empty() ? l.promised : s.promised) {
      promise p{s.name, s.over, size, *s.at_least, std::nullopt};
      const auto before = time_ms(s.over, size), after = time_ms(s.name, size);
      if (before && after && *after > 0) p.ratio = *before / *after;
      judged.push_back(std::move(p));
    }
  }
  return judged;
}

std::string promise_text(const promise& p) {
  const std::string at = size_text(p.size);
  if (!p.ratio) {
    return fmt::format("{} over {} at {}: not measured; promised: at least {:.2f}", p.step, p.over,
                       at, p.at_least);
  }
  return fmt::format("{} runs at {:.3f}x the speed of {} at {}; promised: at least {:.2f}", p.step,
                     *p.ratio, p.over, at, p.at_least);
}

}  // namespace stepwise
