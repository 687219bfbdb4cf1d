// Tests who owns a file, by the names that platforms give, by your own pattern, and in names that
// an attacker made.
#include "grader/batch/names.hpp"

#include <doctest/doctest.h>

#include <chrono>

#include "grader/system/failure.hpp"

using namespace stepwise;
using namespace stepwise::batch;

namespace {

std::string owner_text(const std::string& pattern, const std::string& path) {
  const auto o = name_pattern(pattern).match(path);
  if (!o) return "no owner";
  return o->id + "|" + o->name + "|" + o->file + "|" + o->time + "|" +
         (!o->late   ? "?"
          : *o->late ? "late"
                     : "in time");
}

}  // namespace

TEST_CASE("platforms' names hold the id, the file name and more") {
  CHECK(owner_text("canvas", "doejane_4711_99812_reduction.cu") ==
        "doejane||reduction.cu||in time");
  CHECK(owner_text("canvas", "x/doejane_LATE_4711_99812_reduction-2.cu") ==
        "doejane||reduction-2.cu||late");
  CHECK(owner_text("moodle", "Jane Q. Doe_1234567_assignsubmission_file_/reduction.cu") ==
        "1234567|Jane Q. Doe|reduction.cu||?");
  CHECK(owner_text("moodle", "Zoë_O_Neil_17_assignsubmission_file_a_b.tar.gz") ==
        "17|Zoë_O_Neil|a_b.tar.gz||?");
  CHECK(owner_text("gradescope", "assignment_1_export/submission_88123/src/reduction.cu") ==
        "88123||src/reduction.cu||?");
  CHECK(owner_text("nbgrader", "submitted/jdoe/reduction/reduction.cu") == "jdoe||reduction.cu||?");
  CHECK(owner_text("nbgrader", "ps1_jdoe_attempt_2026-11-20-10-00-00_reduction.cu") ==
        "ps1_jdoe||reduction.cu|2026-11-20-10-00-00|?");
  CHECK(owner_text("plain", "jdoe/deep/reduction.cu") == "jdoe||deep/reduction.cu||?");
  CHECK(owner_text("plain", "jdoe.cu") == "jdoe||jdoe.cu||?");
  CHECK(owner_text("plain", "reduction-jdoe.tar.gz") == "reduction-jdoe||reduction-jdoe.tar.gz||?");
  CHECK(owner_text("plain", "notes.txt") == "no owner");
}

TEST_CASE("your own pattern says where the id and the file name are") {
  CHECK(owner_text("lab2-{id}.{any}/{file}", "lab2-jdoe.v3/reduction.cu") ==
        "jdoe||reduction.cu||?");
  CHECK(owner_text("{time}_{late}{id}_{file}", "2026-11-20 10:00:00_LATE_jdoe_r.cu") ==
        "jdoe||r.cu|2026-11-20 10:00:00|late");
  CHECK(owner_text("lab2-{id}.{any}/{file}", "lab3-jdoe.v3/reduction.cu") == "no owner");
  // Characters with a meaning in regular expressions stand for themselves.
  CHECK(owner_text("(a+b)*{id}[]{file}", "(a+b)*jdoe[]r.cu") == "jdoe||r.cu||?");
  for (const char* wrong : {"", "canvass", "{file}", "{id}", "{id}{nonsense}{file}", "{id}{file",
                            "{id}{any}{any}{any}{any}{any}{file}"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(name_pattern{wrong}, failure);
  }
}

TEST_CASE("a match takes time in proportion to the lengths of the pattern and the path") {
  // Each of these names took minutes when a placeholder retried everything that had failed after
  // it.
  const std::string letters(390, 'a'), digits(390, '1'), times(390, '-');
  for (const auto& [pattern, path] : std::vector<std::pair<std::string, std::string>>{
           {"{id}{any}{any}{any}{any}{file}.zip", letters},
           {"{id}{file}{file}{file}{file}{file}.zip", letters},
           {"{number}{number}{number}{number}{id}{file}.zip", digits},
           {"{time}{time}{time}{time}{id}{file}x", "1" + times},
           {"{id}a{any}a{any}a{any}a{any}a{file}b", letters},
           {"{late}{id}{late}{any}{late}{file}b", letters}}) {
    CAPTURE(pattern);
    const auto began = std::chrono::steady_clock::now();
    const name_pattern names(pattern);
    for (int i = 0; i < 100; ++i) CHECK(!names.match(path));
    CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(2));
  }
  // Every placeholder before the last one matches either the shortest or the longest text.
  CHECK(owner_text("{id}{any}{any}{file}.cu", "abcd.cu") == "a||bcd||?");
  CHECK(owner_text("{number}{id}_{file}", "123a_b_c") == "a||b_c||?");
  CHECK(owner_text("{number}{id}_{file}", "123_b") == "3||b||?");
  CHECK(owner_text("{late}{id}_{file}", "LATE_b") == "LATE||b||in time");
  CHECK(owner_text("{id}-{any}-{file}", "a-b-c-d/e") == "a||c-d/e||?");
}

