// Grading on a Slurm cluster: an array of tasks, each of which grades a part of a results folder.
//
// idea    A task is `lab grade-all --out RESULTS --part I/N`, which skips what has a verdict and
// writes
//         each by rename: it is safe to run twice, so Slurm may requeue it when a node fails. A
//         task that came to its end leaves a file; who waits counts verdicts and those files, and
//         asks squeue only whether anything is left that could write one.
// watch   RESULTS and the clone lie on a file system that all nodes have, at one path.
// Tested by tests/slurm_test.cpp with programs that stand in for Slurm's, and on a Slurm of this
// machine by tests/slurm_here.
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
  std::vector<std::string> sbatch;   // more arguments of sbatch: "--partition=gpu"
  std::size_t contents = 0;          // to be graded: distinct ones
  std::size_t chunk = 20;            // of a task
  std::size_t at_once = 0;           // tasks; 0: as many as the cluster has room for
  double seconds_between_looks = 2;
};

// Of a folder's current job: RESULTS/slurm/job.json.
struct slurm_job {
  std::string id;  // the last one that was submitted
  std::size_t parts = 0;
};

struct slurm_state {
  std::size_t parts = 0, done = 0;          // tasks
  std::map<std::string, std::size_t> jobs;  // squeue's states: "RUNNING" 4, "PENDING" 2
};

// How it ended: the parts, from 1, that no task came to the end of; empty: all is graded.
struct slurm_outcome {
  std::vector<std::size_t> open;
  std::string why;  // what Slurm said last, or empty
};

// Submits what is open of the folder's job, or a new one, and waits for it. A job that is still
// queued or running, because an earlier call was stopped, is followed and not submitted again.
// Parts that are open when no task is left are submitted once more. `changed` after each look.
// failure(environment) if there is no sbatch here, or it refuses.
slurm_outcome grade_by_slurm(const fs::path& results, const slurm_options& options,
                             const std::function<void(const slurm_state&)>& changed);

// The script of a task. `folder` is RESULTS/slurm.
std::string slurm_script(const fs::path& folder, const slurm_options& options, std::size_t parts);

// Words of a shell that mean just this text.
std::string shell_quoted(const std::string& text);

}  // namespace stepwise::batch
