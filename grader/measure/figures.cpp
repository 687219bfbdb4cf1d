// Makes one call with warm-ups and repetitions, checks it, and reads its times or counters.
#include "grader/measure/figures.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "grader/judge/call_file.hpp"
#include "grader/judge/session.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"

namespace stepwise {
namespace {

constexpr std::uint32_t gpu_warmups = 3;
constexpr std::uint32_t gpu_repetitions = 21;
// A figure's call is larger than a check's, so on the emulator it may take longer.
constexpr double figure_patience = 6;

}  // namespace

std::string rate_text(const problem_work& work, double time_ms) {
  return work.rated_unit.empty() ? rate_text(work.bytes / time_ms / 1e6)
                                 : operations_text(work.rated / time_ms * 1e3, work.rated_unit);
}

double figures::global_bytes() const {
  return counters ? static_cast<double>(counters->global_load_bytes + counters->global_store_bytes)
                  : 0;
}

lab_size figure_size(const lab& l, const device_choice& device,
                     const std::optional<lab_size>& wanted) {
  return wanted ? *wanted : device.gpu ? l.bench.back() : l.emulated.back();
}

lab_size modelled_size(const lab& l, const gpu& emulated_gpu) {
  const auto fits = [&](const lab_size& size) {
    return std::all_of(size.begin(), size.end(), [&](std::int64_t n) {
      return n <= std::int64_t{32} * emulated_gpu.max_grid[0];
    });
  };
  if (fits(l.modelled.back())) return l.modelled.back();
  lab_size best = l.emulated.back();
  for (const auto* sizes : {&l.modelled, &l.bench})
    for (const auto& size : *sizes)
      if (fits(size) && size > best) best = size;
  return best;
}

figures measure_program(const lab& l, const problem& p, const std::filesystem::path& program,
                        const device_choice& device, const lab_size& size, std::uint64_t seed,
                        const activity& now) {
  figures result;
  result.size = size;
  std::vector<problem_call> calls;
  try {
    calls.push_back(p.make_call(size, seed));
    result.work = p.work(size);
  } catch (const std::invalid_argument& error) {
    throw failure(exit_code::usage, error.what());
  }
  result.label = calls[0].label;
  planned_call plan;
  if (device.gpu) {
    plan.how.warmups = gpu_warmups;
    plan.how.repetitions = gpu_repetitions;
    plan.how.cold_l2 = 1;
  }
  const call_file file(calls, {plan});
  session_options options = options_for(device, figure_patience * l.time_limit_s, file.bytes());
  options.tick = now.tick;
  now.doing(fmt::format("{} {}", device.gpu ? "timing" : "counting", result.label));
  session runner(program, device, file, options);
  result.found = runner.call(0);
  result.printed = runner.printed();
  if (!result.found.ok()) return result;
  if (const auto wrong = check_outputs(p, calls[0], file.outputs(0))) {
    result.found = {verdict::wrong, *wrong};
    return result;
  }
  const auto record = file.record(0);
  if (record.counters.valid == 1) result.counters = record.counters;
  if (device.gpu) {
    const auto times = file.times(0);
    result.samples = times.size();
    result.time_ms = median(times);
    result.time_range_ms = median_interval(times);
  }
  return result;
}

}  // namespace stepwise
