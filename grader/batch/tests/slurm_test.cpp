// Tests grading by Slurm, with scripts in place of sbatch and squeue.
#include "grader/batch/slurm.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdlib>

#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise::batch {
namespace {

// A cluster whose tasks run during submission, and a `lab` that records its parts.
class fake_cluster {
 public:
  fake_cluster() : path_(std::getenv("PATH")) {
    // A task with a file lost-N ends without output the first time.
    program("sbatch",
            "array=; for w; do case $w in --array=*) array=${w#--array=};; esac; done\n"
            "echo \"$*\" >>$HERE/submitted\n"
            "for range in $(echo ${array%\\%*} | tr , ' '); do\n"
            "  for i in $(seq ${range%-*} ${range#*-}); do\n"
            "    if [ -e $HERE/lost-$i ]; then rm $HERE/lost-$i; continue; fi\n"
            "    SLURM_ARRAY_TASK_ID=$i bash \"${!#}\" >>$HERE/log 2>&1\n"
            "  done\n"
            "done\n"
            "[ -e $HERE/refuses ] && { echo 'sbatch: error: no such partition' >&2; exit 1; }\n"
            "echo 4711\n");
    program("squeue", "cat $HERE/queue 2>/dev/null; rm -f $HERE/queue; exit 0\n");
    program("lab", "echo \"$*\" >>$HERE/parts\n[ ! -e $HERE/broken ]\n");
    setenv("PATH", (folder_.path().string() + ":" + path_).c_str(), 1);
    setenv("HERE", folder_.path().c_str(), 1);
  }
  ~fake_cluster() { setenv("PATH", path_.c_str(), 1); }

  fs::path at(const std::string& name) const { return folder_.path() / name; }
  void write(const std::string& name, const std::string& text = "") const {
    write_atomically(at(name), text);
  }
  std::string text(const std::string& name) const { return read_if_there(at(name)).value_or(""); }
  slurm_options options() const {
    slurm_options o;
    o.command = {"lab", "grade-all", "--out", "it's here"};
    o.contents = 45;
    o.seconds_between_looks = 0.1;
    return o;
  }
  slurm_outcome grade(const slurm_options& o) const {
    return grade_by_slurm(at("results"), o, [](const slurm_state&) {});
  }

 private:
  void program(const std::string& name, const std::string& body) const {
    write_atomically(at(name), "#!/bin/bash\n" + body);
    chmod(at(name).c_str(), 0755);
  }
  temporary_folder folder_{fs::temp_directory_path()};
  std::string path_;
};

TEST_CASE("slurm: an array of tasks, one part per task") {
  const fake_cluster c;
  auto o = c.options();
  o.at_once = 4;
  o.sbatch = {"--partition=gpu"};
  CHECK(c.grade(o).open.empty());
  CHECK(c.text("submitted").find("--array=1-3%4") != std::string::npos);
  CHECK(c.text("submitted").find("--partition=gpu") != std::string::npos);
  CHECK(c.text("submitted").find("--requeue") != std::string::npos);
  CHECK(c.text("parts") ==
        "grade-all --out it's here --part 1/3\ngrade-all --out it's here --part 2/3\n"
        "grade-all --out it's here --part 3/3\n");
}

TEST_CASE("slurm: parts that no task finished are submitted once more, then reported") {
  const fake_cluster c;
  c.write("lost-2");
  CHECK(c.grade(c.options()).open.empty());
  CHECK(c.text("submitted").find("--array=2 ") != std::string::npos);
  c.write("broken");
  const auto outcome = c.grade(c.options());
  CHECK(outcome.open == std::vector<std::size_t>{1, 2, 3});
  CHECK(outcome.why.find("job 4711") != std::string::npos);
}

TEST_CASE("slurm: a job that is still running is followed, and not submitted again") {
  const fake_cluster c;
  CHECK(c.grade(c.options()).open.empty());
  const std::string submitted = c.text("submitted");
  c.write("queue", "RUNNING\nPENDING\n");
  CHECK(c.grade(c.options()).open.empty());  // all of its parts are done
  CHECK(c.text("submitted") == submitted);
  CHECK(c.grade(c.options()).open.empty());  // none of its tasks is left, so this is a new job
  CHECK(c.text("submitted").size() > submitted.size());
}

TEST_CASE("slurm: the message says that Slurm is missing, or why it refuses") {
  const fake_cluster c;
  c.write("refuses");
  CHECK_THROWS_WITH_AS(c.grade(c.options()), doctest::Contains("no such partition"), failure);
  fs::remove(c.at("squeue"));
  setenv("PATH", c.at("").c_str(), 1);
  CHECK_THROWS_WITH_AS(c.grade(c.options()), doctest::Contains("needs sbatch"), failure);
}

TEST_CASE("slurm: words are quoted for a shell") {
  CHECK(shell_quoted("a b") == "'a b'");
  CHECK(shell_quoted("it's") == "'it'\\''s'");
}

}  // namespace
}  // namespace stepwise::batch
