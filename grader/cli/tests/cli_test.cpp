// The program as users and scripts see it: commands, messages, exit codes, JSON. Runs in a copy of
// the clone, so that your own files stay as they are; needs nvcc and the emulator.
//
// LAB_BUILD is the build folder, LAB_ROOT the clone.
#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "common/formats/json_lines.hpp"
#include "common/testing/skip_case.hpp"
#include "grader/cli/tests/cloned_course.hpp"
#include "grader/course/lab.hpp"
#include "grader/course/source.hpp"
#include "grader/judge/compile.hpp"
#include "grader/report/text.hpp"
#include "grader/system/files.hpp"
#include "grader/system/process.hpp"

using namespace stepwise;

namespace {

std::string step_file(const char* step) {
  return std::string("solutions/reduction/") + step + ".cu";
}

}  // namespace

TEST_CASE("walk: every step is correct and counted on the emulator; the JSON is documented") {
  const cloned_course c;
  const auto result = c.lab({"walk", "reduction", "--all", "--device", "emulated", "--json"});
  CHECK(result.end.exit_code == 0);
  const json walk = document_of(result);
  check_documented(walk, "walk");
  CHECK(walk["lab"] == "reduction");
  CHECK(walk["device"]["kind"] == "emulated");
  const auto steps = load_lab(c.root() / "build", "reduction").steps;
  REQUIRE(walk["steps"].size() == steps.size());
  std::set<std::string> recorded;  // A new step has no record until someone with a GPU measures it.
  const json record =
      parse_json_lines(*read_if_there(c.root() / "solutions/reduction/measured/h200.jsonl"));
  for (const auto& entry : record["entries"]) recorded.insert(entry.value("step", ""));
  CHECK(recorded.size() > 10);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto& step = walk["steps"][i];
    CAPTURE(steps[i].name);
    CHECK(step["name"] == steps[i].name);
    CHECK(step["over"] == (steps[i].over.empty() ? json(nullptr) : json(steps[i].over)));
    CHECK(step["correct"] == true);
    CHECK(step["class"] == "PASS");
    CHECK(step["time_ms"] > 0);
    CHECK(step["time_kind"] == "modelled");
    CHECK(step.contains("recorded_ms") == recorded.contains(steps[i].name));
    if (step.contains("recorded_ms")) CHECK(step["recorded_ms"] > 0);
    CHECK(step["counters"]["warp_instructions"] > 0);
    CHECK(!step["limit"].get<std::string>().empty());
  }
}

TEST_CASE("walk: the text has idea, diff, limit, table and chart, and no escape codes") {
  const cloned_course c;
  const auto result = c.lab({"walk", "reduction", "--device", "emulated"});
  CHECK(result.end.exit_code == 0);
  for (const char* part :
       {"idea", "limit", "@@ -", "correct", "modelled", "recorded", "rate (modelled", "####"}) {
    CAPTURE(part);
    CHECK(has(result.out, part));
  }
  CHECK(!has(result.out, "\x1b"));
  CHECK(!has(result.out, "//>"));
  CHECK(!has(result.out, "11_one_block"));
  CHECK(has(result.out, "./lab walk reduction --all   adds the lab's case study (3 more)"));
  auto narrow = c.command({"diff", "transpose", "04", "06"});
  narrow.environment = {"NO_COLOR=1", "LC_ALL=C", "COLUMNS=70"};
  for (const auto& line : split_lines(run_child(std::move(narrow), 60).out))
    CHECK_MESSAGE(display_width(line) <= 70, line);
  const auto one = c.lab({"walk", "reduction", "--step", "03", "--device", "emulated"});
  CHECK(one.end.exit_code == 0);
  CHECK(has(one.out, "03_sequential"));
  CHECK(!has(one.out, "04_first_add"));
}

TEST_CASE("grade: the untouched skeleton fails, and the report says what is left to do") {
  const cloned_course c;
  REQUIRE(c.lab({"start", "reduction"}).end.exit_code == 0);
  const auto result = c.lab({"grade", "reduction", "--device", "emulated"});
  CHECK(result.end.exit_code == 1);
  CHECK(has(result.out, "TODO"));
  CHECK(has(result.out, "0 of 100 points"));
  const json grade = document_of(c.lab({"grade", "reduction", "--device", "emulated", "--json"}));
  check_documented(grade, "grade");
  CHECK(grade["class"] == "WRONG");
  CHECK(grade["trust"] == "judged");
  CHECK(grade["file"] == "labs/reduction/reduction.cu");
  CHECK(grade["points"] == 0);
}

