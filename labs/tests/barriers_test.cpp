// Tests that every barrier of every step and of the labs' headers is needed, and that the checks
// report this. Without the barrier, the checks report a race. With the barrier, they report
// nothing, and the result is right.
//
// idea    Some barriers are needed only if a block processes more than one tile. At sizes that are
//         quick to emulate, this takes a small GPU with one or two multiprocessors.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/emulator/check/tests/programs/checked_run.hpp"
#include "common/lab/problem.hpp"
#include "grader/course/lab.hpp"
#include "grader/judge/call_file.hpp"
#include "grader/judge/check.hpp"
#include "grader/judge/installation.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"
#include "labs/tests/problem_of.hpp"

namespace {

using namespace stepwise;
using namespace stepwise::check_tests;
namespace fs = std::filesystem;

// Calls that move fewer bytes show the purpose of every barrier, on an H200 and on a small GPU.
constexpr double small_bytes = 100000, small_gpu_bytes = 800000;

// A size at which a block's first part of a tile ends in the pipeline stage with which the next
// part begins. Only then does the barrier between the two parts have a purpose. 18 steps, with
// three stages.
const std::map<std::string, lab_size> end_in_first_stage = {{"matmul", {273}}};

// A lab, and a file with a call of each of its check sizes up to some number of bytes, and of one
// additional size.
class lab_calls {
 public:
  lab_calls(const lab& l, double most_bytes, const lab_size& more = {})
      : problem_(problem_of(l)),
        file_(fs::temp_directory_path() /
              ("stepwise-barriers-" + l.name + "-" + std::to_string(static_cast<int>(most_bytes)) +
               "-" + std::to_string(getpid()))) {
    for (const auto& size : l.check) {
      if (problem_.work(size).bytes > most_bytes) continue;
      plans_.push_back({calls_.size()});
      calls_.push_back(problem_.make_call(size, 1));
    }
    if (!more.empty()) {
      plans_.push_back({calls_.size()});
      calls_.push_back(problem_.make_call(more, 1));
    }
    REQUIRE(!calls_.empty());
    const call_file written(calls_, plans_, file_);
  }
  ~lab_calls() { fs::remove(file_); }
  lab_calls(const lab_calls&) = delete;
  lab_calls& operator=(const lab_calls&) = delete;

  // Runs the calls on the GPU that the file describes, or on an H200. If `wrong` is given, the
  // results are checked, and it receives the message about the first wrong result. Each run has its
  // own copy of the file, because several run at once, and a runner writes into its file.
  checked_run run(const std::string& program, const std::string& variant,
                  const fs::path& gpu = "h200", std::string* wrong = nullptr) const {
    std::string suffix = variant;
    std::replace(suffix.begin(), suffix.end(), '/', '-');
    const fs::path mine = file_.string() + "-" + gpu.stem().string() + "-" + suffix;
    fs::copy_file(file_, mine, fs::copy_options::overwrite_existing);
    const auto result = run_checked("STEPWISE_GPU='" + gpu.string() + "' STEPWISE_VARIANT='" +
                                        variant + "' '" + program + "' '" + mine.string() + "'",
                                    120);
    if (wrong != nullptr) *wrong = wrong_result(mine);
    fs::remove(mine);
    return result;
  }

 private:
  std::string wrong_result(const fs::path& finished) const {
    call_file file(calls_, plans_);
    REQUIRE(file.load(finished));
    for (std::size_t i = 0; i < plans_.size(); ++i)
      if (const auto wrong = check_outputs(problem_, calls_[i], file.outputs(i))) return *wrong;
    return "";
  }

  const problem& problem_;
  fs::path file_;
  std::vector<problem_call> calls_;
  std::vector<planned_call> plans_;
};

// A file with the description of an H200 that has fewer multiprocessors.
class small_gpu {
 public:
  explicit small_gpu(const fs::path& root, int multiprocessors = 1)
      : file_(fs::temp_directory_path() / ("stepwise-small-" + std::to_string(multiprocessors) +
                                           "-" + std::to_string(getpid()) + ".toml")) {
    std::string text =
        read_file(root / "common" / "gpus" / "h200.toml", static_cast<int>(exit_code::ours));
    const std::string many = "\n16 = 132 ";  // MultiProcessorCount
    REQUIRE(text.find(many) != std::string::npos);
    text.replace(text.find(many), many.size(), "\n16 = " + std::to_string(multiprocessors) + " ");
    text.insert(text.find("cluster_groups"), "# ");
    write_atomically(file_, text);
  }
  ~small_gpu() { fs::remove(file_); }
  small_gpu(const small_gpu&) = delete;
  small_gpu& operator=(const small_gpu&) = delete;
  const fs::path& file() const { return file_; }

