// Tests the course itself: its lists agree with its files, its steps have the form of steps, its
// skeletons are up to date and unfinished, and every program can run on the emulator.
//
// The environment names the folders and nvcc: STEPWISE_SOURCE, STEPWISE_BUILD, STEPWISE_NVCC (""
// without nvcc).
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "common/testing/skip_case.hpp"
#include "grader/course/answers.hpp"
#include "grader/course/lab.hpp"
#include "grader/course/source.hpp"
#include "labs/tests/elf_needs.hpp"

namespace {

namespace fs = std::filesystem;
using stepwise::derive_skeleton;
using stepwise::find_step;
using stepwise::header_fields;
using stepwise::header_lines;
using stepwise::lab;
using stepwise::split_lines;
using stepwise::step;
using stepwise::without_markers;

std::string from_environment(const char* name) {
  const char* const value = std::getenv(name);
  REQUIRE_MESSAGE(value != nullptr, name, " is not set: run this test through `meson test`");
  return value;
}

fs::path source_root() { return from_environment("STEPWISE_SOURCE"); }
fs::path build_root() { return from_environment("STEPWISE_BUILD"); }

std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  REQUIRE_MESSAGE(stream.good(), "cannot read ", file.string());
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::set<std::string> names_of_cu_files(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".cu") names.insert(entry.path().stem());
  }
  return names;
}

std::vector<lab> labs() {
  std::vector<lab> all = stepwise::load_labs(build_root());
  REQUIRE(!all.empty());
  return all;
}

std::string text_of(const step& s) { return text_of(source_root() / s.file); }

template <class Entries>
std::vector<std::string> names_of(const Entries& entries) {
  std::vector<std::string> names;
  for (const auto& entry : entries) names.push_back(entry.name);
  return names;
}

// Such a line has no content and only closes a block of several statements.
bool is_brace(const std::string& line) { return stepwise::trimmed(line) == "}"; }

// A step's code without whole-line comments, markers, empty lines, lines with only a closing brace,
// and indentation (a loop around lines does not change them).
std::vector<std::string> code_lines(const std::string& text) {
  std::vector<std::string> code;
  for (const std::string& line : without_markers(text).lines) {
    const auto first = line.find_first_not_of(' ');
    if (first != std::string::npos && line.compare(first, 2, "//") != 0 && !is_brace(line))
      code.push_back(line.substr(first));
  }
  return code;
}

// Checks that the list has one line for every file, and that every line has a file.
void check_lists(const std::string& shown, const std::vector<std::string>& names,
                 const std::set<std::string>& files) {
  for (const std::string& name : names)
    CHECK_MESSAGE(files.count(name) == 1, shown, " lists ", name, ", but there is no ", name,
                  ".cu");
  for (const std::string& name : files)
    CHECK_MESSAGE(std::count(names.begin(), names.end(), name) == 1, shown, " needs one line for ",
                  name, ".cu");
}

// The number of lines of `to` that are not in `from`, by the longest common subsequence.
std::size_t added_lines(const std::vector<std::string>& from, const std::vector<std::string>& to) {
  std::vector<std::size_t> common(from.size() + 1, 0);
  for (const std::string& line : to) {
    std::size_t diagonal = 0;
    for (std::size_t i = 0; i < from.size(); ++i) {
      const std::size_t above = common[i + 1];
      common[i + 1] = from[i] == line ? diagonal + 1 : std::max(above, common[i]);
      diagonal = above;
    }
  }
  return to.size() - common.back();
}

// Calls body(lab, step, the step's text) for every step.
template <class Body>
void for_each_step(Body body) {
  for (const lab& l : labs()) {
    for (const step& s : l.steps) {
      CAPTURE(s.file);
      body(l, s, text_of(s));
    }
  }
}

TEST_CASE("steps.txt lists exactly the existing steps, in the order of their numbers") {
  for (const lab& l : labs()) {
    const std::vector<std::string> names = names_of(l.steps);
    const fs::path folder = fs::path("solutions") / l.name;
    check_lists(folder / "steps.txt", names, names_of_cu_files(source_root() / folder));
    CHECK_MESSAGE(std::is_sorted(names.begin(), names.end()), l.name,
                  ": the steps are not listed by number");
  }
}

