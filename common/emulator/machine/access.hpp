// A faulting memory access, and the host memory at a generic address.
#pragma once

#include "common/emulator/machine/observer.hpp"

namespace stepwise::emulator {

struct access_fault {
  bool misaligned = false;  // else out of bounds
  memory_space space = memory_space::global;
  access_kind kind = access_kind::load;
  int lane = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  unsigned alignment = 0;  // the required alignment, if it differs from the size
  const char* whose = "";  // "the source of ", where an operation has several addresses
};

// Stops the launch with a message that describes the fault; returns null. In ../run/access.cpp.
const op* stop_with(context& x, const op* i, const access_fault& fault);

// Whether the running block's cluster has other blocks, and the host address of an access to shared
// memory at an address of peer_bytes or more. Null, with the launch stopped, if no block of the
// cluster has these bytes, or if the threads of the block that has them have exited. In
// ../run/access.cpp.
bool has_peers(const context& x);
std::byte* reach_peer(context& x, const op* i, access_fault fault);

// The rank of the running warp in its warpgroup. In ../run/access.cpp.
std::uint32_t warp_in_group(const context& x);

// Describes the accesses of wmma.load or wmma.store to the observers that count: each lane moves
// its adjacent elements at once, as on an H200. In ../run/access.cpp.
void notify_tile(context& x, const op* i, const struct matrix_form& tile);

// The access of an operation to a run of bytes, for its checks and for the text of a fault.
struct span {
  std::uint64_t bytes;
  unsigned alignment;
  memory_space space;  // shared, global, or generic for either
  access_kind kind;
  const char* whose;  // "the source of cp.async: "
  memory_order order = memory_order::weak;
  bool asynchronous = false;
  bool of_tensor_map = false;  // see observer::range_event
};

// The host address of the bytes at a generic address. Null, with the launch stopped, if the bytes
// are not aligned and entirely in the wanted space. In ../run/access.cpp. `known` may
// remember the allocation of global memory that was found last, for the other lanes of one
// instruction.
std::byte* reach(context& x, const op* i, int lane, std::uint64_t at, const span& s,
                 access_window* known = nullptr);

}  // namespace stepwise::emulator
