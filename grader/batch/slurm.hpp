// Grades on a Slurm cluster with an array of tasks, each for a part of a results folder.
//
// idea    A task is `lab grade-all --out RESULTS --part I/N`, which skips contents with verdicts
//         and writes each verdict by rename. A task is safe to run twice, so Slurm may requeue it
//         when a node fails. A task that finishes leaves a file. The waiting process counts
//         verdicts and these files. It uses squeue only to find out whether any task is left that
//         could write such a file.
// watch   RESULTS and the clone are on a file system that all nodes mount at the same path.
// Tested by tests/slurm_test.cpp with fake Slurm programs, and with a local Slurm by
// tests/slurm_here.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace stepwise::batch {

namespace fs = std::filesystem;

struct slurm_options {
  std::vector<std::string> command;  // lab grade-all --out RESULTS ..., without --part
  std::vector<std::string> sbatch;   // extra arguments for sbatch: "--partition=gpu"
  std::size_t contents = 0;          // number of distinct contents to grade
  std::size_t chunk = 20;            // per task
  std::size_t at_once = 0;           // tasks; 0: as many as fit on the cluster
  double seconds_between_looks = 2;
};

// A folder's current job: RESULTS/slurm/job.json.
struct slurm_job {
  std::string id;  // the latest submission
  std::size_t parts = 0;
};

struct slurm_state {
  std::size_t parts = 0, done = 0;          // tasks
  std::map<std::string, std::size_t> jobs;  // squeue's states: "RUNNING" 4, "PENDING" 2
};

// The job's result: the parts, from 1, that no task finished. Empty if all parts are graded.
struct slurm_outcome {
  std::vector<std::size_t> open;
  std::string why;  // Slurm's last message; may be empty
};

// Submits the open parts of the folder's job, or a new job, and waits for it. A job that is still
// queued or running, because an earlier call was stopped, is followed instead of submitted again.
// Parts that are open when no task is left are submitted once more. Calls `changed` after each
// check. Throws failure(environment) if sbatch is missing or refuses the job.
slurm_outcome grade_by_slurm(const fs::path& results, const slurm_options& options,
                             const std::function<void(const slurm_state&)>& changed);

// The script of a task. `folder` is RESULTS/slurm.
std::string slurm_script(const fs::path& folder, const slurm_options& options, std::size_t parts);

// Quotes a text for a shell.
std::string shell_quoted(const std::string& text);

}  // namespace stepwise::batch
