// Which accesses lie within memory; outside.cpp says what is wrong with the others.
#include "common/emulator/check/checker.hpp"

namespace stepwise::emulator {

const std::pair<const device_address, checker::allocation>* checker::allocation_at(
    const allocation_map& map, device_address at) const {
  auto next = map.upper_bound(at);
  if (next == map.begin()) return nullptr;
  --next;
  return at - next->first < next->second.bytes ? &*next : nullptr;
}

std::optional<access_window> checker::usable(device_address at) const {
  if (at - heap_.base >= heap_.bytes) return memory_.find(at);
  const auto* const block = allocation_at(live_, at);
  if (block == nullptr) return std::nullopt;
  return access_window{block->first, block->second.bytes};
}

// The lanes whose bytes lie whole and aligned in one allocation.
std::uint32_t checker::in_bounds_global(const access_event& e, std::uint32_t lanes_in) {
  const std::uint64_t bytes = e.site->bytes;
  access_window& window = windows_[e.index];
  std::uint32_t allowed = lanes_in;
  for (std::uint32_t m = lanes_in; m != 0; m &= m - 1) {
    const int l = __builtin_ctz(m);
    const std::uint64_t at = e.address[l];
    const bool aligned = (at & (bytes - 1)) == 0;
    if (aligned && window.bytes >= bytes && at - window.base <= window.bytes - bytes) continue;
    const auto found = usable(at);
    if (aligned && found && bytes <= found->bytes - (at - found->base)) {
      const auto* const a = e.site->kind == access_kind::load ? nullptr : allocation_at(live_, at);
      if (a == nullptr || !a->second.constant) {
        window = *found;
        if (shares_memory_)
          kernel_uses(found->base, found->bytes, e.site->kind != access_kind::load);
        if (first_windows_[e.index].bytes == 0) first_windows_[e.index] = window;
        note_host_memory(e, at, window);
        continue;
      }
    }
    allowed &= ~(m & -m);
    outside(e, l, at);
  }
  return allowed;
}

std::uint32_t checker::in_bounds_shared(const access_event& e, std::uint32_t lanes_in) {
  const std::uint64_t bytes = e.site->bytes;
  access_window& window = windows_[e.index];
  std::uint32_t allowed = lanes_in;
  for (std::uint32_t m = lanes_in; m != 0; m &= m - 1) {
    const int l = __builtin_ctz(m);
    const std::uint64_t at = e.address[l];
    const bool aligned = (at & (bytes - 1)) == 0;
    if (aligned && window.bytes >= bytes && at - window.base <= window.bytes - bytes) continue;
    const std::uint64_t end = context_->shared_bytes;
    // The variable that holds it; what follows the static ones is dynamic.
    access_window holder{code_->static_shared_bytes, end - code_->static_shared_bytes};
    if (at < code_->static_shared_bytes) holder = {0, code_->system_shared_bytes};
    for (const auto& v : code_->shared_variables)
      if (at - v.offset < v.bytes) holder = {v.offset, v.bytes};
    if (aligned && holder.bytes >= bytes && at - holder.base <= holder.bytes - bytes) {
      window = holder;
      continue;
    }
    allowed &= ~(m & -m);
    outside(e, l, at);
  }
  return allowed;
}

// Of a kernel without calls, its variables end where they end; else the stack does.
std::uint64_t checker::local_limit() const {
  return code_->functions.size() == 1 ? code_->functions.front().local_end : context_->local_bytes;
}

std::uint32_t checker::in_bounds_local(const access_event& e) {
  const std::uint64_t bytes = e.site->bytes, limit = local_limit();
  std::uint32_t allowed = e.active;
  for (std::uint32_t m = e.active; m != 0; m &= m - 1) {
    const int l = __builtin_ctz(m);
    const std::uint64_t at = e.address[l];
    if ((at & (bytes - 1)) == 0 && at < limit && bytes <= limit - at) continue;
    allowed &= ~(m & -m);
    outside(e, l, at);
  }
  return allowed;
}

}  // namespace stepwise::emulator
