// lab grade-all: a folder or an archive of submissions, graded in parallel into a results folder.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <thread>

#include "grader/batch/grading.hpp"
#include "grader/batch/intake.hpp"
#include "grader/batch/names.hpp"
#include "grader/batch/slurm.hpp"
#include "grader/batch/versions.hpp"
#include "grader/cli/context.hpp"
#include "grader/cli/verb.hpp"
#include "grader/judge/key.hpp"
#include "grader/report/text.hpp"
#include "grader/sandbox/trust.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {
namespace {

struct grade_all_options {
  std::vector<std::string> words;  // FOLDER LAB
  std::string out, names, due, times, key, part, one, submitted;
  std::vector<std::string> again;
  std::vector<std::string> sbatch;
  int jobs = 0, memory_mb = 0, chunk = 20, at_once = 0;
  bool slurm = false, only_new = false, intake_only = false, trusts = false;
};

constexpr std::uint64_t megabyte = 1'000'000;
// Memory of one grade of reduction, of this process, and of a waiting child process (all measured),
// and memory that is reserved for the system.
constexpr std::uint64_t bytes_each = 320 * megabyte, own_bytes = 60 * megabyte,
                        bytes_of_one_that_waits = 20 * megabyte, reserve = 150 * megabyte;

std::optional<std::int64_t> time_given(const char* option, const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto time = batch::time_of(text);
  if (!time)
    refuse(std::string(option) + " " + text + ": expected a time like 2026-11-20T23:59:00Z");
  return time;
}

// Parses "3/10". Returns 1/1 for an empty text.
std::pair<std::size_t, std::size_t> part_of(const std::string& text) {
  if (text.empty()) return {1, 1};
  unsigned long part = 0, parts = 0;
  char rest = 0;
  const bool good = std::sscanf(text.c_str(), "%6lu/%6lu%c", &part, &parts, &rest) == 2;
  if (!good || part < 1 || part > parts)
    refuse("--part " + text + ": expected, for example, 3/10 for the third of ten parts");
  return {part, parts};
}

std::uint64_t memory_for(const grade_all_options& o) {
  if (o.memory_mb > 0) return static_cast<std::uint64_t>(o.memory_mb) * megabyte;
  const std::uint64_t usable = usable_memory();
  return usable > 2 * reserve ? usable - reserve : usable / 2;
}

std::size_t jobs_for(const grade_all_options& o, std::uint64_t memory) {
  if (o.jobs > 0) return static_cast<std::size_t>(o.jobs);
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  return std::clamp<std::size_t>(memory / bytes_each, 1, cores);
}

std::string classes_text(const std::map<std::string, std::size_t>& classes) {
  std::string text;
  for (const auto& [name, count] : classes)
    text += (text.empty() ? "" : ", ") + fmt::format("{} {}", count, name);
  return text;
}

std::string duration_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 5400) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

// "[#####.....] 57 of 200, about 6 min left; 31 PASS, 26 WRONG"
std::string progress_bar(const context& c, const batch::batch_state& s) {
  const std::size_t known = s.all - s.to_grade + s.done;
  const double share = s.all == 0 ? 1 : static_cast<double>(known) / static_cast<double>(s.all);
  std::string text = fmt::format("[{}] {} of {}", meter(share, 20, c.out.style()), known, s.all);
  if (s.left_s && s.done < s.to_grade) text += ", about " + duration_text(*s.left_s) + " left";
  if (!s.classes.empty()) text += "; " + classes_text(s.classes);
  return text;
}

batch::intake read_all(context& c, batch::results& into, const grade_all_options& o) {
  batch::intake_options from;
  from.source = o.words.at(0);
  from.names = o.names;
  from.due = time_given("--due", o.due);
  from.times = o.times;
  from.one = o.one;
  from.submitted = time_given("--submitted", o.submitted);
  const auto now = c.now();
  return batch::read_submissions(
      into, from,
      {c.where.root / "grader" / "batch" / "unpack.py", find_protections(), now.doing, now.tick});
}

batch::grading_options how_to_grade(context& c, const lab& l, const grade_all_options& o) {
  batch::grading_options how;
  const auto device = judged_on(c.device(), c.where);
  const grading_key key = o.key.empty() ? grading_key() : grading_key(o.key);
  how.versions = batch::current_versions(c.where, l, device, key.id());
  how.command = {fs::read_symlink("/proc/self/exe").string(),
                 "grade",
                 l.name,
                 "--json",
                 "--device",
                 device.gpu ? "gpu" : "emulated"};
  if (!o.key.empty())
    how.command.insert(how.command.end(), {"--key", fs::absolute(o.key).string()});
  if (device.gpu) how.gpus = visible_gpus();
  const std::uint64_t memory = memory_for(o);
  how.jobs = jobs_for(o, memory);
  const std::uint64_t around = own_bytes + how.jobs * bytes_of_one_that_waits;
  how.memory.emplace(fs::absolute(o.out) / "memory", memory > around ? memory - around : 1);
  how.protections = find_protections().environment();
  how.again = o.again;
  how.shown = [&c](const fs::path& path) { return c.where.shown(path); };
  how.only_new = o.only_new;
  std::tie(how.part, how.parts) = part_of(o.part);
  how.handout = read_if_there(c.where.root / l.handout()).value_or("");
  how.deeper = read_if_there(c.where.root / l.deeper()).value_or("");
  return how;
}

