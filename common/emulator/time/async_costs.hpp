// The costs of tensor cores and of Hopper's asynchronous units: bulk copies, mbarriers, clusters.
//
// idea    A tensor core multiplies a fixed number of elements per cycle, so the time of an
//         instruction follows from its shape. wgmma also reads its operands from shared memory,
//         which is slower for narrow shapes. A bulk copy goes through a copy unit and then through
//         L2, like a load. A wait at an mbarrier ends a fixed time after the last arrival or byte.
// source  common/gpus/measure/{tensor,async}.cu; without measurements, an H200's figures.
// Tested by tests/time_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace stepwise::emulator {

// The work of one tensor instruction of a warp.
struct tensor_work {
  enum class form : std::uint8_t {
    none,
    whole,  // mma with 32 bytes along k, such as m16n8k16 of f16
    half,   // mma with 16 bytes along k
    wide,   // mma of f64
    wgmma
  };
  form kind = form::none;
  bool a_in_registers = false;  // wgmma
  std::uint16_t columns = 0;    // wgmma: n
  float parts = 1;              // mma: the number of products of 16 x 8 (f64: 8 x 8 x 4)
};

struct tensor_costs {
  // wgmma, in cycles of a sub-partition's tensor core. `column` is the cost per column. Reading the
  // operands takes operand_base + operand_column * n if A is in shared memory, and operand_b if A
  // is in registers.
  double column = 0.5, operand_base = 16, operand_column = 0.25, operand_b = 13;
  double product_latency = 50;  // from the end of the product until a wait for it ends
  // mma: the cycles of a sub-partition per product of 16 x 8 (f64: 8 x 8 x 4), and the latency.
  double whole = 6, half = 4, wide = 16;
  double whole_latency = 24, half_latency = 17, wide_latency = 28;
  double ghz = 0;  // the clock while tensor cores are busy; 0: it does not change

  // Cycles for which an instruction keeps its sub-partition's tensor core busy.
  double interval(const tensor_work& w) const;
  double latency(const tensor_work& w) const;
};

struct async_costs {
  // A copy from global to shared memory: bytes per cycle of a multiprocessor's copy unit, and
  // the cycles from its issue until its bytes count at an mbarrier, without the latency of L2 or
  // memory.
  double load_bytes = 110, load_latency = 0;
  // A copy from shared memory: bytes per cycle, and the cycles until its source may be overwritten.
  double store_bytes = 32, store_latency = 60;
  // Bytes per cycle that bulk reductions on the whole GPU add to data in L2, and in memory.
  double reduced_bytes = 2000, reduced_dram_bytes = 800;
  double arrival = 8;           // cycles until an arrival takes effect
  double arrival_of_warp = 5;   // between the arrivals of two warps
  double wake = 31;             // from the end of a phase until a wait for it ends
  double remote_arrival = 105;  // extra, if the mbarrier is in another block
  // The cycles that a warp waits when it arrives at another block's mbarrier with .release.cluster.
  // Fitted to two matrix products on an H200. On an idle GPU, the wait is about 340 cycles
  // (mbarrier_ping_pong_in_cluster).
  double cluster_release = 1100;
  double proxy_fence = 150;
  double cluster_barrier = 350, cluster_barrier_of_warp = 12;
  double remote_latency = 210;  // of a load from another block's shared memory
  double remote_sector = 1.7;   // cycles of a multiprocessor per 32 bytes to another block
};

// `figure(name, use)` calls use(value) if the GPU has this figure. The two latencies are those of
// loads, in cycles.
using find_figure =
    std::function<void(const std::string& name, const std::function<void(double)>& use)>;
tensor_costs tensor_costs_of(const find_figure& figure);
async_costs async_costs_of(const find_figure& figure, double shared_latency, double l2_latency,
                           double processors);

}  // namespace stepwise::emulator
