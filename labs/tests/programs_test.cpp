// Tests the course's programs on the emulator: every step is right, every mutant is detected with
// the right class and message, and every skeleton compiles but is not yet right.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "common/lab/problem.hpp"
#include "common/testing/skip_case.hpp"
#include "grader/course/lab.hpp"
#include "grader/course/source.hpp"
#include "grader/grade/grade.hpp"
#include "grader/judge/call_file.hpp"
#include "grader/judge/check.hpp"
#include "grader/judge/compile.hpp"
#include "grader/judge/device_choice.hpp"
#include "grader/judge/installation.hpp"
#include "grader/judge/session.hpp"
#include "grader/measure/alternate.hpp"
#include "grader/report/findings.hpp"
#include "grader/report/text.hpp"
#include "grader/system/files.hpp"
#include "grader/system/process.hpp"
#include "labs/tests/problem_of.hpp"

namespace {

using namespace stepwise;

// The common state of all tests; null without nvcc, because then there is nothing to run.
struct course {
  installation where;
  device_choice device;
  std::vector<lab> labs;
};

const course* loaded() {
  static const course* const made = [] {
    const char* const build = std::getenv("STEPWISE_BUILD");
    REQUIRE_MESSAGE(build != nullptr, "run this test through `meson test`");
    const installation where = load_installation(build);
    if (where.nvcc.empty()) return static_cast<course*>(nullptr);
    return new course{where, choose_device(device_request::emulated, where),
                      load_labs(where.build)};
  }();
  if (made == nullptr) skip_case("no nvcc: no programs were built, so nothing was run");
  return made;
}

// The lab's mutants are one program. The environment selects the mutant.
fs::path choose_mutant(const course& c, const lab& l, const std::string& name) {
  setenv("STEPWISE_VARIANT", name.c_str(), 1);
  return c.where.build / "labs" / "tests" / (l.name + "-mutants");
}

check_report check(const course& c, const lab& l, const fs::path& program, std::uint64_t seed) {
  return check_program(l, problem_of(l), program, c.device, l.check, seed, activity());
}

// barriers_test.cpp makes the same calls with the checks on, for another seed.
TEST_CASE("every step is right at every size") {
  if (loaded() == nullptr) return;
  for (const lab& l : loaded()->labs) {
    for (const step& s : l.steps) {
      const auto report = check(*loaded(), l, loaded()->where.solution(l.name, s.name), 2);
      INFO(s.name, ": ", report.found.message);
      CHECK(report.correct());
      CHECK(report.right.size() == l.check.size());
    }
  }
}

TEST_CASE("matmul's last step is right with each of its tiles") {
  if (loaded() == nullptr) return;
  const lab& l = *std::find_if(loaded()->labs.begin(), loaded()->labs.end(),
                               [](const lab& one) { return one.name == "matmul"; });
  // Tall tiles in one, two and three rounds, medium tiles, and large tiles in four slices.
  const std::vector<lab_size> sizes = {{521}, {705}, {1067}, {641}, {953}};
  const fs::path program = loaded()->where.solution(l.name, l.steps.back().name);
  const auto report =
      check_program(l, problem_of(l), program, loaded()->device, sizes, 1, activity());
  INFO(report.found.message);
  CHECK(report.correct());
  CHECK(report.right.size() == sizes.size());
}

TEST_CASE(
    "a program keeps a call's buffers for the next call, and copies nothing back from that call") {
  if (loaded() == nullptr) return;
  const lab& l = loaded()->labs.front();
  const problem& p = problem_of(l);
  const std::vector<problem_call> calls = {p.make_call(l.check[5], 1), p.make_call(l.check[6], 1)};
  using runner::buffers_are;
  const std::vector<planned_call> plans = {{.data = 0, .how = {.buffers = buffers_are::left}},
                                           {.data = 0, .how = {.buffers = buffers_are::reused}},
                                           {.data = 1, .how = {.buffers = buffers_are::reused}},
                                           {.data = 1},
                                           {.data = 0, .how = {.busy_ms = 5}}};
  const call_file file(calls, plans);
  session runs(loaded()->where.solution(l.name, l.steps.back().name), loaded()->device, file,
               options_for(loaded()->device, l.time_limit_s, file.bytes()));
  const auto has_result = [&](std::size_t plan) {
    return !check_outputs(p, file.call(plan), file.outputs(plan));
  };
  CHECK(runs.call(1).ok());  // there is no buffer to reuse, but the call runs
  CHECK(!has_result(1));
  CHECK(runs.call(0).ok());
  CHECK(has_result(0));
  for (const std::size_t plan : {1, 2, 1, 2, 2}) {
    CAPTURE(plan);
    CHECK(runs.call(plan).ok());
    CHECK(file.times(plan).size() == 1);
  }
  CHECK(!has_result(2));
  CHECK(runs.call(3).ok());
  CHECK(has_result(3));
  CHECK(file.record(3).busy_calls == 0);
  // Repeated calls are still right. Outputs are poisoned once.
  CHECK(runs.call(4).ok());
  CHECK(has_result(4));
  CHECK(file.times(4).size() == 1);
  CHECK(file.record(4).busy_calls >= 1);
  CHECK(file.record(4).busy_took_ms >= 5);
}

TEST_CASE("a call after one that left its buffers copies its input again only if that one failed") {
  if (loaded() == nullptr) return;
  const lab& l = loaded()->labs.front();
  const problem& p = problem_of(l);
  std::vector<problem_call> calls = {p.make_call(l.check[5], 1)};
  using runner::buffers_are;
  const std::vector<planned_call> plans = {{.how = {.buffers = buffers_are::left}},
                                           {.how = {.buffers = buffers_are::reused}}};
  const call_file file(calls, plans);
  session runs(loaded()->where.solution(l.name, l.steps.back().name), loaded()->device, file,
               options_for(loaded()->device, l.time_limit_s, file.bytes()));
  const auto is_right = [&] { return !check_outputs(p, file.call(0), file.outputs(0)); };
  CHECK(runs.call(1).ok());
  CHECK(!is_right());
  CHECK(runs.call(0).ok());
  CHECK(is_right());
  // The file has a different input than the device. To the runner, it looks as if the program had
  // changed its input.
  auto& input = calls[0].buffers[0].data;
  input[0] ^= std::byte{1};
  REQUIRE(pwrite(file.descriptor(), input.data(), input.size(),
                 static_cast<off_t>(file.record(0).buffers[0].offset)) ==
          static_cast<ssize_t>(input.size()));
  CHECK(runs.call(1).ok());  // checks nothing
  const auto found = runs.call(0);
  CHECK(found.what == verdict::wrong);
  CHECK(found.message.find("[0] was changed, but ") != std::string::npos);
  CHECK(!is_right());
  CHECK(runs.call(0).ok());  // the input is copied again, because the last call failed
  CHECK(is_right());
}

TEST_CASE("lab dev bench detects wrong results at the end of a size, with real programs") {
  if (loaded() == nullptr) return;
  const lab& l = *std::find_if(loaded()->labs.begin(), loaded()->labs.end(),
                               [](const lab& one) { return one.name == "reduction"; });
  const contender right{l.steps.back().name, loaded()->where.solution(l.name, l.steps.back().name)};
  auto device = loaded()->device;
  device.gpu = true;  // the emulator, but its times are treated as measured
  const auto measure = [&](const std::string& name) {
    const contender mutant{name, choose_mutant(*loaded(), l, name)};
    return bench(l, problem_of(l), {mutant, right}, {{"again", right.program}}, device,
                 {{1000}, {65537}}, 1, {});
  };
  for (const std::size_t memory : {std::size_t{0}, std::size_t{1} << 30}) {  // none, enough
    device.state.memory_bytes = memory;
    const auto unwritten = measure("writes_nothing").rows;
    REQUIRE(unwritten.size() == 3);
    CHECK(unwritten[0].found.what == verdict::wrong);
    CHECK(unwritten[0].found.message.find("nothing was written to out") != std::string::npos);
    const auto [rows, fought] = measure("modifies_input");
    REQUIRE(rows.size() == 3);
    CHECK(rows[0].found.what == verdict::wrong);
    CHECK(rows[0].found.message.find("was changed") != std::string::npos);
    for (const std::size_t who : {1, 2}) {
      INFO(rows[who].found.message);
      CHECK(rows[who].cells.size() == 2);
    }
    REQUIRE(fought.size() == 1);
    REQUIRE(fought[0].second.size() == 2);
    CHECK(fought[0].second[1].pairs == 21);
    CHECK(fought[0].second[1].warm.ratio > 0);
  }
}

// Wrong programs earn no points, and their speed is not measured, so no goal has a modelled time.
grade_report grade_wrong(const course& c, const lab& l, const std::string& name,
                         const fs::path& program) {
  grade_report grade =
      grade_program(l, problem_of(l), name, program, {}, c.where, c.device, 1, activity());
  CHECK(grade.what != verdict::pass);
  CHECK(grade.what != verdict::infra);
  CHECK(grade.points == 0);
  REQUIRE(grade.goals.size() == l.goals.size());
  for (const goal_result& g : grade.goals) {
    CAPTURE(g.what->name);
    CHECK(g.points == 0);
    CHECK(!g.modelled);
    CHECK(!g.counted);
    // A speed goal that is not graded here counts neither for nor against the file.
    const bool is_graded = !g.what->is_speed() || g.what->modelled > 0;
    CHECK(g.passed.has_value() == is_graded);
    CHECK(!g.passed.value_or(false));
  }
  return grade;
}

// Whether a mutant fails because of a finding that has the mutant's text. The result of a race or
// of a missing fence may be right on the emulator, and earns the points for a right result.
bool has_finding(const course& c, const lab& l, const mutant& m) {
  const problem& p = problem_of(l);
  const auto checked = check_thoroughly(l, p, choose_mutant(c, l, m.name), c.device,
                                        small_sizes(l, p), 1, activity());
  if (!has_errors(deciding_findings(checked))) return false;
  return std::ranges::any_of(checked.findings, [&](const located_finding& found) {
    return (found.what.message + " - " + found.what.advice).find(m.says) != std::string::npos;
  });
}

TEST_CASE("every mutant is detected, and the message or a finding names its error") {
  if (loaded() == nullptr) return;
  for (lab l : loaded()->labs) {
    for (const mutant& m : l.mutants) {
      l.time_limit_s =
          m.verdict == "TIMEOUT" ? 1 : 3;  // one second is enough for an endless mutant
      const auto report = check(*loaded(), l, choose_mutant(*loaded(), l, m.name), 1);
      REQUIRE(!m.says.empty());
      const bool by_run = name_of(report.found.what) == m.verdict &&
                          report.found.message.find(m.says) != std::string::npos;
      INFO(m.name, ": ", name_of(report.found.what), " ", report.found.message);
      if (by_run) {
        grade_wrong(*loaded(), l, m.name, choose_mutant(*loaded(), l, m.name));
      } else {
        REQUIRE(m.verdict == "CHECK");
        CHECK(has_finding(*loaded(), l, m));
      }
    }
  }
}

std::vector<std::string> includes_of(const std::string& text) {
  std::vector<std::string> includes;
  for (const std::string& line : split_lines(text))
    if (line.starts_with("#include ")) includes.push_back(line);
  return includes;
}

// Joins the skeletons of a lab's steps in one file, where STEPWISE_VARIANT selects one of them.
// nvcc takes as long for three separate skeletons.
fs::path join_skeletons(const fs::path& root, const lab& l, const fs::path& folder) {
  const fs::path joined = folder / "skeletons.cu";
  child_options join;
  join.command = {root / "labs/tests/join_variants",   "whole",   joined, folder / "skeletons.d",
                  "labs/" + l.name + "/" + l.contract, l.function};
  for (const step& s : l.steps) {
    CAPTURE(s.name);
    const std::string text = *read_if_there(root / s.file);
    const std::string skeleton = derive_skeleton(text, s.file);
    // In one file, each skeleton would also have the includes of the other skeletons.
    CHECK(includes_of(skeleton) == includes_of(text));
    join.command.push_back(folder / (s.name + ".cu"));
    write_atomically(join.command.back(), skeleton);
  }
  const auto result = run_child(join, 60);
  INFO(result.err);
  REQUIRE(result.end.ok());
  return joined;
}

TEST_CASE("every step's skeleton compiles, is wrong and earns no points") {
  if (loaded() == nullptr) return;
  installation quick = loaded()->where;
  quick.cuda_args.push_back("-Ofc=max");  // detects compile errors in half of the time
  for (const lab& l : loaded()->labs) {
    CAPTURE(l.name);
    const temporary_folder folder(fs::temp_directory_path());
    const compile_progress silent{[](const std::string&) {}, [] {}};
    const compiled program = compile_submission(
        l, join_skeletons(loaded()->where.root, l, folder.path()), quick, silent);
    INFO(program.log);
    REQUIRE(!program.program.empty());
    for (const step& s : l.steps) {
      CAPTURE(s.name);
      setenv("STEPWISE_VARIANT", s.name.c_str(), 1);
      const auto grade = grade_wrong(*loaded(), l, s.name, program.program);
      REQUIRE(grade.correctness);
      CHECK(!grade.correctness->correct());
      CHECK(!grade.message.empty());
    }
  }
}

// Runs a program from a shell with our runtime. Returns its exit code, or -1 if a signal ended it.
int run_by_hand(const course& c, const std::string& command) {
  const std::string environment = "LD_LIBRARY_PATH='" + c.device.runtime_folder.string() + "' ";
  const int status = std::system((environment + command + " 2>/dev/null").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_CASE("a runner that is started by hand makes every call of a file, also after a failed call") {
  if (loaded() == nullptr) return;
  const lab& l = loaded()->labs.front();
  const problem& p = problem_of(l);
  const std::vector<problem_call> calls = {p.make_call(l.check.front(), 1),
                                           p.make_call(l.check.back(), 1)};
  const std::string file =
      fs::temp_directory_path() / ("stepwise-calls-" + std::to_string(getpid()));
  const std::string right = loaded()->where.solution(l.name, l.steps.back().name);
  {
    const call_file written(calls, {{0}, {1, 2, 3, true}}, file);
    CHECK(run_by_hand(*loaded(), right + " " + file) == 0);
    CHECK(written.header().device_emulated == 1);
    CHECK(std::string(written.header().device_name) == loaded()->device.name);
    for (const std::size_t plan : {0, 1}) {
      CHECK(written.record(plan).state == runner::call_state::done);
      CHECK(check_outputs(p, calls[plan], written.outputs(plan)).value_or("") == "");
      CHECK(written.record(plan).counters.valid == 1);
      CHECK(written.record(plan).counters.launches >= 1);
    }
    CHECK(written.times(1).size() == 3);
    // The counters of one call, not of all five.
    CHECK(written.record(0).counters.launches <= written.record(1).counters.launches);
    CHECK(written.record(1).counters.launches <= 2);
  }
  {
    const std::string unchecked = choose_mutant(*loaded(), l, "too_many_threads");
    const call_file written(calls, {{0}, {1}}, file);
    CHECK(run_by_hand(*loaded(), unchecked + " " + file) == 0);
    CHECK(written.record(0).state == runner::call_state::failed);
    CHECK(written.record(1).state == runner::call_state::failed);
    CHECK(written.record(1).cuda_error != 0);
  }
  {
    const std::string faulty = choose_mutant(*loaded(), l, "writes_past_end");
    const call_file written(calls, {{0}, {1}}, file);
    CHECK(run_by_hand(*loaded(), faulty + " " + file) == 0);
    CHECK(std::string(written.record(0).message).find("out of bounds") != std::string::npos);
    CHECK(std::string(written.record(1).message).starts_with("not made"));
  }
  CHECK(run_by_hand(*loaded(), right) == 2);
  CHECK(run_by_hand(*loaded(), right + " /dev/null") == 2);
  CHECK(run_by_hand(*loaded(), right + " " + file + " --control nonsense") == 2);
  CHECK(run_by_hand(*loaded(), right + " " + file + " --control 0 < /dev/null") == 0);
  fs::remove(file);
}

}  // namespace
