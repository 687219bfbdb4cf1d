// lab env: how to run a runner by hand, under gdb, ncu or compute-sanitizer.
#include <fmt/format.h>

#include <cstdlib>

#include "grader/cli/commands.hpp"
#include "grader/judge/call_file.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {
namespace {

// For a POSIX shell.
std::string quoted(const std::string& text) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+=:,@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

}  // namespace

int env(context& c, const env_options& o) {
  const lab l = load_lab(c.where.root, o.lab);
  const problem& p = problem_of(l);
  const auto wanted = parse_size(l, o.size);
  const device_choice device = c.device();
  const subject s = prepare(c, l, o.file, o.step);
  if (s.program.empty()) {
    std::string message = s.shown + " does not compile";
    for (const auto& line : s.compile_errors) message += "\n" + line;
    throw failure(exit_code::student, message);
  }
  // A size at which several blocks work, and small enough for stepping through.
  const lab_size size = wanted ? *wanted : l.check[l.check.size() / 2];
  std::vector<problem_call> calls;
  try {
    calls.push_back(p.make_call(size, o.seed));
  } catch (const std::invalid_argument& error) {
    throw failure(exit_code::usage, error.what());
  }
  const fs::path folder = c.where.build / "hand";
  make_folder(folder);
  const std::string name = o.step.empty() ? "mine" : find_step(l, o.step).name;
  const fs::path file = folder / fmt::format("{}-{}.calls", l.name, name);
  { const call_file written(calls, {planned_call{}}, file); }
  const std::string program = quoted(s.program), file_text = quoted(file);
  const std::string runner = program + " " + file_text;
  if (c.as_json) {
    c.print({{"lab", l.name},
             {"program", s.program.string()},
             {"call_file", file.string()},
             {"environment", device.environment()},
             {"call", calls[0].label}});
    return 0;
  }
  // All of it is shell: `eval "$(./lab env reduction)"` sets the environment.
  c.say(fmt::format("# {} by hand: one call, {}, on {}", s.shown, calls[0].label, device.text()));
  for (const auto& entry : device.environment()) {
    const auto split = entry.find('=');
    c.say(fmt::format("export {}={}", entry.substr(0, split), quoted(entry.substr(split + 1))));
  }
  c.say(fmt::format("export STEPWISE_CALLS={} STEPWISE_PROGRAM={}", file_text, program));
  c.say("#");
  c.say(
      "# then one of (the environment is for the program only: LD_LIBRARY_PATH changes what it "
      "loads)");
  c.say("#   " + runner);
  c.say("#   gdb --args " + runner);
  if (device.gpu) {
    c.say("#   ncu --set full " + runner);
    c.say("#   STEPWISE_EXACT_ALLOCATIONS=1 compute-sanitizer " + runner);
    c.say("#   STEPWISE_EXACT_ALLOCATIONS=1 compute-sanitizer --tool racecheck " + runner);
  } else {
    c.say("#   STEPWISE_WORKERS=1 gdb --args " + runner + "     (kernels run in this one thread)");
    c.say("# ncu and compute-sanitizer need a GPU; --device gpu prints their commands there");
  }
  return 0;
}

}  // namespace stepwise::cli
