// Times programs alternately, one call each, forwards and backwards, so that a drift of clocks or
// temperature affects all of them alike.
//
// Tested by tests/measure_test.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/lab/problem.hpp"
#include "grader/course/lab.hpp"
#include "grader/judge/check.hpp"
#include "grader/measure/energy.hpp"
#include "grader/measure/statistics.hpp"

namespace stepwise {

struct contender {
  std::string name;
  std::filesystem::path program;
  bool is_right = true;  // its outputs are checked
  bool on_cpu = false;   // a baseline that computes on the CPU
};

struct sample_summary {
  std::size_t samples = 0;
  double median_ms = 0;
  interval range_ms;  // 95 %
};

// Energy and power of the whole board, including idle parts and memory, during back-to-back calls.
struct energy_use {
  double joules_per_call = 0, average_watts = 0;
  std::uint32_t calls = 0;  // number of calls in the mean
};

struct bench_cell {
  lab_size size;
  std::string label;
  problem_work work;
  sample_summary cold, warm;         // with and without overwriting L2 before each call
  std::optional<energy_use> energy;  // at the last size, if the GPU reports it
};

struct bench_row {
  std::string name;
  call_outcome found;             // not ok: the step failed and has no cells
  std::vector<bench_cell> cells;  // only sizes that it is not too slow for
};

// The speedup of the last step over a baseline at one size, from pairs of visits in ABBA order.
struct duel {
  lab_size size;
  std::string label;
  struct side {
    double ratio = 0;  // median
    interval range;    // 95 %
  } cold, warm;
  std::size_t pairs = 0;  // per side
};
// The last step against each baseline, by the baseline's name.
using duels = std::vector<std::pair<std::string, std::vector<duel>>>;

struct bench_report {
  std::vector<bench_row> rows;  // the steps, then the baselines
  duels fought;                 // at sizes where neither side is too slow
};

struct bench_choices {
  bool warm = true;            // measure warm calls, too; else `warm` is empty
  energy_counter energy = {};  // if not empty, each program runs a second more at the last size
};

// Times steps and baselines at all sizes, and the last step in pairs with every baseline. For each
// size and cache state, all rounds come first, alternately in order and backwards, and then the
// pairs. Finally, every program is called once more per size, and its outputs, its inputs and the
// zones around its buffers are checked. A program with long calls gets fewer rounds, and no rounds
// at sizes where the previous size predicts seconds per call. A step that fails is dropped, and its
// row has the reason. Throws failure(ours) if a baseline fails.
//
// CPU baselines have separate rounds at the end of a size, so that no step finds an idle GPU. They
// have no pairs, because the two sides share no drift. `steps` may be empty if all baselines are on
// the CPU; in that case, the device is not used.
bench_report bench(const lab& l, const problem& p, const std::vector<contender>& steps,
                   const std::vector<contender>& baselines, const device_choice& device,
                   const std::vector<lab_size>& sizes, std::uint64_t seed, const activity& now,
                   const bench_choices& choices = {});

}  // namespace stepwise