TEST_CASE("grade: the last step passes; without a GPU its speed is labelled as modelled") {
  const cloned_course c;
  const auto result = c.lab({"grade", "reduction", "--file", step_file("10_one_launch"), "--device",
                             "emulated", "--json"});
  CHECK(result.end.exit_code == 0);
  const json grade = document_of(result);
  check_documented(grade, "grade");
  CHECK(grade["class"] == "PASS");
  CHECK(grade["points"] == 100);
  for (const auto& goal : grade["goals"]) {
    CHECK(goal["passed"] == true);
    if (goal["kind"] == "speedup" || goal["kind"] == "reach") {
      CHECK(has(goal["message"].get<std::string>(), "(modelled, NVIDIA H200, n = "));
      CHECK(goal["modelled"]["ratio"] >= goal["modelled"]["at_least"].get<double>());
    }
  }
}

TEST_CASE("grade: the same seed gives the same answer") {
  const cloned_course c;
  REQUIRE(c.lab({"start", "reduction"}).end.exit_code == 0);
  const std::vector<std::string> command = {"grade",  "reduction", "--device", "emulated",
                                            "--json", "--seed",    "11"};
  CHECK(c.lab(command).out == c.lab(command).out);
}

TEST_CASE("a file that does not compile: the first error, the student's line and a caret") {
  const cloned_course c;
  std::string text = *read_if_there(c.root() / step_file("03_sequential"));
  const auto at = text.find("partial[tid] +=");
  REQUIRE(at != std::string::npos);
  text.replace(at, 12, "partial[tidd]");
  write_atomically(c.root() / "mine.cu", text);
  const auto line =
      std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
  const auto result = c.lab({"run", "reduction", "--file", "mine.cu"});
  CHECK(result.end.exit_code == 1);
  CHECK(has(result.out, "COMPILE"));
  CHECK(has(result.out, "mine.cu:" + std::to_string(line) + ": identifier \"tidd\" is undefined"));
  CHECK(has(result.out, "partial[tidd]"));
  CHECK(has(result.out, "^"));
  const json grade = document_of(c.lab({"grade", "reduction", "--file", "mine.cu", "--json"}));
  CHECK(grade["class"] == "COMPILE");
  CHECK(grade["points"] == 0);
}

TEST_CASE("special functions and std::min, which are left out at first, still compile") {
  const cloned_course c;
  const std::string text = *read_if_there(c.root() / "solutions/reduction/03_sequential.cu");
  write_atomically(c.root() / "mine.cu",
                   "#include <cmath>\n" + text +
                       "double more() { return std::legendre(2u, 0.5) + std::min(1, 2); }\n");
  const json run =
      document_of(c.lab({"run", "reduction", "--file", "mine.cu", "--size", "1000", "--json"}));
  CHECK(run["class"] == "PASS");
}

TEST_CASE("a file without the function: the message names the function and the lab's header") {
  const cloned_course c;
  write_atomically(c.root() / "empty.cu", "// nothing\n");
  const auto result = c.lab({"run", "reduction", "--file", "empty.cu"});
  CHECK(result.end.exit_code == 1);
  CHECK(has(result.out, "nothing defines reduce(int const*, int*, int*, int)"));
  CHECK(has(result.out, "labs/reduction/reduction.hpp"));
}

TEST_CASE("Ctrl-C in the middle: exit code 130, no child process, no half-written file") {
  const cloned_course c;
  child running(c.command({"run", "reduction", "--file", "labs/reduction/tests/mutants/endless.cu",
                           "--device", "emulated"}));
  // Wait for the runner to start. By then the compile cache holds the program.
  const auto compiled = [&] {
    for (const auto& entry : fs::directory_iterator(c.root() / "build/submissions")) {
      if (fs::exists(entry.path() / "headers.json")) return true;
    }
    return false;
  };
  for (int i = 0; i < 600; ++i) {
    REQUIRE(running.wait(0.1) == child::event::deadline);
    if (fs::exists(c.root() / "build/submissions") && compiled()) break;
  }
  REQUIRE(running.wait(0.5) == child::event::deadline);
  kill(running.id(), SIGINT);
  REQUIRE(running.wait(20) == child::event::ended);
  const auto& end = running.end(child_end::cause::deadline);
  CHECK(end.exit_code == 130);
  CHECK(running.errors().text().ends_with("interrupted; no data was lost\n"));
  for (const auto& entry : fs::directory_iterator(c.root() / "build/submissions")) {
    CHECK(!entry.path().filename().string().starts_with(temporary_folder::prefix));
  }
  const std::string here = c.root().string();
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::error_code error;
    const auto program = fs::read_symlink(entry.path() / "exe", error);
    if (!error) CHECK(!program.string().starts_with(here));
  }
}

