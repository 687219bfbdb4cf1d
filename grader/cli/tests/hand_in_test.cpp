// Tests what a student hands in: answers.md, and the archive of lab pack. Runs in a copy of the
// clone, like cli_test.cpp; needs nvcc, tar and gzip.
#include <doctest/doctest.h>

#include <algorithm>

#include "grader/cli/tests/cloned_course.hpp"
#include "grader/course/lab.hpp"
#include "grader/course/source.hpp"

using namespace stepwise;

namespace {

const fs::path work = "labs/reduction/reduction.cu", answers = "labs/reduction/answers.md";

// A clone in which the reduction lab is as a student first gets it.
struct started : cloned_course {
  started() {
    fs::remove(root() / answers);
    REQUIRE(lab({"start", "reduction"}).end.exit_code == 0);
  }
};

void write_solution(const cloned_course& c, const char* step) {
  const auto text = read_if_there(c.root() / "solutions/reduction" / (std::string(step) + ".cu"));
  write_atomically(c.root() / work, *text);
}

// Writes an answer below the first question.
void answer_one(const cloned_course& c) {
  std::string text = *read_if_there(c.root() / answers);
  const auto end = text.find("\n\n", text.find("\n> "));
  REQUIRE(end != std::string::npos);
  write_atomically(c.root() / answers, text.insert(end, "\n\nAbout 15 us."));
}

child_result shell(const cloned_course& c, const std::string& command) {
  child_options options;
  options.command = {"/bin/sh", "-c", command};
  options.directory = c.root();
  options.environment = {"LC_ALL=C"};
  options.keep_bytes = 1 << 20;
  return run_child(options, 60);
}

std::string from_archive(const cloned_course& c, const std::string& archive,
                         const std::string& file) {
  const auto result = shell(c, "tar -xzOf " + archive + " reduction/" + file);
  CHECK(result.end.ok());
  return result.out;
}

child_result packed(const cloned_course& c, const std::string& archive) {
  return c.lab({"pack", "reduction", "--output", archive, "--device", "emulated"});
}

}  // namespace

TEST_CASE("answers: start creates a missing file, and never overwrites answers") {
  const started c;
  const std::string fresh = *read_if_there(c.root() / answers);
  CHECK(fresh == *read_if_there(fs::path(std::getenv("LAB_ROOT")) / answers));
  answer_one(c);
  const std::string mine = *read_if_there(c.root() / answers);
  CHECK(mine != fresh);
  const json again = document_of(c.lab({"start", "reduction", "03", "--json"}));
  check_documented(again, "start");
  CHECK(again["answers_file"].is_null());
  CHECK(*read_if_there(c.root() / answers) == mine);
  fs::remove(c.root() / answers);
  const json made = document_of(c.lab({"start", "reduction", "03", "--json"}));
  CHECK(made["answers_file"] == answers.string());
  CHECK(*read_if_there(c.root() / answers) == fresh);
}

TEST_CASE("answers: grade shows how many questions are answered, and gives no points for them") {
  const started c;
  write_solution(c, "07_grid_stride");
  const std::vector<std::string> command = {"grade", "reduction", "--device", "emulated", "--json"};
  const json before = document_of(c.lab(command));
  check_documented(before, "grade");
  CHECK(before["answers"]["file"] == answers.string());
  CHECK(before["answers"]["answered"] == 0);
  const int questions = before["answers"]["questions"];
  CHECK(questions >= 5);
  CHECK(before["answers"]["deeper"]["answered"] == 0);
  answer_one(c);
  const json after = document_of(c.lab(command));
  CHECK(after["answers"]["answered"] == 1);
  CHECK(after["answers"]["questions"] == questions);
  CHECK(after["answers"]["open"].size() == static_cast<std::size_t>(questions) - 1);
  CHECK(after["points"] == before["points"]);
  const auto shown = c.lab({"grade", "reduction", "--device", "emulated"});
  CHECK(has(shown.out,
            "1 of " + std::to_string(questions) + " questions answered in " + answers.string()));
  fs::remove(c.root() / answers);
  CHECK(document_of(c.lab(command))["answers"].is_null());
  CHECK(has(c.lab({"grade", "reduction", "--device", "emulated"}).out,
            answers.string() + " does not exist"));
}

