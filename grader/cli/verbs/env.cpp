// lab env: shows how to start a runner by hand, under gdb, ncu or compute-sanitizer.
#include <fmt/core.h>

#include <stdexcept>

#include "grader/cli/context.hpp"
#include "grader/cli/verb.hpp"
#include "grader/course/given.hpp"
#include "grader/judge/call_file.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {
namespace {

struct env_options {
  std::string lab, file, step, size;
  bool check = false;
  std::uint64_t seed = 7;
};

std::string shell_word(const std::string& text) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+=:,@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

// The data of a run by hand, kept next to the call file for --check.
struct by_hand {
  fs::path calls, about;
  by_hand(const context& c, const lab& l, const std::string& name)
      : calls(c.where.build / "hand" / fmt::format("{}-{}.calls", l.name, name)),
        about(fs::path(calls).replace_extension(".json")) {}
};

problem_call make_call(const problem& p, const lab_size& size, std::uint64_t seed) {
  try {
    return p.make_call(size, seed);
  } catch (const std::invalid_argument& error) {
    throw failure(exit_code::usage, error.what());
  }
}

// Checks that the call was made by hand and that its result is right.
int check_by_hand(context& c, const lab& l, const problem& p, const by_hand& files) {
  const auto about = parse_json_or_null(read_if_there(files.about).value_or(""));
  if (!about.is_object() || !about.contains("size") || !about.contains("seed")) {
    throw failure(exit_code::usage, "you have not run anything by hand yet: `./lab env " + l.name +
                                        "` creates the call file first");
  }
  const std::vector<problem_call> calls = {
      make_call(p, about["size"].get<lab_size>(), about["seed"].get<std::uint64_t>())};
  call_file file(calls, {planned_call{}});
  if (!file.load(files.calls)) {
    throw failure(exit_code::usage, c.where.shown(files.calls) + " was not created by `./lab env " +
                                        l.name + "`; run that command again");
  }
  const auto record = file.record(0);
  call_outcome found;
  if (record.state == runner::call_state::waiting) {
    found = {verdict::protocol, "the call has not run yet: run the program on the call file first"};
  } else if (record.state != runner::call_state::done) {
    found = {verdict::crash,
             record.message[0] != '\0' ? record.message : "the call did not return"};
  } else if (const auto wrong = check_outputs(p, calls[0], file.outputs(0))) {
    found = {verdict::wrong, *wrong};
  }
  check_report report;
  report.found = found;
  report.label = calls[0].label;
  if (c.as_json) {
    json document = {{"lab", l.name}, {"call_file", files.calls.string()}};
    document.update({{"correct", found.ok()}, {"message", found.message}, {"call", report.label}});
    c.print(document);
  } else if (found.ok()) {
    c.say(fmt::format("  {}  {}", c.out.paint(tone::good, "correct"), report.label));
  } else {
    show_finding(c, report);
  }
  return exit_code_of(found.what);
}

int env(context& c, const env_options& o) {
  const lab l = load_lab(c.where.build, o.lab);
  const problem& p = problem_of(l, c.where);
  const by_hand files(c, l, o.step.empty() ? "mine" : worked_step(l, o.step).name);
  if (o.check) return check_by_hand(c, l, p, files);
  const auto wanted = parse_size(l, p, o.size);
  const device_choice device = c.device();
  const subject s = prepare(c, l, o.file, o.step);
  if (s.program.empty())
    throw failure(exit_code::student,
                  s.shown + " does not compile\n" + joined(s.compile_errors, "\n"));
  // A size that needs several blocks but is small enough to step through.
  const lab_size size = wanted ? *wanted : l.check[l.check.size() / 2];
  const std::vector<problem_call> calls = {make_call(p, size, o.seed)};
  make_folder(files.calls.parent_path());
  { const call_file written(calls, {planned_call{}}, files.calls); }
  write_atomically(files.about, json_text(json{{"size", size}, {"seed", o.seed}}) + "\n");
  const fs::path& file = files.calls;
  if (c.as_json) {
    c.print({{"lab", l.name},
             {"program", s.program.string()},
             {"call_file", file.string()},
             {"environment", device.environment()},
             {"call", calls[0].label}});
    return 0;
  }
  // The whole output is shell code: `eval "$(./lab env reduction)"` sets the environment.
  c.say(fmt::format("# {} by hand: one call, {}, on {}", s.shown, calls[0].label, device.text()));
  for (const auto& entry : device.environment()) {
    const auto split = entry.find('=');
    c.say(fmt::format("export {}={}", entry.substr(0, split), shell_word(entry.substr(split + 1))));
  }
  c.say("export STEPWISE_PROGRAM=" + shell_word(s.program));
  c.say("export STEPWISE_CALLS=" + shell_word(file));
  const std::string runner = R"("$STEPWISE_PROGRAM" "$STEPWISE_CALLS")";
  c.say("# then run one of these");
  c.say("#   " + runner);
  if (device.gpu) {
    c.say("#   gdb --args " + runner);
    c.say("#   ncu --set full " + runner);
    c.say("#   STEPWISE_EXACT_ALLOCATIONS=1 compute-sanitizer " + runner);
    c.say("#   STEPWISE_EXACT_ALLOCATIONS=1 compute-sanitizer --tool racecheck " + runner);
  } else {
    c.say("#   STEPWISE_WORKERS=1 gdb --args " + runner + "     all kernels in one thread");
    c.say("# (on a machine with a GPU, this also prints commands for ncu and compute-sanitizer)");
  }
  c.say(fmt::format("# then check the result\n#   ./lab env {}{} --check", l.name,
                    o.step.empty() ? "" : " --step " + o.step));
  return 0;
}

const verb env_verb(
    {verb_place::group::more, 10}, "env",
    "run a program by hand: under gdb, ncu, compute-sanitizer",
    "  ./lab env reduction                 print the environment and the commands\n"
    "  eval \"$(./lab env reduction)\"       set the environment\n"
    "  ./lab env reduction --step 03 --size 1023",
    [](arguments& takes, env_options& o) {
      takes.add("LAB", o.lab, "the lab's name").required();
      takes.add("--file", o.file, "a .cu file other than your own");
      takes.add_step("--step", o.step, "a solution step instead of a file");
      takes.add("--size", o.size, "the call's size");
      takes.flag("--check", o.check, "check the result of the call that you ran by hand");
      takes.add("--seed", o.seed, "seed of the random inputs (7)");
    },
    env);

}  // namespace
}  // namespace stepwise::cli
