// Which registers of a function are the same in all lanes, and which atomics ptxas combines for it.
//
// watch   Only registers with one definition are looked at: others count as different.
// Tested by common/emulator/profile/tests/profiler_test.cpp, by what an atomic takes.
#pragma once

#include <string_view>
#include <unordered_set>
#include <vector>

#include "common/ptx/ast.hpp"

namespace stepwise::emulator {

class uniform_values {
 public:
  explicit uniform_values(const std::vector<ptx::instruction>& body);

  // Whether ptxas has one lane add for a warp: integers at one address outside of shared memory,
  // where the value is the same in all lanes or no lane needs the sum before.
  bool has_one_sum(const ptx::instruction& i) const;

 private:
  bool is_uniform(const ptx::operand& o) const;

  std::unordered_set<std::string_view> names_, read_;
};

}  // namespace stepwise::emulator
