// The basic blocks of a PTX body, who dominates whom, and its natural loops.
//
// idea    A natural loop belongs to an edge from a block back to one that dominates it, the header:
//         it is all that reaches that edge without passing the header. Loops with one header are
//         one loop.
// watch   A call is no edge, and a guarded exit or return passes on: as exec/lower.cpp has it.
// source  A. Aho, M. Lam, R. Sethi, J. Ullman: Compilers (2006), 9.6. Tested by tests/.
#pragma once

#include <cstdint>
#include <vector>

#include "common/emulator/ptx/ast.hpp"

namespace stepwise::emulator {

struct basic_block {
  std::uint32_t first = 0, end = 0;  // instructions [first, end)
  std::vector<std::uint32_t> successors;
  std::uint32_t dominator = 0xffffffffu;  // the immediate one; none for the first and for blocks
                                          // that nothing leads to
  std::uint32_t loop = 0xffffffffu;       // the innermost one around it, an index into loops
};

struct natural_loop {
  std::uint32_t header = 0;           // block
  std::vector<std::uint32_t> blocks;  // ascending, the header and inner loops' blocks among them
  std::uint32_t parent = 0xffffffffu;
  bool is_innermost = true;
};

struct control_flow {
  explicit control_flow(const ptx::body& body);

  std::vector<basic_block> blocks;      // in the order of the text
  std::vector<std::uint32_t> block_of;  // instruction -> block
  // Outer ones before inner ones. None at all where they nest so deep that finding their blocks
  // would take 64 times as many steps as there are blocks and edges: no compiler writes that.
  std::vector<natural_loop> loops;

  // Whether every path to block b passes block a; a block dominates itself. Takes no time to speak
  // of.
  bool dominates(std::uint32_t a, std::uint32_t b) const;

 private:
  void find_blocks(const ptx::body& body);
  void find_dominators();
  void number_dominators();
  void find_loops();

  // A walk through the tree of dominators enters and leaves each block: those that a block
  // dominates are entered and left in between.
  std::vector<std::uint32_t> entered_, left_;
};

}  // namespace stepwise::emulator
