// Tests the intake of folders and archives, as platforms and as attackers make them.
//
// UNPACK_SCRIPT is the path of unpack.py.
#include "grader/batch/intake.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdlib>

#include "grader/batch/metadata.hpp"
#include "grader/sandbox/sandbox.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"
#include "grader/system/process.hpp"

using namespace stepwise;
using namespace stepwise::batch;

namespace {

// A folder of submissions next to a folder of results.
class course_folder {
 public:
  course_folder() : folder_(fs::temp_directory_path()) { make_folder(in()); }
  fs::path in() const { return folder_.path() / "in"; }
  void put(const std::string& path, const std::string& text) const {
    write_atomically(in() / path, text);
  }
  // Runs Python code that makes archives. zipfile, tarfile and io are imported, and the current
  // folder is in().
  void python(const std::string& code) const {
    child_options run;
    run.command = {"python3", "-c", "import io, stat, tarfile, zipfile\n" + code};
    run.directory = in();
    const auto result = run_child(run, 60);
    INFO(result.err);
    REQUIRE(result.end.ok());
  }
  std::map<std::string, submission> read(intake_options options = {}) {
    // By a relative name, as users give it.
    auto r = results::open_or_make(fs::relative(folder_.path() / "results"), "reduction");
    if (options.source.empty()) options.source = in();
    const fs::path script = std::getenv("UNPACK_SCRIPT");
    last = read_submissions(r, options,
                            {script, find_protections(), [](const std::string&) {}, [] {}});
    std::map<std::string, submission> all;
    for (auto& s : r.submissions()) all[s.id] = s;
    return all;
  }
  std::string content(const submission& s, const std::string& name = "reduction.cu") const {
    const auto& sha = name == "answers.md" ? s.answers_sha256 : s.sha256;
    return read_if_there(folder_.path() / "results" / "files" / sha / name).value_or("absent");
  }
  fs::path at(const std::string& name) const { return folder_.path() / name; }
  intake last;

 private:
  temporary_folder folder_;
};

}  // namespace

TEST_CASE("plain folders, single files, and archives of lab pack are one submission each") {
  course_folder c;
  c.put("anna/reduction.cu", "anna");
  c.put("anna/answers.md", "answers");
  c.put("bert.cu", "bert");
  c.put("carl/notes.txt", "no source");
  c.put("dora/reduction.cu", "dora");
  c.put("dora/old/reduction.cu", "other");
  c.put("dora/very old/reduction.cu", "dora");  // another copy of the same contents does not decide
  c.put("dora/try.cu", "try");
  c.put("emil/try.cu", "one of any name");
  c.put("fritz/a.cu", "a");
  c.put("fritz/b.cu", "b");
  c.put("gerd/reduction.cu", "old");
  c.put("gerd/reduction (2).cu", "new");
  c.put("gerd/._reduction.cu", "macOS's");
  c.put("__MACOSX/x/reduction.cu", "macOS's");
  c.python(
      "t = tarfile.open('reduction-hana.tar.gz', 'w:gz')\n"
      "for n, b in (('reduction/reduction.cu', b'hana'), ('reduction/answers.md', b'says'),\n"
      "             ('reduction/grade.json', b'{}')):\n"
      "    i = tarfile.TarInfo(n); i.size = len(b); t.addfile(i, io.BytesIO(b))\n"
      "t.close()\n");
  const auto all = c.read();
  CHECK(c.last.info.names == "plain");
  CHECK(c.content(all.at("anna")) == "anna");
  CHECK(c.content(all.at("anna"), "answers.md") == "answers");
  CHECK(c.content(all.at("bert")) == "bert");
  CHECK(all.at("carl").refused == "the submission contains no .cu file");
  CHECK(all.at("dora").refused.starts_with("several .cu files"));
  CHECK(all.at("dora").refused.find("old/reduction.cu, ") != std::string::npos);
  CHECK(c.content(all.at("emil")) == "one of any name");
  CHECK(all.at("fritz").refused.find("a.cu, b.cu") != std::string::npos);
  CHECK(c.content(all.at("gerd")) == "new");
  CHECK(all.at("gerd").notes.size() == 1);
  CHECK(c.content(all.at("reduction-hana")) == "hana");
  CHECK(c.content(all.at("reduction-hana"), "answers.md") == "says");
  CHECK(all.size() == 8);
  CHECK(c.last.refused == 3);
  // Reading the same folder again changes nothing.
  CHECK(c.read().size() == 8);
}

