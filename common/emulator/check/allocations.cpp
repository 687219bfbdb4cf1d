#include "common/emulator/check/allocations.hpp"

#include <iterator>

namespace stepwise::emulator {
namespace {

// An address this close to an allocation, in bytes, is described as outside of it.
constexpr std::uint64_t near_bytes = 1 << 20;
constexpr std::size_t most_freed = 4096;

}  // namespace

allocation& allocations::allocated(device_address at, allocation a) {
  // Earlier allocations in this range can no longer be described.
  freed_.erase(freed_.lower_bound(at), freed_.lower_bound(at + a.bytes));
  if (freed_.size() > most_freed) freed_.erase(freed_.begin());
  return live_[at] = std::move(a);
}

void allocations::name(device_address at, std::string_view name) {
  if (const auto found = live_.find(at); found != live_.end()) found->second.name = name;
}

void allocations::freed(device_address at, std::uint64_t origin) {
  const auto found = live_.find(at);
  if (found == live_.end()) return;
  found->second.freed_by = origin;
  freed_[at] = found->second;
  live_.erase(found);
}

const allocations::entry* allocations::holder(const map& all, device_address at) {
  auto next = all.upper_bound(at);
  if (next == all.begin()) return nullptr;
  --next;
  return at - next->first < next->second.bytes ? &*next : nullptr;
}

const allocations::entry* allocations::near(device_address at, device_address wanted) const {
  if (const entry* const found = live_at(wanted != 0 ? wanted : at)) return found;
  if (const entry* const found = freed_at(at)) return found;
  // The allocation before the address, unless the one after it is nearer.
  const entry* nearest = nullptr;
  const auto next = live_.upper_bound(at);
  std::uint64_t gap = near_bytes;
  if (next != live_.begin()) {
    const auto& before = *std::prev(next);
    if (const auto past = at - (before.first + before.second.bytes); past < gap) {
      gap = past;
      nearest = &before;
    }
  }
  if (next != live_.end() && next->first - at < gap) nearest = &*next;
  return nearest;
}

std::optional<access_window> allocations::usable(device_address at) const {
  if (at - heap_.base >= heap_.bytes) return memory_.find(at);
  const entry* const block = live_at(at);
  if (block == nullptr) return std::nullopt;
  return access_window{block->first, block->second.bytes};
}

}  // namespace stepwise::emulator
