// Tests whether accesses lie within memory. bounds_findings.cpp describes those that do not.
#include "common/emulator/check/bounds.hpp"

namespace stepwise::emulator {

void bounds_check::begin_launch(const launch_info& info) {
  windows_.assign(info.code->accesses.size(), {});
  first_windows_.assign(info.code->accesses.size(), {});
  missing_shared_ = {};
  one_past_end_ = {};
}

std::uint32_t bounds_check::in_bounds_global(const access_event& e, std::uint32_t lanes_in) {
  const std::uint64_t bytes = e.site->bytes;
  access_window& window = windows_[e.index];
  std::uint32_t allowed = lanes_in;
  for (std::uint32_t m = lanes_in; m != 0; m &= m - 1) {
    const int l = __builtin_ctz(m);
    const std::uint64_t at = e.address[l];
    const bool aligned = (at & (bytes - 1)) == 0;
    if (aligned && window.bytes >= bytes && at - window.base <= window.bytes - bytes) continue;
    const auto found = evidence_.areas.usable(at);
    if (aligned && found && bytes <= found->bytes - (at - found->base)) {
      const auto* const a =
          e.site->kind == access_kind::load ? nullptr : evidence_.areas.live_at(at);
      if (a == nullptr || !a->second.constant) {
        window = *found;
        host_.kernel_uses(*found, e.site->kind != access_kind::load);
        if (first_windows_[e.index].bytes == 0) first_windows_[e.index] = window;
        host_.note_host_memory(e, at, window);
        continue;
      }
    }
    allowed &= ~(m & -m);
    outside(e, l, at);
  }
  return allowed;
}

std::vector<device_address> bounds_check::stored() const {
  std::vector<device_address> all;
  if (evidence_.code == nullptr) return all;  // no launch is running
  for (std::size_t n = 0; n < first_windows_.size(); ++n)
    if (first_windows_[n].bytes != 0 && evidence_.code->accesses[n].kind == access_kind::store)
      all.push_back(first_windows_[n].base);
  return all;
}

std::uint32_t bounds_check::in_bounds_shared(const access_event& e, std::uint32_t lanes_in) {
  const std::uint64_t bytes = e.site->bytes;
  access_window& window = windows_[e.index];
  std::uint32_t allowed = lanes_in;
  for (std::uint32_t m = lanes_in; m != 0; m &= m - 1) {
    const int l = __builtin_ctz(m);
    const std::uint64_t at = e.address[l];
    const bool aligned = (at & (bytes - 1)) == 0;
    if (aligned && window.bytes >= bytes && at - window.base <= window.bytes - bytes) continue;
    const std::uint64_t end = evidence_.state->shared_bytes;
    // The variable that holds the address. Dynamic memory follows the static variables.
    access_window holder{evidence_.code->static_shared_bytes,
                         end - evidence_.code->static_shared_bytes};
    if (at < evidence_.code->static_shared_bytes) holder = {0, evidence_.code->system_shared_bytes};
    for (const auto& v : evidence_.code->shared_variables)
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

// The end of the variables in a kernel without calls, otherwise the end of the stack.
std::uint64_t bounds_check::local_limit() const {
  return evidence_.code->functions.size() == 1 ? evidence_.code->functions.front().local_end
                                               : evidence_.state->local_bytes;
}

std::uint32_t bounds_check::in_bounds_local(const access_event& e) {
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