// Throws rather than waits, because a second batch would do the same work.
class sole_batch {
 public:
  explicit sole_batch(const batch::results& r)
      : lock_(r.lock_file(), [&] {
          throw failure(exit_code::environment,
                        r.folder().string() + " is already in use by another `lab grade-all`");
        }) {}

 private:
  file_lock lock_;
};

json summary_json(const batch::results& r, const batch::batch_state& s) {
  json classes = json::array();
  for (const auto& [name, count] : s.classes)
    classes.push_back({{"class", name}, {"count", count}});
  return {{"lab", r.info().lab},  {"results", r.folder().string()},
          {"submissions", s.all}, {"graded", s.done},
          {"classes", classes},   {"left_out", r.info().left_out}};
}

int finish(context& c, const batch::results& r, const batch::batch_state& s) {
  const auto infra = s.classes.find("INFRA");
  const bool open = infra != s.classes.end();
  if (c.as_json) {
    c.print(summary_json(r, s));
  } else {
    c.say(fmt::format("{} submissions, {} graded now: {}", s.all, s.done, classes_text(s.classes)));
    for (const auto& one : r.info().left_out)
      c.out.paragraph(one, 11, "  " + c.out.paint(tone::note, "left out"));
    if (open) {
      c.out.paragraph(fmt::format("{} could not be graded on this machine and got no points. Run "
                                  "the same command to try again.",
                                  infra->second),
                      11, "  " + c.out.paint(tone::note, "INFRA"));
    }
    const std::string folder = c.where.shown(r.folder());
    c.say(fmt::format("  {}   ./lab report {} --format html --out overview.html",
                      c.out.paint(tone::dim, "show"), folder));
  }
  return open ? static_cast<int>(exit_code::environment) : 0;
}

batch::results open(const context&, const grade_all_options& o) {
  if (o.out.empty()) refuse("--out RESULTS is missing: name the folder for the verdicts");
  if (o.words.size() > 2 || o.words.size() == 1) {
    refuse(
        "expected a folder or an archive, and a lab: ./lab grade-all FOLDER LAB --out "
        "RESULTS\nwith only --out RESULTS, grade-all continues with the submissions in that "
        "folder");
  }
  if (o.words.empty()) return batch::results(o.out);
  return batch::results::open_or_make(o.out, o.words[1]);
}

// The command of an array task, without --part.
std::vector<std::string> task_command(const context& c, const grade_all_options& o) {
  std::vector<std::string> words = {fs::read_symlink("/proc/self/exe").string(), "grade-all",
                                    "--out", fs::absolute(o.out).string()};
  const auto add = [&](const char* name, const std::string& value) {
    words.insert(words.end(), {name, value});
  };
  if (!o.key.empty()) add("--key", fs::absolute(o.key).string());
  if (o.jobs > 0) add("--jobs", std::to_string(o.jobs));
  if (o.memory_mb > 0) add("--memory", std::to_string(o.memory_mb));
  if (c.request == device_request::gpu) add("--device", "gpu");
  if (c.request == device_request::emulated) add("--device", "emulated");
  if (o.only_new) words.push_back("--only-new");
  if (o.trusts) words.push_back("--i-trust-these-files");
  return words;
}

std::string slurm_text(const batch::results& r, std::size_t all, const batch::slurm_state& s) {
  std::string text = fmt::format("{} of {} verdicts, {} of {} tasks done", r.entries().size(), all,
                                 s.done, s.parts);
  for (const auto& [state, count] : s.jobs) text += fmt::format(", {} {}", count, state);
  return text;
}

// On a cluster, this process reads the submissions, submits the jobs, and waits.
int grade_on_cluster(context& c, const grade_all_options& o, batch::results& r) {
  if (!o.again.empty())
    refuse(
        "--regrade and --slurm exclude each other: a requeued task would grade its submissions "
        "again\nfirst run the same command with --regrade and without --slurm, to mark them");
  std::set<std::string> contents;
  const auto all = r.submissions();
  for (const auto& s : all)
    if (s.refused.empty()) contents.insert(s.sha256);
  batch::slurm_options how;
  how.command = task_command(c, o);
  how.sbatch = o.sbatch;
  how.contents = contents.size();
  how.chunk = static_cast<std::size_t>(std::max(1, o.chunk));
  how.at_once = static_cast<std::size_t>(std::max(0, o.at_once));
  const bool names_gpus =
      std::any_of(o.sbatch.begin(), o.sbatch.end(), [](const std::string& word) {
        return word.starts_with("--gres") || word.starts_with("--gpus");
      });
  if (!names_gpus && c.request != device_request::emulated) how.sbatch.push_back("--gres=gpu:1");
  const auto outcome = batch::grade_by_slurm(r.folder(), how, [&](const batch::slurm_state& s) {
    c.busy.doing(slurm_text(r, all.size(), s));
    c.busy.tick();
  });
  c.busy.clear();
  if (!outcome.open.empty()) {
    std::string parts;
    for (const auto part : outcome.open) parts += " " + std::to_string(part);
    throw failure(exit_code::environment,
                  fmt::format("{}, and these parts did not finish:{}\ntheir output is in "
                              "{}/slurm/task-*.log; run the same command to submit them again",
                              outcome.why, parts, c.where.shown(r.folder())));
  }
  batch::batch_state state;
  state.all = all.size();
  for (const auto& entry : r.entries()) ++state.classes[entry.value("class", "")];
  state.done = r.entries().size();
  return finish(c, r, state);
}

