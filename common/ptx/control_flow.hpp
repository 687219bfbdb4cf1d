// The basic blocks of a PTX body, their dominators, and its natural loops.
//
// idea    A natural loop belongs to an edge from a block back to a dominator, the header. It
//         consists of all blocks that reach that edge without passing the header. Loops with the
//         same header are one loop.
// watch   A call adds no edge. A guarded exit or return falls through, as in emulator/lower.
// source  A. Aho, M. Lam, R. Sethi, J. Ullman: Compilers (2006), 9.6. Tested by tests/.
#pragma once

#include <cstdint>
#include <vector>

#include "common/ptx/ast.hpp"

namespace stepwise::emulator {

struct basic_block {
  std::uint32_t first = 0, end = 0;  // instructions [first, end)
  std::vector<std::uint32_t> successors;
  std::uint32_t dominator = 0xffffffffu;  // immediate dominator; none for the first block and
                                          // unreachable blocks
  std::uint32_t loop = 0xffffffffu;       // innermost loop around it, an index into `loops`
};

struct natural_loop {
  std::uint32_t header = 0;           // block
  std::vector<std::uint32_t> blocks;  // ascending; with the header and the blocks of inner loops
  std::uint32_t parent = 0xffffffffu;
  bool is_innermost = true;
};

struct control_flow {
  explicit control_flow(const ptx::body& body);

  std::vector<basic_block> blocks;      // in the order of the text
  std::vector<std::uint32_t> block_of;  // instruction -> block
  // Outer loops come before inner loops. The list is empty if loops nest so deeply that finding
  // their blocks would take more than 64 steps per block and edge. No compiler's output nests that
  // deeply.
  std::vector<natural_loop> loops;

  // Whether every path to block b passes through block a. A block dominates itself. Takes constant
  // time.
  bool dominates(std::uint32_t a, std::uint32_t b) const;

 private:
  void find_blocks(const ptx::body& body);
  void find_dominators();
  void number_dominators();
  void find_loops();

  // The order in which a walk through the dominator tree enters and leaves each block. The blocks
  // that a block dominates are entered and left in between.
  std::vector<std::uint32_t> entered_, left_;
};

}  // namespace stepwise::emulator