TEST_CASE("a platform's zip is read like its folder, including the folder around it") {
  course_folder c;
  c.python(
      "z = zipfile.ZipFile('course.zip', 'w')\n"
      "z.writestr('submissions/anna_1_11_reduction.cu', 'anna')\n"
      "z.writestr('submissions/anna_1_12_answers.md', 'hers')\n"
      "z.writestr('submissions/bert_LATE_2_21_reduction-1.cu', 'bert')\n"
      "z.close()\n");
  const auto all = c.read({c.in() / "course.zip"});
  CHECK(c.last.info.names == "canvas");
  REQUIRE(all.size() == 2);
  CHECK(c.content(all.at("anna")) == "anna");
  CHECK(c.content(all.at("anna"), "answers.md") == "hers");
  CHECK(all.at("anna").late == false);
  CHECK(all.at("bert").late == true);
  CHECK(!all.at("bert").late_s);
}

TEST_CASE("lateness comes from metadata, and is unknown without it") {
  course_folder c;
  c.put("submission_11/reduction.cu", "anna");
  c.put("submission_12/reduction.cu", "bert");
  c.put("submission_13/reduction.cu", "carl");
  c.put("submission_metadata.yml",
        "---\nsubmission_11:\n  :submitters:\n  - :name: Anna A\n    :sid: '1'\n"
        "    :email: anna@example.org\n  :created_at: 2026-11-20 22:59:00.5 -01:00\n  :score: 3\n"
        "submission_12:\n  :submitters:\n  - :name: Bert\n    :email: bert@example.org\n"
        "  - :name: Berta\n    :email: berta@example.org\n"
        "  :created_at: 2026-11-21 00:00:30.0 +00:00\n"
        "  :history:\n  - :id: 9\n    :created_at: 2020-01-01 00:00:00 +00:00\n");
  intake_options options;
  options.due = 1795219140;  // 2026-11-20T23:59:00Z
  auto all = c.read(options);
  REQUIRE(all.size() == 3);
  CHECK(all.at("anna@example.org").name == "Anna A");
  CHECK(all.at("anna@example.org").late == false);
  CHECK(all.at("bert@example.org").name == "Bert, Berta");
  CHECK(all.at("bert@example.org").late == true);
  CHECK(all.at("bert@example.org").late_s == 90);
  CHECK(!all.at("13").time);
  CHECK(!all.at("13").late);
  write_atomically(c.at("times.csv"), "id,time\r\n13,2026-11-22T00:00:00Z\r\n");
  options.times = c.at("times.csv");
  all = c.read(options);
  CHECK(all.at("13").late_s == 86460);
  CHECK_THROWS_AS(time_table("13,soon\nx,y\n", "t.csv"), failure);
  // As Excel writes it: a byte-order mark, no heading, and a name with a comma.
  const auto times = time_table(
      "\xef\xbb\xbf"
      "12,2026-11-20 10:00\n\n\"a,b\",2026-11-20 10:01",
      "t");
  CHECK(times == std::map<std::string, std::int64_t>{{"12", 1795168800}, {"a,b", 1795168860}});
}

TEST_CASE(
    "the last of several attempts counts, and timestamp.txt next to the file gives its time") {
  course_folder c;
  c.put("anna_attempt_2026-11-20-10-00-00_reduction.cu", "first");
  c.put("anna_attempt_2026-11-20-12-00-00_reduction.cu", "second");
  auto all = c.read();
  CHECK(c.content(all.at("anna")) == "second");
  CHECK(all.at("anna").time == 1795176000);
  course_folder d;
  d.put("submitted/bert/reduction/reduction.cu", "bert");
  d.put("submitted/bert/reduction/timestamp.txt", "2026-11-20 12:00:00.5 UTC\n");
  all = d.read();
  CHECK(d.last.info.names == "nbgrader");
  CHECK(all.at("bert").time == 1795176000);
}

