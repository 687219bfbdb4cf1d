// Models one call after the other, because each uses all cores.
#include "grader/model/sweep_times.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "grader/model/modelled.hpp"

namespace stepwise {

void model_points(const sweep_run& run, std::vector<sweep_point>& points, double patience_s,
                  const activity& now) {
  const auto right = std::count_if(points.begin(), points.end(),
                                   [](const auto& point) { return point.found.ok(); });
  int done = 0;
  for (auto& point : points) {
    if (!point.found.ok()) continue;
    const std::string what = fmt::format("modelling the time of {} of {}", ++done, right);
    const activity one{[&](const std::string&) { now.doing(what); }, now.tick};
    modelled_figures m = model_program(run.l, run.p, point.program, point.size, run.seed,
                                       run.emulator, one, patience_s);
    m.drop_doubtful_time();
    point.label = without_seed(m.label);
    if (!m.timed()) {
      point.why_no_time = m.why_no_time();
      continue;
    }
    point.modelled_ms = m.time_ms;
    if (const kernel_profile* const main = point.main_kernel()) {
      for (const auto& kernel : m.kernels)
        if (kernel.mangled == main->mangled)
          point.modelled_blocks = std::max(point.modelled_blocks, volume(kernel.grid));
    }
  }
}

}  // namespace stepwise
