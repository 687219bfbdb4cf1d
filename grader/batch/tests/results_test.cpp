// Tests a results folder: what it keeps, what it replaces, and which damaged files it detects.
#include "grader/batch/results.hpp"

#include <doctest/doctest.h>

#include "grader/batch/versions.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

using namespace stepwise;
using namespace stepwise::batch;

namespace {

submission one(const std::string& id) {
  submission s;
  s.id = id;
  s.sha256 = "ab";
  return s;
}

std::size_t files_in(const fs::path& folder) {
  std::size_t count = 0;
  if (!fs::exists(folder)) return 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder)) ++count;
  return count;
}

}  // namespace

TEST_CASE("a folder belongs to one lab, and holds only results") {
  const temporary_folder folder(fs::temp_directory_path());
  const fs::path at = folder.path() / "results";
  CHECK_THROWS_AS(results{at}, failure);
  CHECK(results::open_or_make(at, "reduction").info().lab == "reduction");
  CHECK(results::open_or_make(at, "reduction").info().lab == "reduction");
  CHECK_THROWS_AS(results::open_or_make(at, "matmul"), failure);
  write_atomically(folder.path() / "other" / "thesis.tex", "...");
  CHECK_THROWS_AS(results::open_or_make(folder.path() / "other", "reduction"), failure);
}

TEST_CASE("submissions are read as they were written, sorted by id") {
  const temporary_folder folder(fs::temp_directory_path());
  auto r = results::open_or_make(folder.path() / "r", "reduction");
  submission s = one("zoë/../x");
  s.name = "Zoë";
  s.time = 1'700'000'000;
  s.late = true;
  s.late_s = 60;
  s.notes = {"a", "b"};
  s.refused = "the submission contains no .cu file";
  r.write(s);
  r.write(one("abel"));
  const auto all = results(folder.path() / "r").submissions();
  REQUIRE(all.size() == 2);
  CHECK(all[0].id == "abel");
  CHECK(!all[0].time);
  CHECK(!all[0].late);
  CHECK(json_of(all[1]) == json_of(s));
  write_atomically(folder.path() / "r" / "submissions" / "abel.json", "{");
  CHECK_THROWS_AS(r.submissions(), failure);
}

TEST_CASE("equal contents are stored in one file, and an id is not a path") {
  const temporary_folder folder(fs::temp_directory_path());
  auto r = results::open_or_make(folder.path() / "r", "reduction");
  const std::string a = r.keep("int main;", "reduction.cu");
  CHECK(r.keep("int main;", "reduction.cu") == a);
  CHECK(r.keep("int main ;", "reduction.cu") != a);
  CHECK(files_in(folder.path() / "r" / "files") == 2);
  CHECK(read_if_there(r.content_of(a, "reduction.cu")) == "int main;");
  r.write(one("../../escaped"));
  r.write_entry("../../escaped", {{"id", "../../escaped"}, {"class", "PASS"}});
  CHECK(files_in(folder.path()) == 1);
  CHECK(r.entry("../../escaped").at("class") == "PASS");
}

TEST_CASE("a replaced verdict moves to the history, once") {
  const temporary_folder folder(fs::temp_directory_path());
  auto r = results::open_or_make(folder.path() / "r", "reduction");
  const fs::path history = folder.path() / "r" / "history";
  const json first = {{"id", "a"}, {"class", "WRONG"}}, second = {{"id", "a"}, {"class", "PASS"}};
  r.write(one("a"));
  r.write_entry("a", first);
  r.write_entry("a", first);
  CHECK(files_in(history) == 0);
  r.write_entry("a", second);
  CHECK(files_in(history) == 1);
  r.write_entry("a", first);
  r.write_entry("a", second);
  CHECK(files_in(history) == 2);
  CHECK(r.entry("a").at("class") == "PASS");
  CHECK(r.entries().size() == 1);
  // A truncated entry is ignored.
  write_atomically(folder.path() / "r" / "journal" / "a.json", first.dump().substr(0, 9));
  CHECK(r.entry("a").is_null());
  CHECK(r.entries().empty());
}

TEST_CASE("marks survive a kill, and leftovers are removed") {
  const temporary_folder folder(fs::temp_directory_path());
  auto r = results::open_or_make(folder.path() / "r", "reduction");
  r.mark("a/b");
  CHECK(results(folder.path() / "r").is_marked("a/b"));
  CHECK(!r.is_marked("a"));
  r.unmark("a/b");
  CHECK(!r.is_marked("a/b"));
  const fs::path half = folder.path() / "r" / "journal" / ".a.json.Xy1234";
  write_atomically(half, "{");
  fs::create_directories(folder.path() / "r" / "tmp-123456");
  const std::string own = std::string(temporary_folder::prefix) + "123456";
  fs::create_directories(folder.path() / "r" / own);
  r.remove_leftovers();
  CHECK(!fs::exists(folder.path() / "r" / own));
  CHECK(!fs::exists(half));
  CHECK(!fs::exists(folder.path() / "r" / "tmp-123456"));
}

TEST_CASE("a verdict is current while everything it depends on is unchanged, and INFRA never is") {
  const verdict_key now{"sha", "lab", "grader", "13.0", "emulator", "key"};
  json entry = {{"class", "WRONG"}, {"key", json_of(now)}};
  CHECK(is_current(entry, now));
  for (const auto part : {&verdict_key::submission, &verdict_key::lab, &verdict_key::grader,
                          &verdict_key::toolkit, &verdict_key::device, &verdict_key::key}) {
    verdict_key other = now;
    other.*part += "x";
    CHECK(!is_current(entry, other));
  }
  entry["class"] = "INFRA";
  CHECK(!is_current(entry, now));
  CHECK(!is_current(json(), now));
}