TEST_CASE("baselines.txt lists exactly the existing baselines, and each one describes itself") {
  for (const lab& l : labs()) {
    if (l.baselines.empty()) continue;
    const fs::path folder = source_root() / "solutions" / l.name / "baselines";
    std::set<std::string> files, listed;
    for (const auto& entry : fs::directory_iterator(folder)) files.insert(entry.path().filename());
    for (const stepwise::baseline& p : l.baselines) {
      const std::string file = p.name + (p.on_cpu ? ".cpp" : ".cu");
      CAPTURE(file);
      CHECK(listed.insert(file).second);
      CHECK(text_of(folder / file).starts_with("// " + l.name + " baseline: "));
    }
    CHECK(files == listed);
    CHECK(listed.count("cpu.cpp") == 1);  // a GPU is not compared with one core
  }
}

// join_variants checks mutants that are edits and have no file.
TEST_CASE("mutants.txt lists every mutant once, and its file describes its error") {
  for (const lab& l : labs()) {
    const fs::path folder = fs::path("labs") / l.name / "tests";
    const std::vector<std::string> names = names_of(l.mutants);
    CHECK(std::set(names.begin(), names.end()).size() == names.size());
    if (!fs::exists(source_root() / folder / "mutants")) continue;  // all of them are edits
    for (const std::string& name : names_of_cu_files(source_root() / folder / "mutants")) {
      CAPTURE(name);
      CHECK(std::count(names.begin(), names.end(), name) == 1);
      CHECK(text_of(source_root() / folder / "mutants" / (name + ".cu"))
                .starts_with("// " + l.name + " mutant: "));
    }
  }
}

std::set<std::string> headers_in(const fs::path& folder) {
  std::set<std::string> names;
  if (!fs::exists(folder)) return names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".hpp") names.insert(entry.path().filename());
  }
  return names;
}

// The quoted headers that a text includes, with the names that it uses.
std::vector<std::string> included_by(const std::string& text) {
  std::vector<std::string> names;
  const std::string start = "#include \"";
  for (const std::string& line : split_lines(text)) {
    if (line.starts_with(start))
      names.push_back(line.substr(start.size(), line.find('"', start.size()) - start.size()));
  }
  return names;
}

TEST_CASE(
    "a lab's folder has the headers of its task; headers that only steps share are in parts") {
  for (const lab& l : labs()) {
    CAPTURE(l.name);
    const fs::path task = fs::path("labs") / l.name,
                   parts = fs::path("solutions") / l.name / "parts";
    std::set<std::string> of_task, of_steps;  // headers that are included
    for (const fs::path& file : {task / "problem.cpp", find_step(l, l.skeleton).file}) {
      for (const std::string& header : included_by(text_of(source_root() / file)))
        of_task.insert(header);
    }
    std::vector<fs::path> users;
    for (const step& s : l.steps) users.push_back(s.file);
    for (const std::string& part : headers_in(source_root() / parts)) users.push_back(parts / part);
    for (const fs::path& file : users) {
      for (const std::string& header : included_by(text_of(source_root() / file)))
        of_steps.insert(header);
    }
    const std::string handout = text_of(source_root() / l.handout());
    for (const std::string& header : headers_in(source_root() / task)) {
      CAPTURE(header);
      const bool is_given = handout.find("](" + header + ")") != handout.npos;
      CHECK((is_given || of_task.count((task / header).string()) == 1));
    }
    for (const std::string& part : headers_in(source_root() / parts)) {
      CAPTURE(part);
      CHECK(of_steps.count((parts / part).string()) == 1);
    }
  }
}

TEST_CASE("a step is short, within 100 columns, and its header has every field") {
  for_each_step([](const lab&, const step&, const std::string& text) {
    const std::vector<std::string> lines = split_lines(text);
    CHECK(header_lines(lines) <= 12);
    CHECK(std::count_if(lines.begin(), lines.end(), std::not_fn(is_brace)) <= 120);
    for (const std::string& line : lines) CHECK(line.size() <= 100);
    const auto fields = header_fields(text);
    for (const char* field : {"idea", "watch", "needs", "source"}) {
      CHECK_MESSAGE(fields.count(field) == 1, "the step's header needs one \"// ",
                    std::string(field), "\"");
    }
    // Speed figures are measured and generated, so a step has none.
    for (const char* unit : {" GB/s", " GFLOP", " TFLOP", "% faster", "x faster"}) {
      CHECK(text.find(unit) == std::string::npos);
    }
  });
}

TEST_CASE("a step that promises no speed states its gain, or the reason why it has none") {
  for_each_step([](const lab&, const step& s, const std::string& text) {
    const auto fields = header_fields(text);
    const bool promises_nothing = !s.over.empty() && !s.at_least && !s.unmeasured;
    const std::string rule =
        promises_nothing ? "at_least is \"-\", so the header's \"// gain\" must give the reason"
                         : "\"// gain\" is for steps whose at_least is \"-\"";
    CHECK_MESSAGE(fields.count("gain") == (promises_nothing ? 1 : 0), rule);
    if (promises_nothing && fields.count("gain") == 1) CHECK(fields.at("gain").size() >= 20);
  });
}