 private:
  fs::path file_;
};

const char* build_folder() {
  const char* const build = std::getenv("STEPWISE_BUILD");
  REQUIRE_MESSAGE(build != nullptr, "run this test through `meson test`");
  return build;
}

// Whether a step, or a part that it includes, queries the GPU's properties. If not, its launches
// are the same on every GPU.
bool queries_gpu(const fs::path& file, const fs::path& root) {
  const std::string text = read_file(root / file, static_cast<int>(exit_code::ours));
  for (const char* question :
       {"cudaDeviceGetAttribute", "cudaGetDeviceProperties", "cudaOccupancy"})
    if (text.find(question) != std::string::npos) return true;
  const std::string include = "#include \"";
  for (auto at = text.find(include); at != std::string::npos; at = text.find(include, at)) {
    at += include.size();
    const fs::path part = text.substr(at, text.find('"', at) - at);
    if (*part.begin() == "solutions" && queries_gpu(part, root)) return true;
  }
  return false;
}

// programs_test.cpp makes the same calls without the checks, for another seed.
TEST_CASE("with its barriers, every step is right and clean at every size, also on a small GPU") {
  const installation where = load_installation(build_folder());
  const small_gpu small(where.root);
  std::size_t asking = 0;
  for (const lab& l : load_labs(where.build)) {
    const lab_calls all(l, 1e9);
    for (const fs::path& gpu : {fs::path("h200"), small.file()}) {
      std::vector<step> steps = l.steps;
      if (gpu == small.file()) {
        std::erase_if(steps, [&](const step& s) { return !queries_gpu(s.file, where.root); });
        asking += steps.size();
      }
      std::vector<checked_run> results(steps.size());
      std::vector<std::string> wrong(steps.size());
      in_parallel(results.size(), [&](std::size_t i) {
        results[i] = all.run(where.solution(l.name, steps[i].name), steps[i].name, gpu, &wrong[i]);
      });
      for (std::size_t i = 0; i < results.size(); ++i) {
        CAPTURE(steps[i].name);
        CAPTURE(gpu.stem());
        CHECK(results[i].exit_code == 0);
        CHECK(wrong[i] == "");
        for (const auto& found : results[i].findings) FAIL_CHECK(in_words(found));
      }
    }
  }
  CHECK(asking >= 24);  // launch 04, reduction 07 to 13, matmul 21 to 30, blur 18 to 23
}

// Both parties of a race are in the step's file or in a header of the lab or of its steps' parts,
// at lines with code.
bool is_race_in(const located_finding& found, const std::string& step, const std::string& lab) {
  return found.what.kind == finding_kind::race && found.what.parties.size() == 2 &&
         std::all_of(found.what.parties.begin(), found.what.parties.end(), [&](const auto& p) {
           const fs::path file = p.at.file;
           const fs::path folder = file.parent_path();
           const fs::path of = folder.filename() == "parts" ? folder.parent_path() : folder;
           // A kernel in a part is named by the part's file name alone.
           const fs::path part = fs::path(std::getenv("STEPWISE_SOURCE")) / "solutions" / lab /
                                 "parts" / file.filename();
           return (file.filename() == step + ".cu" || of.filename() == lab || fs::exists(part)) &&
                  p.at.line > 0 && !p.at.text.empty();
         });
}

bool has_barriers(const lab& l, const fs::path& root) {
  return std::any_of(l.steps.begin(), l.steps.end(), [&](const step& s) {
    const std::string text = read_file(root / s.file, static_cast<int>(exit_code::ours));
    return text.find("__sync") != std::string::npos;
  });
}

TEST_CASE(
    "without any one of its barriers, a step has a race, and only findings that the race causes") {
  const installation where = load_installation(build_folder());
  const small_gpu one(where.root), two(where.root, 2);
  for (const lab& l : load_labs(where.build)) {
    const std::string program = where.build / "labs/tests" / (l.name + "-without-barriers");
    const auto variants = lines_of("STEPWISE_VARIANT=list '" + program + "'");
    CHECK(variants.empty() != has_barriers(l, where.root));
    const auto more = end_in_first_stage.find(l.name);
    const lab_calls small(l, small_bytes),
        larger(l, small_gpu_bytes, more == end_in_first_stage.end() ? lab_size{} : more->second);
    std::vector<std::vector<located_finding>> findings(variants.size());
    in_parallel(findings.size(), [&](std::size_t i) {
      const std::string step = variants[i].substr(0, variants[i].find_first_of(":/"));
      findings[i] = small.run(program, variants[i]).findings;
      for (const small_gpu* const on : {&one, &two}) {
        if (std::any_of(findings[i].begin(), findings[i].end(),
                        [&](const auto& found) { return is_race_in(found, step, l.name); }))
          break;
        findings[i] = larger.run(program, variants[i], on->file()).findings;
      }
    });
    for (std::size_t i = 0; i < findings.size(); ++i) {
      const std::string step = variants[i].substr(0, variants[i].find_first_of(":/"));
      CAPTURE(variants[i]);
      bool has_race = false;
      for (const auto& found : findings[i]) {
        MESSAGE(in_words(found));
        has_race = has_race || is_race_in(found, step, l.name);
        // Without a barrier, a read may also come before the first write. Threads that decide by
        // the value that they read may then exit, while the others wait at the next barrier. A
        // stage that is filled too early may end a phase of its mbarrier too early, and later none.
        CHECK((found.what.kind == finding_kind::race ||
               found.what.kind == finding_kind::unwritten_read ||
               found.what.kind == finding_kind::exited_at_barrier ||
               found.what.kind == finding_kind::endless));
      }
      CHECK(has_race);
    }
  }
}

}  // namespace
