// The counters, and their definitions for ncu and for the emulator.
#include <algorithm>
#include <set>

#include "grader/validation/counters.hpp"

namespace stepwise {
namespace {

using profile = kernel_profile;

double number(std::uint64_t value) { return static_cast<double>(value); }

// A thread gets at least 16 registers, and ncu counts these. Kernels with 10, 12 or 14 registers in
// the compiler's table have 16 in ncu, while 18, 20 or 30 stay as they are (seen on an H200, driver
// 580; also NVIDIA's forum, topic 237752, on an sm_86).
std::uint64_t given_registers(const profile& k) {
  constexpr int fewest = 16;
  return static_cast<std::uint64_t>(k.registers == 0 ? 0 : std::max(k.registers, fewest));
}

std::vector<counter> access_counters() {
  using enum agreement;
  return {
      {"global_load_requests",
       "global loads, requests",
       equal,
       false,
       {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"},
       [](const profile& k) {
         return number(k.total.global_load.requests - k.total.bulk_load.requests);
       }},
      {"global_load_sectors",
       "global loads, sectors",
       equal,
       false,
       {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"},
       [](const profile& k) {
         return number(k.total.global_load.sectors - k.total.bulk_load.sectors);
       }},
      {"global_store_requests",
       "global stores, requests",
       equal,
       false,
       {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"},
       [](const profile& k) {
         return number(k.total.global_store.requests - k.total.bulk_store.requests);
       }},
      {"global_store_sectors",
       "global stores, sectors",
       equal,
       false,
       {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"},
       [](const profile& k) {
         return number(k.total.global_store.sectors - k.total.bulk_store.sectors);
       }},
      {"global_atomic_requests",
       "global atomics, requests",
       equal,
       false,
       {"l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
        "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum"},
       [](const profile& k) { return number(k.total.global_atomic.requests); }},
      {"global_atomic_sectors",
       "global atomics, sectors",
       equal,
       false,
       {"l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum"},
       [](const profile& k) { return number(k.total.global_atomic.sectors); }},
      {"local_load_requests",
       "local loads, requests",
       equal,
       false,
       {"l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum"},
       [](const profile& k) { return number(k.total.local_load.requests); }},
      {"local_load_sectors",
       "local loads, sectors",
       equal,
       false,
       {"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum"},
       [](const profile& k) { return number(k.total.local_load.sectors); }},
      {"local_store_requests",
       "local stores, requests",
       equal,
       false,
       {"l1tex__t_requests_pipe_lsu_mem_local_op_st.sum"},
       [](const profile& k) { return number(k.total.local_store.requests); }},
      {"local_store_sectors",
       "local stores, sectors",
       equal,
       false,
       {"l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"},
       [](const profile& k) { return number(k.total.local_store.sectors); }},
  };
}

std::vector<counter> shared_counters() {
  using enum agreement;
  return {
      {"shared_load_requests",
       "shared loads, requests",
       equal,
       false,
       {"smsp__sass_inst_executed_op_shared_ld.sum", "smsp__sass_inst_executed_op_ldsm.sum"},
       [](const profile& k) { return number(k.total.shared_load.requests); }},
      {"shared_load_wavefronts",
       "shared loads, wavefronts",
       thousandth,
       false,
       {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
        "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum"},
       [](const profile& k) { return number(k.total.shared_load.wavefronts); }},
      {"shared_store_requests",
       "shared stores, requests",
       equal,
       false,
       {"smsp__sass_inst_executed_op_shared_st.sum", "smsp__sass_inst_executed_op_shared_stsm.sum"},
       [](const profile& k) { return number(k.total.shared_store.requests); }},
      {"shared_store_wavefronts",
       "shared stores, wavefronts",
       thousandth,
       false,
       {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
        "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_stsm.sum"},
       [](const profile& k) { return number(k.total.shared_store.wavefronts); }},
      {"shared_copy_wavefronts",
       "copies to shared, wavefronts",
       thousandth,
       false,
       {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum"},
       [](const profile& k) {
         return number(k.total.shared_copy.wavefronts - k.total.bulk_shared_copy.wavefronts);
       }},
  };
}

// The work of tensor cores, and of bulk copies on compute capability 9.0.
std::vector<counter> async_counters() {
  using enum agreement;
  return {
      // ncu also counts HFMA2 instructions, with which the compiler loads constants.
      {"tensor_instructions",
       "tensor cores, instructions",
       information,
       false,
       {"sm__inst_executed_pipe_tensor.sum"},
       [](const profile& k) { return number(k.total.async.tensor_instructions); }},
      {"operand_wavefronts",
       "operands of wgmma, wavefronts",
       thousandth,
       false,
       {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_gmma.sum"},
       [](const profile& k) { return k.total.async.operand_wavefronts; }},
      {"received_sectors",
       "bulk copies, received sectors",
       equal,
       false,
       {"l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum"},
       [](const profile& k) { return number(k.total.async.received_sectors); }},
      {"sent_sectors",
       "bulk copies, sent sectors",
       equal,
       false,
       {"l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_st.sum"},
       [](const profile& k) { return number(k.total.async.sent_sectors); }},
  };
}

std::vector<counter> launch_counters() {
  using enum agreement;
  return {
      {"registers",
       "registers per thread (at least 16)",
       equal,
       true,
       {"launch__registers_per_thread"},
       [](const profile& k) { return number(given_registers(k)); }},
      {"static_shared_bytes",
       "static shared bytes",
       equal,
       true,
       {"launch__shared_mem_per_block_static"},
       [](const profile& k) { return number(k.static_shared_bytes); }},
      {"dynamic_shared_bytes",
       "dynamic shared bytes",
       equal,
       true,
       {"launch__shared_mem_per_block_dynamic"},
       [](const profile& k) { return number(k.dynamic_shared_bytes); }},
      {"occupancy_percent",
       "theoretical occupancy, %",
       equal,
       true,
       {"sm__maximum_warps_per_active_cycle_pct"},
       [](const profile& k) {
         return k.most_warps == 0 ? 0 : 100.0 * k.resident_warps / k.most_warps;
       }},
  };
}

std::vector<counter> information_counters() {
  using enum agreement;
  return {
      // ncu counts machine code and the emulator counts PTX, so the two cannot be equal.
      {"warp_instructions",
       "warp instructions (machine, PTX)",
       information,
       false,
       {"smsp__inst_executed.sum"},
       [](const profile& k) { return number(k.total.all_instructions().warps); }},
      {"l1_load_hit_sectors",
       "L1 hits of global loads, sectors",
       information,
       false,
       {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum"},
       [](const profile& k) { return number(k.total.global_load.l1_hits); }},
      {"l2_read_sectors",
       "L2 reads, sectors",
       information,
       false,
       {"lts__t_sectors_srcunit_tex_op_read.sum"},
       [](const profile& k) {
         return number(k.total.global_load.l2_sectors + k.total.local_load.l2_sectors);
       }},
      {"dram_read_bytes",
       "DRAM bytes read",
       information,
       false,
       {"dram__bytes_read.sum"},
       [](const profile& k) {
         return number(k.total.global_load.dram_read_bytes + k.total.global_store.dram_read_bytes +
                       k.total.global_atomic.dram_read_bytes + k.total.local_load.dram_read_bytes +
                       k.total.local_store.dram_read_bytes);
       }},
  };
}

}  // namespace

const std::vector<counter>& all_counters() {
  static const std::vector<counter> all = [] {
    std::vector<counter> list;
    for (const auto& part : {access_counters(), shared_counters(), async_counters(),
                             launch_counters(), information_counters()}) {
      list.insert(list.end(), part.begin(), part.end());
    }
    return list;
  }();
  return all;
}

std::vector<std::string> ncu_metrics() {
  std::set<std::string> names;
  for (const counter& c : all_counters()) names.insert(c.metrics.begin(), c.metrics.end());
  return {names.begin(), names.end()};
}

}  // namespace stepwise
