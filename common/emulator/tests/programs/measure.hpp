// How the benchmark programs time their launches, and what they ask of the emulator's speed.
//
// idea    Without arguments a program checks its result and prints the time of one launch. With
//         `--benchmark REQUIRED` it pins itself to one core, launches three times, and prints the
//         median in million lane-instructions per second, counted by our runtime.
// watch   A shared machine is noisy: the benchmark reports whether REQUIRED was met, and its exit
//         status is 1 only below 0.7 of it.
#pragma once

#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "common/emulator/tests/programs/program.hpp"
#include "common/runtime/stepwise.h"

constexpr double clear_margin = 0.7;

// What the command line asks for.
struct benchmark_request {
  bool wanted = false;
  double required = 0;

  benchmark_request(int count, char** arguments) {
    if (count == 3 && std::strcmp(arguments[1], "--benchmark") == 0) {
      wanted = true;
      required = std::atof(arguments[2]);
    } else if (count != 1) {
      std::printf("usage: %s [--benchmark REQUIRED]\n", arguments[0]);
      std::exit(2);
    }
  }
};

// Keeps this process, with the threads it will start, on the core that it runs on.
inline void pin_to_one_core() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(sched_getcpu(), &cores);
  if (sched_setaffinity(0, sizeof cores, &cores) != 0) std::printf("not pinned to one core\n");
}

// The wall time of one launch and of waiting for it.
template <class Launch>
double time_ms(Launch&& launch) {
  check(cudaDeviceSynchronize());
  const auto start = std::chrono::steady_clock::now();
  launch();
  finish();
  const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
  return spent.count();
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Lane-instructions since the last reset, counted by our runtime; 0 under NVIDIA's.
inline double counted_lane_instructions() {
  const auto get =
      reinterpret_cast<decltype(&stepwiseGetCounters)>(dlsym(RTLD_DEFAULT, "stepwiseGetCounters"));
  stepwise_counters counters{};
  if (!get || get(&counters) != 0) return 0;
  return static_cast<double>(counters.lane_instructions);
}

inline void reset_counters() {
  const auto reset = reinterpret_cast<decltype(&stepwiseResetCounters)>(
      dlsym(RTLD_DEFAULT, "stepwiseResetCounters"));
  if (reset) reset();
}

// Prints the median speed of three launches. `launch` was run and checked before. The result is the
// program's exit status.
template <class Launch>
int report_speed(const char* name, const benchmark_request& request, Launch&& launch) {
  std::vector<double> times, rates;
  for (int i = 0; i < (request.wanted ? 3 : 1); ++i) {
    reset_counters();
    times.push_back(time_ms(launch));
    rates.push_back(counted_lane_instructions() / times.back() / 1e3);
  }
  const double lane_instructions = counted_lane_instructions();
  std::printf("%s: %.2f ms", name, median(times));
  if (lane_instructions > 0) {
    std::printf(", %.1f M lane-instructions, %.0f M/s", lane_instructions / 1e6, median(rates));
  }
  if (!request.wanted || lane_instructions == 0) {
    std::printf("\n");
    return 0;
  }
  const double share = median(rates) / request.required;
  std::printf("; required %.0f M/s: %s\n", request.required, share >= 1 ? "met" : "missed");
  return share >= clear_margin ? 0 : 1;
}