TEST_CASE("a call that never ends is stopped and named; two runs at once do not block each other") {
  const cloned_course c;
  c.limit_calls("reduction");
  const std::vector<std::string> arguments = {
      "run",      "reduction", "--file", "labs/reduction/tests/mutants/endless.cu",
      "--device", "emulated",  "--json"};
  child first(c.command(arguments)), second(c.command(arguments));
  for (child* one : {&first, &second}) {
    REQUIRE(one->wait(120) == child::event::ended);
    CHECK(one->end(child_end::cause::deadline).exit_code == 1);
    const json run = parse_json(one->output().text());
    CHECK(run["class"] == "TIMEOUT");
    CHECK(has(run["message"].get<std::string>(), "endless.cu:"));
  }
}

TEST_CASE("start keeps changed work, and says where it is") {
  const cloned_course c;
  const fs::path file = c.root() / "labs/reduction/reduction.cu";
  REQUIRE(c.lab({"start", "reduction"}).end.exit_code == 0);
  const std::string skeleton = *read_if_there(file);
  CHECK(skeleton.starts_with("// Generated from solutions/reduction/"));
  CHECK(has(c.lab({"start", "reduction"}).out, "Nothing was changed"));
  // An untouched skeleton is not work, so it is replaced without a copy.
  const json other = document_of(c.lab({"start", "reduction", "03", "--json"}));
  check_documented(other, "start");
  CHECK(other["kept"].is_null());
  write_atomically(file, skeleton + "// my work\n");
  const auto result = c.lab({"start", "reduction"});
  CHECK(has(result.out, "labs/reduction/reduction.cu.kept-1"));
  CHECK(read_if_there(file.string() + ".kept-1") == skeleton + "// my work\n");
  CHECK(read_if_there(file) == skeleton);
}

TEST_CASE("a full disk gives one message, and the work stays") {
  const cloned_course c;
  const fs::path file = c.root() / "labs/reduction/reduction.cu";
  write_atomically(file, "// my work\n");
  auto options = c.command({"start", "reduction"});
  options.file_limit_bytes = 100;  // writing more fails, as on a full disk
  const auto result = run_child(options, 60);
  CHECK(result.end.exit_code == 3);
  CHECK(has(result.err, "lab: cannot write "));
  CHECK(read_if_there(file) == "// my work\n");
  options = c.command({"list"});
  options.command = {"/bin/sh", "-c", "exec \"$0\" list > /dev/full", options.command[0]};
  const auto full = run_child(options, 60);
  CHECK(full.end.exit_code == 3);
  CHECK(has(full.err, "No space left on device"));
}

TEST_CASE("when the reader of a pipe ends early, a wrong answer still exits with 1") {
  const cloned_course c;
  auto options = c.command({"grade"});
  options.command = {"/bin/bash", "-c", "\"$0\" grade reduction | true; exit ${PIPESTATUS[0]}",
                     options.command[0]};
  CHECK(run_child(options, 60).end.exit_code == 1);
}

