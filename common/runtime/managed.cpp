// Looks up the advice for an address, and clears it for a freed range.
#include "common/runtime/managed.hpp"

namespace stepwise::runtime {

memory_advice managed_advice::at(device_address address) const {
  const auto after = pieces_.upper_bound(address);
  return after == pieces_.begin() ? memory_advice{} : std::prev(after)->second;
}

void managed_advice::forget(device_address address, std::uint64_t bytes) {
  if (pieces_.empty()) return;
  split(address + bytes);
  pieces_.erase(pieces_.lower_bound(address), pieces_.lower_bound(address + bytes));
  if (!(at(address) == memory_advice{})) pieces_[address] = {};
  const auto after = pieces_.find(address + bytes);
  if (after->second == memory_advice{}) pieces_.erase(after);
}

}  // namespace stepwise::runtime
