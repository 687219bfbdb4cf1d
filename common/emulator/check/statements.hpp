// Reads facts from the source that PTX lacks, for a finding's text: how a line with a branch
// relates to a barrier, and which variables are declared without a value.
//
// idea    PTX branches have lines but no statements: `if (i >= n) return;` and an `if` around all
//         following code look the same. Only the source distinguishes them, so a few tokens and
//         statements of C++ are parsed.
// watch   Code that is not understood (macros, goto, other code than was compiled) is `unknown`.
//         Tested by tests/statements_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stepwise::emulator {

// Why a thread that takes a branch does not reach the barrier.
enum class way_past : std::uint8_t {
  condition,  // the barrier is inside an if, an else or a switch
  operand,    // it is called in an operand of &&, || or ?:
  loop,       // it is in a loop that the thread leaves or does not enter
  returns,    // the branch's own statement returns,
  breaks,     // leaves a loop,
  continues,  // or continues with a loop's next pass
  unknown
};

// `lines`: the source from the branch's line on. `barrier`: the index of the barrier's line,
// negative if it is before the branch. `leaves_loop`: the branch leads out of a loop that the
// barrier is in.
way_past how_past(const std::vector<std::string>& lines, int barrier, bool leaves_loop);

// The variables that the statement at line `statement` (an index) names and that the lines before
// it declare without a value, in the order in which the statement names them.
std::vector<std::string> unset_names(const std::vector<std::string>& lines, int statement);

}  // namespace stepwise::emulator
