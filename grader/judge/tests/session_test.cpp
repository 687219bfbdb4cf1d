// Correct, wrong, failing and hanging programs, through a fake runner.
#include "grader/judge/session.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "grader/judge/check.hpp"
#include "grader/judge/one_call.hpp"
#include "grader/judge/tests/doubling.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

using namespace stepwise;
using namespace stepwise::tests;

namespace {

check_report check_fake(const char* what, double time_limit_s = 1) {
  const fake behaviour(what);
  lab l = doubling_lab();
  l.time_limit_s = time_limit_s;
  return check_program(l, doubling(), fake_runner(), emulated_device(), l.check, 7, {});
}

}  // namespace

TEST_CASE("a correct program passes at every size") {
  const auto report = check_fake("good");
  CHECK(report.correct());
  CHECK(report.total == 3);
  CHECK(report.right ==
        std::vector<std::string>{"n = 1, seed 7", "n = 33, seed 7", "n = 1000, seed 7"});
}

TEST_CASE("a wrong result names the call, and no call follows") {
  const auto report = check_fake("wrong");
  CHECK(report.found.what == verdict::wrong);
  CHECK(report.found.message == "out[0] is wrong (n = 1, seed 7)");
  CHECK(report.size == lab_size{1});
  CHECK(report.right.empty());
}

TEST_CASE("further calls with other inputs may explain a wrong result") {
  // Calls until no call is left, with an input of the number of the call.
  struct explaining : doubling {
    std::string explain(const problem_call& call, const results& outputs,
                        const further_call& again) const override {
      problem_call next = call;
      std::string text = std::to_string(outputs.at(0).size()) + " bytes";
      for (calls = 0; calls < 1000; ++calls) {
        std::memcpy(next.buffers[0].data.data(), &calls, sizeof calls);
        const auto made = again(next);
        if (!made) break;
        int out = 0;
        std::memcpy(&out, made->at(0).data(), sizeof out);
        if (calls < 3) text += ", " + std::to_string(calls) + " becomes " + std::to_string(out);
      }
      return text;
    }
    mutable int calls = 0;
  };
  const explaining p;
  const auto check = [&](const char* what) {
    const fake behaviour(what);
    return check_program(doubling_lab(), p, fake_runner(), emulated_device(), {{1}}, 7, {});
  };
  const check_report wrong = check("wrong");
  CHECK(wrong.found.message ==
        "out[0] is wrong (n = 1, seed 7); 4 bytes, 0 becomes 1, 1 becomes 3, 2 becomes 5");
  CHECK(wrong.explained_by_calls);
  CHECK(p.calls > 3);
  CHECK(p.calls <= 400);
  CHECK(!check("good").explained_by_calls);
}

TEST_CASE("a known pattern in the result decides before findings that only follow from it") {
  const auto of = [](finding_kind kind, const char* file, std::string_view advice) {
    located_finding f;
    f.what.kind = kind;
    f.what.object.what = finding_object::kind::allocation;
    f.what.parties.push_back({"writes 4 bytes", "k", {file, 3, "", ""}, true, {}, {}});
    f.what.advice = std::string(advice) + "; else";
    return f;
  };
  check_report report;
  report.findings = {of(finding_kind::unwritten_copy, "own.cu", ""),
                     of(finding_kind::race, "own.cu", check_index_advice),
                     of(finding_kind::race, "own.cu", check_row_advice),
                     of(finding_kind::unwritten_read, "stages.hpp", ""),
                     of(finding_kind::race, "own.cu", "The statement reads, adds and writes"),
                     of(finding_kind::unwritten_read, "own.cu", "")};
  CHECK(deciding_findings(report).size() == 5);
  for (const char* const unknown :
       {"out = 1 (n = 1)", "out = 1 (n = 1); 1 of 9, in no known pattern"}) {
    report.found = {verdict::wrong, unknown};
    CHECK(deciding_findings(report).size() == 5);
  }
  report.found = {verdict::wrong, "out = 1 (n = 1); the rows are exchanged"};
  CHECK(deciding_findings(report).size() == 5);
  report.findings.pop_back();
  CHECK(deciding_findings(report).size() == 4);
  report.findings.pop_back();
  CHECK(deciding_findings(report).empty());
  report.findings[1].what.object.what = finding_object::kind::shared_variable;
  CHECK(deciding_findings(report).size() == 3);
}

TEST_CASE("a program that is correct at first is caught later") {
  const auto report = check_fake("late");
  CHECK(report.found.what == verdict::wrong);
  CHECK(report.right.size() == 2);
  CHECK(report.label == "n = 1000, seed 7");
}

// The same problem for a whole program.
struct doubling_in_files : doubling {
  problem_call make_call(const size& n, std::uint64_t seed) const override {
    problem_call call = doubling::make_call(n, seed);
    call.memory = runner::memory_kind::files;
    return call;
  }
};

TEST_CASE("each call of a whole program has its own process") {
  const fake behaviour("late");  // wrong at the third call of a process
  const lab l = doubling_lab();
  const auto report =
      check_program(l, doubling_in_files(), fake_runner(), emulated_device(), l.check, 7, {});
  CHECK(report.correct());
  CHECK(report.right.size() == 3);
}

