// lab test: every test that Meson knows, from Meson's own list.
//
// idea    build/meson-info/intro-tests.json says what to run and for how long. Running it here
//         rather than through Meson needs no Python, and works in a built clone that was moved:
//         paths of the folder where it was configured are translated. Two more run at once than
//         there are cores, since most wait for the programs that they start (with one more, of two
//         cores 1.6 were busy); those with the highest priority first. A test of the suite
//         "waits", which sleeps most of its time, runs beside any other, even beside one that
//         must be alone.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <tuple>

#include "grader/cli/context.hpp"
#include "grader/cli/verb.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"
#include "grader/system/process.hpp"
#include "grader/system/signals.hpp"
#include "grader/system/stopwatch.hpp"

namespace stepwise::cli {
namespace {

struct test_options {
  std::vector<std::string> suites;
};

constexpr int skipped_code = 77;  // by convention of Automake and Meson

struct test_case {
  std::string name;
  std::vector<std::string> suites, command, environment;
  std::string directory;
  double timeout_s = 0;
  int priority = 0;
  bool parallel = true;
  bool waits = false;
};

struct test_outcome {
  const test_case* test = nullptr;
  std::string state;  // passed, failed, skipped
  std::string reason;
  double seconds = 0;
  std::string log;
};

std::vector<test_case> load_tests(const installation& where) {
  const fs::path file = where.build / "meson-info" / "intro-tests.json";
  const int ours = static_cast<int>(exit_code::ours);
  try {
    const auto config = parse_json(read_file(where.build / "grader" / "lab.json", ours));
    std::vector<test_case> tests;
    std::string text = read_file(file, ours);
    // Its folders are those of the time of configuration.
    replace_all(text, config.at("configured_build").get<std::string>(), where.build.string());
    replace_all(text, config.at("configured_root").get<std::string>(), where.root.string());
    for (const auto& entry : parse_json(text)) {
      test_case t;
      t.name = entry.at("name");
      for (const std::string suite : entry.at("suite")) {
        t.suites.push_back(suite.substr(suite.find(':') + 1));  // "stepwise:unit"
      }
      t.command = entry.at("cmd").get<std::vector<std::string>>();
      for (const auto& [name, value] : entry.at("env").items()) {
        t.environment.push_back(name + "=" + value.get<std::string>());
      }
      if (entry.at("workdir").is_string()) t.directory = entry.at("workdir");
      t.timeout_s = entry.at("timeout");
      t.priority = entry.at("priority");
      t.waits = std::count(t.suites.begin(), t.suites.end(), "waits") > 0;
      t.parallel = entry.at("is_parallel");
      tests.push_back(std::move(t));
    }
    return tests;
  } catch (const json_error& error) {
    throw failure(exit_code::ours, file.string() + " is malformed: " + error.what());
  }
}

bool is_wanted(const test_case& t, const std::vector<std::string>& suites) {
  return suites.empty() || std::any_of(suites.begin(), suites.end(), [&](const std::string& s) {
           return t.name == s || std::count(t.suites.begin(), t.suites.end(), s) > 0;
         });
}

struct running_test {
  const test_case* test;
  std::unique_ptr<child> process;
  std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();