TEST_CASE("pack: the archive has the file, the answers and the grade, sorted, without an owner") {
  const started c;
  write_solution(c, "03_sequential");
  answer_one(c);
  const auto result = packed(c, "mine.tar.gz");
  CHECK(result.end.exit_code == 0);
  CHECK(has(result.out, "packed mine.tar.gz"));
  CHECK(has(result.out, "1 of "));
  CHECK(has(result.out, "SLOW, 58 of 100 points"));
  CHECK(shell(c, "tar -tzf mine.tar.gz").out ==
        "reduction/answers.md\nreduction/grade.json\nreduction/reduction.cu\n");
  const std::string list = shell(c, "tar --numeric-owner -tvzf mine.tar.gz").out;
  for (const std::string& line : split_lines(list)) CHECK(line.starts_with("-rw-r--r-- 0/0 "));
  CHECK(from_archive(c, "mine.tar.gz", "reduction.cu") == *read_if_there(c.root() / work));
  CHECK(from_archive(c, "mine.tar.gz", "answers.md") == *read_if_there(c.root() / answers));
  const json grade = parse_json(from_archive(c, "mine.tar.gz", "grade.json"));
  CHECK(grade["class"] == "SLOW");
  CHECK(grade["points"] == 58);
  CHECK(grade["answers"]["answered"] == 1);
}

TEST_CASE("pack --file: another file and the answers next to it, packed under the lab's names") {
  const started c;
  fs::create_directories(c.root() / "elsewhere");
  write_atomically(c.root() / "elsewhere/try.cu", "this does not compile\n");
  write_atomically(c.root() / "elsewhere/answers.md", "## R1\n\n15.7 us\n");
  const auto result = c.lab({"pack", "reduction", "--file", "elsewhere/try.cu", "--output",
                             "mine.tar.gz", "--device", "emulated"});
  CHECK(result.end.exit_code == 0);
  CHECK(from_archive(c, "mine.tar.gz", "reduction.cu") == "this does not compile\n");
  CHECK(from_archive(c, "mine.tar.gz", "answers.md") == "## R1\n\n15.7 us\n");
  CHECK(parse_json(from_archive(c, "mine.tar.gz", "grade.json"))["class"] == "COMPILE");
  const auto gone = c.lab({"pack", "reduction", "--file", "gone.cu"});
  CHECK(gone.end.exit_code == 2);
  CHECK(has(gone.err, "gone.cu does not exist"));
}

TEST_CASE("pack: the same work makes the same archive, and pack replaces only its own archives") {
  const started c;
  write_solution(c, "03_sequential");
  // The times in the archive are those of the files, not the time of packing.
  REQUIRE(shell(c, "touch -d @1000000000 " + work.string() + " " + answers.string()).end.ok());
  REQUIRE(packed(c, "one.tar.gz").end.exit_code == 0);
  const auto list = split_lines(shell(c, "TZ=UTC tar --full-time -tvzf one.tar.gz").out);
  for (const std::string& line : list) CHECK(has(line, "2001-09-09 01:46:40"));
  REQUIRE(packed(c, "two.tar.gz").end.exit_code == 0);
  const std::string first = *read_if_there(c.root() / "one.tar.gz");
  CHECK(first == *read_if_there(c.root() / "two.tar.gz"));
  write_atomically(c.root() / work, *read_if_there(c.root() / work) + "// more\n");
  REQUIRE(packed(c, "one.tar.gz").end.exit_code == 0);
  CHECK(*read_if_there(c.root() / "one.tar.gz") != first);
  // Anything else with that name is kept.
  REQUIRE(shell(c,
                "mkdir a; echo x > a/x; tar -czf other.tar.gz a; echo x > text.tar.gz; "
                "ln -s one.tar.gz link.tar.gz; mkdir folder.tar.gz")
              .end.ok());
  for (const char* const name : {"other.tar.gz", "text.tar.gz", "link.tar.gz", "folder.tar.gz"}) {
    CAPTURE(name);
    const auto refused = packed(c, name);
    CHECK(refused.end.exit_code == 2);
    CHECK(has(refused.err, std::string(name) + " exists and is not an archive of this lab"));
    CHECK(has(refused.err, "--output FILE"));
  }
  CHECK(shell(c, "cat text.tar.gz").out == "x\n");
}

