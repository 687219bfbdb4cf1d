// Whether a problem is worth a GPU: the way there and back against what is saved.
//
// idea    Rooflines on both sides, and the link between them. Each part takes at least what it
//         moves or computes over the rate that the maker states; nothing overlaps, nothing has
//         latency. That is too kind to all three, but the quotients of such times show which
//         problem has no chance, and what would give it one: more arithmetic for each byte, or more
//         calls on data that is there already.
// source  S. Williams, A. Waterman, D. Patterson, "Roofline" (2009); of the rates, worth.cpp.
// Tested by tests/worth_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/device/gpu.hpp"
#include "common/device/links.hpp"

namespace stepwise {

// What can compute, at the rates on paper.
struct processor_rates {
  std::string name;
  double flops_per_s = 0;  // float, a multiply-add is two
  double bytes_per_s = 0;  // of its memory
};

// Multiply-adds in float that a multiprocessor does in a clock (of 1.x and 2.x, the shader clock);
// 0: not known. Source: CUDA C Programming Guide 5.5 and CUDA C++ Programming Guide 12.2,
// "Arithmetic Instructions", throughput by compute capability.
int multiply_adds_per_clock(int compute_capability);

// The rates of a GPU's description; nullopt if it does not have them, or it is unknown how many
// multiply-adds a multiprocessor of its compute capability does.
std::optional<processor_rates> paper_rates(const gpu& model);

// The processor that is compared with unless another is given.
processor_rates usual_cpu();

struct offload {
  double bytes = 0;         // to the GPU and back, together
  double flops = 0;         // of one call
  double memory_bytes = 0;  // that one call reads and writes in memory, of the GPU or of the CPU
  double calls = 1;         // on the data while it is there
};

// Where a call's time comes from.
enum class time_source { paper, modelled, recorded };
const char* name_of(time_source s);  // "paper"

struct roofline_time {
  double ms = 0;  // of one call
  bool by_arithmetic = false;
  time_source from = time_source::paper;
};
roofline_time time_on(const processor_rates& processor, const offload& problem);

struct worth {
  double transfer_ms = 0;  // once
  roofline_time kernel, cpu;
  double speedup = 0;  // of all calls, with the transfer
  // Calls from which on the GPU is as fast, with the transfer; nullopt: there is no such number.
  std::optional<double> break_even_calls;
  // Operations of a call for each transferred byte from which on it is, with the calls there are;
  // nullopt: however many, it is not, or nothing is transferred.
  std::optional<double> break_even_flops_per_byte;

  double transfer_over_kernel() const { return transfer_ms / kernel.ms; }
};

// What is known of a call's time beyond paper.
struct known_time {
  double ms = 0;
  time_source from = time_source::recorded;
};

// A call must take some time: flops or memory_bytes is positive. Times that are known replace
// those on paper, but break_even_flops_per_byte is on paper always: it is of other calls.
worth weigh(const offload& problem, const link_rate& link, const processor_rates& gpu,
            const processor_rates& cpu, const std::optional<known_time>& on_gpu = {},
            const std::optional<known_time>& on_cpu = {});

// One or two sentences.
std::string verdict_on(const worth& w, const offload& problem);

// "800M", "1.5G", "64KiB", "2e9": K, M, G, T, P are powers of 1000, Ki, Mi, ... of 1024; a B after
// says nothing. nullopt for anything else, and for what is negative or too large for a double.
std::optional<double> parse_quantity(std::string_view text);

}  // namespace stepwise
