// Decides which contents need a verdict, starts children, and writes their verdicts.
#include "grader/batch/grading.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <set>
#include <thread>

#include "grader/batch/names.hpp"
#include "grader/batch/versions.hpp"
#include "grader/course/answers.hpp"
#include "grader/grade/budget.hpp"
#include "grader/judge/compile.hpp"
#include "grader/judge/verdict.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"
#include "grader/system/parallel.hpp"
#include "grader/system/process.hpp"
#include "grader/system/stopwatch.hpp"

namespace stepwise::batch {
namespace {

// The time limit of one child. Compilers and calls have lower limits, so no submission reaches this
// limit. The remaining time is for the course's programs and for waiting.
constexpr double most_seconds = compile_limit_s + most_budget_s + 120;
constexpr int most_attempts = 3;
constexpr std::size_t most_document = 16 << 20;

// The outcome of a child.
struct graded {
  std::string verdict, message;
  json document;  // null if none
  int attempts = 0;
  double seconds = 0;
  std::uint64_t peak_bytes = 0;
  std::time_t at = std::time(nullptr);  // the same for all submissions with this content
};

// Replaces `from` in every text of a document.
void rename_in(json& document, const std::string& from, const std::string& to) {
  if (document.is_string()) {
    std::string text = document.get<std::string>();
    bool changed = false;
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
      changed = true;
    }
    if (changed) document = text;
  } else if (document.is_structured()) {
    for (auto& element : document) rename_in(element, from, to);
  }
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

graded infra(graded g, const std::string& why) {
  g.verdict = name_of(verdict::infra);
  g.message = why;
  g.document = nullptr;
  return g;
}

graded try_once(const std::vector<std::string>& command, const fs::path& file,
                const grading_options& options, const std::string& gpu) {
  child_options child;
  child.command = command;
  child.command.insert(child.command.end(), {"--file", file.string()});
  child.environment = {"NO_COLOR=1"};
  if (!gpu.empty()) child.environment.push_back("CUDA_VISIBLE_DEVICES=" + gpu);
  if (options.memory) child.environment.push_back(options.memory->environment());
  if (!options.protections.empty()) child.environment.push_back(options.protections);
  child.keep_bytes = 2 * most_document;
  child.flood_bytes = most_document;
  const auto start = std::chrono::steady_clock::now();
  const auto result = run_child(std::move(child), most_seconds);
  graded g;
  g.seconds = seconds_since(start);
  g.peak_bytes = result.end.peak_bytes;
  json document = parse_json_or_null(result.out);
  if (result.end.how == child_end::cause::deadline) {
    return infra(g, "grading did not finish within " +
                        std::to_string(static_cast<int>(most_seconds)) + " s");
  }
  if (document.is_object() && document.contains("error"))
    return infra(g, document.value("error", "grading failed"));
  if (!document.is_object() || !document.contains("class") || !document.contains("goals")) {
    const std::string how =
        result.end.how == child_end::cause::signalled
            ? "the grader was ended by a signal: " + signal_text(result.end.signal)
            : "the grader ended without a verdict";
    return infra(g, how + (result.err.empty() ? "" : ": " + first_line(result.err)));
  }
  g.verdict = document.value("class", "");
  g.message = document.value("message", "");
  g.document = std::move(document);
  return g;
}

// The machine's load if it is so high that an honest call may exceed its time limit, otherwise 0.
double overload() {
  double load = 0;
  const double cores = std::max(1u, std::thread::hardware_concurrency());
  return getloadavg(&load, 1) == 1 && load > 4 * cores ? load : 0;
}

// Whether the submission exceeded a limit by itself, no matter what else the machine did.
bool is_over_budget(const graded& g) {
  if (!g.document.is_object() || !g.document.contains("time_budget")) return false;
  const json& budget = g.document.at("time_budget");
  return budget.is_object() && budget.value("exceeded", false);
}

graded grade_content(const grading_options& options, const fs::path& file, const std::string& gpu) {
  graded g;
  double load = 0;
  // The submission's own threads do not count as load, so the machine must have been busy before.
  const double load_before = overload();
  for (int attempt = 1; attempt <= most_attempts; ++attempt) {
    g = try_once(options.command, file, options, gpu);
    g.attempts = attempt;
    const bool is_late = g.verdict == name_of(verdict::timeout) && !is_over_budget(g);
    load = is_late ? std::min(load_before, overload()) : 0;
    const bool open = g.verdict == name_of(verdict::inconclusive) && attempt == 1;
    if (g.verdict != name_of(verdict::infra) && !open && load == 0) break;
  }
  if (load == 0) return g;
  return infra(g, "it did not finish in time, but the machine was too busy to judge that (load " +
                      std::to_string(static_cast<int>(load)) + "): " + g.message);
}

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

class batch_run {
 public:
  batch_run(results& in, const grading_options& options,
            const std::function<void(const batch_state&)>& changed)
      : in_(in), options_(options), changed_(changed) {}

