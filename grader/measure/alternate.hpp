// Times programs in alternation: one call each in turn, forwards and backwards, so that a drift of
// clocks or temperature meets all of them alike.
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
  bool on_cpu = false;   // a peer that computes on the CPU
};

struct sample_summary {
  std::size_t samples = 0;
  double median_ms = 0;
  interval range_ms;  // 95 %
};

// Of the whole board, idle parts and memory included, while calls follow each other back to back.
struct energy_use {
  double joules_per_call = 0, average_watts = 0;
  std::uint32_t calls = 0;  // that it is the mean of
};

struct bench_cell {
  lab_size size;
  std::string label;
  problem_work work;
  sample_summary cold, warm;         // with the L2 cache overwritten before every call, and without
  std::optional<energy_use> energy;  // at the last size, where the GPU reports it
};

struct bench_row {
  std::string name;
  call_outcome found;             // not ok: the step failed and has no cells
  std::vector<bench_cell> cells;  // of the sizes that it is not too slow for
};

// How many times as fast as a peer the last step is at one size: pairs of visits in ABBA order.
struct duel {
  lab_size size;
  std::string label;
  struct side {
    double ratio = 0;  // median
    interval range;    // 95 %
  } cold, warm;
  std::size_t pairs = 0;  // of each
};
// The last step against each peer, by the peer's name.
using duels = std::vector<std::pair<std::string, std::vector<duel>>>;

struct bench_report {
  std::vector<bench_row> rows;  // the steps, then the peers
  duels fought;                 // at the sizes that neither side is too slow for
};

struct bench_choices {
  bool warm = true;            // measured, too; else `warm` stays empty everywhere
  energy_counter energy = {};  // if there is one, each program is called for a second more at the
                               // last size
};

// Times steps and peers at all sizes, and the last step in pairs against every peer; for each size
// and cache state all rounds, each once in order and once backwards, then the pairs. At the end of
// a size every program is called once more and checked: its outputs, its inputs, and the zones
// around its buffers. A program whose calls take long has fewer rounds, and none at sizes where one
// call would take seconds, going by the size before. A step that fails is out and says so in its
// row; failure(ours) if a peer fails.
//
// Peers on the CPU have rounds of their own at the end of a size, so that no step finds a GPU that
// has slept meanwhile; and no pairs, since no drift is common to both. `steps` may be empty if all
// peers are on the CPU; then the device is not used.
bench_report bench(const lab& l, const problem& p, const std::vector<contender>& steps,
                   const std::vector<contender>& peers, const device_choice& device,
                   const std::vector<lab_size>& sizes, std::uint64_t seed, const activity& now,
                   const bench_choices& choices = {});

}  // namespace stepwise