TEST_CASE("bad input: one clear message and the correct exit code") {
  struct row {
    std::vector<std::string> arguments;
    int code;
    const char* says;
  };
  const cloned_course c;
  for (const row& r : std::vector<row>{
           {{"run", "reductoin"}, 2, "there is no lab \"reductoin\"; did you mean \"reduction\"?"},
           {{"wlak", "reduction"}, 2, "there is no command \"wlak\"; did you mean \"walk\"?"},
           {{"walk", "reduction", "--step", "03_sequentail"}, 2, "did you mean \"03_sequential\"?"},
           {{"run", "reduction", "--file", "nowhere.cu"}, 2, "nowhere.cu: there is no such file"},
           {{"run", "reduction", "--file", "labs"}, 2, "it is a folder"},
           {{"run", "reduction", "--file", "a.cu", "--step", "03"}, 2, "exclude each other"},
           {{"run", "reduction", "--size", "12x7"}, 2, "--size 12x7: expected a number"},
           {{"run", "reduction", "--step", "03", "--size", "0"}, 2, "from 1 to"},
           {{"check", "reduction", "--step", "03", "--size", "-5"}, 2, "from 1 to"},
           {{"env", "reduction", "--step", "03", "--size", "2^40"}, 2, "--size 2^40: "},
           {{"run", "reduction", "--device", "cpu"}, 2, "expected auto, gpu or emulated"},
           {{"run"}, 2, "LAB is required"},
           {{"run", "reduction", "--speed"}, 2, "run takes no \"--speed\""},
           {{"grade", "reduction", "--practise"}, 2, "did you mean \"--practice\"?"},
           {{"check", "reduction", "--counters"}, 2, "that is an option of run"},
           {{"run", "reduction", "1023"}, 2, "use --size 1023"},
           {{"run", "transpose", "--size", "64", "x", "32"}, 2, "write the size without spaces"},
           {{"walk", "reduction", "03"}, 2, "use --step 03"},
           {{"run", "labs/reduction/reduction.cu"}, 2, "did you mean \"reduction\"?"},
           {{"submit", "reduction"}, 2, "there is no command \"submit\"; \"pack\" does that"},
           {{"diff", "reduction", "03", "mime"}, 2, "no step \"mime\""},
           {{"hint", "reduction", "99"}, 2, "has hints 1 to"},
           {{"dev", "bench", "reduction", "--record", "--device", "emulated"},
            3,
            "--record needs a GPU"},
           {{"dev", "bench", "reduction", "--record", "--cpu"}, 2, "--cpu measures no step"},
           {{"dev", "bench", "transpose", "--ragged", "0"},
            2,
            "expected a number of sizes from 1 to 1000"},
           {{"dev", "bench", "first", "--ragged", "9"}, 2, "has no sizes.ragged"},
           {{"dev", "bench", "transpose", "--ragged", "9", "--sizes", "8x8"}, 2, "--sizes"},
           {{"dev", "bench", "transpose", "--ragged", "9", "--device", "emulated"},
            3,
            "--ragged needs a GPU, but none is available: the emulator was requested"},
           {{"test", "nosuchsuite"}, 2, "only the launcher can run this command; type ./lab test"},
           // `report` is the name of a test here, not the command.
           {{"test", "nosuchsuite", "report"}, 2, "./lab test"},
       }) {
    std::string typed;
    for (const auto& argument : r.arguments) typed += argument + " ";
    CAPTURE(typed);
    const auto result = c.lab(r.arguments);
    check_refused(result, r.code, r.says);
    CHECK(result.err.starts_with("lab: "));
    // With --json, the same refusal is one document, which has the exit code.
    auto arguments = r.arguments;
    arguments.push_back("--json");
    const auto as_json = c.lab(arguments);
    CHECK(as_json.end.exit_code == r.code);
    const json document = document_of(as_json);
    CHECK(document["exit_code"] == r.code);
    CHECK(has(document["error"].get<std::string>(), r.says));
    check_documented(document);
  }
}

TEST_CASE("--device gpu without a GPU is an error of the environment") {
  const cloned_course c;
  const json doctor = document_of(c.lab({"doctor", "--json"}));
  check_documented(doctor, "doctor");
  const auto tested = c.lab({"doctor", "--sandbox", "--json"});
  const json sandbox = document_of(tested);
  check_documented(sandbox, "doctor");
  CHECK(sandbox["sandbox"].size() > 50);
  CHECK((tested.end.exit_code == 0) == sandbox["complete"].get<bool>());
  if (doctor["device"]["kind"] == "gpu") return skip_case("there is a GPU");
  const auto result = c.lab({"walk", "reduction", "--device", "gpu"});
  CHECK(result.end.exit_code == 3);
  CHECK(has(result.err, "--device gpu: "));
  const auto validation = c.lab({"dev", "validate", "reduction", "03", "--json"});
  CHECK(validation.end.exit_code == 3);
  CHECK(document_of(validation)["exit_code"] == 3);
}

