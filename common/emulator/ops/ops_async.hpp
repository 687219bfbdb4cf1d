// What asynchronous copies have in common, for ops_async.cpp and ops_tensor_copy.cpp.
#pragma once

#include <string>

#include "common/emulator/machine/observer.hpp"
#include "common/emulator/ops/ops.hpp"

namespace stepwise::emulator {

// Runs work(lane) -> bool for the active lanes until one returns false, which stops the launch.
template <class Work>
const op* each_lane(context& x, const op* i, Work work) {
  for (std::uint32_t m = x.active; m != 0; m &= m - 1)
    if (!work(__builtin_ctz(m))) return nullptr;
  return i + 1;
}

// Stops the launch; returns false.
bool complain(context& x, const op* i, int lane, const std::string& what,
              const std::string& advice = "");

// The order of a copy's accesses to its destination: reductions are relaxed atomics.
inline memory_order order_of(access_kind kind) {
  return kind == access_kind::atomic ? memory_order::relaxed : memory_order::weak;
}

// Counts the bytes of a copy at the mbarrier at this generic address; `filled_sectors` of them were
// not read from memory. False if the launch was stopped.
bool complete_bytes(context& x, const op* i, int lane, std::uint64_t barrier, std::uint64_t bytes,
                    std::uint64_t filled_sectors = 0);

// Whether a multicast may go to the blocks of the mask: in a launch without clusters, only to block
// 0, as on an H200. Otherwise the launch is stopped.
bool check_multicast(context& x, const op* i, int lane, std::uint32_t mask);

// The generic address that corresponds to one of shared memory, in block `rank` of the cluster.
std::uint64_t address_in_block(const context& x, std::uint64_t address, std::uint32_t rank);

void tensor_copy_ops(op_table& table);  // cp.async.bulk.tensor, tensormap

}  // namespace stepwise::emulator
