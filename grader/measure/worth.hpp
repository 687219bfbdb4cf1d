// Decides whether a problem is worth a GPU: compares the time of the transfers to the GPU and back
// with the time saved.
//
// idea    The model is a roofline for each processor, and the link between them. Each part takes at
//         least its bytes or operations divided by the rate that the maker states. There is no
//         overlap and no latency. These assumptions favour all three parts, but the ratios of such
//         times show which problem is not worth a GPU, and what would change that: more arithmetic
//         per byte, or more calls on data that is already there.
// source  S. Williams, A. Waterman, D. Patterson, "Roofline" (2009); for the rates, see worth.cpp.
// Tested by tests/worth_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/device/gpu.hpp"
#include "common/device/links.hpp"

namespace stepwise {

// A processor with its theoretical rates.
struct processor_rates {
  std::string name;
  double flops_per_s = 0;  // float, a multiply-add is two
  double bytes_per_s = 0;  // its memory's
};

// Float multiply-adds per multiprocessor and clock (for 1.x and 2.x, the shader clock). 0: unknown.
// Source: CUDA C Programming Guide 5.5 and CUDA C++ Programming Guide 12.2, "Arithmetic
// Instructions", throughput by compute capability.
int multiply_adds_per_clock(int compute_capability);

// The rates of a GPU's description. nullopt if the description lacks them or the multiply-adds per
// clock of its compute capability are unknown.
std::optional<processor_rates> theoretical_rates(const gpu& model);

// The CPU to compare with unless another CPU is given.
processor_rates usual_cpu();

struct offload {
  double bytes = 0;         // both directions together
  double flops = 0;         // per call
  double memory_bytes = 0;  // read and written per call in the GPU's or CPU's memory
  double calls = 1;         // number of calls while the data is there
};

// The source of a call's time.
enum class time_source { theoretical, modelled, recorded };
const char* name_of(time_source s);  // "theoretical"

struct roofline_time {
  double ms = 0;  // per call
  bool by_arithmetic = false;
  time_source from = time_source::theoretical;
};
roofline_time time_on(const processor_rates& processor, const offload& problem);

struct worth {
  double transfer_ms = 0;  // once
  roofline_time kernel, cpu;
  double speedup = 0;  // all calls, with the transfer
  // The least number of calls for which the GPU is as fast as the CPU, including the transfer.
  // nullopt if the GPU is never as fast.
  std::optional<double> break_even_calls;
  // The least number of operations per transferred byte for which the GPU is as fast as the CPU,
  // with the given number of calls. nullopt if the GPU is never as fast, or nothing is transferred.
  std::optional<double> break_even_flops_per_byte;

  double transfer_over_kernel() const { return transfer_ms / kernel.ms; }
};

// A call's time that is not theoretical.
struct known_time {
  double ms = 0;
  time_source from = time_source::recorded;
};

// A call must take some time, so flops or memory_bytes is positive. Known times replace theoretical
// times, except in break_even_flops_per_byte, which is about other calls.
worth weigh(const offload& problem, const link_rate& link, const processor_rates& gpu,
            const processor_rates& cpu, const std::optional<known_time>& on_gpu = {},
            const std::optional<known_time>& on_cpu = {});

// The conclusion in one or two sentences.
std::string verdict_on(const worth& w, const offload& problem);

// "800M", "1.5G", "64KiB", "2e9": K, M, G, T, P are powers of 1000, and Ki, Mi, ... are powers of
// 1024. A final B is ignored. nullopt for any other text, or if the number is negative or too large
// for a double.
std::optional<double> parse_quantity(std::string_view text);

}  // namespace stepwise
