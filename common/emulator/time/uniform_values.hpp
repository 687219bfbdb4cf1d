// Registers with the same value in all lanes, and the atomics that ptxas combines for this reason.
//
// watch   Only registers with one definition are considered; all others count as different.
// Tested by common/emulator/profile/tests/profiler_test.cpp, through the cost of an atomic.
#pragma once

#include <string_view>
#include <unordered_set>
#include <vector>

#include "common/ptx/ast.hpp"

namespace stepwise::emulator {

class uniform_values {
 public:
  explicit uniform_values(const std::vector<ptx::instruction>& body);

  // Whether ptxas makes one lane add for its whole warp. It does so for integers at one address
  // outside shared memory, if the value is the same in all lanes or no lane needs the previous sum.
  bool has_one_sum(const ptx::instruction& i) const;

 private:
  bool is_uniform(const ptx::operand& o) const;

  std::unordered_set<std::string_view> names_, read_;
};

}  // namespace stepwise::emulator