  double seconds() const { return seconds_since(started); }
};

test_outcome outcome_of(running_test& r, child_end::cause cause) {
  const child_end& end = r.process->end(cause);
  test_outcome o{r.test, "failed", "", r.seconds(), ""};
  switch (end.how) {
    case child_end::cause::exited:
      o.state = end.exit_code == 0              ? "passed"
                : end.exit_code == skipped_code ? "skipped"
                                                : "failed";
      if (o.state == "failed") o.reason = fmt::format("exit code {}", end.exit_code);
      break;
    case child_end::cause::signalled:
      o.reason = signal_text(end.signal);
      break;
    case child_end::cause::deadline:
      o.reason = fmt::format("not done within {:g} s", r.test->timeout_s);
      break;
    case child_end::cause::flooded:
      o.reason = "printed too much";
  }
  o.log = r.process->output().text() + r.process->errors().text();
  return o;
}

std::unique_ptr<child> begin(const test_case& t, const context& c) {
  child_options options;
  options.command = t.command;
  options.environment = t.environment;
  options.directory = t.directory.empty() ? c.where.build.string() : t.directory;
  return std::make_unique<child>(std::move(options));
}

void show_failure(context& c, const test_outcome& o) {
  c.busy.clear();
  c.say(fmt::format("{}  {}  {}", c.out.paint(tone::bad, "failed"),
                    c.out.paint(tone::strong, o.test->name),
                    c.out.paint(tone::dim, fmt::format("{}, {:.1f} s", o.reason, o.seconds))));
  // Wider than a terminal: the values that a check compared are often at the end of a line.
  for (const auto& line : escaped_lines(o.log, 100, 400)) c.say(fmt::format("    {}", line));
  std::string command;
  for (const auto& word : o.test->command)
    command += (command.empty() ? "" : " ") + (word.empty() ? "''" : c.where.shown(word));
  c.say(c.out.paint(tone::dim, "    alone: " + command));
  c.say();
}

// A failure is printed as soon as its test ends, so that it is not lost if the run is stopped.
std::vector<test_outcome> run_tests(context& c, const std::vector<const test_case*>& tests) {
  const std::ptrdiff_t slots = std::max(1u, std::thread::hardware_concurrency()) + 2;
  std::vector<running_test> running;
  std::vector<test_outcome> done;
  std::size_t next = 0;
  const auto add = [&](test_outcome o) {
    if (!c.as_json && o.state == "failed") show_failure(c, o);
    done.push_back(std::move(o));
  };
  while (done.size() < tests.size()) {
    const auto can_begin = [&](const test_case& t) {
      const auto busy = std::ranges::count_if(running, [](auto& r) { return !r.test->waits; });
      const bool is_one_alone =
          std::ranges::any_of(running, [](auto& r) { return !r.test->parallel; });
      return t.waits || (!is_one_alone && busy < (t.parallel ? slots : 1));
    };
    for (; next < tests.size() && can_begin(*tests[next]); ++next) {
      try {
        running.push_back({tests[next], begin(*tests[next], c)});
      } catch (const failure& error) {
        add({tests[next], "failed", error.what(), 0, ""});
      }
    }
    for (std::size_t i = 0; i < running.size();) {
      auto& r = running[i];
      const auto event = r.process->wait(running.size() == 1 ? 0.05 : 0.01);
      const bool late = r.test->timeout_s > 0 && r.seconds() > r.test->timeout_s;
      if (event == child::event::deadline && !late) {
        ++i;
        continue;
      }
      add(outcome_of(r, event == child::event::flooded ? child_end::cause::flooded
                                                       : child_end::cause::deadline));
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
    }
    std::string names;
    for (const auto& r : running) names += (names.empty() ? "" : ", ") + r.test->name;
    if (names.empty()) continue;
    c.busy.doing(fmt::format("{} of {} tests: {}", done.size(), tests.size(), names));
  }
  c.busy.clear();
  return done;
}

int test(context& c, const test_options& o) {
  const auto tests = load_tests(c.where);
  std::vector<const test_case*> wanted;
  for (const auto& t : tests) {
    if (is_wanted(t, o.suites)) wanted.push_back(&t);
  }
  if (wanted.empty()) {
    std::vector<std::string> names;
    for (const auto& t : tests) {
      names.push_back(t.name);
      names.insert(names.end(), t.suites.begin(), t.suites.end());
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    const std::string near = o.suites.empty() ? "" : nearest(o.suites[0], names);
    throw failure(exit_code::usage, "no test or suite of that name" +
                                        (near.empty() ? "" : "; did you mean \"" + near + "\"?"));
  }
  // Those that wait first, then those that must be alone; of one priority, the longest limits.
  std::ranges::stable_sort(wanted, {}, [](const test_case* t) {
    return std::tuple(!t->waits, t->parallel, -t->priority, -t->timeout_s);
  });
  const auto done = run_tests(c, wanted);
  const auto count = [&](std::string_view state) {
    return std::count_if(done.begin(), done.end(),
                         [&](const test_outcome& d) { return d.state == state; });
  };
  const auto failed = count("failed"), skipped = count("skipped");
  if (c.as_json) {
    json document = {{"passed", count("passed")},
                     {"failed", failed},
                     {"skipped", skipped},
                     {"tests", json::array()}};
    for (const auto& d : done) {
      document["tests"].push_back({{"name", d.test->name},
                                   {"suites", d.test->suites},
                                   {"state", d.state},
                                   {"reason", d.reason},
                                   {"seconds", d.seconds},
                                   {"log", d.state == "failed" ? d.log : ""}});
    }
    c.print(document);
  } else {
    std::string names;
    for (const auto& d : done)
      if (d.state == "failed") names += (names.empty() ? "" : ", ") + d.test->name;
    if (failed > 0) c.say("failed: " + names);
    c.say(fmt::format("{} passed, {} failed{}", count("passed"), failed,
                      skipped > 0 ? fmt::format(", {} skipped", skipped) : ""));
  }
  return failed == 0 ? 0 : static_cast<int>(exit_code::ours);
}

const verb test_verb(
    {verb_place::group::more, 10}, "test", "the course's own tests",
    "  ./lab test                     all that this machine can run\n"
    "  ./lab test unit                one suite\n"
    "  ./lab test launcher 'lab exec' tests by name",
    [](arguments& takes, test_options& o) {
      takes.add("SUITE", o.suites, "suites or tests by name");
    },
    test);

}  // namespace
}  // namespace stepwise::cli