TEST_CASE("a whole program's findings are those of the first call with findings") {
  const fake behaviour("good");
  const temporary_folder folder(fs::temp_directory_path());
  located_finding leak;
  leak.what.kind = finding_kind::leak;
  leak.what.message = "not freed";
  write_atomically(folder.path() / "findings", json_line(leak) + "\n");
  setenv("FAKE_FINDINGS", (folder.path() / "findings").c_str(), 1);
  const lab l = doubling_lab();
  const auto report =
      check_thoroughly(l, doubling_in_files(), fake_runner(), emulated_device(), l.check, 7, {});
  unsetenv("FAKE_FINDINGS");
  CHECK(report.correct());
  CHECK(report.right.size() == 3);
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings[0].what.message == "not freed");
}

TEST_CASE("a whole program's output is that of all calls") {
  const fake behaviour("limit");  // prints a number in every call
  const lab l = doubling_lab();
  const auto report =
      check_program(l, doubling_in_files(), fake_runner(), emulated_device(), l.check, 7, {});
  CHECK(std::ranges::count(report.printed, '\n') == 3);
}

TEST_CASE("every kind of misbehaviour has its class and its message") {
  struct row {
    const char* what;
    verdict expected;
    const char* says;
  };
  for (const row& r : {
           row{"crash", verdict::crash,
               "a signal ended the program in host code: segmentation fault (SIGSEGV); "},
           row{"host access", verdict::crash,
               "f at x.cu:7: the host reads device memory: byte 0 of in"},
           row{"illegal", verdict::crash, "in host code: illegal instruction (SIGILL); "},
           row{"exit", verdict::protocol, "the program exited (exit code 0)"},
           row{"orphan", verdict::protocol, "exit code 5"},
           row{"alien", verdict::protocol, "out of order"},
           row{"undecided", verdict::protocol, "but not its result"},
           row{"flood", verdict::output, "printed more than"},
           row{"memory", verdict::memory, "more memory than its limit"},
           row{"no device", verdict::infra, "cannot use a CUDA device"},
           row{"error 700", verdict::check, "k at x.cu:7: made up"},
           row{"error 702", verdict::timeout, "made up"},
           row{"error 2", verdict::memory, "made up"},
           row{"error 9", verdict::crash, "made up"},
           row{"error 801", verdict::crash, "a limit of the emulator"},
           row{"guard", verdict::check, "wrote where it must not"},
           row{"modified", verdict::wrong, "wrote where it must not"},
       }) {
    CAPTURE(r.what);
    const auto report = check_fake(r.what);
    CHECK(report.found.what == r.expected);
    CAPTURE(report.found.message);
    CHECK(report.found.message.find(r.says) != std::string::npos);
  }
}

TEST_CASE("a call on the user's input has outputs if it ended, whether right or wrong") {
  const lab l = doubling_lab();
  const auto call_with = [&](const char* what) {
    const fake behaviour(what);
    return check_one_call(l, doubling(), fake_runner(), emulated_device(),
                          doubling().make_call({33}, 7), 1, {});
  };
  const auto right = call_with("good");
  CHECK(right.report.correct());
  CHECK(right.report.right == std::vector<std::string>{"n = 33, seed 7"});
  REQUIRE(right.outputs.size() == 1);
  CHECK(right.outputs[0].size() == 33 * 4);
  const auto wrong = call_with("wrong");
  CHECK(wrong.report.found.what == verdict::wrong);
  CHECK(wrong.report.label == "n = 33, seed 7");
  REQUIRE(wrong.outputs.size() == 1);
  CHECK(wrong.outputs[0] != right.outputs[0]);
  for (const char* what : {"crash", "error 700", "modified", "exit"}) {
    CAPTURE(what);
    const auto none = call_with(what);
    CHECK(!none.report.correct());
    CHECK(none.outputs.empty());
  }
}

TEST_CASE("a larger call on the user's input may take proportionally longer") {
  const fake behaviour("limit");
  const lab l = doubling_lab();
  for (const auto& [times, limit] : {std::pair{2.5, "2.5"}, {0.1, "1"}}) {
    const auto made = check_one_call(l, doubling(), fake_runner(), emulated_device(),
                                     doubling().make_call({33}, 7), times, {});
    CHECK(made.report.printed == std::string(limit) + "\n");
  }
}

TEST_CASE("a call that never ends is stopped soon after its limit") {
  const fake behaviour("hang");
  const lab l = doubling_lab();
  const auto calls = std::vector{doubling().make_call({1}, 7)};
  const call_file file(calls, {planned_call{}});
  session_options options;
  options.time_limit_s = 0.2;
  options.start_limit_s = 0;
  session runner(fake_runner(), emulated_device(), file, options);
  const auto found = runner.call(0);
  CHECK(found.what == verdict::timeout);
  CHECK(found.message.find("within 0.2 s") != std::string::npos);
}

TEST_CASE("a program's output is bounded and kept separate from the verdict") {
  const auto report = check_fake("escape");
  CHECK(report.correct());
  CHECK(report.printed.find("red") != std::string::npos);
}

TEST_CASE("the program cannot truncate the call file") { CHECK(check_fake("truncate").correct()); }

TEST_CASE("a missing program is the environment's fault") {
  const lab l = doubling_lab();
  CHECK_THROWS_AS(
      check_program(l, doubling(), "/nowhere/runner", emulated_device(), l.check, 7, {}), failure);
}
