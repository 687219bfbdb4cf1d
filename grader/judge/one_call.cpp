// Opens a session for the one call, keeps its outputs, and compares them with the reference.
#include "grader/judge/one_call.hpp"

#include <algorithm>

#include "grader/judge/call_file.hpp"
#include "grader/judge/session.hpp"
#include "grader/system/signals.hpp"

namespace stepwise {

one_call_report check_one_call(const lab& l, const problem& p, const std::filesystem::path& program,
                               const device_choice& device, const problem_call& call,
                               double times_largest, const activity& now) {
  const std::vector<problem_call> calls{call};
  const call_file file(calls, {planned_call{}});
  session_options options =
      options_for(device, l.time_limit_s * std::max(1.0, times_largest), file.bytes());
  options.tick = now.tick;
  one_call_report result;
  check_report& report = result.report;
  report.total = 1;
  {
    session runner(program, device, file, options);
    now.doing("running " + call.label + " on " + device.text());
    report.found = runner.call(0);
    runner.finish(2);  // its last output may not have arrived yet
    report.printed = runner.printed();
  }
  throw_if_interrupted();
  if (report.found.ok()) {
    now.doing("comparing with the reference");
    result.outputs = file.outputs(0);
    if (const auto wrong = check_outputs(p, call, result.outputs)) {
      report.found = {verdict::wrong, *wrong};
    }
  }
  if (report.found.ok())
    report.right.push_back(call.label);
  else
    report.label = call.label;
  return result;
}

}  // namespace stepwise