TEST_CASE(
    "a student's own timestamp or metadata does not change whose a file is or whether it is late") {
  intake_options options;
  options.due = 1795219140;  // 2026-11-20T23:59:00Z
  course_folder c;
  c.put("submitted/alice/ps1/reduction.cu", "alice");
  c.put("submitted/alice/ps1/timestamp.txt", "2026-11-20 12:00:00 UTC");
  c.put("submitted/mallory/ps1/reduction.cu", "mallory");
  c.put("submitted/mallory/ps1/timestamp.txt", "2026-11-21 12:00:00 UTC");
  c.put("submitted/mallory/ps1/src/timestamp.txt", "2026-11-01 12:00:00 UTC");
  c.put("submitted/mallory/ps1/submitted/alice/ps1/reduction-9999.cu", "forged");
  c.put("submitted/mallory/ps1/submitted/alice/ps1/timestamp.txt", "2026-11-29 12:00:00 UTC");
  c.put("submitted/mallory/ps0/hello.cu", "another assignment");
  c.put("submitted/mallory/ps0/timestamp.txt", "2026-11-01 12:00:00 UTC");
  for (const fs::path& source : {c.in(), c.in() / "submitted", c.in() / "submitted" / ""}) {
    CAPTURE(source);
    options.source = source;
    const auto all = c.read(options);
    CHECK(c.last.info.names == "nbgrader");
    REQUIRE(all.size() == 2);
    CHECK(c.content(all.at("alice")) == "alice");
    CHECK(all.at("alice").late == false);
    CHECK(c.content(all.at("mallory")) == "mallory");
    CHECK(all.at("mallory").late == true);
    REQUIRE(c.last.info.left_out.size() == 1);
    CHECK(c.last.info.left_out[0].find("under the name of alice") != std::string::npos);
  }
  // Other platforms have no such file. Nor does an archive, or a folder of a single student.
  course_folder d;
  d.put("anna/reduction.cu", "anna");
  d.put("anna/timestamp.txt", "2026-11-01 12:00:00 UTC");
  d.put("anna/submission_metadata.yml", "submission_1:\n  :created_at: 2026-11-01 12:00:00 UTC\n");
  d.python(
      "z = zipfile.ZipFile('bert.zip', 'w')\n"
      "z.writestr('reduction.cu', 'bert')\n"
      "z.writestr('submitted/anna/ps1/reduction.cu', 'bert')\n"
      "z.writestr('timestamp.txt', '2026-11-01 12:00:00 UTC')\n"
      "z.close()\n");
  options.source = d.in();
  auto all = d.read(options);
  REQUIRE(all.size() == 2);
  CHECK(d.content(all.at("anna")) == "anna");
  CHECK(!all.at("anna").late);
  CHECK(d.content(all.at("bert")) == "bert");
  CHECK(!all.at("bert").late);
  CHECK(d.last.info.left_out.size() == 1);
  options.source = d.in() / "anna";
  options.one = "eve";
  all = d.read(options);
  CHECK(!all.at("eve").late);
}

TEST_CASE("ids that look alike are kept separate, and a note says so") {
  course_folder c;
  c.put("alice/reduction.cu", "alice");
  c.put("\u0430lice/reduction.cu", "mallory");
  c.put("bob/reduction.cu", "bob");
  const auto all = c.read();
  REQUIRE(all.size() == 3);
  CHECK(c.content(all.at("alice")) == "alice");
  CHECK(c.content(all.at("\u0430lice")) == "mallory");
  CHECK(all.at("alice").notes == std::vector<std::string>{"resembles \u0430lice, another id"});
  CHECK(all.at("\u0430lice").notes.size() == 1);
  CHECK(all.at("bob").notes.empty());
}

TEST_CASE(
    "a folder in a student's folder is not another student, even if there is only one student") {
  course_folder c;
  c.put("mallory/alice/reduction.cu", "mallory");
  auto all = c.read();
  REQUIRE(all.size() == 1);
  CHECK(c.content(all.at("mallory")) == "mallory");
  // Several folders in one folder are the students of a course.
  course_folder d;
  d.put("course/alice/reduction.cu", "alice");
  d.put("course/mallory/alice/reduction.cu", "mallory");
  all = d.read();
  REQUIRE(all.size() == 2);
  CHECK(d.content(all.at("alice")) == "alice");
  CHECK(d.content(all.at("mallory")) == "mallory");
}