TEST_CASE("the platform is the one whose pattern fits the most files") {
  CHECK(pattern_for({"a_1_2_r.cu", "b_LATE_3_4_r.cu", "odd.cu"}).text() == "canvas");
  CHECK(pattern_for({"submission_1/r.cu", "submission_2/r.cu", "submission_metadata.yml"}).text() ==
        "gradescope");
  CHECK(pattern_for({"jdoe/r.cu", "a_1_2_r.cu", "mary/r.cu"}).text() == "plain");
  CHECK(pattern_for({}).text() == "plain");
}

TEST_CASE("paths that leave their folder have no owner") {
  const std::vector<std::string> wild = {"../x.cu",
                                         "a/../../x.cu",
                                         "a\\..\\x.cu",
                                         "/etc/passwd",
                                         "\\\\host\\x",
                                         "C:\\x.cu",
                                         "a/..",
                                         std::string("a\nb/x.cu"),
                                         std::string("a\0b.cu", 6),
                                         std::string(401, 'a')};
  for (const auto& path : wild) {
    CAPTURE(path);
    CHECK(!is_tame(path));
    CHECK(!name_pattern("plain").match(path));
    CHECK(!name_pattern("{id}/{file}").match(path));
  }
  CHECK(why_wild("a\x1b[2J.cu") == "has control characters");
  CHECK(why_wild("../x.cu") == "leaves its folder");
  CHECK(why_wild(std::string(401, 'a')) == "has more than 400 bytes");
  CHECK(is_tame("..a/b..c/x.cu"));
  CHECK(is_tame(std::string(400, 'a')));
}

TEST_CASE("the file of an id has a plain name, and no two ids share a name") {
  CHECK(file_name_for("jdoe-2.x_y") == "jdoe-2.x_y");
  CHECK(file_name_for("jane@example.org") == "jane%40example.org");
  CHECK(file_name_for("..") == "%2E.");
  CHECK(file_name_for("a/b") == "a%2Fb");
  CHECK(file_name_for("a%2Fb") == "a%252Fb");
  CHECK(file_name_for("") != file_name_for("%"));
  const std::string long_id(5000, 'x');
  CHECK(file_name_for(long_id).size() <= 120);
  CHECK(file_name_for(long_id) != file_name_for(long_id + "x"));
}

TEST_CASE("times are read as platforms write them") {
  const auto at = time_of("2026-11-20T23:59:00Z");
  REQUIRE(at);
  CHECK(utc_text(*at) == "2026-11-20T23:59:00Z");
  CHECK(time_of("2026-11-20 15:59:00.123456789 -08:00") == at);
  CHECK(time_of("2026-11-21T00:59:00+0100") == at);
  CHECK(time_of("2026-11-20 23:59:00 UTC") == at);
  CHECK(time_of("2026-11-20-23-59-00") == at);
  CHECK(time_of("2026-11-20 23:59") == at);
  for (const char* wrong :
       {"", "tomorrow", "2026-13-20 10:00", "2026-02-29 10:00", "2026-04-00 10:00", "2026-11-20",
        "2026-11-20 25:00", "2026-11-20 10:00:00 Europe/Berlin", "2026-11-20 10:00:00 +1"}) {
    CAPTURE(wrong);
    CHECK(!time_of(wrong));
  }
}