  batch_state run() {
    plan();
    changed_(state_);
    start_ = std::chrono::steady_clock::now();
    in_parallel(
        contents_.size(), options_.jobs, [&](std::size_t i) { work(i); },
        [&](std::size_t) {
          const std::lock_guard lock(mutex_);
          changed_(state_);
        });
    changed_(state_);
    return state_;
  }

 private:
  void plan() {
    auto all = in_.submissions();
    mark_again(all);
    std::map<std::string, std::vector<submission>> by_content;
    for (auto& s : all) {
      if (s.refused.empty()) {
        by_content[s.sha256].push_back(std::move(s));
      } else if (options_.part == 1) {
        ++state_.all;
        refuse(s);
      }
    }
    std::size_t number = 0;
    for (auto& [sha, owners] : by_content) {
      if (number++ % options_.parts != options_.part - 1) continue;
      state_.all += owners.size();
      std::vector<submission> waiting;
      for (auto& s : owners) {
        const json entry = in_.entry(s.id);
        if (is_done(s, entry)) {
          ++state_.classes[entry.value("class", "")];
        } else {
          waiting.push_back(s);
        }
      }
      if (waiting.empty()) continue;
      state_.to_grade += waiting.size();
      contents_.push_back(std::move(waiting));
    }
  }

  bool is_done(const submission& s, const json& entry) {
    if (entry.is_null() || in_.is_marked(s.id)) return false;
    const bool current = is_current(entry, key_for(options_.versions, s.sha256));
    const bool other = !current && entry.value("class", "INFRA") != "INFRA" &&
                       entry.contains("key") && entry.at("key").value("submission", "") == s.sha256;
    const bool stays = current || (other && options_.only_new);
    if (stays) update_entry(s, entry);
    if (other && !stays) state_.other_versions = true;
    return stays;
  }

  // The verdict stays, but other facts, such as answers and a time, may be new.
  void update_entry(const submission& s, const json& entry) {
    json again = entry;
    describe(again, s);
    if (!(again == entry)) in_.write_entry(s.id, again);
  }

  void mark_again(const std::vector<submission>& all) {
    for (const auto& word : options_.again) {
      bool known = false;
      for (const auto& s : all) {
        const json entry = in_.entry(s.id);
        const std::string of = entry.is_null() ? std::string{} : entry.value("class", "");
        if (s.id != word && of != word) continue;
        known = true;
        in_.mark(s.id);
      }
      const bool is_class = is_class_name(word);
      if (!known && !is_class) {
        throw failure(exit_code::usage,
                      "--regrade " + word + ": expected a class such as WRONG or INFRA, or an id");
      }
    }
  }

  static bool is_class_name(const std::string& word) {
    for (int i = 0; i <= static_cast<int>(verdict::infra); ++i)
      if (name_of(static_cast<verdict>(i)) == word) return true;
    return word == "REFUSED";
  }

  // Adds the submission's facts other than its verdict.
  void describe(json& entry, const submission& s) const {
    const json about = json_of(s);
    for (const char* key : {"id", "name", "file", "submission", "answers", "submitted_at", "late",
                            "late_seconds", "notes"})
      entry[key] = about.at(key);
    entry["answered"] = nullptr;
    if (s.answers_sha256.empty()) return;
    const auto text = read_if_there(in_.content_of(s.answers_sha256, "answers.md"));
    if (!text) return;
    const auto core = count_answers(options_.handout, *text);
    const auto beyond = count_answers(options_.deeper, *text);
    entry["answered"] = {
        {"answered", core.answered},
        {"questions", core.questions},
        {"open", core.open},
        {"deeper", {{"answered", beyond.answered}, {"questions", beyond.questions}}}};
  }

