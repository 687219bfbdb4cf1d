// Microbenchmarks that measure a GPU for the time model. They are independent of the labs.
//
// idea    Each figure is one property: a rate without any other bottleneck, or a latency that
//         nothing hides. A time is the median of several launches between events. A latency is
//         measured by the multiprocessor's clock around a chain of dependent instructions.
// source  pointer chases and chains: H. Wong et al., "Demystifying GPU Microarchitecture through
//         Microbenchmarking" (2010). The kernels are ours.
// tests   the test "device measure" runs every microbenchmark on the emulator, where the values
//         mean nothing
#pragma once

#include <string>
#include <vector>

namespace stepwise::measure {

struct figure {
  std::string name;  // "shared_latency"
  std::string unit;  // "cycles", "GB/s", "us", "warp instructions / clock / multiprocessor"
  double value = 0;
  std::string what;  // the method of measurement, in one line
};

// The amount of work. `small` is for tests, which check only that the code runs.
struct effort {
  bool small = false;
  int samples() const { return small ? 1 : 11; }
  template <class Number>
  Number scaled(Number full, Number test) const {
    return small ? test : full;
  }
};

// Append figures to `all`. They throw std::runtime_error, which names the CUDA call that failed.
void measure_launches(const effort& e, std::vector<figure>& all);
void measure_memory(int multiprocessors, const effort& e, std::vector<figure>& all);
void measure_multiprocessor(int multiprocessors, const effort& e, std::vector<figure>& all);
void measure_latencies(const effort& e, std::vector<figure>& all);
// These two run only on Hopper. measure_tensor measures products in tensor cores, and the clock
// under this load. measure_async measures mbarriers, bulk copies and clusters.
void measure_tensor(int multiprocessors, const effort& e, std::vector<figure>& all);
void measure_async(int multiprocessors, const effort& e, std::vector<figure>& all);
void measure_resident_blocks(int multiprocessors, const effort& e, std::vector<figure>& all);
void measure_spread(int multiprocessors, const effort& e, std::vector<figure>& all);
void measure_pipes(int multiprocessors, const effort& e, std::vector<figure>& all);
void measure_synchronisation(int multiprocessors, const effort& e, std::vector<figure>& all);
void measure_transfers(const effort& e, std::vector<figure>& all);

}  // namespace stepwise::measure