TEST_CASE("pack: the default name has the lab, and --json has all fields") {
  const started c;
  write_solution(c, "03_sequential");
  const auto result = c.lab({"pack", "reduction", "--device", "emulated", "--json"});
  CHECK(result.end.exit_code == 0);
  const json document = document_of(result);
  check_documented(document, "pack");
  const fs::path archive = document["archive"].get<std::string>();
  CHECK(archive.parent_path() == c.root());
  CHECK(archive.filename().string().starts_with("reduction"));
  CHECK(archive.filename().string().ends_with(".tar.gz"));
  CHECK(document["bytes"] == fs::file_size(archive));
  CHECK(document["files"].size() == 3);
  CHECK(document["grade"]["class"] == "SLOW");
}

TEST_CASE("pack: an untouched skeleton is refused, unless there is an answer") {
  const started c;
  const auto skeleton = packed(c, "a.tar.gz");
  CHECK(skeleton.end.exit_code == 2);
  CHECK(
      has(skeleton.err, "labs/reduction/reduction.cu is the untouched skeleton of 01_interleaved"));
  answer_one(c);
  CHECK(packed(c, "a.tar.gz").end.exit_code == 0);
  fs::remove(c.root() / work);
  const auto nothing = packed(c, "b.tar.gz");
  CHECK(nothing.end.exit_code == 2);
  CHECK(has(nothing.err, "`./lab start reduction`"));
  CHECK(!fs::exists(c.root() / "b.tar.gz"));
}

TEST_CASE("pack: a file that does not compile is packed, with a warning") {
  const started c;
  write_atomically(c.root() / work, "this is no CUDA\n");
  const auto result = packed(c, "mine.tar.gz");
  CHECK(result.end.exit_code == 0);
  CHECK(has(result.out, "It was packed although it does not compile"));
  CHECK(parse_json(from_archive(c, "mine.tar.gz", "grade.json"))["class"] == "COMPILE");
  CHECK(from_archive(c, "mine.tar.gz", "reduction.cu") == "this is no CUDA\n");
}

TEST_CASE(
    "pack: if nothing can be graded, grade.json has the error; missing answers are left out") {
  const started c;
  write_solution(c, "03_sequential");
  fs::remove(c.root() / answers);
  auto options = c.command({"pack", "reduction", "--output", "mine.tar.gz"});
  options.environment.push_back("STEPWISE_NVCC=/nowhere/nvcc");
  auto config = parse_json(*read_if_there(c.root() / "build/grader/lab.json"));
  config["nvcc"] = "/nowhere/nvcc";
  write_atomically(c.root() / "build/grader/lab.json", config.dump());
  const auto result = run_child(options, 60);
  CHECK(result.end.exit_code == 0);
  CHECK(has(result.out, "It was packed without points, because it could not be graded here"));
  CHECK(parse_json(from_archive(c, "mine.tar.gz", "grade.json"))["exit_code"] == 3);
  CHECK(shell(c, "tar -tzf mine.tar.gz").out == "reduction/grade.json\nreduction/reduction.cu\n");
}

TEST_CASE("pack: a full disk gives one message, and leaves no file behind") {
  const started c;
  write_solution(c, "03_sequential");
  // This fills the compile cache.
  REQUIRE(c.lab({"grade", "reduction", "--device", "emulated"}).end.exit_code == 1);
  auto options =
      c.command({"pack", "reduction", "--output", "mine.tar.gz", "--device", "emulated"});
  options.file_limit_bytes = 100;  // writing more fails, as on a full disk
  const auto result = run_child(options, 120);
  CHECK(result.end.exit_code == 3);
  CHECK(result.err.starts_with("lab: cannot write "));
  for (const auto& entry : fs::directory_iterator(c.root())) {
    CHECK(!has(entry.path().filename().string(), "mine.tar.gz"));
  }
}
