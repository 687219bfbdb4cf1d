// Measures a program's speedups over others with alternating calls, until goals are decided.
//
// idea    In every round, each program makes one call, alternately forwards and backwards. The
//         ratios of a round's times are free of drift that is slower than a round. An interval for
//         the median ratio decides a goal, and a program whose goals are decided leaves.
// watch   Judged calls have fresh inputs in every round, made after the previous round and equal
//         for all programs of the round. Every output is compared. In practice mode the buffers
//         stay on the device, and the last call of each program is compared, as in `lab dev bench`.
// Tested by tests/measure_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/lab/problem.hpp"
#include "grader/course/lab.hpp"
#include "grader/judge/check.hpp"
#include "grader/measure/alternate.hpp"
#include "grader/measure/statistics.hpp"

namespace stepwise {

// Whether the interval decides: `above` if it is at or above the goal, otherwise `below` or `open`.
enum class decision { above, below, open };
decision decide(const interval& range, double at_least);

// The least time in ms to read `input_bytes` from memory. 0: the memory's speed is unknown.
inline double floor_ms(double input_bytes, double peak_gb_per_s) {
  return peak_gb_per_s > 0 ? input_bytes / peak_gb_per_s / 1e6 : 0;
}

struct rival {
  contender who;
  std::vector<double> goals;  // the required ratios
};

// The speedup of `mine` over a rival: the median ratio of the rival's time to that of `mine`.
struct comparison {
  call_outcome found;  // not ok: the program named by `whose` failed
  std::string whose;
  std::vector<double> ratios;
  double ratio = 0;                  // median
  interval range;                    // 99 %
  double mine_ms = 0, other_ms = 0;  // medians
  double host_ms = 0;                // part of mine_ms on the host, not on the device
  std::string label;                 // "n = 268435456, seed 7"
  problem_work work;
  double input_bytes = 0;
  int attempts = 1;             // 2: undecided at first, repeated with new processes
  bool is_out_of_time = false;  // undecided because the lab's time was up

  // Faster than memory allows, so a person must review it.
  bool is_held(double floor_ms) const { return floor_ms > 0 && mine_ms < 0.95 * floor_ms; }
};

// Measures in rounds until the intervals are on one side of every goal. After the most rounds, or
// when the lab's time is up, undecided rivals are measured once more with new processes. One result
// per rival, in order. Once `mine` fails, all results report it.
std::vector<comparison> compare(const lab& l, const problem& p, const contender& mine,
                                const std::vector<rival>& rivals, const device_choice& device,
                                const lab_size& size, std::uint64_t seed, const activity& now);

}  // namespace stepwise
