// Tests identities. Only files that the platform itself made determine the owner and the time of a
// submission, no matter what students put into their own folders and names.
#include "grader/batch/claims.hpp"

#include <doctest/doctest.h>

#include "grader/batch/look_alike.hpp"
#include "grader/system/files.hpp"

using namespace stepwise;
using namespace stepwise::batch;

namespace {

// The claims in a folder with these files, by path. A file's content is given after "=". Without
// "=", the content is the path.
class claimed {
 public:
  claimed(std::vector<std::string> files, const std::string& pattern = "")
      : folder_(fs::temp_directory_path()) {
    std::sort(files.begin(), files.end());
    for (const auto& file : files) {
      const auto equals = std::min(file.find('='), file.size());
      member m;
      m.path = file.substr(0, equals);
      m.content = folder_.path() / std::to_string(members_.size());
      write_atomically(m.content, file.substr(std::min(equals + 1, file.size())));
      paths_.push_back(m.path);
      members_.push_back(std::move(m));
    }
    const name_pattern names = pattern.empty() ? pattern_for(paths_) : name_pattern(pattern);
    text_ = names.text();
    const claims whose(members_, names, 0);
    all_ = whose.all();
    left_out_ = whose.reports();
    left_out_.insert(left_out_.end(), whose.left_out().begin(), whose.left_out().end());
  }
  std::string pattern() const { return text_; }
  // The owner's id, or "left out".
  std::string of(const std::string& path) const {
    const auto& c = at(path);
    return c ? c->id : "left out";
  }
  const std::optional<claim>& at(const std::string& path) const {
    const auto found = std::find(paths_.begin(), paths_.end(), path);
    REQUIRE(found != paths_.end());
    return all_[static_cast<std::size_t>(found - paths_.begin())];
  }
  const std::vector<std::string>& left_out() const { return left_out_; }
  // Whether a report begins with `path` and contains `whom`.
  bool reports(const std::string& path, const std::string& whom) const {
    return std::any_of(left_out_.begin(), left_out_.end(), [&](const std::string& line) {
      return line.starts_with(path) && line.find(whom) != std::string::npos;
    });
  }

 private:
  temporary_folder folder_;
  std::vector<member> members_;
  std::vector<std::string> paths_, left_out_;
  std::vector<std::optional<claim>> all_;
  std::string text_;
};

std::string facts(const std::string& number, const std::string& who, const std::string& time) {
  return "submission_" + number + ":\n  :submitters:\n  - :name: " + who + "\n    :email: " + who +
         "@uni\n  :created_at: " + time + "\n";
}

}  // namespace

TEST_CASE("Gradescope's metadata counts where the platform puts it, and nowhere else") {
  const std::string theirs =
      facts("1", "alice", "2026-11-20 10:00 Z") + facts("2", "mallory", "2026-11-29 10:00 Z");
  const std::string forged =
      facts("1", "mallory", "2026-11-01 10:00 Z") + facts("2", "alice", "2026-11-01 10:00 Z");
  for (const char* above : {"", "assignment_1_export/"}) {
    for (const char* inside :
         {"submission_2/submission_metadata.yml", "submission_2/a/b/submission_metadata.yml",
          "submission_2/SUBMISSION_METADATA.YML", "submission_0/submission_metadata.yml"}) {
      CAPTURE(above);
      CAPTURE(inside);
      const std::string in = above;
      const claimed c({in + "submission_metadata.yml=" + theirs, in + inside + "=" + forged,
                       in + "submission_1/reduction.cu", in + "submission_2/reduction.cu"});
      CHECK(c.pattern() == "gradescope");
      CHECK(c.of(in + "submission_1/reduction.cu") == "alice@uni");
      CHECK(c.of(in + "submission_2/reduction.cu") == "mallory@uni");
      CHECK(c.at(in + "submission_2/reduction.cu")->submitted == time_of("2026-11-29 10:00 Z"));
      CHECK(c.of(in + inside) == "left out");
      CHECK(c.reports(in + inside, "handed it in"));
      CHECK(c.left_out().size() == 1);
    }
  }
  // Without the platform's own file there is no metadata.
  const claimed without(
      {"submission_1/r.cu", "submission_2/r.cu", "submission_2/submission_metadata.yml=" + forged});
  CHECK(without.of("submission_2/r.cu") == "2");
  CHECK(!without.at("submission_2/r.cu")->submitted);
}

