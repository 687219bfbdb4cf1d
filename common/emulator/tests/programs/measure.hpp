// How the benchmark programs time their launches, and the speed that they require of the emulator.
//
// idea    The programs are joined into one (join_programs); the first argument chooses one of them.
//         Without further arguments, a program checks its result and prints the time of one launch.
//         With `--benchmark REQUIRED`, it pins itself to one core, launches three times, and prints
//         the median in million lane-instructions per second, counted by our runtime. With
//         `--scaling REQUIRED`, it runs itself (with `--large`, a larger problem if it has one)
//         with one worker and with two, alternately, and compares the rates. With `--check-cost
//         MOST`, it compares the rates without and with the checks, and the run with the checks may
//         take at most MOST times as long.
// watch   A shared machine is noisy. The benchmark reports whether REQUIRED was met, but its exit
//         status is 1 only below 0.7 of REQUIRED. For MOST, the status is 1 only above 1 / 0.7
//         times MOST.
#pragma once

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "common/emulator/tests/programs/program.hpp"
#include "common/runtime/stepwise.h"

constexpr double clear_margin = 0.7;

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// The rate that one of the joined programs prints with these environment variables.
inline double rate_with(const char* program, const std::string& variables) {
  const std::string command =
      variables + " '" + program_invocation_name + "' " + program + " --large";
  FILE* const output = popen(command.c_str(), "r");
  double rate = 0;
  char line[256];
  while (output && std::fgets(line, sizeof line, output)) {
    const char* const counted = std::strstr(line, "M lane-instructions, ");
    if (counted) std::sscanf(counted, "M lane-instructions, %lf", &rate);
  }
  if (!output || pclose(output) != 0 || rate <= 0) {
    std::printf("%s: no rate was printed\n", command.c_str());
    std::exit(1);
  }
  return rate;
}

// Compares the medians of five runs with one and with two workers. Returns the exit status.
inline int report_scaling(const char* program, double required) {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) != 0 || CPU_COUNT(&cores) < 2) {
    std::printf("skipped: this needs two cores\n");
    return 77;
  }
  std::vector<double> one, two;
  for (int round = 0; round < 5; ++round) {
    one.push_back(rate_with(program, "STEPWISE_WORKERS=1"));
    two.push_back(rate_with(program, "STEPWISE_WORKERS=2"));
  }
  const double ratio = median(two) / median(one);
  std::printf("%s: 1 worker %.0f M/s, 2 workers %.0f M/s: %.2f times; required %.2f: %s\n", program,
              median(one), median(two), ratio, required, ratio >= required ? "met" : "missed");
  return ratio >= clear_margin * required ? 0 : 1;
}

// Compares the medians of five runs without and with the checks. Returns the exit status.
inline int report_check_cost(const char* program, double most) {
  std::vector<double> plain, checked;
  for (int round = 0; round < 5; ++round) {
    plain.push_back(rate_with(program, "STEPWISE_WORKERS=1"));
    checked.push_back(
        rate_with(program, "STEPWISE_WORKERS=1 STEPWISE_CHECK=1 STEPWISE_FINDINGS=/dev/null"));
  }
  const double ratio = median(plain) / median(checked);
  std::printf("%s: plain %.0f M/s, checked %.0f M/s: %.2f times; at most %.2f: %s\n", program,
              median(plain), median(checked), ratio, most, ratio <= most ? "met" : "missed");
  return clear_margin * ratio <= most ? 0 : 1;
}

// The options on the command line. With --scaling or --check-cost, the constructor does not return.
struct benchmark_request {
  bool wanted = false;
  bool large = false;
  double required = 0;

  benchmark_request(int count, char** arguments) {
    large = count == 2 && std::strcmp(arguments[1], "--large") == 0;
    if (count == 3 && std::strcmp(arguments[1], "--benchmark") == 0) {
      wanted = true;
      required = std::atof(arguments[2]);
    } else if (count == 3 && std::strcmp(arguments[1], "--scaling") == 0) {
      std::exit(report_scaling(arguments[0], std::atof(arguments[2])));
    } else if (count == 3 && std::strcmp(arguments[1], "--check-cost") == 0) {
      std::exit(report_check_cost(arguments[0], std::atof(arguments[2])));
    } else if (count != 1 && !large) {
      std::printf(
          "usage: %s [--benchmark REQUIRED | --scaling REQUIRED | --check-cost MOST | "
          "--large]\n",
          arguments[0]);
      std::exit(2);
    }
  }
};

// Keeps this process and its future threads on the core on which it runs.
inline void pin_to_one_core() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(sched_getcpu(), &cores);
  if (sched_setaffinity(0, sizeof cores, &cores) != 0) std::printf("not pinned to one core\n");
}

// The wall time of one launch, including the wait for its end.
template <class Launch>
double time_ms(Launch&& launch) {
  check(cudaDeviceSynchronize());
  const auto start = std::chrono::steady_clock::now();
  launch();
  finish();
  const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
  return spent.count();
}

// Lane-instructions since the last reset, counted by our runtime; 0 with NVIDIA's runtime.
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

// Prints the median speed of three launches. The caller has already run and checked `launch`.
// Returns the program's exit status.
template <class Launch>
int report_speed(const char* name, const benchmark_request& request, Launch&& launch) {
  std::vector<double> times, rates;
  for (int i = 0; i < (request.wanted || request.large ? 3 : 1); ++i) {
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
