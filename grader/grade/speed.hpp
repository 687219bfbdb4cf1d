// How much faster one program is than others: calls side by side, until goals are decided.
//
// idea    In every round each program makes one call, forwards and backwards in turn; the ratios of
//         a round's times are free of drift that is slower than a round. An interval on the median
//         ratio decides a goal, and a program whose goals are decided leaves.
// watch   Judged calls have fresh inputs in every round, made when the round before is over, the
//         same ones for all programs of the round; every output is compared. In practice the
//         buffers stay on the device, and a last call of each program is compared, as in
//         `lab dev bench`.
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

// Whether the interval decides: `above` if it lies at or above the goal, `below`, or `open`.
enum class decision { above, below, open };
decision decide(const interval& range, double at_least);

// What it takes at least to bring `input_bytes` from memory; 0: its speed is unknown.
inline double floor_ms(double input_bytes, double peak_gb_per_s) {
  return peak_gb_per_s > 0 ? input_bytes / peak_gb_per_s / 1e6 : 0;
}

struct rival {
  contender who;
  std::vector<double> goals;  // ratios that are asked for
};

// How much faster `mine` is than a rival: the median of the rival's time over mine's.
struct comparison {
  call_outcome found;  // not ok: of the program named by `whose`
  std::string whose;
  std::vector<double> ratios;
  double ratio = 0;                  // median
  interval range;                    // 99 %
  double mine_ms = 0, other_ms = 0;  // medians
  double host_ms = 0;                // of mine_ms: what passed on the host, not on the device
  std::string label;                 // "n = 268435456, seed 7"
  problem_work work;
  double input_bytes = 0;
  int attempts = 1;             // 2: the first one was left open, and new processes began again
  bool is_out_of_time = false;  // open since the lab's time for it was up

  // Faster than memory: a person looks.
  bool is_held(double floor_ms) const { return floor_ms > 0 && mine_ms < 0.95 * floor_ms; }
};

// Measures in rounds until the intervals lie on one side of every goal; after the most rounds, or
// when the lab's time for it is up, once more with new processes for those that are open. One for
// each rival, in order; once `mine` fails, all say so.
std::vector<comparison> compare(const lab& l, const problem& p, const contender& mine,
                                const std::vector<rival>& rivals, const device_choice& device,
                                const lab_size& size, std::uint64_t seed, const activity& now);

}  // namespace stepwise