TEST_CASE("metadata is read by its columns, and the first entry of a submission counts") {
  // As a YAML library writes it: a name of several lines, and the output of a test.
  const auto read = gradescope_metadata(
      "---\nsubmission_1:\n  :submitters:\n  - :name: |-\n      Mallory\n      :email: alice@uni\n"
      "      submission_2:\n    :email: mallory@uni\n  :created_at: 2026-11-29 10:00 Z\n"
      "  :results:\n    :output: |-\n      :created_at: 2026-11-01 10:00 Z\n"
      "    :created_at: 2026-11-01 10:00 Z\n" +
      facts("2", "alice", "2026-11-20 10:00 Z") + facts("2", "mallory", "2026-11-01 10:00 Z"));
  REQUIRE(read.by_number.size() == 2);
  CHECK(read.by_number.at("1").id == "mallory@uni");
  CHECK(read.by_number.at("1").time == time_of("2026-11-29 10:00 Z"));
  CHECK(read.by_number.at("2").id == "alice@uni");
  CHECK(read.by_number.at("2").name == "alice");
  CHECK(read.by_number.at("2").time == time_of("2026-11-20 10:00 Z"));
  CHECK(read.repeated == std::vector<std::string>{"2"});
}

TEST_CASE("a folder inside a student's submission belongs to that student, whatever its name is") {
  const claimed g({"x/submission_1/r.cu", "x/submission_2/r.cu", "x/submission_2/submission_1/r.cu",
                   "x/submission_2/a/b/submission_1/r.cu", "x/submission_2/submission_77/r.cu"});
  CHECK(g.of("x/submission_2/submission_1/r.cu") == "left out");
  CHECK(g.of("x/submission_2/a/b/submission_1/r.cu") == "left out");
  CHECK(g.of("x/submission_2/submission_77/r.cu") == "2");  // 77 is not another submission
  REQUIRE(g.left_out().size() == 1);                        // one line per student
  CHECK(g.reports("x/submission_2/a/b/submission_1/r.cu", "under the name of 1"));
  CHECK(g.reports("x/", "left out: 2"));

  const claimed n({"submitted/alice/ps1/r.cu", "submitted/alice/ps1/timestamp.txt",
                   "submitted/mallory/ps1/submitted/alice/ps1/r-9999.cu",
                   "submitted/mallory/ps1/submitted/alice/ps1/timestamp.txt",
                   "submitted/mallory/ps1/submitted/alicf/ps1/r.cu",
                   "submitted/mallory/ps1/bob_attempt_2026-11-20-10-00-00_r.cu",
                   "submitted/mallory/ps1/alice_attempt_2026-11-20-10-00-00_r.cu",
                   "submitted/mallory/ps1/r.cu", "submitted/mallory/ps1/old/timestamp.txt"});
  CHECK(n.pattern() == "nbgrader");
  CHECK(n.of("submitted/alice/ps1/r.cu") == "alice");
  CHECK(n.at("submitted/alice/ps1/r.cu")->timestamp == "submitted/alice/ps1/timestamp.txt");
  CHECK(n.of("submitted/alice/ps1/timestamp.txt") == "alice");
  CHECK(n.of("submitted/mallory/ps1/r.cu") == "mallory");
  CHECK(n.at("submitted/mallory/ps1/r.cu")->timestamp == "submitted/mallory/ps1/timestamp.txt");
  CHECK(n.of("submitted/mallory/ps1/submitted/alice/ps1/r-9999.cu") == "left out");
  CHECK(n.of("submitted/mallory/ps1/alice_attempt_2026-11-20-10-00-00_r.cu") == "left out");
  CHECK(n.of("submitted/mallory/ps1/bob_attempt_2026-11-20-10-00-00_r.cu") == "mallory");
  CHECK(n.of("submitted/mallory/ps1/submitted/alicf/ps1/r.cu") == "mallory");
  CHECK(n.of("submitted/mallory/ps1/old/timestamp.txt") == "left out");
  CHECK(n.reports("submitted/mallory/", "under the name of alice"));

  const claimed m({"Alice A_11_assignsubmission_file_/r.cu",
                   "Mallory_12_assignsubmission_file_/Alice A_11_assignsubmission_file_/r.cu",
                   "Mallory_12_assignsubmission_file_/Alice A_11_assignsubmission_file_r.cu",
                   "Mallory_12_assignsubmission_file_/r.cu"});
  CHECK(m.pattern() == "moodle");
  CHECK(m.of("Alice A_11_assignsubmission_file_/r.cu") == "11");
  CHECK(m.of("Mallory_12_assignsubmission_file_/r.cu") == "12");
  CHECK(m.at("Mallory_12_assignsubmission_file_/r.cu")->file == "r.cu");
  CHECK(m.of("Mallory_12_assignsubmission_file_/Alice A_11_assignsubmission_file_/r.cu") ==
        "left out");
  CHECK(m.of("Mallory_12_assignsubmission_file_/Alice A_11_assignsubmission_file_r.cu") ==
        "left out");

  // In a file name, only the beginning comes from the platform.
  const claimed k(
      {"alice_1_11_r.cu", "mallory_LATE_2_12_alice_1_11_r.cu",
       "mallory_LATE_2_13_submission_metadata.yml=" + facts("1", "m", "2026-11-01 10:00"),
       "mallory_LATE_2_14_timestamp.txt=2026-11-01 10:00:00 UTC",
       "mallory_LATE_2_15_x_1_assignsubmission_file_r.cu"});
  CHECK(k.pattern() == "canvas");
  CHECK(k.of("mallory_LATE_2_12_alice_1_11_r.cu") == "mallory");
  CHECK(k.at("mallory_LATE_2_12_alice_1_11_r.cu")->late == true);
  CHECK(k.of("mallory_LATE_2_15_x_1_assignsubmission_file_r.cu") == "mallory");
  CHECK(k.of("alice_1_11_r.cu") == "alice");
  CHECK(!k.at("alice_1_11_r.cu")->submitted);
}

