// The instructions of tensor copies, for the programs about them.
#pragma once

#include "shared_addresses.hpp"

// Coordinates of a box, fastest dimension first.
struct box_start {
  int at[5];
};

// --- mbarriers ---

__device__ inline void init_barrier(unsigned barrier) {
  asm volatile(
      "mbarrier.init.shared::cta.b64 [%0], 1;\n"
      "fence.mbarrier_init.release.cluster;" ::"r"(barrier)
      : "memory");
}
__device__ inline void expect_bytes(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
__device__ inline void fence_proxy() { asm volatile("fence.proxy.async;" ::: "memory"); }

// --- copies ---

template <int Rank>
__device__ void load_box(unsigned to, const void* map, const box_start& c, unsigned barrier) {
  if constexpr (Rank == 1)
    asm volatile(
        "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2}], [%3];" ::"r"(to),
        "l"(map), "r"(c.at[0]), "r"(barrier)
        : "memory");
  if constexpr (Rank == 2)
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
        "l"(map), "r"(c.at[0]), "r"(c.at[1]), "r"(barrier)
        : "memory");
  if constexpr (Rank == 3)
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
        "l"(map), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(barrier)
        : "memory");
  if constexpr (Rank == 4)
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(to),
        "l"(map), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(barrier)
        : "memory");
  if constexpr (Rank == 5)
    asm volatile(
        "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3, %4, %5, %6}], [%7];" ::"r"(to),
        "l"(map), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(c.at[4]), "r"(barrier)
        : "memory");
}

template <int Rank>
__device__ void store_box(const void* map, const box_start& c, unsigned from) {
  if constexpr (Rank == 1)
    asm volatile(
        "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%0, {%1}], [%2];" ::"l"(map),
        "r"(c.at[0]), "r"(from)
        : "memory");
  if constexpr (Rank == 2)
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(
            map),
        "r"(c.at[0]), "r"(c.at[1]), "r"(from)
        : "memory");
  if constexpr (Rank == 3)
    asm volatile(
        "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(
            map),
        "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(from)
        : "memory");
  if constexpr (Rank == 4)
    asm volatile(
        "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group "
        "[%0, {%1, %2, %3, %4}], [%5];" ::"l"(map),
        "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(from)
        : "memory");
  if constexpr (Rank == 5)
    asm volatile(
        "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group "
        "[%0, {%1, %2, %3, %4, %5}], [%6];" ::"l"(map),
        "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(c.at[4]), "r"(from)
        : "memory");
}

__device__ inline void wait_for_stores() {
  asm volatile(
      "cp.async.bulk.commit_group;\n"
      "cp.async.bulk.wait_group 0;" ::
          : "memory");
}
