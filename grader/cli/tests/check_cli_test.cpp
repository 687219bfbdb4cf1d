// Tests lab check, and the way in which lab grade reports what the checks find. Runs in a copy of
// the clone, like cli_test.cpp; needs nvcc.
#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

#include "grader/cli/tests/cloned_course.hpp"
#include "grader/sandbox/sandbox.hpp"
#include "grader/system/files.hpp"

using namespace stepwise;

TEST_CASE("check: a solution has no findings") {
  const cloned_course c;
  const json checked = document_of(
      c.lab({"check", "reduction", "--step", "03_sequential", "--size", "1000", "--json"}));
  check_documented(checked, "check");
  CHECK(checked["class"] == "PASS");
  CHECK(checked["summary"] == "no findings");
  CHECK(checked["findings"].empty());
  const auto result = c.lab({"check", "reduction", "--step", "03_sequential", "--size", "33"});
  CHECK(result.end.exit_code == 0);
  CHECK(has(result.out, "no findings"));
  CHECK(has(result.out, "1 of 1 size"));
}

TEST_CASE("run shows the findings of the checks, and for a failure names them as the cause") {
  const cloned_course c;
  const auto shown = [&](const std::string& file) {
    return c.lab({"run", "first", "--file", "labs/first/tests/" + file}).out;
  };
  const std::string wrong = shown("beginners/no_copy_in.cu");
  CHECK(has(wrong, "WRONG"));
  CHECK(has(wrong, "cause    read of unwritten memory at no_copy_in.cu:12: "));
  CHECK(has(wrong, "more     ./lab check first --file "));
  const std::string racing = shown("beginners/lost_counts.cu");
  CHECK(has(racing, "correct  21 of 21 sizes"));
  CHECK(has(racing, "checks   race at lost_counts.cu:16: "));
  const std::string silent = shown("mutants/writes_nothing.cu");
  CHECK(has(silent, "checks   no race and no wrong address"));
  CHECK(!has(silent, "./lab check"));
  const json document = document_of(
      c.lab({"run", "first", "--file", "labs/first/tests/mutants/writes_nothing.cu", "--json"}));
  check_documented(document, "run");
  CHECK(document["finding"] == "");
  const std::string unexplained =
      c.lab({"check", "first", "--file", "labs/first/tests/mutants/writes_nothing.cu"}).out;
  CHECK(has(unexplained, "no race and no wrong address: look for the cause in the wrong result"));
  CHECK(!has(unexplained, "no findings"));
  CHECK(unexplained.find("WRONG") < unexplained.find("no race"));
  std::string source = *read_if_there(c.root() / "labs/reduction/tests/correct/vectors.cu");
  const std::string store = "  partial[tid] = sum;";
  source.insert(source.find(store), "  if (tid % 32 < 16) sum += __shfl_down_sync(~0u, sum, 1);\n");
  const std::string file = c.root() / "deadlock.cu";
  write_atomically(file, source);
  const std::string stuck = c.lab({"run", "reduction", "--file", file}).out;
  CHECK(has(stuck, "TIMEOUT"));
  CHECK(has(stuck, "cause    deadlock at deadlock.cu:"));
  source = *read_if_there(c.root() / "labs/reduction/tests/correct/vectors.cu");
  source.insert(
      source.find(store),
      "  partial[tid] = 0;\n  while (static_cast<volatile unsigned*>(partial)[tid] == 0) {}\n");
  const std::string endless = c.root() / "endless.cu";
  write_atomically(endless, source);
  const std::string hanging = c.lab({"run", "reduction", "--file", endless}).out;
  CHECK(has(hanging, "TIMEOUT"));
  CHECK(has(hanging, " never ends: "));
  CHECK(has(hanging, "cause    unfinished kernel at endless.cu:"));
  CHECK(has(hanging, "more     ./lab check reduction --file "));
}

TEST_CASE("run and check name the features that a grade refuses") {
  const cloned_course c;
  const std::string step = *read_if_there(c.root() / "solutions/launch/01_tiny_blocks.cu");
  const std::string file = c.root() / "graph.cu";
  write_atomically(file,
                   step + "void replay(cudaGraphExec_t g) { check(cudaGraphLaunch(g, 0)); }\n");
  for (const std::string verb : {"run", "check"}) {
    const json document =
        document_of(c.lab({verb, "launch", "--file", file, "--size", "33", "--json"}));
    check_documented(document, verb);
    CHECK(document["correct"] == true);
    CHECK(document["grade_refuses"] == json::array({"graphs"}));
    const auto shown = c.lab({verb, "launch", "--file", file, "--size", "33"});
    CHECK(has(shown.out, "`./lab grade` refuses graphs: rewrite this before you hand it in"));
  }
}