TEST_CASE("a whole folder can belong to one student") {
  course_folder c;
  c.put("src/reduction.cu", "mine");
  c.put("answers.md", "mine");
  intake_options options;
  options.one = "anna";
  options.submitted = 1'700'000'000;
  const auto all = c.read(options);
  REQUIRE(all.size() == 1);
  CHECK(c.content(all.at("anna")) == "mine");
  CHECK(all.at("anna").time == 1'700'000'000);
}

TEST_CASE(
    "links, devices and files that are too large are refused by name, and never block the intake") {
  course_folder c;
  write_atomically(c.at("secret"), "key");
  c.put("anna/reduction.cu", "anna");
  fs::create_directories(c.in() / "bert");
  fs::create_symlink(c.at("secret"), c.in() / "bert" / "reduction.cu");
  fs::create_directories(c.in() / "carl");
  REQUIRE(mkfifo((c.in() / "carl" / "reduction.cu").c_str(), 0600) == 0);
  c.put("dora/reduction.cu", std::string((1 << 20) + 1, ' '));
  fs::create_directory_symlink(c.at("."), c.in() / "emil");
  c.put(std::string("f\nritz/reduction.cu"), "x");
  c.put("hana/reduction.cu", "hana");
  c.put("hana/answers.md", std::string((1 << 20) + 1, ' '));
  c.put("gerd/1/2/3/4/5/6/7/8/reduction.cu", "x");
  const auto all = c.read();
  CHECK(all.at("anna").refused.empty());
  CHECK(all.at("bert").refused == "reduction.cu is a link");
  CHECK(all.at("carl").refused == "reduction.cu is not a regular file");
  CHECK(all.at("dora").refused == "reduction.cu has more than 1 MB");
  CHECK(all.at("hana").refused.empty());
  CHECK(all.at("hana").notes ==
        std::vector<std::string>{"answers.md has more than 1 MB and was ignored"});
  CHECK(all.size() == 5);
  // Left out: a name with a line feed, a folder that is nested too deeply, and a link that leads
  // outside.
  REQUIRE(c.last.info.left_out.size() == 3);
  CHECK(c.last.info.left_out[1].ends_with("gerd/1/2/3/4/5/6/7/8 is nested too deeply"));
}

TEST_CASE("archives cannot leave their folder, unpack without limit, or hide links") {
  course_folder c;
  c.python(
      "def zip_of(name, entries):\n"
      "    z = zipfile.ZipFile(name, 'w', zipfile.ZIP_DEFLATED)\n"
      "    for n, b in entries: z.writestr(n, b)\n"
      "    z.close()\n"
      "zip_of('anna.zip', [('reduction.cu', 'anna'), ('data.bin', b'0' * 3000000)])\n"
      "zip_of('bert.zip', [('../../bert.cu', 'bert')])\n"
      "zip_of('carl.zip', [('/etc/cron.d/reduction.cu', 'carl')])\n"
      "zip_of('carla.zip', [('reduction\\x1b[2J.cu', 'carla')])\n"
      "i = zipfile.ZipInfo('reduction.cu'); i.external_attr = (stat.S_IFLNK | 0o777) << 16\n"
      "zip_of('dora.zip', [(i, '/etc/passwd')])\n"
      "zip_of('emil.zip', [('%d.cu' % n, b'0' * 1000000) for n in range(80)])\n"
      "open('fritz.zip', 'wb').write(open('anna.zip', 'rb').read()[:200])\n"
      "open('gerd.zip', 'wb').write(b'no archive')\n"
      "t = tarfile.open('hana.tar.gz', 'w:gz', compresslevel=1)\n"
      "i = tarfile.TarInfo('zeros'); i.size = 70 << 20\n"
      "t.addfile(i, open('/dev/zero', 'rb')); t.close()\n"
      "t = tarfile.open('ina.tgz', 'w:gz'); i = tarfile.TarInfo('reduction.cu')\n"
      "i.type = tarfile.LNKTYPE; i.linkname = '/etc/passwd'; t.addfile(i); t.close()\n"
      "zip_of('jan.zip', [('f%d.cu' % n, 'x') for n in range(2100)])\n"
      "zip_of('kai.zip', [('reduction.cu', b'0' * (1 << 21))])\n"
      "t = tarfile.open('lea.tar', 'w', encoding='latin-1', format=tarfile.GNU_FORMAT)\n"
      "i = tarfile.TarInfo('l\u00e9a/reduction.cu'); i.size = 3\n"
      "t.addfile(i, io.BytesIO(b'lea')); t.close()\n");
  const auto all = c.read();
  const auto why = [&](const char* id) { return all.at(id).refused; };
  CHECK(c.content(all.at("anna")) == "anna");
  CHECK(why("bert") == "bert.zip contains a file whose name leaves its folder: ../../bert.cu");
  CHECK(why("carl").find("leaves its folder: /etc/cron.d/") != std::string::npos);
  CHECK(why("carla").starts_with("carla.zip contains a file whose name has control characters: "));
  CHECK(why("dora") == "dora.zip contains a link: reduction.cu");
  CHECK(why("emil") == "emil.zip: its unpacked size is too large");
  CHECK(why("fritz").starts_with("fritz.zip: "));
  CHECK(why("gerd") == "gerd.zip: it is neither a zip nor a tar archive");
  CHECK(why("hana") == "hana.tar.gz: its unpacked size is too large");
  CHECK(why("ina") == "ina.tgz contains a link: reduction.cu");
  CHECK(why("jan") == "jan.zip: it contains too many files");
  CHECK(why("kai") == "reduction.cu has more than 1 MB");
  CHECK(c.content(all.at("lea")) == "lea");  // its folder's name is not valid UTF-8
  CHECK(!fs::exists(c.at("bert.cu")));
  for (const auto& entry : fs::directory_iterator(c.at("results")))
    CHECK(!entry.path().filename().string().starts_with(temporary_folder::prefix));
}

TEST_CASE("a source without owners is refused, and the message says what to do") {
  course_folder c;
  CHECK_THROWS_AS(c.read(), failure);
  CHECK_THROWS_AS(c.read({c.in() / "nowhere"}), failure);
  c.put("broken.zip", "no archive");
  CHECK_THROWS_AS(c.read({c.in() / "broken.zip"}), failure);
}