  json entry_of(const submission& s, const graded& g) const {
    json e = {{"schema", "stepwise/journal/1"}};
    describe(e, s);
    e["key"] = json_of(key_for(options_.versions, s.sha256));
    e["class"] = g.verdict;
    const bool has_points = g.document.is_object() && g.document.at("points").is_number();
    e["points"] = has_points ? g.document.at("points") : json(nullptr);
    e["max_points"] = has_points ? g.document.at("max_points") : json(nullptr);
    e["message"] = g.message;
    e["grade"] = g.document;
    e["attempts"] = g.attempts;
    e["seconds"] = g.seconds;
    e["peak_bytes"] = g.peak_bytes;
    e["graded_at"] = utc_text(g.at);
    e["host"] = host_name();
    return e;
  }

  void refuse(const submission& s) {
    const json old = in_.entry(s.id);
    if (old.is_object() && old.value("class", "") == "REFUSED" &&
        old.value("message", "") == s.refused) {
      update_entry(s, old);
    } else {
      graded g;
      g.verdict = "REFUSED";
      g.message = s.refused;
      json e = entry_of(s, g);
      e["points"] = 0;
      in_.write_entry(s.id, e);
    }
    in_.unmark(s.id);
    ++state_.classes["REFUSED"];
  }

  // The GPU with the fewest children. Each child locks its GPU while it measures.
  std::size_t take_gpu() {
    const std::lock_guard lock(mutex_);
    if (children_on_.empty()) return 0;
    const auto free = std::min_element(children_on_.begin(), children_on_.end());
    ++*free;
    return static_cast<std::size_t>(free - children_on_.begin());
  }
  void leave_gpu(std::size_t seat) {
    const std::lock_guard lock(mutex_);
    if (!children_on_.empty()) --children_on_[seat];
  }

  void work(std::size_t i) {
    const auto& owners = contents_[i];
    const submission& first = owners.front();
    const fs::path file = fs::absolute(in_.content_of(first.sha256, in_.info().lab + ".cu"));
    const std::size_t seat = take_gpu();
    const graded g =
        grade_content(options_, file, options_.gpus.empty() ? "" : options_.gpus[seat]);
    leave_gpu(seat);
    const std::lock_guard lock(mutex_);
    for (const auto& s : owners) write(s, g, file);
    const double seconds = seconds_since(start_);
    contents_done_ += 1;
    const std::size_t left = contents_.size() - contents_done_;
    state_.left_s = seconds / static_cast<double>(contents_done_) * static_cast<double>(left);
  }

  void write(const submission& s, const graded& g, const fs::path& file) {
    graded named = g;
    // Messages name the submitted file, not its copy in the results folder.
    for (const std::string& path : {file.string(), options_.shown(file)})
      rename_in(named.document, path, s.file);
    if (named.document.is_object()) {
      named.document["file"] = s.file;
      named.message = named.document.value("message", "");
    }
    const bool has_verdict = is_current(in_.entry(s.id), key_for(options_.versions, s.sha256));
    // INFRA never replaces a verdict, and a marked submission stays marked.
    const bool infra = g.verdict == name_of(verdict::infra);
    if (!infra || !has_verdict) in_.write_entry(s.id, entry_of(s, named));
    if (!infra) in_.unmark(s.id);
    ++state_.done;
    ++state_.classes[g.verdict];
  }

  results& in_;
  const grading_options& options_;
  const std::function<void(const batch_state&)>& changed_;
  std::mutex mutex_;
  batch_state state_;
  std::vector<std::vector<submission>> contents_;  // grouped by content
  std::size_t contents_done_ = 0;
  std::vector<std::size_t> children_on_ = std::vector<std::size_t>(options_.gpus.size());
  std::chrono::steady_clock::time_point start_;
};

}  // namespace

batch_state grade(results& in, const grading_options& options,
                  const std::function<void(const batch_state&)>& changed) {
  return batch_run(in, options, changed).run();
}

}  // namespace stepwise::batch