TEST_CASE("run, check, watch and grade agree that the emulator lacks an instruction") {
  const cloned_course c;
  const std::string file =
      std::string(std::getenv("LAB_ROOT")) + "/grader/tests/attacks/resources/55_sparse_product.cu";
  for (std::vector<std::string> command : {std::vector<std::string>{"run", "--device", "emulated"},
                                           {"check"},
                                           {"watch", "--once"},
                                           {"grade", "--device", "emulated"}}) {
    CAPTURE(command[0]);
    command.insert(command.begin() + 1, {"reduction", "--file", file, "--json"});
    const auto result = c.lab(command);
    CHECK(result.end.exit_code == 1);
    const json document = document_of(result);
    CHECK(document["class"] == "CRASH");
    const std::string message = document["message"];
    CHECK(has(message, "the emulator does not implement the instruction mma.sp"));
  }
}

TEST_CASE("an assert() in a student's file fires") {
  const cloned_course c;
  std::string text = *read_if_there(c.root() / "solutions/launch/01_tiny_blocks.cu");
  const std::string here = "if (i < n) z[i] = x[i] + y[i];";
  REQUIRE(has(text, here));
  text.insert(text.find(here), "assert(n != 33);\n  ");
  const std::string file = c.root() / "asserted.cu";
  write_atomically(file, "#include <cassert>\n" + text);
  const auto result =
      c.lab({"run", "launch", "--file", file, "--size", "33", "--device", "emulated", "--json"});
  CHECK(result.end.exit_code == 1);
  CHECK(has(document_of(result)["message"], "assertion `n != 33` failed"));
}

TEST_CASE("run, check and watch show the compiler's warnings, even if the program is cached") {
  const cloned_course c;
  std::string text = *read_if_there(c.root() / "solutions/launch/01_tiny_blocks.cu");
  const std::string here = "if (i < n) z[i] = x[i] + y[i];";
  REQUIRE(has(text, here));
  text.replace(text.find(here), here.size(),
               "float sum;\n  if (i < n) z[i] = x[i] + y[i];\n  if (i > n) z[0] = sum;");
  const std::string file = c.root() / "warned.cu";
  write_atomically(file, text);
  const std::string says = "variable \"sum\" is used before its value is set";
  for (int again = 0; again < 2; ++again) {
    for (const std::string verb : {"run", "check"}) {
      const json document =
          document_of(c.lab({verb, "launch", "--file", file, "--size", "33", "--json"}));
      check_documented(document, verb);
      REQUIRE(document["compiler_warnings"].size() == 1);
      CHECK(document["compiler_warnings"][0]["message"] == says);
      CHECK(document["compiler_warnings"][0]["text"] == "if (i > n) z[0] = sum;");
      const auto shown = c.lab({verb, "launch", "--file", file, "--size", "33"});
      const auto warned = shown.out.find("warning  line "), right = shown.out.find("correct");
      CHECK(warned < right);
      CHECK(has(shown.out, " | if (i > n) z[0] = sum;"));
    }
  }
  CHECK(has(c.lab({"watch", "launch", "--file", file, "--once"}).out, "used before its value"));
  const json watched = document_of(c.lab({"watch", "launch", "--file", file, "--once", "--json"}));
  check_documented(watched, "watch");
  CHECK(watched["compiler_warnings"].size() == 1);
  const auto silent = c.lab({"check", "launch", "--step", "01_tiny_blocks", "--size", "33"});
  CHECK(!has(silent.out, "warning"));
}

TEST_CASE("check: a missing barrier is a race, reported with both lines and the buffers' names") {
  const cloned_course c;
  const std::string mutant = "labs/reduction/tests/mutants/missing_barrier.cu";
  const auto result = c.lab({"check", "reduction", "--file", mutant, "--size", "1000"});
  CHECK(result.end.exit_code == 1);
  CHECK(has(result.out, "race in reduce_kernel: "));
  CHECK(has(result.out, "partial[tid] += partial[tid + s];"));
  CHECK(has(result.out, "launched at " + mutant + ":"));
  const json checked =
      document_of(c.lab({"check", "reduction", "--file", mutant, "--size", "1000", "--json"}));
  check_documented(checked, "check");
  CHECK(checked["errors"] > 0);
  bool race = false;
  for (const auto& found : checked["findings"]) {
    race |= found["kind"] == "race" && found["parties"].size() == 2;
  }
  CHECK(race);
}

TEST_CASE("check: reading one element past the end names the buffer, not our runner") {
  const cloned_course c;
  const auto result = c.lab({"check", "reduction", "--file",
                             "labs/reduction/tests/mutants/reads_past_end.cu", "--size", "1000"});
  CHECK(result.end.exit_code == 1);
  CHECK(has(result.out, "out of bounds in reduce_kernel: "));
  CHECK(has(result.out, "in[1000], just past the end"));
  CHECK(!has(result.out, "runner"));
}

