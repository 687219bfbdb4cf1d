// lab explain and lab hint: what they print, which misspellings they understand, and their JSON.
#include <doctest/doctest.h>

#include "grader/cli/grade/graded_file.hpp"
#include "grader/cli/tests/cloned_course.hpp"
#include "grader/course/hints.hpp"
#include "grader/course/source.hpp"

using namespace stepwise;

TEST_CASE("explain: a term with its example, where it is taught, and related terms; a metric") {
  const cloned_course c;
  const auto term = c.lab({"explain", "Bank", "conflicts"});
  CHECK(term.end.exit_code == 0);
  CHECK(term.out.starts_with("bank conflict\n"));
  CHECK(has(term.out, "tile[32][33]"));
  CHECK(has(term.out, "labs/transpose/README.md#banks, step 06_padded"));
  CHECK(has(term.out, "wavefront"));
  CHECK(c.lab({"explain", "bank-conflict"}).out == term.out);
  CHECK(c.lab({"explain", "SMs"}).out == c.lab({"explain", "streaming multiprocessor"}).out);
  const auto metric = c.lab({"explain", "gld_efficiency"});
  CHECK(metric.out.starts_with("global load efficiency\n"));
  check_documented(document_of(c.lab({"explain", "global load efficiency", "--json"})), "explain");
  const json document = document_of(c.lab({"explain", "warp", "--json"}));
  check_documented(document, "explain");
  REQUIRE(document["terms"].size() == 1);
  CHECK(document["terms"][0]["name"] == "warp");
}

TEST_CASE("explain: a list of all terms in 80 columns, and suggestions for misspellings") {
  const cloned_course c;
  auto command = c.command({"explain"});
  command.environment = {"NO_COLOR=1", "LC_ALL=C", "COLUMNS=80"};
  const auto all = run_child(command, 60);
  CHECK(all.end.exit_code == 0);
  for (const auto& line : split_lines(all.out)) CHECK(line.size() <= 80);
  for (const char* name : {"bank-conflict", "littles-law", "achieved-occupancy", "stream-k"})
    CHECK(has(all.out, name));
  CHECK(document_of(c.lab({"explain", "--json"}))["terms"].size() > 120);
  const auto miss = c.lab({"explain", "coalesing"});
  CHECK(miss.end.exit_code == 2);
  CHECK(has(miss.err, "no \"coalesing\"; did you mean\n       ./lab explain coalescing\n"));
  CHECK(c.lab({"explain", "qwertyuiop"}).err ==
        "lab: the glossary has no \"qwertyuiop\"\n     `./lab explain` lists all terms\n");
}

TEST_CASE("hint: topics, one part at a time, and numbers out of range") {
  const cloned_course c;
  const auto all = c.lab({"hint", "reduction"});
  CHECK(has(all.out, "hints for reduction; each part gives away more"));
  CHECK(has(all.out, "3 parts\n"));
  const auto first = c.lab({"hint", "reduction", "1"});
  CHECK(has(first.out, ", 1 of "));
  CHECK(has(first.out, "more  ./lab hint reduction 1 2\n"));
  const auto second = c.lab({"hint", "reduction", "1", "2"});
  CHECK(has(second.out, ", 2 of "));
  CHECK(second.out != first.out);
  CHECK(c.lab({"hint", "reduction", "a RIGHT", "2"}).out == second.out);
  CHECK(has(c.lab({"hint", "reduction", "wrong"}).err, "has no hint \"wrong\""));
  CHECK(has(c.lab({"hint", "reduction", "1", "9"}).err,
            "hint 1 of the reduction lab has parts 1 to"));
  const json document = document_of(c.lab({"hint", "reduction", "1", "2", "--json"}));
  check_documented(document, "hint");
  CHECK(document["hints"][0]["parts"] >= 3);
  CHECK(has(second.out, document["hints"][0]["title"].get<std::string>()));
}

TEST_CASE("check, run --counters and grade name the terms and the hint that help") {
  const cloned_course c;
  const auto check = c.lab({"check", "reduction", "--file",
                            "labs/reduction/tests/mutants/missing_barrier.cu", "--size", "300"});
  CHECK(has(check.out, "./lab explain race"));
  const auto run = c.lab(
      {"run", "reduction", "--step", "02", "--counters", "--size", "4096", "--device", "emulated"});
  CHECK(has(run.out, "./lab explain bank-conflict"));
  const auto grade = c.lab({"grade", "reduction", "--step", "02", "--device", "emulated"});
  CHECK(has(grade.out, "hint     ./lab hint reduction "));
  CHECK(has(grade.out, "term     ./lab explain "));
  const json document =
      document_of(c.lab({"grade", "reduction", "--step", "02", "--device", "emulated", "--json"}));
  check_documented(document, "grade");
  CHECK(document["hint"]["number"] > 0);
}

TEST_CASE("grade's hint is the earliest for a missed goal, unless the file uses its idea") {
  const std::vector<hint_topic> topics = {{"Tiles", {{}}}, {"Wider", {{}}}, {"Order", {{}}}};
  std::vector<goal> goals(3);
  goals[0].hint = "Order", goals[1].hint = "Tiles", goals[2].hint = "Wider";
  for (goal& g : goals) g.what = goal::kind::reach;
  grade_report report;
  report.goals.resize(goals.size());
  for (std::size_t i = 0; i < goals.size(); ++i) {
    report.goals[i].what = &goals[i];
    report.goals[i].passed = false;
  }
  const auto number = [&] { return cli::help_for(report, topics).number; };
  CHECK(number() == 1);
  report.goals[1].passed = true;
  CHECK(number() == 2);
  report.goals[2].passed = true;
  CHECK(number() == 3);
  report.goals[0].modelled.emplace().other_ms = 2;
  report.goals[2].modelled.emplace().other_ms = 3;
  CHECK(number() == 3);
  report.goals[2].modelled->other_ms = 2;  // The step is no faster than a step whose goal is met
  CHECK(number() == 0);
  report.goals[2].modelled.reset();
  goals[2].hint = "Order";
  CHECK(number() == 0);
}