TEST_CASE("help has examples, --version prints a number, and both go to stdout") {
  const cloned_course c;
  const json all = document_of(c.lab({"--help", "--json"}));
  CHECK(all["commands"].size() >= 20);
  CHECK(all["commands"][0]["name"] == "list");
  for (const json& command : all["commands"]) {
    const std::string name = command["name"];
    CAPTURE(name);
    auto words = name.starts_with("dev ") ? std::vector<std::string>{"dev", name.substr(4)}
                                          : std::vector<std::string>{name};
    words.push_back("--help");
    const auto result = c.lab(words);
    CHECK(result.end.exit_code == 0);
    CHECK(has(result.out, "  ./lab " + name));
    words.pop_back();
    words.insert(words.begin(), "help");
    CHECK(c.lab(words).out == result.out);
    for (const auto& line : split_lines(result.out)) CHECK_MESSAGE(line.size() <= 80, line);
  }
  const auto screen = split_lines(c.lab({"help"}).out);
  CHECK(screen.size() <= 23);
  for (const auto& line : screen) CHECK_MESSAGE(line.size() <= 80, line);
  CHECK(has(c.lab({"bench"}).err, "./lab dev bench"));
  CHECK(has(c.lab({"dev", "bensh"}).err, "did you mean \"bench\"?"));
  CHECK(c.lab({"help"}).out == c.lab({"--help"}).out);
  CHECK(has(c.lab({"--version"}).out, "lab 0."));
  const auto overview = split_lines(c.lab({}).out);
  CHECK(overview.size() <= 12);
  CHECK(has(overview[2], "first      ..........    0 of 100    blur"));
  CHECK(has(overview[overview.size() - 3], "next     ./lab run first"));
  const json version = document_of(c.lab({"--version", "--json"}));
  CHECK(version["version"].get<std::string>().starts_with("0."));
  for (const auto& words :
       {std::vector<std::string>{"--json"}, {"--help", "--json"}, {"run", "--help", "--json"}}) {
    const auto result = c.lab(words);
    CHECK(result.end.exit_code == 0);
    const json help = document_of(result);
    check_documented(help, "help");
    const bool of_run = words[0] == "run";
    CHECK(has(help["help"].get<std::string>(), of_run ? "./lab run" : "labs/first/README.md"));
    CHECK(help["commands"].size() > 10);
  }
}

TEST_CASE("an unknown command: the message suggests the nearest one, or what to do with a lab") {
  const cloned_course c;
  const auto said = [&](const std::string& word) {
    const auto result = c.lab({word});
    CHECK(result.end.exit_code == 2);
    return result.err;
  };
  CHECK(has(said("reduction"), "\"reduction\" is a lab, not a command; put the command first:\n"));
  CHECK(has(said("reduction"), "  ./lab walk reduction "));
  CHECK(has(said("reducton"), "did you mean the lab \"reduction\": ./lab walk reduction?"));
  CHECK(has(said("rnu"), "there is no command \"rnu\"; did you mean \"run\"?"));
  CHECK(has(said("xyzzy"), "there is no command \"xyzzy\"\n"));
  CHECK(c.lab({"help", "rnu"}).end.exit_code == 2);
}

TEST_CASE("validate: the emulator is compared with a record, and the JSON is as documented") {
  const cloned_course c;
  const auto result =
      c.lab({"dev", "validate", "reduction", "03", "--recorded", "--size", "1000", "--json"});
  const json document = document_of(result);
  check_documented(document, "validate");
  CHECK(result.end.exit_code == 0);
  REQUIRE(document["steps"].size() == 1);
  REQUIRE(document["steps"][0]["sizes"].size() == 1);
  CHECK(document["steps"][0]["sizes"][0]["kernels"].size() == 2);
}