TEST_CASE("check: a finding names the lines of the launch and of the array's allocation") {
  const cloned_course c;
  const json findings =
      document_of(c.lab({"check", "first", "--file", "labs/first/tests/beginners/no_bounds_test.cu",
                         "--json"}))["findings"];
  REQUIRE(findings.size() == 2);  // one for the picture, one for the result
  for (std::size_t n = 0; n < 2; ++n) {
    CHECK(findings[n]["host"]["line"] == 22);
    CHECK(findings[n]["object"]["allocated"]["line"] == 18 + n);
  }
}

TEST_CASE("check: what was found before a call that never ends is still reported") {
  const cloned_course c;
  c.limit_calls("reduction");
  const json checked =
      document_of(c.lab({"check", "reduction", "--file", "labs/reduction/tests/mutants/endless.cu",
                         "--size", "33", "--json"}));
  CHECK(checked["class"] == "TIMEOUT");
  CHECK(checked["errors"] == 1);
  CHECK(checked["findings"][0]["kind"] == "endless");
}

TEST_CASE("try: a file is checked and timed in the sandbox, and none of its files remain") {
  const cloned_course c;
  const auto tried = [&](const std::string& text) {
    write_atomically(c.root() / "typed.cu", text);
    auto command =
        c.command({"try", "reduction", "--file", "-", "--json", "--i-trust-these-files"});
    command.command = {"/bin/sh", "-c", "exec \"$@\" < typed.cu", "sh", command.command.at(0)};
    for (const char* word : {"try", "reduction", "--file", "-", "--json", "--i-trust-these-files"})
      command.command.emplace_back(word);
    command.directory = c.root();
    const json document = document_of(run_child(std::move(command), 120));
    json own = document;
    for (const auto& [part, verb] : {std::pair{"analysis", "profile"}, {"sandbox", "grade"}}) {
      if (document.contains(part)) check_documented({{part, document[part]}}, verb);
      own.erase(part);
    }
    check_documented(own, "try");
    return document;
  };
  const auto read_lab = [&](const std::string& file) { return *read_if_there(c.root() / file); };
  const json raced = tried(read_lab("labs/reduction/tests/mutants/missing_barrier.cu"));
  CHECK(raced["errors"] > 0);
  CHECK(raced["findings"][0]["kind"] == "race");
  CHECK(raced["time_ms"] > 0);
  const json right = tried(read_lab("solutions/reduction/03_sequential.cu"));
  CHECK(right["class"] == "PASS");
  CHECK(right["errors"] == 0);
  CHECK(right["analysis"]["limiter"].is_string());
  CHECK_FALSE(fs::exists(c.root() / "build/submissions/headers.json"));
  for (const auto& entry : fs::directory_iterator(c.root() / "build/submissions"))
    CHECK_FALSE(entry.is_directory());
  const json refused = tried("// one\nint broken = ;\n");
  CHECK(refused["class"] == "COMPILE");
  CHECK(refused["compile_errors"][0]["line"] == 2);
  if (!find_protections().complete()) return;
  const json solution = tried("#include \"solutions/reduction/03_sequential.cu\"\n");
  CHECK(solution["class"] == "COMPILE");
  CHECK(has(solution["message"].get<std::string>(), "No such file"));
}

TEST_CASE("try: the child of a batch uses the protections that its parent found") {
  const cloned_course c;
  const auto told = [&](const std::string& environment) {
    auto command = c.command({"try", "--json"});
    command.environment.push_back(environment);
    const json document = document_of(run_child(std::move(command), 60));
    return document["sandbox"][0]["detail"].get<std::string>();
  };
  protections found = find_protections();
  const std::string probed = std::exchange(found.layers[0].detail, "found by a parent");
  CHECK(told(found.environment()) == "found by a parent");
  CHECK(told("STEPWISE_PROTECTIONS={\"layers\": 7}") == probed);
}

TEST_CASE("check: on a GPU there are no checks, and the message names compute-sanitizer") {
  const cloned_course c;
  check_refused(c.lab({"check", "reduction", "--device", "gpu"}), 2, "compute-sanitizer");
}

TEST_CASE("grade: a race is class CHECK, reported with its lines, and earns nothing") {
  const cloned_course c;
  const json grade =
      document_of(c.lab({"grade", "reduction", "--device", "emulated", "--file",
                         "labs/reduction/tests/mutants/missing_barrier.cu", "--json"}));
  check_documented(grade, "grade");
  CHECK(grade["class"] == "CHECK");
  CHECK(grade["points"] == 0);
  CHECK(grade["errors"] > 0);
  CHECK(has(grade["message"].get<std::string>(), "missing_barrier.cu:"));
}
