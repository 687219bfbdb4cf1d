// Which ways of which branches decide whether lanes come to a place.
//
// source  J. Ferrante, K. Ottenstein, J. Warren: The Program Dependence Graph and Its Use in
//         Optimization, ACM TOPLAS 9(3), 1987: control dependence. Tested by
//         tests/dependence_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "common/emulator/profile/control_flow.hpp"

namespace stepwise::emulator {

// Of every block: those of its successors that lead towards one of the `wanted` blocks while
// another may not, be it through further branches of this kind; ascending. Nothing at all where
// finding them would take 64 times as many steps as there are blocks and edges.
std::vector<std::vector<std::uint32_t>> ways_towards(const control_flow& flow,
                                                     const std::vector<std::uint32_t>& wanted);

}  // namespace stepwise::emulator
