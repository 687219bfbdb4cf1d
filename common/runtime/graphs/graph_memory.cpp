// Tracks the blocks, their users, and the reserved and used bytes.
#include "common/runtime/graphs/graph_memory.hpp"

#include <algorithm>

namespace stepwise::runtime {

std::uint64_t graph_memory::rounded(std::uint64_t bytes) {
  constexpr std::uint64_t step = std::uint64_t{2} << 20;
  return (bytes + step - 1) / step * step;
}

result<device_address> graph_memory::allocate(device& on, std::uint64_t bytes, const void* graph) {
  const auto found = on.allocate(bytes);
  if (found.ok()) blocks_[*found] = {bytes, graph, 0, false};
  return found;
}

void graph_memory::forget_owner(const void* graph) {
  for (auto& [address, b] : blocks_)
    if (b.owner == graph) b.owner = nullptr;
}

void graph_memory::hold(const std::vector<device_address>& addresses) {
  for (const device_address a : addresses) blocks_.at(a).holders++;
}

void graph_memory::let_go(const std::vector<device_address>& addresses) {
  for (const device_address a : addresses)
    if (const auto found = blocks_.find(a); found != blocks_.end()) found->second.holders--;
}

void graph_memory::collect(device& on) {
  for (auto i = blocks_.begin(); i != blocks_.end();) {
    const block& b = i->second;
    if (b.owner == nullptr && b.holders == 0 && !b.live) {
      (void)on.free(i->first);
      i = blocks_.erase(i);
    } else {
      ++i;
    }
  }
}

void graph_memory::give_back_all(device& on) {
  for (auto& [address, b] : blocks_) {
    b.owner = nullptr;
    b.holders = 0;
  }
  collect(on);
}

bool graph_memory::is_live(device_address address) const {
  const auto found = blocks_.find(address);
  return found != blocks_.end() && found->second.live;
}

void graph_memory::set_live(device_address address, bool live, bool within) {
  block& b = blocks_.at(address);
  if (b.live == live) return;
  b.live = live;
  if (within) return;
  const std::uint64_t bytes = rounded(b.bytes);
  if (live) {
    used_ += bytes;
    idle_ -= std::min(idle_, bytes);
  } else {
    used_ -= bytes;
    idle_ += bytes;
  }
  note_marks();
}

void graph_memory::reserve(std::uint64_t stream, std::uint64_t bytes) {
  std::uint64_t& has = by_stream_[stream];
  if (bytes > has) {
    const std::uint64_t from_idle = std::min(idle_, bytes - has);
    idle_ -= from_idle;
    has = bytes;
  }
  note_marks();
}

void graph_memory::trim() {
  by_stream_.clear();
  idle_ = 0;
}

std::uint64_t graph_memory::reserved() const {
  std::uint64_t sum = used_ + idle_;
  for (const auto& [stream, bytes] : by_stream_) sum += bytes;
  return sum;
}

void graph_memory::note_marks() {
  used_high_ = std::max(used_high_, reserved());
  reserved_high_ = std::max(reserved_high_, reserved());
}

}  // namespace stepwise::runtime
