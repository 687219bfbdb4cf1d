// The control flow and data flow of a function of a checked kernel, computed when first needed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "common/emulator/check/advice/register_flow.hpp"
#include "common/ptx/control_flow.hpp"

namespace stepwise::emulator {

struct function_flow {
  explicit function_flow(const ptx::body& b) : body(b), flow(b) {}
  const register_flow& values();
  bool is_in_loop(std::int32_t instruction) const;
  // For each block, its successors that lead towards one of the blocks `wanted`; see ways_towards.
  const std::vector<std::vector<std::uint32_t>>& towards(const std::vector<std::uint32_t>& wanted);

  const ptx::body& body;
  control_flow flow;

 private:
  std::unique_ptr<register_flow> registers_;
  std::map<std::vector<std::uint32_t>, std::vector<std::vector<std::uint32_t>>> towards_;
};

}  // namespace stepwise::emulator
