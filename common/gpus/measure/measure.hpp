// Microbenchmarks of a GPU: what a model of its time needs to know, and nothing of any lab.
//
// idea    Each figure is one property: a rate when nothing else is in the way, or a latency when
//         nothing hides it. Times are medians of several launches between events, latencies the
//         multiprocessor's own clock around a chain of dependent instructions.
// source  pointer chases and chains: H. Wong et al., "Demystifying GPU Microarchitecture through
//         Microbenchmarking" (2010). The kernels are ours.
// tests   test "device measure": every figure on the emulator, whose values mean nothing
#pragma once

#include <string>
#include <vector>

namespace stepwise::measure {

struct figure {
  std::string name;  // "shared_latency"
  std::string unit;  // "cycles", "GB/s", "us", "warp instructions / clock / multiprocessor"
  double value = 0;
  std::string what;  // in a line: how it was measured
};

// How much is done: `small` is for a test, where only the way is of interest.
struct effort {
  bool small = false;
  int samples() const { return small ? 1 : 11; }
  template <class Number>
  Number scaled(Number full, Number test) const {
    return small ? test : full;
  }
};

// Append to `all`. std::runtime_error names the CUDA call that failed.
void measure_launches(const effort& e, std::vector<figure>& all);
void measure_memory(int multiprocessors, const effort& e, std::vector<figure>& all);
void measure_ports(int multiprocessors, const effort& e, std::vector<figure>& all);
void measure_latencies(const effort& e, std::vector<figure>& all);
void measure_shares(int multiprocessors, const effort& e, std::vector<figure>& all);
void measure_spread(int multiprocessors, const effort& e, std::vector<figure>& all);
void measure_pipes(int multiprocessors, const effort& e, std::vector<figure>& all);
void measure_synchronisation(int multiprocessors, const effort& e, std::vector<figure>& all);
void measure_transfers(const effort& e, std::vector<figure>& all);

}  // namespace stepwise::measure
