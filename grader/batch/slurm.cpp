// Writes the script, submits it, and waits by counting the files that tasks write.
#include "grader/batch/slurm.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <thread>

#include "common/formats/json.hpp"
#include "grader/course/source.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"
#include "grader/system/process.hpp"
#include "grader/system/signals.hpp"

namespace stepwise::batch {
namespace {

constexpr double seconds_for_slurm = 60;  // a busy controller is slow
// Slurm forgets an array's tasks only after a while, and a file system may show files late.
constexpr int looks_until_gone = 3;

child_result ask(std::vector<std::string> command) {
  child_options options;
  options.command = std::move(command);
  options.environment = {"LC_ALL=C", "SQUEUE_FORMAT", "SBATCH_ARRAY_INX"};
  return run_child(options, seconds_for_slurm);
}

std::string first_line(const child_result& result) {
  const auto lines = escaped_lines(result.err.empty() ? result.out : result.err, 1, 300);
  return lines.empty() ? "it printed no message" : lines[0];
}

fs::path done_file(const fs::path& folder, std::size_t part) {
  return folder / fmt::format("done-{}", part);
}

std::vector<std::size_t> open_parts(const fs::path& folder, std::size_t parts) {
  std::vector<std::size_t> open;
  for (std::size_t part = 1; part <= parts; ++part)
    if (!fs::exists(done_file(folder, part))) open.push_back(part);
  return open;
}

std::optional<slurm_job> known_job(const fs::path& folder) {
  const auto text = read_if_there(folder / "job.json");
  if (!text) return {};
  const json document = parse_json_or_null(*text);
  if (!document.is_object()) return {};
  try {
    return slurm_job{document.at("id"), document.at("parts")};
  } catch (const json_error&) {
    return {};
  }
}

// Tasks by state. Empty if squeue knows no tasks, nullopt if the controller does not answer.
std::optional<std::map<std::string, std::size_t>> tasks_of(const std::string& id) {
  const auto result = ask({"squeue", "--noheader", "--array", "--format=%T", "--jobs=" + id});
  if (!result.end.ok()) {
    if (result.err.find("Invalid job id") != std::string::npos)
      return std::map<std::string, std::size_t>{};
    return {};
  }
  std::map<std::string, std::size_t> states;
  for (const auto& line : split_lines(result.out))
    if (const auto word = trimmed(line); !word.empty()) ++states[std::string(word)];
  return states;
}

// "1-4,7"
std::string ranges_of(const std::vector<std::size_t>& parts) {
  std::string text;
  for (std::size_t i = 0; i < parts.size();) {
    std::size_t j = i;
    while (j + 1 < parts.size() && parts[j + 1] == parts[j] + 1) ++j;
    text += text.empty() ? "" : ",";
    text += i == j ? fmt::format("{}", parts[i]) : fmt::format("{}-{}", parts[i], parts[j]);
    i = j + 1;
  }
  return text;
}

std::string submit(const fs::path& folder, const slurm_options& options,
                   const std::vector<std::size_t>& parts) {
  std::string array = ranges_of(parts);
  if (options.at_once > 0) array += fmt::format("%{}", options.at_once);
  std::string log = folder / "task-";
  for (auto at = log.find('%'); at != std::string::npos; at = log.find('%', at + 2))
    log.insert(at, 1, '%');  // Slurm's own patterns begin with %
  std::vector<std::string> command = {"sbatch",           "--parsable",
                                      "--requeue",        "--open-mode=append",
                                      "--array=" + array, "--output=" + log + "%a.log"};
  command.insert(command.end(), options.sbatch.begin(), options.sbatch.end());
  command.push_back(folder / "task.sh");
  const auto result = ask(std::move(command));
  const std::string id = result.out.substr(0, result.out.find_first_of(";\n"));
  if (!result.end.ok() || id.empty())
    throw failure(exit_code::environment, "sbatch refused the job: " + first_line(result));
  return id;
}

void keep(const fs::path& folder, const slurm_job& job) {
  write_atomically(folder / "job.json",
                   json_text(json{{"id", job.id}, {"parts", job.parts}}, 2) + "\n");
}

// Waits until no part is open, or no task is left that could finish one.
std::string follow(const fs::path& folder, const slurm_job& job, const slurm_options& options,
                   const std::function<void(const slurm_state&)>& changed) {
  int gone = 0;
  while (true) {
    const auto tasks = tasks_of(job.id);
    const auto open = open_parts(folder, job.parts);
    changed(
        {job.parts, job.parts - open.size(), tasks.value_or(std::map<std::string, std::size_t>{})});
    if (open.empty()) return {};
    gone = tasks && tasks->empty() ? gone + 1 : 0;
    if (gone >= looks_until_gone) return fmt::format("job {} has no tasks left", job.id);
    // The sleeps are short, so that Ctrl-C works.
    for (double left = options.seconds_between_looks; left > 0; left -= 0.1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      throw_if_interrupted();
    }
  }
}

}  // namespace

std::string shell_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string slurm_script(const fs::path& folder, const slurm_options& options, std::size_t parts) {
  std::string command;
  for (const auto& word : options.command) command += shell_quoted(word) + " ";
  const std::string at = shell_quoted(folder.string());
  return "#!/bin/bash\n"
         "#SBATCH --job-name=stepwise\n"
         "# Grades a part of the submissions. It may run again: it skips those with a verdict.\n"
         "set -u\n" +
         fmt::format("{}--part \"$SLURM_ARRAY_TASK_ID/{}\"\n", command, parts) +
         "code=$?\n"
         "# Exit code 3: a submission could not be graded on this node, and its verdict is INFRA.\n"
         "if [ $code = 0 ] || [ $code = 3 ]; then\n" +
         fmt::format("  echo $code >{}/done-$SLURM_ARRAY_TASK_ID.new &&\n", at) +
         fmt::format("    mv {0}/done-$SLURM_ARRAY_TASK_ID.new {0}/done-$SLURM_ARRAY_TASK_ID\n",
                     at) +
         "fi\n"
         "exit $code\n";
}

slurm_outcome grade_by_slurm(const fs::path& results, const slurm_options& options,
                             const std::function<void(const slurm_state&)>& changed) {
  if (on_path("sbatch").empty() || on_path("squeue").empty())
    throw failure(exit_code::environment,
                  "--slurm needs sbatch and squeue, but this machine does not have them\nto grade "
                  "on this machine, leave out --slurm");
  const fs::path folder = fs::absolute(results) / "slurm";
  make_folder(folder);
  auto job = known_job(folder);
  if (job) {
    const auto tasks = tasks_of(job->id);
    if (!tasks)
      throw failure(exit_code::environment,
                    "squeue does not answer, so job " + job->id + " may still be running");
    if (tasks->empty()) job.reset();
  }
  const std::size_t chunk = std::max<std::size_t>(1, options.chunk);
  std::size_t parts = std::max<std::size_t>(1, (options.contents + chunk - 1) / chunk);
  if (job) {
    parts = job->parts;
  } else {
    // A new job has its own parts. Contents of earlier jobs have verdicts and are skipped.
    std::vector<fs::path> earlier;
    for (const auto& entry : fs::directory_iterator(folder)) earlier.push_back(entry.path());
    for (const auto& file : earlier) fs::remove(file);
    write_atomically(folder / "task.sh", slurm_script(folder, options, parts));
  }
  for (int attempt = 0;; ++attempt) {
    if (!job) {
      job = slurm_job{submit(folder, options, open_parts(folder, parts)), parts};
      keep(folder, *job);
    }
    const std::string why = follow(folder, *job, options, changed);
    auto open = open_parts(folder, parts);
    if (open.empty() || attempt == 1) return {std::move(open), why};
    job.reset();
  }
}

}  // namespace stepwise::batch