// The code of a step's parts, and of their parts, that are not in `known`. Adds them to `known`.
std::vector<std::string> code_of_parts(const std::string& text, std::set<std::string>& known) {
  std::vector<std::string> code;
  for (const std::string& header : included_by(text)) {
    if (header.find("/parts/") == std::string::npos || !known.insert(header).second) continue;
    const std::string part = text_of(source_root() / header);
    for (std::string& line : code_of_parts(part, known)) code.push_back(std::move(line));
    for (std::string& line : code_lines(part)) {
      if (!line.starts_with("#include") && line != "#pragma once") code.push_back(std::move(line));
    }
  }
  return code;
}

// The number of lines in a step's parts that are new: neither in the step that it is compared with,
// nor in that step's parts. Lines that only moved into a header do not count.
std::size_t added_in_parts(const std::string& before, const std::string& after) {
  std::set<std::string> known;
  std::vector<std::string> old = code_of_parts(before, known);
  for (std::string& line : code_lines(before)) old.push_back(std::move(line));
  std::multiset<std::string> left(old.begin(), old.end());
  std::size_t added = 0;
  for (const std::string& line : code_of_parts(after, known)) {
    const auto found = left.find(line);
    if (found == left.end()) {
      ++added;
    } else {
      left.erase(found);
    }
  }
  return added;
}

// Steps with more new lines than an idea should take, including the new lines of their parts. A
// comment of steps.txt lists them: "#   NAME LINES: WHY".
struct long_step {
  std::string name;
  std::size_t lines;
  std::string why;
};
std::vector<long_step> long_steps(const std::string& list) {
  std::vector<long_step> found;
  for (const std::string& line : split_lines(list)) {
    if (!line.starts_with("#   ")) continue;
    std::istringstream words(line.substr(1));
    long_step step;
    char colon = 0;
    REQUIRE_MESSAGE((words >> step.name >> step.lines >> colon && colon == ':'), line);
    std::getline(words >> std::ws, step.why);
    CHECK_MESSAGE(step.why.size() >= 20, line);
    found.push_back(step);
  }
  return found;
}

TEST_CASE("a step adds only the lines of one idea to the step that it is compared with") {
  constexpr std::size_t most = 25;
  for (const lab& l : labs()) {
    std::vector<long_step> excepted =
        long_steps(text_of(source_root() / "solutions" / l.name / "steps.txt"));
    for (const step& s : l.steps) {
      if (s.over.empty()) continue;
      const std::string before = text_of(find_step(l, s.over)), after = text_of(s);
      const std::size_t own = added_lines(code_lines(before), code_lines(after));
      const std::size_t in_parts = added_in_parts(before, after);
      MESSAGE(l.name, " ", s.over, " -> ", s.name, ": ", own, " lines of code, ", in_parts,
              " in parts");
      CHECK(own >= 1);
      const auto listed = std::find_if(excepted.begin(), excepted.end(),
                                       [&](const long_step& one) { return one.name == s.name; });
      if (listed == excepted.end()) {
        CHECK(own + in_parts <= most);
      } else {  // update the list if a step needs fewer lines now
        CHECK(own + in_parts == listed->lines);
        CHECK(listed->lines > most);
        excepted.erase(listed);
      }
    }
    for (const long_step& one : excepted) CHECK_MESSAGE(false, l.name, " has no step ", one.name);
  }
}

TEST_CASE("a skeleton lacks lines, says so, and adds no code") {
  for_each_step([](const lab&, const step& s, const std::string& text) {
    const std::string skeleton = derive_skeleton(text, s.name + ".cu");
    CHECK(skeleton.find("// TODO: ") != std::string::npos);
    CHECK(skeleton.find("//>") == std::string::npos);
    CHECK(skeleton.find("//<") == std::string::npos);
    // The skeleton must not have measured results.
    for (const char* result : {"// watch ", "// gain ", "H200"})
      CHECK_MESSAGE(skeleton.find(result) == std::string::npos, std::string(result));
    CHECK(added_lines(code_lines(text), code_lines(skeleton)) == 0);
    CHECK(code_lines(skeleton).size() < code_lines(text).size());
  });
}

