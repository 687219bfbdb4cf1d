// The parts of `lab dev bench`: baselines, what each device allows to measure, and the results.
//
// Tested by cli/tests/cli_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "grader/cli/context.hpp"
#include "grader/measure/alternate.hpp"

namespace stepwise::cli {

struct bench_options {
  std::string lab;
  bool record = false, readme = false, baselines = false;
  bool cpu = false;  // only the baselines on the CPU
  std::vector<std::string> sizes;
  std::optional<std::uint64_t> ragged;  // how many sizes to draw
  std::uint64_t seed = 1;               // seed of the random sizes
};

inline constexpr std::uint64_t bench_seed = 7;

// The lab's baselines that were built and can run on this device. Reports those that cannot.
std::vector<contender> usable_baselines(context& c, const lab& l, const device_choice& device);
// Throws failure(usage) if the record has baselines that its successor would lack.
void keep_baselines(context& c, const lab& l, const fs::path& record,
                    const std::vector<contender>& baselines);

// "AMD EPYC 9454, 16 threads"
std::string cpu_text();
// Times the CPU baselines, which needs no GPU, and adds the results to `document`.
void bench_on_cpu(context& c, const lab& l, const problem& p, const device_choice& device,
                  const std::vector<lab_size>& sizes, json& document);
// Without a GPU there are no times, so this function counts what each step executes and moves, size
// by size. Returns the exit code.
int bench_counted(context& c, const lab& l, const problem& p, const device_choice& device,
                  const std::vector<lab_size>& sizes, bool with_baselines);
// Compares the last step with its baselines at random sizes from a seed. Returns the exit code.
int bench_ragged(context& c, const lab& l, const problem& p, const device_choice& device,
                 const bench_options& o);

// A table per size, and a table per baseline that ran alternately with the last step.
void show_rows(context& c, const std::vector<bench_row>& rows);
void show_duels(context& c, const lab& l, const duels& fought);

// Updates the tables of the main README, of solutions/README.md, of labs/history.md, and of each
// lab's deeper.md, results.md and DESIGN.md. Returns the exit code.
int refresh_readmes(context& c);

}  // namespace stepwise::cli