TEST_CASE("a second claim to an identity is left out, and the report names the identity") {
  const claimed p({"anna/r.cu", "anna/deep/anna/r.cu", "anna.zip", "anna.tar.gz", "bert.cu"});
  CHECK(p.pattern() == "plain");
  CHECK(p.of("anna.tar.gz") == "anna");  // the first in path order
  CHECK(p.of("anna.zip") == "left out");
  CHECK(p.of("anna/r.cu") == "left out");
  CHECK(p.reports("anna.zip", "to be from anna, but their submission is anna.tar.gz"));
  CHECK(p.reports("anna/deep/anna/r.cu", "claims to be from anna"));
  // Two students have the same name, and one of them chose it.
  const claimed k({"doejane_4711_11_r.cu", "doejane_4711_12_answers.md", "doejane_9999_13_r-7.cu",
                   "bert_5_14_r.cu"});
  CHECK(k.of("doejane_4711_12_answers.md") == "doejane");
  CHECK(k.of("doejane_9999_13_r-7.cu") == "left out");
  CHECK(k.reports("doejane_9999_13_r-7.cu",
                  "to be from doejane, but their submission is doejane_4711_11_r.cu"));
  // Two submission numbers with one address, and one number in two exports.
  const claimed g({"a/submission_metadata.yml=" + facts("1", "alice", "2026-11-20 10:00") +
                       facts("2", "alice", "2026-11-20 10:00"),
                   "a/submission_1/r.cu", "a/submission_2/r.cu", "b/submission_1/r.cu",
                   "b/submission_3/r.cu", "c/d/submission_4/r.cu"});
  CHECK(g.of("a/submission_1/r.cu") == "alice@uni");
  CHECK(g.of("a/submission_2/r.cu") == "left out");
  CHECK(g.of("b/submission_1/r.cu") == "1");  // the metadata of export a does not apply to b
  CHECK(g.of("b/submission_3/r.cu") == "3");
  CHECK(g.of("c/d/submission_4/r.cu") == "left out");
  // An instructor's own pattern decides by itself which files belong to one student.
  const claimed own({"anna.v1/r.cu", "anna.v2/r.cu", "bert.v1/anna.v1/r.cu"}, "{id}.{any}/{file}");
  CHECK(own.of("anna.v2/r.cu") == "anna");
  CHECK(own.of("bert.v1/anna.v1/r.cu") == "bert");
}

TEST_CASE("files in one student's folder do not choose the platform for everyone") {
  std::vector<std::string> files = {"alice/r.cu", "bob/r.cu"};
  for (int i = 1; i < 50; ++i) files.push_back("mallory/submission_" + std::to_string(i) + "/r.cu");
  const claimed c(files);
  CHECK(c.pattern() == "plain");
  CHECK(c.of("alice/r.cu") == "alice");
  CHECK(c.of("mallory/submission_7/r.cu") == "mallory");
  // With a single student, the outer platform counts, regardless of the order in our table.
  const std::string theirs = "submitted/mallory/ps1/Alice_17_assignsubmission_file_/r.cu";
  const claimed alone({theirs});
  CHECK(alone.pattern() == "nbgrader");
  CHECK(alone.of(theirs) == "mallory");
  const claimed one({"x/submission_metadata.yml=" + facts("1", "alice", "2026-11-20 10:00"),
                     "x/submission_1/Bob_17_assignsubmission_file_/r.cu"});
  CHECK(one.pattern() == "gradescope");
  CHECK(one.of("x/submission_1/Bob_17_assignsubmission_file_/r.cu") == "alice@uni");
}

TEST_CASE("ids that look alike have the same look, and other ids do not") {
  const std::string look = look_of("alice");
  for (const char* alike :
       {"Alice", "ALICE", "a1ice", "aIice", "\u0430lice", "\u0410l\u0456\u0441e", "\uff41lice",
        "ali\u200bce", "alice ", "alic\u00e9", "alice\u0301", "\u03b1lice", "\u00c0LICE",
        "\ufeffalice"}) {
    CAPTURE(alike);
    CHECK(look_of(alike) == look);
  }
  for (const char* other : {"alicf", "alica", "bob", "", "alice2", "\u6797", "a\xffice"}) {
    CAPTURE(other);
    CHECK(look_of(other) != look);
  }
  CHECK(look_of("\u6797") != look_of("\u6798"));
}
