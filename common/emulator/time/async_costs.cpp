// Derives the costs from microbenchmarks.
#include "common/emulator/time/async_costs.hpp"

#include <algorithm>

namespace stepwise::emulator {
namespace {

constexpr double schedulers = 4, lanes_of_warp = 32;
constexpr double sectors_of_warp_atomic = 8;  // an H200's count for adjacent words

}  // namespace

double tensor_costs::interval(const tensor_work& w) const {
  switch (w.kind) {
    case tensor_work::form::wgmma: {
      const double n = w.columns;
      return std::max(n * column, w.a_in_registers ? operand_b : operand_base + n * operand_column);
    }
    case tensor_work::form::half:
      return half * w.parts;
    case tensor_work::form::wide:
      return wide * w.parts;
    default:
      return whole * w.parts;
  }
}

double tensor_costs::latency(const tensor_work& w) const {
  const double more = interval(w) * (1 - 1 / w.parts);
  return more + (w.kind == tensor_work::form::half   ? half_latency
                 : w.kind == tensor_work::form::wide ? wide_latency
                                                     : whole_latency);
}

tensor_costs tensor_costs_of(const find_figure& figure) {
  tensor_costs c;
  figure("wgmma_n256", [&](double v) { c.column = v / 256; });
  figure("wgmma_n8", [&](double of_8) {
    figure("wgmma_n32", [&](double of_32) { c.operand_column = (of_32 - of_8) / 24; });
    c.operand_base = of_8 - 8 * c.operand_column;
  });
  figure("wgmma_n8_a_in_registers", [&](double v) { c.operand_b = v; });
  // A product with a wait takes longer by the product's latency and by the time to issue four
  // instructions: the fence, the product, the commit and the wait.
  constexpr double instructions = 8;
  figure("wgmma_n64_alone", [&](double alone) {
    figure("wgmma_n64", [&](double each) { c.product_latency = alone - each - instructions; });
  });
  const auto rate = [&](const char* name, double& interval, double& latency) {
    figure(std::string(name) + "_rate", [&](double v) { interval = schedulers / v; });
    figure(std::string(name) + "_latency", [&](double v) { latency = v; });
  };
  rate("mma_m16n8k16_bf16", c.whole, c.whole_latency);
  rate("mma_m16n8k8_f16", c.half, c.half_latency);
  rate("mma_m8n8k4_f64", c.wide, c.wide_latency);
  figure("tensor_clock_zeros_after_1_ms", [&](double v) { c.ghz = v; });
  return c;
}

async_costs async_costs_of(const find_figure& figure, double shared_latency, double l2_latency,
                           double processors) {
  async_costs c;
  figure("bulk_load_from_l2_of_32768", [&](double of_32k) {
    figure("bulk_load_from_l2_of_16384",
           [&](double of_16k) { c.load_bytes = 16384 / (of_32k - of_16k); });
  });
  figure("bulk_store_read_of_16384", [&](double of_16k) {
    figure("bulk_store_read_of_4096", [&](double of_4k) {
      c.store_bytes = (16384 - 4096) / (of_16k - of_4k);
      c.store_latency = std::max(0.0, of_4k - 4096 / c.store_bytes);
    });
  });
  figure("bulk_add_stream_to_l2_of_16384", [&](double v) { c.reduced_bytes = v * processors; });
  figure("bulk_add_stream_to_dram_of_16384",
         [&](double v) { c.reduced_dram_bytes = v * processors; });
  figure("mbarrier_arrive", [&](double v) { c.arrival = v; });
  figure("mbarrier_of_512", [&](double of_16) {
    figure("mbarrier_of_32", [&](double of_1) { c.arrival_of_warp = (of_16 - of_1) / 15; });
  });
  // mbarrier_round is an arrival, a poll that takes as long as a shared load, and a branch. In
  // mbarrier_ping_pong, where one warp signals another, a wait takes the place of the poll.
  figure("mbarrier_ping_pong", [&](double both_ways) {
    figure("mbarrier_round",
           [&](double round) { c.wake = std::max(0.0, both_ways / 2 - (round - shared_latency)); });
    figure("bulk_load_from_l2_of_16",
           [&](double v) { c.load_latency = v - both_ways / 2 - l2_latency; });
  });
  figure("cluster_load_latency_in_cluster_of_2", [&](double load) {
    c.remote_latency = load;
    c.remote_arrival = load / 2;
  });
  figure("proxy_fence", [&](double v) { c.proxy_fence = v; });
  figure("cluster_barrier_of_32_in_cluster_of_2", [&](double one) {
    figure("cluster_barrier_of_1024_in_cluster_of_2",
           [&](double all) { c.cluster_barrier_of_warp = (all - one) / (lanes_of_warp - 1); });
    c.cluster_barrier = one - c.cluster_barrier_of_warp;
  });
  figure("cluster_add_in_cluster_of_2", [&](double lanes_per_cycle) {
    c.remote_sector = lanes_of_warp / lanes_per_cycle / sectors_of_warp_atomic;
  });
  return c;
}

}  // namespace stepwise::emulator
