// Finds the host addresses of a warp's lanes, and rejects accesses outside of memory.
//
// idea    Checks are separate from reads and writes: `locate` proves that every active lane's bytes
//         lie in an allocation (or a window of shared or local memory) and returns host addresses.
//         Each operation remembers the allocation that it touched last, so the usual check is one
//         comparison per lane.
#pragma once

#include "common/emulator/machine/access.hpp"
#include "common/emulator/machine/memory.hpp"
#include "common/emulator/ops/ops.hpp"

namespace stepwise::emulator {
namespace {

// Checks a global access lane by lane, and remembers the allocation.
[[gnu::noinline]] inline bool check_global_lanes(context& x, const op* i, const u64* address,
                                                 unsigned bytes, access_kind kind) {
  for (u32 m = x.active; m != 0; m &= m - 1) {
    const int l = __builtin_ctz(m);
    const u64 at = address[l] + static_cast<u64>(i->immediate);
    access_window& window = x.windows[i->slot];
    const bool misaligned = (at & (bytes - 1)) != 0;
    const bool known = window.bytes >= bytes && at - window.base <= window.bytes - bytes;
    if (!misaligned && known) continue;
    const auto found = x.memory->find(at);
    if (misaligned || !found || bytes > found->bytes - (at - found->base)) {
      stop_with(x, i, {found && misaligned, memory_space::global, kind, l, at, bytes});
      return false;
    }
    window = *found;
  }
  return true;
}

// True if every active lane's access is aligned and inside the allocation that this operation
// touched last.
template <unsigned Bytes>
[[gnu::always_inline]] inline bool inside_window(const context& x, const op* i,
                                                 const u64* address) {
  const access_window window = x.windows[i->slot];
  const u64 limit = window.bytes >= Bytes ? window.bytes - Bytes + 1 : 0;
  const u64 base = window.base - static_cast<u64>(i->immediate);
  // This avoids a comparison, because few instruction sets compare unsigned 64-bit words in
  // vectors. The top bit is set if the offset has its top bit set or is at least the limit.
  u64 outside = 0, low = 0;
  if (x.active == all_lanes) {
    for (int l = 0; l < lanes; ++l) {
      const u64 offset = address[l] - base;
      outside |= offset | (limit - 1 - offset);
      low |= address[l];
    }
    low |= static_cast<u64>(i->immediate);
  } else {
    for (int l = 0; l < lanes; ++l) {
      const u64 in = lane_in(x.active, l) ? ~u64{0} : 0;
      const u64 offset = address[l] - base;
      outside |= (offset | (limit - 1 - offset)) & in;
      low |= (address[l] + static_cast<u64>(i->immediate)) & in;
    }
  }
  return ((outside >> 63) | (low & (Bytes - 1))) == 0;
}

// True if every active lane's global access is inside an allocation.
template <unsigned Bytes>
[[gnu::always_inline]] inline bool check_global(context& x, const op* i, const u64* address,
                                                access_kind kind) {
  if (inside_window<Bytes>(x, i, address)) [[likely]]
    return true;
  return check_global_lanes(x, i, address, Bytes, kind);
}

// True if one lane's access is aligned and inside a window of `limit` bytes, else stops the launch.
inline bool check_window(context& x, const op* i, memory_space space, access_kind kind, int lane,
                         u64 offset, u64 limit, unsigned bytes) {
  const bool misaligned = (offset & (bytes - 1)) != 0;
  if (!misaligned && offset < limit && bytes <= limit - offset) return true;
  stop_with(x, i, {misaligned, space, kind, lane, offset, bytes});
  return false;
}

// The host addresses of all lanes in shared memory or in each lane's local memory. False if an
// active lane's bytes are outside or misaligned.
template <memory_space Space, class A, unsigned Bytes>
[[gnu::always_inline]] inline bool locate_own_memory(context& x, const op* i, const A* address,
                                                     std::byte** host) {
  constexpr bool shared = Space == memory_space::shared;
  const u64 size = shared ? x.shared_bytes : x.local_bytes;
  if (size < Bytes) return false;
  const u64 base = reinterpret_cast<u64>(shared ? x.shared : x.local), stride = shared ? 0 : size;
  const u64 last = size - Bytes, offset = static_cast<u64>(i->immediate);
  // This avoids a comparison, as in inside_window.
  u64 outside = 0, low = 0;
  for (int l = 0; l < lanes; ++l) {
    u64 at = address[l] + offset;
    if constexpr (sizeof(A) == 4) at &= 0xffffffffu;
    const u64 in = lane_in(x.active, l) ? ~u64{0} : 0;
    outside |= (at | (last - at)) & in;
    low |= at & in;
    host[l] = reinterpret_cast<std::byte*>(base + static_cast<u64>(l) * stride + at);
  }
  return ((outside >> 63) | (low & (Bytes - 1))) == 0;
}

// Sets host[l] for every active lane. Returns false and records a fault if an access is invalid. A
// is the type of the address register.
template <memory_space Space, class A, unsigned Bytes>
bool locate(context& x, const op* i, access_kind kind, std::byte** host) {
  const A* address = x.vreg<A>(i->a);
  const auto hosts_of_global = [&] {
    for (int l = 0; l < lanes; ++l)
      host[l] = reinterpret_cast<std::byte*>(address[l] + static_cast<u64>(i->immediate) +
                                             static_cast<u64>(x.host_of_device));
    return true;
  };
  if constexpr (Space == memory_space::global) {
    return check_global<Bytes>(x, i, address, kind) && hosts_of_global();
  } else {
    // A generic address in an allocation is global, because the windows lie elsewhere.
    if constexpr (Space == memory_space::generic)
      if (inside_window<Bytes>(x, i, address)) return hosts_of_global();
    if constexpr (Space == memory_space::shared || Space == memory_space::local)
      if (locate_own_memory<Space, A, Bytes>(x, i, address, host)) return true;
    for (u32 m = x.active; m != 0; m &= m - 1) {
      const int l = __builtin_ctz(m);
      u64 at = address[l] + static_cast<u64>(i->immediate);
      if constexpr (sizeof(A) == 4) at &= 0xffffffffu;
      memory_space space = Space;
      if constexpr (Space == memory_space::generic) {
        const u64 window = (at - shared_window) / window_bytes;
        if (window == 0)
          space = memory_space::shared;
        else if (window == 1)
          space = memory_space::local;
        else if (window == 2)
          space = memory_space::parameter;
        else
          space = memory_space::global;
        if (space != memory_space::global) at &= window_bytes - 1;
      }
      if (space == memory_space::shared && at >= peer_bytes && has_peers(x)) {
        host[l] = reach_peer(x, i, {false, space, kind, l, at, Bytes});
        if (host[l] == nullptr) return false;
      } else if (space == memory_space::shared) {
        if (!check_window(x, i, space, kind, l, at, x.shared_bytes, Bytes)) return false;
        host[l] = x.shared + at;
      } else if (space == memory_space::local) {
        if (!check_window(x, i, space, kind, l, at, x.local_bytes, Bytes)) return false;
        host[l] = x.local + static_cast<u64>(l) * x.local_bytes + at;
      } else if (space == memory_space::parameter) {
        if (!check_window(x, i, space, kind, l, at, x.parameter_bytes, Bytes)) return false;
        host[l] = x.parameters + at;
      } else {
        access_window& window = x.windows[i->slot];
        if ((at & (Bytes - 1)) != 0 || window.bytes < Bytes ||
            at - window.base > window.bytes - Bytes) {
          const auto found = x.memory->find(at);
          if ((at & (Bytes - 1)) != 0 || !found || Bytes > found->bytes - (at - found->base)) {
            stop_with(x, i,
                      {found && (at & (Bytes - 1)) != 0, memory_space::global, kind, l, at, Bytes});
            return false;
          }
          window = *found;
        }
        host[l] = x.memory->host(at);
      }
    }
    return true;
  }
}

}  // namespace
}  // namespace stepwise::emulator
