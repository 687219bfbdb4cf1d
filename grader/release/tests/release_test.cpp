// Tests the contents of a student copy: the plan, the list of files, the texts, and the repository.
#include <doctest/doctest.h>

#include "common/formats/json.hpp"
#include "grader/release/copy.hpp"
#include "grader/release/plan.hpp"
#include "grader/release/programs.hpp"
#include "grader/release/repository.hpp"
#include "grader/release/texts.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"
#include "grader/system/process.hpp"

namespace stepwise {
namespace {

std::vector<lab> two_labs() {
  std::vector<lab> labs(2);
  labs[0].name = "one";
  labs[1].name = "two";
  labs[1].steps = {{"00_first", "", {}, "", ""}, {"01_next", "00_first", {}, "", ""}};
  return labs;
}

std::string complaint(const std::string& text) {
  try {
    parse_plan(text, "plan.toml", two_labs());
  } catch (const failure& error) {
    return error.what();
  }
  return {};
}

bool says(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

TEST_CASE("the copy contains programs of the open labs, and no path of this machine") {
  const temporary_folder folder(fs::temp_directory_path());
  const fs::path build = folder.path() / "build", copy = folder.path() / "copy";
  const fs::path sets = build / "common/emulator/ops/instruction_sets";
  for (const char* const where : {"grader", "labs", "common/emulator/ops"})
    make_folder(build / where);
  write_atomically(build / "grader/lab", "the program");
  write_atomically(build / "grader/lab.json",
                   R"({"nvcc": "/home/ada/nvcc", "configured_root": "/home/ada"})");
  write_atomically(build / "labs/one.so", "1");
  write_atomically(build / "programs.txt", "grader/lab\nlabs/one.so one\nlabs/two.so two\n");
  const auto labs = two_labs();
  auto open = plan_of_all(labs).labs;
  open.pop_back();

  write_atomically(sets, "avx512\n");
  CHECK_THROWS_WITH_AS(need_portable(build), doctest::Contains("portable"), failure);
  write_atomically(sets, "avx512 avx2 baseline\n");
  place_programs(build, copy, open);
  CHECK(read_if_there(copy / "build/grader/lab") == "the program");
  CHECK(read_if_there(copy / "build/labs/one.so") == "1");
  CHECK(!fs::exists(copy / "build/labs/two.so"));
  const std::string config = read_if_there(copy / "build/grader/lab.json").value_or("");
  CHECK(parse_json(config).at("source_root") == "..");
  CHECK(!says(config, "ada"));
  CHECK_THROWS_WITH_AS(place_programs(build, folder.path() / "all", plan_of_all(labs).labs),
                       doctest::Contains("two.so is not built"), failure);
}

TEST_CASE("a plan names labs, dates, skeletons and parts of hints") {
  const auto plan = parse_plan(
      "course = \"GPUs\"\n[labs.two]\nopens = \"2026-10-15\"\ndue = \"2026-10-29\"\n"
      "skeletons = [\"01\"]\nhint_parts = 2\n[labs.one]\n",
      "plan.toml", two_labs());
  CHECK(plan.course == "GPUs");
  REQUIRE(plan.labs.size() == 2);
  CHECK(plan.labs[0].name == "one");  // in the course's order
  CHECK(plan.labs[1].skeletons == std::vector<std::string>{"01_next"});
  CHECK(plan.labs[1].hint_parts == 2);
  CHECK(plan.open_on("2026-10-14").size() == 1);
  CHECK(plan.open_on("2026-10-15").size() == 2);
  CHECK(plan_of_all(two_labs()).open_on("1970-01-01").size() == 2);
}

TEST_CASE("an error in a plan is reported with its line") {
  CHECK(says(complaint("[labs.three]\n"), "plan.toml:1: there is no lab \"three\""));
  CHECK(says(complaint("[labs.one]\nopens = \"15.10.2026\"\n"),
             "plan.toml:2: `opens`: expected a day"));
  CHECK(
      says(complaint("[labs.one]\ndue = \"2026-02-30\"\n"), "plan.toml:2: `due`: expected a day"));
  CHECK(says(complaint("[labs.one]\nopen = \"2026-02-03\"\n"), "unknown key `open`"));
  CHECK(says(complaint("[labs.two]\nskeletons = [\"07\"]\n"), "has no step \"07\""));
  CHECK(says(complaint("[labs.two]\nhint_parts = 4\n"), "`hint_parts` must be from 1 to 3"));
  CHECK(says(complaint("[labs.two]\nhint_parts = 0\n"), "`hint_parts` must be from 1 to 3"));
  CHECK(says(complaint("lab = 1\n"), "unknown key `lab`"));
  CHECK(says(complaint(""), "names no lab"));
  CHECK(says(complaint("[labs.one\n"), "plan.toml:1:"));
}

std::string as_student(const std::string& text) {
  return student_markdown(text, "labs/one/README.md",
                          copy_files({"labs/one/one.hpp", "labs/one/tests/a.cu",
                                      "labs/one/given/02_tiled.cu", "labs/glossary.md"}));
}

TEST_CASE("Markdown loses result tables, checked figures, and links to missing files") {
  CHECK(says(as_student("a\n<!-- results:begin -->\n| 03 | 1 us |\n<!-- results:end -->\nb\n"),
             "not in the student copy"));
  CHECK_FALSE(says(as_student("<!-- sweep x:begin -->\n1 us\n<!-- sweep x:end -->\n"), "1 us"));
  CHECK(as_student("a\n<!-- checked\ntime(03) = 1 us\n-->\nb\n") == "a\nb\n");
  CHECK(as_student("see [key](../../solutions/one/answers.md) here\n") == "see key here\n");
  CHECK(as_student("![alt](../figures/gone.svg)\n") == "\n");
  CHECK(as_student("[a\nb](../two/README.md)\n") == "a\nb\n");  // even across a line break
  const std::string kept =
      "[c](one.hpp) [g](../glossary.md#term) [w](https://x.org/a_(b)) [h](#here)\n";
  CHECK(as_student(kept) == kept);
  CHECK(
      says(as_student("```\n./lab run one --file solutions/one/x.cu\n```\n"), "not in this copy"));
  CHECK(as_student("```cpp\nx[i](j);\n```\n") == "```cpp\nx[i](j);\n```\n");
}

TEST_CASE("commands that do not work in the copy are marked") {
  const auto is_marked = [](const std::string& command) {
    const bool in_code =
        says(as_student("```\n" + command + "   why\n```\n"), "(not in this copy)");
    CHECK(says(as_student("Try `" + command + "` (or not).\n"), "(not in this copy)") == in_code);
    return in_code;
  };
  for (const char* const command :
       {"./lab run one --step 01", "./lab run one --counters --step 03_x", "./lab ptx one 04",
        "./lab profile one --compare 02 03", "./lab diff one 02 03", "./lab start one 01",
        "./lab sweep one 02 --over n=1", "./lab sweep one stride", "./lab limits one",
        "./lab run one --file solutions/one/x.cu", "./lab check two", "./lab play one 02",
        "./lab dev validate one"})
    CHECK_MESSAGE(is_marked(command), command);
  for (const char* const command :
       {"./lab run one", "./lab walk one --step 01", "./lab diff one 02 mine", "./lab start one 02",
        "./lab diff one", "./lab sweep one mine --over n=1", "./lab hint one 12 2",
        "./lab limits one --memory m.cu --compute c.cu", "./lab run one --step mine",
        "./lab check one --file labs/one/tests/a.cu", "./lab explain warp", "./lab check LAB",
        "./lab occupancy --threads 256", "./lab run one --size 1000x1"})
    CHECK_MESSAGE(!is_marked(command), command);
  CHECK(as_student("a (`./lab ptx one 04`) b\n") == "a (`./lab ptx one 04`, not in this copy) b\n");
}

TEST_CASE("hints lose parts, and steps lose their promises") {
  const std::string hints = "# H\n\n## A\n\n### n\nN\n\n### i\nI\n\n### c\nC\n\n## B\n\n### n\nM\n";
  CHECK(shorter_hints(hints, 3) == hints);
  CHECK_FALSE(says(shorter_hints(hints, 2), "C\n"));
  CHECK(says(shorter_hints(hints, 2), "I\n"));
  CHECK(says(shorter_hints(hints, 1), "M\n"));
  CHECK(says(
      student_steps({{"01_a", "", {}, "an idea", ""}, {"02_b", "01_a", 1.5, "another one", ""}}),
      "01_a  -  -  an idea\n02_b  01_a  -  another one\n"));
}

class some_tree {
 public:
  void write(const std::string& file, const std::string& text = "x") {
    make_folder((folder_.path() / file).parent_path());
    write_atomically(folder_.path() / file, text);
  }
  const fs::path& path() const { return folder_.path(); }

 private:
  temporary_folder folder_{fs::temp_directory_path()};
};

TEST_CASE("only files that the list names are in a copy") {
  some_tree tree;
  for (const char* file : {"lab", "common/a.cpp", "common/tests/b.cu", "labs/one/lab.toml",
                           "labs/one/tests/m.cu", "labs/two/lab.toml", "solutions/one/01.cu"})
    tree.write(file);
  const std::string list =
      "# all\nlab\ncommon/*\n- common/tests/*\nlabs/LAB/*\n- labs/one/tests/*\n";
  std::vector<released_lab> open(1);
  open[0].name = "one";
  CHECK(student_files(tree.path(), list, two_labs(), open) ==
        std::vector<fs::path>{"common/a.cpp", "lab", "labs/one/lab.toml"});
  open[0].name = "two";  // patterns of a lab that is not open match nothing
  CHECK(student_files(tree.path(), list, two_labs(), open) ==
        std::vector<fs::path>{"common/a.cpp", "lab", "labs/two/lab.toml"});
  CHECK_THROWS_WITH_AS(student_files(tree.path(), "gone/*\n", two_labs(), open),
                       doctest::Contains("gone/*"), failure);
}

std::string git_says(const fs::path& copy, const std::vector<std::string>& words) {
  child_options git;
  git.command = {"git", "-C", copy};
  git.command.insert(git.command.end(), words.begin(), words.end());
  git.environment = {"GIT_DIR", "GIT_WORK_TREE"};
  return run_child(git, 30).out;
}

int commits_in(const fs::path& copy) {
  return std::stoi("0" + git_says(copy, {"rev-list", "--count", "HEAD"}));
}

TEST_CASE("a copy is a repository with one commit, and later copies add a commit") {
  if (on_path("git").empty()) return;
  some_tree tree, parent;
  tree.write("labs/calendar.toml");
  tree.write("a", "1\n");
  const fs::path copy = parent.path() / "copy";
  CHECK(commit_tree(tree.path(), copy, "Labs: one") == committed::first);
  CHECK(commits_in(copy) == 1);
  CHECK(read_if_there(copy / "a") == "1\n");
  CHECK(commit_tree(tree.path(), copy, "Labs: one") == committed::nothing_new);
  fs::remove(tree.path() / "a");
  tree.write("b", "2\n");
  CHECK(commit_tree(tree.path(), copy, "Labs: one two") == committed::another);
  CHECK(commits_in(copy) == 2);
  CHECK_FALSE(fs::exists(copy / "a"));
  parent.write("copy/b", "changed\n");
  CHECK_THROWS_WITH_AS(commit_tree(tree.path(), copy, ""), doctest::Contains("uncommitted changes"),
                       failure);
  parent.write("other/c");
  CHECK_THROWS_WITH_AS(commit_tree(tree.path(), parent.path() / "other", ""),
                       doctest::Contains("not a student copy"), failure);
  CHECK_THROWS_WITH_AS(export_head(parent.path() / "other", parent.path()),
                       doctest::Contains("not a git repository"), failure);
}

TEST_CASE("a repository without commits becomes the copy, and no ignore rule leaves out a file") {
  if (on_path("git").empty()) return;
  some_tree tree, parent;
  tree.write("labs/calendar.toml");
  tree.write(".gitignore", "*.log\n");
  tree.write("chosen.log");
  const fs::path copy = parent.path() / "copy";
  make_folder(copy);
  git_says(copy, {"init", "--quiet", "--initial-branch=autumn"});
  CHECK(commit_tree(tree.path(), copy, "Labs: one") == committed::first);
  CHECK(git_says(copy, {"ls-files"}) == ".gitignore\nchosen.log\nlabs/calendar.toml\n");
  CHECK(git_says(copy, {"branch"}) == "* autumn\n");
  fs::remove_all(copy / "labs");
  fs::remove(copy / "chosen.log");
  fs::remove(copy / ".gitignore");
  // The commits show that the repository belongs to a person, although its files are gone.
  CHECK_THROWS_WITH_AS(commit_tree(tree.path(), copy, ""), doctest::Contains("not a student copy"),
                       failure);
}

}  // namespace
}  // namespace stepwise