int grade_all(context& c, const grade_all_options& o) {
  if (!o.words.empty() && o.words.size() == 2) (void)load_lab(c.where.build, o.words[1]);
  batch::results r = open(c, o);
  const lab l = load_lab(c.where.build, r.info().lab);
  require_protection(find_protections(), o.trusts);
  // The parts of one job write different entries and may run at the same time.
  std::optional<sole_batch> alone;
  if (o.part.empty()) {
    alone.emplace(r);
    r.remove_leftovers();
  }
  if (!o.words.empty()) {
    const auto read = read_all(c, r, o);
    c.say(fmt::format("{} submissions of {}, named as {} does{}", read.submissions, l.name,
                      read.info.names.empty() ? "--one" : read.info.names,
                      read.refused > 0
                          ? fmt::format("; {} of them contain nothing to grade", read.refused)
                          : ""));
  }
  if (o.intake_only) {
    batch::batch_state s;
    s.all = r.submissions().size();
    if (c.as_json) c.print(summary_json(r, s));
    return 0;
  }
  if (o.slurm) return grade_on_cluster(c, o, r);
  auto how = how_to_grade(c, l, o);
  bool is_announced = false;
  const auto state = batch::grade(r, how, [&](const batch::batch_state& s) {
    if (s.other_versions && !is_announced) {
      is_announced = true;
      c.say(
          "verdicts from another version of the lab, grader or compiler are graded again; "
          "--only-new keeps them");
    }
    c.busy.doing(progress_bar(c, s));
    c.busy.tick();
  });
  return finish(c, r, state);
}

const verb grade_all_verb(
    {verb_place::group::teaching, 20}, "grade-all",
    "grade a course's submissions in parallel; continues after an interruption",
    "  ./lab grade-all submissions.zip reduction --out results    file names of Canvas, "
    "Moodle, Gradescope or nbgrader, or ID/FILE\n"
    "  ./lab grade-all FOLDER reduction --out results --key FILE  with your own hidden sizes\n"
    "  ./lab grade-all --out results                              continue\n"
    "  ./lab grade-all FOLDER reduction --out results --slurm     on a cluster, one GPU per task\n"
    "  ./lab grade-all --out results --regrade WRONG              grade a class or an id again\n"
    "  ./lab report results --format csv                          show the results",
    [](arguments& takes, grade_all_options& o) {
      takes.add("WHAT", o.words, "a folder, zip or tar of submissions, and the lab");
      takes.add("--out", o.out, "output folder for verdicts (created if missing, never deleted)");
      takes.add("--names", o.names,
                "how files are named: canvas, moodle, gradescope, nbgrader, plain, or a pattern "
                "such as \"{id}_{any}/{file}\" (default: detected)");
      takes.add("--key", o.key, "a key file, which decides the seeds and hidden sizes");
      takes.add("--due", o.due, "the due time; lateness is computed from the platform's metadata");
      takes.add("--times", o.times, "a table \"id,time\" of submission times");
      takes.add("--regrade", o.again, "a class or an id to grade again").one_a_time();
      takes
          .add("--jobs", o.jobs, "the number of parallel jobs (the cores, as far as memory allows)")
          .positive();
      takes.add("--memory", o.memory_mb, "megabytes shared by all jobs (the free memory)")
          .positive();
      takes.flag("--only-new", o.only_new, "keep verdicts from other versions");
      takes.flag("--intake-only", o.intake_only, "read the submissions, but grade nothing");
      takes.flag("--slurm", o.slurm, "on a cluster: an array of tasks, one GPU each");
      takes.add("--chunk", o.chunk, "--slurm: submissions per task (20)").positive();
      takes.add("--at-once", o.at_once, "--slurm: parallel tasks (as many as the cluster allows)")
          .positive();
      takes
          .add("--sbatch", o.sbatch,
               "--slurm: an argument for sbatch, like --sbatch=--partition=gpu")
          .one_a_time();
      takes.add("--part", o.part, "grade one part: 3/10 is the third of ten parts");
      takes.add("--one", o.one, "treat the whole folder as one submission, with this id");
      takes.add("--submitted", o.submitted, "with --one: its submission time");
      takes.flag("--i-trust-these-files", o.trusts, "grade even if this machine lacks protection");
    },
    grade_all);

}  // namespace
}  // namespace stepwise::cli
