// A call's figures in words, for run and walk.
#pragma once

#include "grader/cli/context.hpp"
#include "grader/model/modelled.hpp"

namespace stepwise::cli {

inline double number(std::uint64_t n) { return static_cast<double>(n); }

// Prints the size, then time and rate, or the emulator's counters.
void show_figures(context& c, const figures& f, const device_choice& device);

// The same figures in one phrase, for a line of walk.
std::string figures_phrase(const figures& f);

// "52.3 us, 1283 GB/s at n = 16777216 (modelled, NVIDIA H200)", or why there is no time.
std::string modelled_phrase(const modelled_figures& m);
// Prints how much more than necessary the call moves, in the words of the goals that bound this
// amount.
void show_waste(context& c, const modelled_figures& m);
// The model's error where the model could be compared with a measurement.
std::string modelled_error_text(const context& c, const lab& l, const std::string& gpu_name);
std::string modelled_error_text(const context& c, const lab& l, const modelled_figures& m);
// A sentence about copies over the link or on the device, with a space before it. May be empty.
std::string copies_text(const modelled_figures& m);
// The keys time_ms, why_no_time, time_kind ("modelled"), time_size and modelled_as.
json modelled_json(const modelled_figures& m);

}  // namespace stepwise::cli
