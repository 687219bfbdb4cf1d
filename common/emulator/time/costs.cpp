// Published costs by compute capability, replaced by measured costs where there are any.
#include "common/emulator/time/costs.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>

#include "common/device/memory_rules.hpp"

namespace stepwise::emulator {
namespace {

// Warp instructions per cycle of a multiprocessor, and latencies in cycles.
//
// source  CUDA C Programming Guide 5.5, table "Throughput of Native Arithmetic Instructions"
//         (1.3 to 3.5), CUDA C++ Programming Guide 12.2, "Arithmetic Instructions" (5.2 to 9.0),
//         in results per cycle, here divided by 32. Latencies: Jia et al. 2018 (Volta and
//         older), Arafa et al. 2019 (Kepler to Turing); the guide itself for 1.3 and 2.1. Memory:
//         shared, L1, L2, DRAM. Copy rates: GTX 280 by Ruetsch and Micikevicius 2009; K80, M60 and
//         P4 (for Turing) by Jia et al.; A100, L40 and H800 by gpu-benches and Luo et al. 2024.
//         Nothing was found for 2.1, which has Kepler's values.
struct published {
  int capability;
  unsigned partitions;
  double fma, alu, multiply, fp64, special, conversion, exchange;
  double latency;
  double shared, l1, l2, dram;
  double reached;  // of memory's theoretical bandwidth
};
constexpr published table[] = {
    // cc  parts  fma   alu  mul   f64    sfu   cvt   shfl lat  shared l1  l2   dram  reached
    {13, 1, 0.25, 0.25, 0.0625, 0.03125, 0.0625, 0.25, 0.25, 24, 38, 440, 440, 440, 0.68},
    {21, 2, 1.5, 0.5, 0.5, 0.125, 0.25, 0.5, 0.5, 22, 26, 35, 200, 600, 0.78},
    {35, 4, 6, 5, 1, 2, 1, 1, 1, 9, 26, 35, 200, 331, 0.78},
    {52, 4, 4, 2, 1, 0.125, 1, 1, 1, 6, 23, 82, 207, 379, 0.79},
    {75, 4, 2, 2, 2, 0.0625, 0.5, 0.5, 0.5, 4, 21, 32, 234, 424, 0.84},
    {80, 4, 2, 2, 2, 1, 0.5, 0.5, 1, 4, 23, 33, 200, 571, 0.86},
    {89, 4, 4, 2, 2, 0.0625, 0.5, 0.5, 1, 4, 30, 36, 276, 631, 0.93},
    {90, 4, 4, 2, 2, 2, 0.5, 0.5, 1, 4, 29, 32, 258, 656, 0.91},
};

const published& published_of(int capability) {
  const published* best = table;
  for (const published& p : table)
    if (p.capability <= capability) best = &p;
  return *best;
}

void fill_from(gpu_costs& c, const published& p) {
  const auto per_partition = [&](double rate) { return c.partitions / rate; };
  const auto set = [&](unit u, double interval, double latency) {
    c.of[static_cast<int>(u)] = {interval, latency};
  };
  c.partitions = p.partitions;
  set(unit::fma, per_partition(p.fma), p.latency);
  set(unit::half, per_partition(p.fma), p.latency);
  set(unit::alu, per_partition(p.alu), p.latency);
  set(unit::integer, per_partition(p.alu), p.latency);
  set(unit::multiply, per_partition(p.multiply), p.latency);
  set(unit::fp64, per_partition(p.fp64), 2 * p.latency);
  set(unit::special, per_partition(p.special), 4 * p.latency);
  set(unit::conversion, per_partition(p.conversion), 2 * p.latency);
  set(unit::tensor, 8, 32);
  set(unit::vote, per_partition(p.alu), 2 * p.latency);
  set(unit::reduce, per_partition(p.special), 10 * p.latency);
  set(unit::exchange, 1 / p.exchange, p.shared);
  set(unit::load_store, 1, 0);
  set(unit::branch, 1, 0);
  set(unit::none, 1, 1);
  c.shared_latency = p.shared;
  c.l1_latency = p.l1;
  c.l2_latency = p.l2;
  c.dram_latency = p.dram;
}

// The share of L2 whose data is written but not in memory when a kernel has ended: 27 of 63 MB on
// an H200, after stores to 48 MB (../profile/DESIGN.md).
constexpr double dirty_at_rest = 27.0 / 62.9;

}  // namespace

double result_latency(const gpu_costs& costs, unit on, double slots) {
  constexpr double dependent_issue = 4;  // cycles from one machine instruction to the next
  return costs.of[static_cast<int>(on)].latency +
         std::max(0.0, std::floor(slots) - 1) * dependent_issue;
}

unsigned tag_bank(const gpu_costs& costs, std::uint64_t line) {
  unsigned bank = 0;
  for (std::size_t bit = 0; bit < costs.tag_bank_of_bit.size(); ++bit)
    bank ^= (line >> bit & 1) * costs.tag_bank_of_bit[bit];
  return bank;
}

gpu_costs gpu_costs::at_clock(double other_ghz) const {
  gpu_costs c = *this;
  const double longer = ghz / other_ghz;  // how much longer a cycle is
  c.ghz = other_ghz;
  for (double* rate :
       {&c.l2_bytes, &c.l2_write_bytes, &c.l2_write_sectors, &c.l2_write_lines, &c.dram_read_bytes,
        &c.dram_few_bytes, &c.dram_write_bytes, &c.dram_peak_bytes, &c.atomic_lanes,
        &c.same_address_lanes, &c.same_address_floats, &c.same_line_sectors, &c.block_starts,
        &c.async.reduced_bytes, &c.async.reduced_dram_bytes})
    *rate *= longer;
  for (double* latency : {&c.l2_latency, &c.dram_latency, &c.turnover, &c.turnover_per_warp,
                          &c.store_wait, &c.store_wait_per_warp})
    *latency /= longer;
  return c;
}

unsigned gpu_costs::multiprocessors_of(unsigned blocks) const {
  if (blocks < 2) return multiprocessors;
  const unsigned count = clusters[std::min<std::size_t>(std::bit_width(blocks - 1), 4) - 1];
  const unsigned most = count != 0 ? count * blocks : multiprocessors / blocks * blocks;
  return std::clamp(most, 1U, multiprocessors);
}

gpu_costs costs_of(const gpu& model) {
  gpu_costs c;
  c.ghz = model.clock_khz / 1e6;
  c.multiprocessors = static_cast<unsigned>(std::max(1, model.multiprocessors));
  const int capability = model.compute_capability();
  const published& p = published_of(capability);
  fill_from(c, p);
  const double peak = model.memory_bytes_per_s() / (c.ghz * 1e9), per_cycle = peak * p.reached;
  c.dram_read_bytes = c.dram_few_bytes = c.dram_write_bytes = per_cycle;
  c.dram_peak_bytes = peak;
  c.l2_slices = std::max(1.0, model.memory_bus_bits / 64.0);
  c.l2_bytes = std::max(2.0 * per_cycle, 32.0 * c.multiprocessors);
  c.l2_write_bytes = c.l2_bytes / 2;
  c.l2_write_sectors = c.l2_write_lines = c.l2_write_bytes / 32;
  const memory_rules rules = memory_rules_of(model);
  if (!rules.has_l2) {  // no queue on the way to memory
    c.l2_bytes = c.l2_write_bytes = c.l2_bytes_of_one = 1e9;
    c.l2_write_sectors = c.l2_write_lines = 1e9;
  }
  c.dirty_bytes = 0.9 * static_cast<double>(model.l2_bytes);
  c.dirty_at_rest = dirty_at_rest * static_cast<double>(model.l2_bytes);
  c.atomic_lanes = 2.0 * c.multiprocessors;
  c.one_wavefront = rules.cycles_of_wavefront;
  c.load_wavefront = c.store_wavefront = c.line_cycles = c.bank_cycles = c.one_wavefront;

  const auto figure = [&](const std::string& name, auto use) {
    if (const auto found = model.measured.find(name); found != model.measured.end())
      use(found->second);
  };
  const auto bytes_per_cycle = [&](double gb_per_s) { return gb_per_s / c.ghz; };
  const auto rated = [&](unit u, const char* rate, const char* latency) {
    unit_cost& to = c.of[static_cast<int>(u)];
    const bool shared = u == unit::exchange;
    figure(rate, [&](double v) { to.interval = (shared ? 1.0 : c.partitions) / v; });
    figure(latency, [&](double v) { to.latency = v; });
  };
  rated(unit::fma, "fma_f32_rate", "fma_f32_latency");
  rated(unit::half, "fma_f16x2_rate", "fma_f16x2_latency");
  rated(unit::alu, "min_and_max_s32_rate", "min_and_max_s32_latency");
  rated(unit::integer, "add_and_xor_s32_rate", "add_and_xor_s32_latency");
  rated(unit::multiply, "mad_s32_rate", "mad_s32_latency");
  rated(unit::fp64, "fma_f64_rate", "fma_f64_latency");
  rated(unit::special, "rsqrt_f32_rate", "rsqrt_f32_latency");
  rated(unit::conversion, "convert_s32_f32_and_back_rate", "convert_s32_f32_and_back_latency");
  rated(unit::vote, "vote_ballot_rate", "vote_ballot_latency");
  rated(unit::reduce, "redux_add_s32_rate", "redux_add_s32_latency");
  rated(unit::exchange, "shuffle_b32_rate", "shuffle_b32_latency");
  figure("shared_latency", [&](double v) { c.shared_latency = v; });
  figure("l1_latency", [&](double v) { c.l1_latency = v; });
  figure("l2_latency", [&](double v) { c.l2_latency = v; });
  figure("dram_latency", [&](double v) { c.dram_latency = v; });
  const auto spread_of = [&](const std::string& loads, spread& to) {
    figure(loads + "_p50", [&](double median) {
      figure(loads + "_p10", [&](double v) { to.p10 = v / median; });
      figure(loads + "_p90", [&](double v) { to.p90 = v / median; });
    });
  };
  spread_of("dram_load_of_32_warps", c.dram_spread);
  figure("l1_request_of_32_lines", [&](double v) { c.bank_cycles = v / 32; });
  figure("l1_request_of_32_lines_in_own_banks",
         [&](double v) { c.line_cycles = v / 32 * tag_banks; });
  for (std::size_t bit = 0; bit < c.tag_bank_of_bit.size(); ++bit)
    figure("l1_tag_bank_of_bit_" + std::to_string(bit),
           [&](double v) { c.tag_bank_of_bit[bit] = static_cast<std::uint8_t>(v) % tag_banks; });
  figure("l2_read_of_one", [&](double v) { c.l2_bytes_of_one = v; });
  figure("l2_write", [&](double v) { c.l2_write_bytes = bytes_per_cycle(v); });
  // After a chain of dependent products, the comparison is done long before the branch.
  figure("loop_turn_of_16_products", [&](double v) {
    c.branch = std::max(1.0, v - 16 * c.of[static_cast<int>(unit::fma)].latency);
  });
  // An iteration is a subtraction, a comparison, and the branch.
  figure("loop_turn", [&](double v) {
    c.predicate = std::max(0.0, v - c.branch - c.of[static_cast<int>(unit::integer)].latency);
  });
  figure("first_instruction", [&](double v) {
    c.first_instruction = std::max(0.0, v * c.ghz - c.of[static_cast<int>(unit::fma)].latency);
  });
  figure("dirty_l2", [&](double v) { c.dirty_bytes = v * 1e6; });
  // The base is a block of one warp; each further warp adds to this time.
  const auto by_warps = [&](const char* one, const char* all, double& base, double& each) {
    figure(one, [&](double of_32) {
      figure(all, [&](double of_1024) { each = std::max(0.0, (of_1024 - of_32) / 31 * c.ghz); });
      base = of_32 * c.ghz - each;
    });
  };
  by_warps("block_turnover_of_32", "block_turnover_of_1024", c.turnover, c.turnover_per_warp);
  by_warps("block_turnover_behind_stores_of_32", "block_turnover_behind_stores_of_1024",
           c.store_wait, c.store_wait_per_warp);
  if (model.measured.contains("block_turnover_behind_stores_of_32")) {
    c.store_wait = std::max(0.0, c.store_wait - c.turnover);
    c.store_wait_per_warp = std::max(0.0, c.store_wait_per_warp - c.turnover_per_warp);
  }
  figure("shared_load_of_32_ways", [&](double v) { c.load_wavefront = v / 32; });
  figure("shared_store_of_32_ways", [&](double v) { c.store_wavefront = v / 32; });
  figure("l2_write_of_words", [&](double v) { c.l2_write_sectors = v / c.ghz; });
  figure("l2_write_of_lines", [&](double v) { c.l2_write_lines = v / c.ghz; });
  figure("l1_read", [&](double v) { c.l1_bytes = v; });
  figure("l2_read", [&](double v) { c.l2_bytes = bytes_per_cycle(v); });
  figure("dram_read", [&](double v) { c.dram_read_bytes = bytes_per_cycle(v); });
  figure("dram_read_32768_in_flight", [&](double v) { c.dram_few_bytes = bytes_per_cycle(v); });
  figure("dram_write", [&](double v) { c.dram_write_bytes = bytes_per_cycle(v); });
  // A copied byte is read at memory's rate. The rest of its time is the write.
  figure("dram_copy_in_pieces", [&](double in_pieces) {
    figure("dram_copy_in_equal_shares", [&](double in_parts) {
      const double read = 1 / c.dram_read_bytes, pieces = 2 / bytes_per_cycle(in_pieces);
      if (pieces > read)
        c.resident_write_factor =
            std::max(1.0, (2 / bytes_per_cycle(in_parts) - read) / (pieces - read));
    });
  });
  for (int n = 0; n < 8; ++n)
    figure("early_multiprocessor_block_" + std::to_string(n),
           [&](double v) { c.early_blocks.push_back(static_cast<std::uint64_t>(v)); });
  figure("exchange_own_addresses", [&](double v) { c.atomic_lanes = v / c.ghz; });
  figure("exchange_one_address", [&](double v) { c.same_address_lanes = v / c.ghz; });
  figure("add_f32_one_address", [&](double v) { c.same_address_floats = v / c.ghz; });
  // A warp's words of one line are four sectors.
  figure("add_32_addresses", [&](double v) { c.same_line_sectors = v / 8 / c.ghz; });
  figure("block_starts_of_256", [&](double v) { c.block_starts = v / 1e3 / c.ghz; });
  figure("empty_launch", [&](double v) { c.launch_us = v; });
  figure("launch_in_a_row", [&](double v) { c.next_launch_us = v; });
  // The latency of a barrier of one warp, and the increment per further warp.
  figure("barrier_of_32", [&](double one) {
    figure("barrier_of_1024", [&](double all) { c.barrier_per_warp = (all - one) / 31; });
    c.barrier_latency = one - c.barrier_per_warp;
  });
  // Before Hopper, mma uses the published cost.
  const unit_cost& mma = c.of[static_cast<int>(unit::tensor)];
  if (capability >= 90) {
    c.tensor = tensor_costs_of(figure);
  } else {
    c.tensor.whole = mma.interval;
    c.tensor.half = mma.interval / 2;
    c.tensor.whole_latency = c.tensor.half_latency = mma.latency;
  }
  for (unsigned n = 0; n < c.clusters.size(); ++n)
    figure("clusters_of_" + std::to_string(2U << n),
           [&](double v) { c.clusters[n] = static_cast<unsigned>(v); });
  c.async = async_costs_of(figure, c.shared_latency, c.l2_latency, c.multiprocessors);
  return c;
}

}  // namespace stepwise::emulator