// The text of each "//> todo:", and the code of its region.
std::vector<std::pair<std::string, std::vector<std::string>>> regions_of(const std::string& text) {
  std::vector<std::pair<std::string, std::vector<std::string>>> regions;
  bool is_open = false;
  for (const std::string& line : split_lines(text)) {
    const auto marker = line.find("//> todo: ");
    if (marker != std::string::npos) {
      regions.push_back({line.substr(marker), {}});
      is_open = true;
    } else if (line.find("//<") != std::string::npos) {
      is_open = false;
    } else if (is_open) {
      for (std::string& code : code_lines(line)) regions.back().second.push_back(std::move(code));
    }
  }
  return regions;
}

TEST_CASE("a skeleton asks for the step's idea, and for nothing that an earlier one asked for") {
  for (const lab& l : labs()) {
    std::set<std::string> asked;
    for (const step& s : l.steps) {
      CAPTURE(s.file);
      const auto regions = regions_of(text_of(s));
      for (const auto& [todo, code] : regions)
        CHECK_MESSAGE(asked.insert(todo).second, "an earlier step asks for the same: ", todo);
      if (s.over.empty()) continue;
      const auto before = code_lines(text_of(find_step(l, s.over)));
      const bool asks_for_news =
          std::any_of(regions.begin(), regions.end(), [&](const auto& region) {
            return std::any_of(region.second.begin(), region.second.end(), [&](const auto& code) {
              return std::find(before.begin(), before.end(), code) == before.end();
            });
          });
      CHECK_MESSAGE(asks_for_news, "no line between \"//> todo:\" and \"//<\" is new since ",
                    s.over);
    }
  }
}

// The output of a command; "" if it fails.
std::string output_of(const std::string& command) {
  std::string text;
  FILE* const pipe = popen((command + " 2>/dev/null").c_str(), "r");
  REQUIRE(pipe != nullptr);
  char buffer[4096];
  for (std::size_t got; (got = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    text.append(buffer, got);
  return pclose(pipe) == 0 ? text : "";
}

std::string quoted(const fs::path& path) { return std::string("'") + path.string() + "'"; }

TEST_CASE("the student's file starts as the skeleton of its lab's step") {
  for (const lab& l : labs()) {
    const fs::path& file = l.file;
    const fs::path solution = find_step(l, l.skeleton).file;
    const std::string fresh = derive_skeleton(text_of(source_root() / solution), solution);
    // In a student's clone, the file has the student's work. In that case, the committed file
    // counts.
    const bool untouched = text_of(source_root() / file) == fresh;
    const std::string committed =
        output_of("git -C " + quoted(source_root()) + " show HEAD:./" + file.string());
    INFO("stale: ./lab start ", l.name, " ", solution.stem().string(), " makes a fresh ",
         file.string());
    CHECK((untouched || committed == fresh));
  }
}

TEST_CASE("answers.md has the questions of its handout") {
  for (const lab& l : labs()) {
    const fs::path folder = fs::path("labs") / l.name;
    const std::string handout = *whole_handout(source_root(), l);
    const std::string fresh = stepwise::derive_answers(handout, l.name);
    CHECK(stepwise::count_answers(handout, fresh).questions >= 5);
    // In a student's clone, the file has the student's answers. In that case, the committed file
    // counts.
    const bool untouched = text_of(source_root() / folder / "answers.md") == fresh;
    const std::string committed = output_of("git -C " + quoted(source_root()) + " show HEAD:./" +
                                            (folder / "answers.md").string());
    INFO("stale: remove ", (folder / "answers.md").string(), "; ./lab start ", l.name,
         " makes a fresh one");
    CHECK((untouched || committed == fresh));
  }
}

TEST_CASE("every program of the course loads libcudart.so.13 from the path in the environment") {
  if (from_environment("STEPWISE_NVCC").empty()) {
    return stepwise::skip_case("no nvcc: no programs were built, so nothing was checked");
  }
  std::vector<fs::path> programs;
  for (const lab& l : labs()) {
    programs.push_back(build_root() / "labs" / "tests" / (l.name + "-mutants"));
    for (const step& s : l.steps)
      programs.push_back(build_root() / "solutions" / (l.name + "-" + s.name));
  }
  for (const fs::path& program : programs) {
    CAPTURE(program.string());
    const auto needs = stepwise::course::read_needs(text_of(program));
    REQUIRE(needs.has_value());
    CHECK(std::count(needs->libraries.begin(), needs->libraries.end(), "libcudart.so.13") == 1);
    CHECK(!needs->has_search_path);
  }
}

}  // namespace
