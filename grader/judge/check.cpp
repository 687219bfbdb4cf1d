#include "grader/judge/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <stdexcept>

#include "grader/judge/call_file.hpp"
#include "grader/judge/session.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/signals.hpp"

namespace stepwise {

check_report check_program(const lab& l, const problem& p, const std::filesystem::path& program,
                           const device_choice& device, const std::vector<lab_size>& sizes,
                           std::uint64_t seed, const activity& now) {
  check_report report;
  report.total = sizes.size();
  report.seed = seed;
  std::vector<problem_call> calls;
  std::vector<planned_call> plans;
  for (const auto& size : sizes) {
    try {
      calls.push_back(p.make_call(size, seed));
    } catch (const std::invalid_argument& error) {
      throw failure(exit_code::usage, error.what());
    } catch (const std::bad_alloc&) {
      throw failure(exit_code::environment, "size " + size_text(size) + " does not fit in memory");
    }
    plans.push_back({.data = calls.size() - 1, .repetitions = 1});
    throw_if_interrupted();
  }
  const call_file file(calls, plans);
  session_options options = options_for(device, l.time_limit_s, file.bytes());
  options.tick = now.tick;
  options.workers = 1;  // one order of execution: a mistake shows every time or never
  session runner(program, device, file, options);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    now.doing(fmt::format("checking {} of {} sizes: {}", i + 1, plans.size(), calls[i].label));
    report.found = runner.call(i);
    if (report.found.ok()) {
      if (const auto wrong = check_outputs(p, calls[i], file.outputs(i))) {
        report.found = {verdict::wrong, *wrong};
      }
    }
    throw_if_interrupted();
    if (!report.found.ok()) {
      report.label = calls[i].label;
      report.size = sizes[i];
      break;
    }
    report.right.push_back(calls[i].label);
  }
  report.printed = runner.printed();
  return report;
}

const problem& problem_of(const lab& l) {
  if (const problem* p = find_problem(l.name)) return *p;
  throw failure(
      exit_code::ours,
      "labs/" + l.name + "/problem.cpp is not linked in; it must register \"" + l.name + "\"");
}

}  // namespace stepwise
