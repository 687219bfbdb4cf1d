// Tests which contents are graded, how often, and what the journal keeps. A script stands in for
// the grader.
#include "grader/batch/grading.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "grader/course/source.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

using namespace stepwise;
using namespace stepwise::batch;

namespace {

// A results folder, and a grader that acts on the first word of a submission. It counts its calls
// in a file with that name.
class fake_grading {
 public:
  fake_grading() : in_(results::open_or_make(at("results"), "first")) {
    write_atomically(
        at("grader"),
        "#!/bin/bash\n"
        "file=${!#}; read -r kind rest <\"$file\"; here=$(dirname \"$0\")\n"
        "echo \"$CUDA_VISIBLE_DEVICES\" >>\"$here/$kind\"; n=$(wc -l <\"$here/$kind\")\n"
        "verdict() { echo \"{\\\"class\\\": \\\"$1\\\", \\\"message\\\": \\\"$file: $1\\\", \"\\\n"
        "  \"\\\"points\\\": $2, \\\"max_points\\\": 10, \\\"goals\\\": []}\"; }\n"
        "case $kind in\n"
        "  right) verdict PASS 10 ;;\n"
        "  close) if [ $n = 1 ]; then verdict INCONCLUSIVE 5; else verdict PASS 10; fi ;;\n"
        "  closer) verdict INCONCLUSIVE 5 ;;\n"
        "  killed) if [ $n -lt 3 ]; then kill -9 $$; else verdict WRONG 0; fi ;;\n"
        "  gpuless) echo '{\"error\": \"no device\", \"exit_code\": 3}'; exit 3 ;;\n"
        "  silent) echo 'out of paper' >&2 ;;\n"
        "esac\n");
    chmod(at("grader").c_str(), 0755);
    options.command = {at("grader").string()};
    options.versions = {"", "lab", "grader", "13", "emulator", "key"};
    options.shown = [](const fs::path& file) { return file.filename().string(); };
  }
  void hand_in(const std::string& id, const std::string& text) {
    submission s;
    s.id = id;
    s.file = id + ".cu";
    s.sha256 = in_.keep(text, "first.cu");
    in_.write(s);
  }
  batch_state grade() {
    return batch::grade(in_, options, [](const batch_state&) {});
  }
  std::size_t calls(const std::string& kind) const {
    return split_lines(read_if_there(at(kind)).value_or("")).size();
  }
  json entry(const std::string& id) const { return in_.entry(id); }
  fs::path at(const std::string& name) const { return folder_.path() / name; }

  grading_options options;

 private:
  temporary_folder folder_{fs::temp_directory_path()};
  results in_;
};

}  // namespace

TEST_CASE("a failure of the machine is graded three times, an inconclusive result twice") {
  fake_grading g;
  for (const char* kind : {"right", "close", "closer", "killed", "gpuless", "silent"})
    g.hand_in(kind, kind);
  const auto state = g.grade();
  CHECK(state.done == 6);
  CHECK(state.classes == std::map<std::string, std::size_t>{
                             {"INCONCLUSIVE", 1}, {"INFRA", 2}, {"PASS", 2}, {"WRONG", 1}});
  CHECK(g.calls("right") == 1);
  CHECK(g.calls("close") == 2);
  CHECK(g.calls("closer") == 2);
  CHECK(g.calls("killed") == 3);
  CHECK(g.calls("gpuless") == 3);
  CHECK(g.entry("killed").at("attempts") == 3);
  CHECK(g.entry("close").at("points") == 10);
  // The message never shows where the file is stored.
  CHECK(g.entry("right").at("message") == "right.cu: PASS");
  CHECK(g.entry("gpuless").at("message") == "no device");
  CHECK(g.entry("gpuless").at("points").is_null());
  CHECK(g.entry("silent").at("message") == "the grader ended without a verdict: out of paper");
  // Only INFRA is graded again.
  CHECK(g.grade().done == 2);
  CHECK(g.calls("right") == 1);
}

TEST_CASE("INFRA replaces no verdict, and a file that is due for regrading stays due") {
  fake_grading g;
  g.hand_in("anna", "right");
  g.grade();
  g.options.again = {"anna"};
  const auto good = g.options.command;
  g.options.command = {"/bin/false"};
  CHECK(g.grade().classes == std::map<std::string, std::size_t>{{"INFRA", 1}});
  CHECK(g.entry("anna").at("class") == "PASS");
  g.options.again.clear();
  g.options.command = good;
  CHECK(g.grade().done == 1);
  CHECK(g.calls("right") == 2);
  CHECK(g.grade().done == 0);
  g.options.again = {"SLOW"};
  CHECK(g.grade().done == 0);
  g.options.again = {"SLOWER"};
  CHECK_THROWS_AS(g.grade(), failure);
}

TEST_CASE(
    "equal contents are graded once, and a new version of the grader grades everything again") {
  fake_grading g;
  g.hand_in("anna", "right");
  g.hand_in("bert", "right");
  CHECK(g.grade().done == 2);
  CHECK(g.calls("right") == 1);
  g.options.versions.grader = "newer";
  g.options.only_new = true;
  CHECK(g.grade().done == 0);
  g.options.only_new = false;
  const auto state = g.grade();
  CHECK(state.other_versions);
  CHECK(state.done == 2);
  CHECK(g.entry("bert").at("key").at("grader") == "newer");
}

TEST_CASE("parts share the contents, and child processes share the GPUs") {
  fake_grading g;
  g.options.gpus = {"3", "5"};
  g.options.jobs = 2;
  for (int i = 0; i < 8; ++i) g.hand_in("s" + std::to_string(i), "right " + std::to_string(i));
  std::size_t done = 0;
  g.options.parts = 3;
  for (g.options.part = 1; g.options.part <= 3; ++g.options.part) {
    const auto state = g.grade();
    CHECK(state.all >= 2);
    done += state.done;
  }
  CHECK(done == 8);
  for (const auto& gpu : split_lines(*read_if_there(g.at("right"))))
    CHECK((gpu == "3" || gpu == "5"));
}