TEST_CASE("diff, list, hint and env: text and JSON") {
  const cloned_course c;
  const auto diff = c.lab({"diff", "reduction", "02", "03"});
  CHECK(diff.end.exit_code == 0);
  CHECK(has(diff.out, "--- solutions/reduction/02_strided.cu"));
  CHECK(has(diff.out, "@@ -"));
  CHECK(!has(diff.out, "todo"));
  check_documented(document_of(c.lab({"diff", "reduction", "02", "03", "--json"})), "diff");
  CHECK(has(c.lab({"diff", "reduction", "03", "03"}).out, "no difference"));
  CHECK(has(c.lab({"list"}).out, "reduction"));
  check_documented(document_of(c.lab({"list", "--json"})), "list");
  CHECK(has(c.lab({"hint", "reduction"}).out, "lab hint reduction 1"));
  check_documented(document_of(c.lab({"hint", "reduction", "1", "--json"})), "hint");
  const json bench = document_of(
      c.lab({"dev", "bench", "reduction", "--baselines", "--device", "emulated", "--json"}));
  check_documented(bench, "bench");
  // Even without a GPU, the CPU is timed.
  CHECK(bench["cpu"]["threads"] >= 1);
  REQUIRE(bench["baselines"].size() == 1);
  CHECK(bench["baselines"][0]["name"] == "cpu");
  CHECK(bench["baselines"][0]["sizes"][0]["cold"]["median_ms"] > 0);
  const auto on_cpu = c.lab({"dev", "bench", "reduction", "--cpu", "--sizes", "4096"});
  CHECK(on_cpu.end.exit_code == 0);
  CHECK(has(on_cpu.out, "measured on the CPU, "));
  CHECK(has(on_cpu.out, "n = 4096"));
  CHECK(!has(on_cpu.out, "10_one_launch"));
}

TEST_CASE("env: its output is shell code, with which the program runs by hand") {
  const cloned_course c;
  const auto env =
      c.lab({"env", "reduction", "--step", "03", "--size", "2^10", "--device", "emulated"});
  REQUIRE(env.end.exit_code == 0);
  const json made =
      document_of(c.lab({"env", "reduction", "--step", "03", "--device", "emulated", "--json"}));
  check_documented(made, "env");
  child_options shell;
  shell.command = {"/bin/sh", "-c", "eval \"$0\"; \"$STEPWISE_PROGRAM\" \"$STEPWISE_CALLS\"",
                   env.out};
  shell.directory = c.root();
  CHECK(run_child(shell, 60).end.exit_code == 0);
  const auto checked = c.lab({"env", "reduction", "--step", "03", "--check"});
  CHECK(checked.end.exit_code == 0);
  CHECK(has(checked.out, "correct"));
}

TEST_CASE("the tables in the READMEs agree with the records") {
  const cloned_course c;
  const std::string before = *read_if_there(c.root() / "README.md"),
                    results = *read_if_there(c.root() / "solutions/README.md");
  const auto result = c.lab({"dev", "bench", "--readme", "--json"});
  CHECK(result.end.exit_code == 0);
  check_documented(document_of(result), "bench");
  INFO("./lab dev bench --readme updates them");
  CHECK(read_if_there(c.root() / "README.md") == before);
  CHECK(read_if_there(c.root() / "solutions/README.md") == results);
  CHECK(document_of(result)["changed"].empty());  // this includes the labs' deeper.md
}

TEST_CASE("a student's file is compiled with the flags of the solutions") {
  const fs::path build = std::getenv("LAB_BUILD");
  const auto commands = parse_json(*read_if_there(build / "compile_commands.json"));
  const auto config = parse_json(*read_if_there(build / "grader/lab.json"));
  int compared = 0;
  for (const auto& entry : commands) {
    if (!has(entry["file"].get<std::string>(), "solutions/reduction/03_sequential.cu")) continue;
    const std::string theirs = " " + entry["command"].get<std::string>() + " ";
    std::string ours;
    for (const auto& flag : config["cuda_args"]) ours += " " + flag.get<std::string>();
    std::size_t known = 0;
    for (const auto& flag : config["cuda_args"]) {
      CAPTURE(flag);
      CHECK(has(theirs, " " + flag.get<std::string>() + " "));
      ++known;
    }
    CHECK(has(theirs, std::string(" ") + no_special_functions + " "));
    // Our flags and theirs agree on these points. Only folders, warnings and files may differ.
    for (const char* other :
         {"-G", "-O0", "-O1", "-O2", "-g", "-use_fast_math", "-fmad=false", "-maxrregcount"}) {
      CAPTURE(other);
      CHECK(has(theirs, std::string(" ") + other + " ") ==
            has(ours + " ", std::string(" ") + other + " "));
    }
    CHECK(known > 4);
    ++compared;
  }
  CHECK(compared == 1);
}