TEST_CASE("list shows the last result of the student's own file, and the next command") {
  const cloned_course c;
  CHECK(c.lab({"run", "first"}).end.exit_code == 1);
  const auto lab_in_list = [&]() -> json {
    const json document = document_of(c.lab({"list", "--json"}));
    check_documented(document, "list");
    return document.at("labs").at(0);
  };
  json first = lab_in_list();
  CHECK(first.at("progress").at("class") == "WRONG");
  CHECK(first.at("progress").at("current") == true);
  write_atomically(c.root() / "labs/first/first.cu", "// all new\n");
  first = lab_in_list();
  CHECK(first.at("progress").at("current") == false);
  CHECK(first.at("next") == "./lab run first");
  CHECK(has(c.lab({"list"}).out, "next     ./lab run first"));
  write_atomically(c.root() / ".progress.json", "{");
  CHECK(has(c.lab({"list"}).out, ".progress.json cannot be read"));
}

TEST_CASE("a packed lab is done: the next command is that of the next lab") {
  const cloned_course c;
  write_atomically(c.root() / "labs/first/first.cu",
                   *read_if_there(c.root() / "solutions/first/05_two_dims.cu"));
  const auto run = c.lab({"run", "first", "--device", "emulated"});
  CHECK(has(run.out, "next     ./lab grade first"));
  CHECK(c.lab({"grade", "first", "--device", "emulated"}).end.exit_code == 0);
  const fs::path file = c.root() / "labs/first/first.cu";
  const std::string graded = *read_if_there(file);
  write_atomically(file, "// another try\n");
  CHECK(c.lab({"run", "first", "--device", "emulated"}).end.exit_code == 1);
  write_atomically(file, graded);
  CHECK(has(c.lab({"list"}).out, "grade: PASS"));
  const auto packed = c.lab({"pack", "first", "--device", "emulated"});
  CHECK(packed.end.exit_code == 0);
  CHECK(has(packed.out, "100 of 100 points"));
  CHECK(has(packed.out, "next     ./lab run launch"));
  const auto list = c.lab({"list"});
  CHECK(has(list.out, "100 of 100"));
  CHECK(has(list.out, "packed"));
  CHECK(has(list.out, "next     ./lab run launch"));
  const json document = document_of(c.lab({"list", "--json"}));
  CHECK(document.at("labs").at(0).at("next") == nullptr);
  CHECK(document.at("labs").at(0).at("progress").at("packed") == true);
}

TEST_CASE("`mine` is the student's file wherever a step may be named") {
  const cloned_course c;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"run", "first", "--step", "mine"},
        {"check", "first", "--step", "mine"},
        {"grade", "first", "--step", "mine", "--practice"}})
    CHECK(has(c.lab(words).out, "labs/first/first.cu"));
  CHECK(has(c.lab({"profile", "first", "mine", "--size", "64x64"}).out, "first.cu"));
  CHECK(has(c.lab({"play", "first", "mine", "--list"}).out, "mirror_kernel, launch 1, block 0"));
  CHECK(has(c.lab({"diff", "first"}).out, "no difference"));
  write_atomically(c.root() / "labs/first/first.cu",
                   *read_if_there(c.root() / "labs/first/first.cu") + "int mine;\n");
  CHECK(has(c.lab({"diff", "first"}).out, "int mine;"));
}

TEST_CASE("completion proposes commands, labs, steps and options, without delay") {
  const cloned_course c;
  const auto words = [&](std::vector<std::string> typed) {
    typed.insert(typed.begin(), {"completion", "words", "--"});
    const auto result = c.lab(typed);
    CHECK(result.end.exit_code == 0);
    CHECK(result.end.cpu_s < 0.05);
    return "\n" + result.out;
  };
  CHECK(has(words({"wa"}), "\nwalk\t"));
  CHECK_FALSE(has(words({"wa"}), "\nrun\t"));
  CHECK(has(words({"walk", "red"}), "\nreduction\tParallel reduction\n"));
  CHECK(has(words({"run", "reduction", "--"}), "\n--counters\t"));
  CHECK(has(words({"run", "reduction", "--"}), "\n--device\t"));
  CHECK(has(words({"run", "reduction", "--step", "03"}), "\n03_sequential\t"));
  CHECK(has(words({"diff", "reduction", "02_strided", ""}), "\n03_sequential\t"));
  CHECK(has(words({"run", "reduction", "--gpu", "a1"}), "\na100\n"));
  CHECK(words({"run", "reduction", "--file", ""}) == "\n:files\n");
  CHECK(words({"play", "ma"}) == "\nmatmul\tMatrix multiplication\n:files\n");
  // The course has no recording of 06_unroll_all.
  CHECK_FALSE(has(words({"play", "reduction", "0"}), "06_unroll_all"));
  CHECK(words({"nonsense", ""}) == "\n");
  for (const char* shell : {"bash", "zsh", "fish"})
    CHECK(has(c.lab({"completion", shell}).out, "completion words --"));
  CHECK(c.lab({"completion", "csh"}).end.exit_code == 2);
  // Complete a word as bash does.
  auto options = c.command({});
  options.command = {"bash", "-c",
                     "touch lab; source <(\"$0\" completion bash);"
                     " COMP_WORDS=(./lab walk ne) COMP_CWORD=2; _stepwise_lab ./lab;"
                     " echo \"${COMPREPLY[@]}\"",
                     options.command[0]};
  CHECK(run_child(options, 60).out == "neighbour\n");
}
