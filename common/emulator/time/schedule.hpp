// The order in which machine code would execute a straight run of PTX instructions.
//
// idea    If the line table has the places of each line's machine instructions, these places define
//         the order. Otherwise, this code imitates ptxas: a load is moved up as far as registers
//         and the order of memory allow, so that its consumers come late (a list schedule by the
//         longest path). Iterations of a loop that ptxas unrolled are scheduled together.
// source  M. Lam, R. Sethi, A. Aho, J. Ullman: Compilers (2006), 10.3. Tested by
//         tests/time_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "common/emulator/time/code_costs.hpp"

namespace stepwise::emulator {

// `copies` times the instructions of ordinals [first, end).
struct straight_run {
  std::uint32_t first = 0, end = 0, copies = 1;
  // The instructions in order: copy * length + place in the run. An instruction without a slot on
  // which no other depends stays in place.
  std::vector<std::uint32_t> order;
};

// The order of the run of ordinals [first, end), `copies` times.
straight_run schedule(const code_costs& code, const gpu_costs& costs, std::uint32_t first,
                      std::uint32_t end, std::uint32_t copies);

}  // namespace stepwise::emulator
