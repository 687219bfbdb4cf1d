// Figures in words, for run and walk.
#pragma once

#include "grader/cli/context.hpp"

namespace stepwise::cli {

inline double number(std::uint64_t n) { return static_cast<double>(n); }

// A block: the size, then time and rate, or what was counted on the emulator.
void show_figures(context& c, const figures& f, const device_choice& device);

// The same in one phrase, for a line of walk.
std::string figures_phrase(const figures& f);

}  // namespace stepwise::cli
