// The list, and each metric's formula.
#include "grader/model/metrics.hpp"

#include <algorithm>

namespace stepwise {
namespace {

using a_kernel = const kernel_analysis&;
using figure = std::optional<double>;

constexpr double bytes_of_sector = 32;

double as_real(std::uint64_t n) { return static_cast<double>(n); }
figure ratio(double part, double of, double times = 1) {
  return of > 0 ? figure(times * part / of) : std::nullopt;
}
figure in_percent(double share) { return 100 * share; }

double busy(a_kernel a, part p) { return a.kernel->timing.busy[static_cast<int>(p)]; }
const profile_counts& counts(a_kernel a) { return a.kernel->total; }
// Counts cover only the sampled part of the launch, so they are scaled up.
double whole(a_kernel a, std::uint64_t counted) {
  const double share = a.kernel->timing.counted;
  return as_real(counted) / (share > 0 ? share : 1);
}
figure per_second(a_kernel a, double bytes) {
  return ratio(bytes, 1000 * a.kernel->timing.us);  // GB/s
}

figure efficiency(const sector_counts& c) {
  return ratio(as_real(c.ideal_sectors), as_real(c.sectors), 100);
}
figure excess(const sector_counts& c) {
  const figure good = efficiency(c);
  return good ? figure(100 - *good) : std::nullopt;
}
figure per_request(const sector_counts& c) {
  return ratio(as_real(c.sectors), as_real(c.requests));
}
figure per_request(const wavefront_counts& c) {
  return ratio(as_real(c.wavefronts), as_real(c.requests));
}

double conflicts(a_kernel a) {
  const profile_counts& c = counts(a);
  std::uint64_t wasted = 0;
  for (const wavefront_counts* w :
       {&c.shared_load, &c.shared_store, &c.shared_atomic, &c.shared_copy})
    wasted += w->wavefronts - std::min(w->wavefronts, w->ideal_wavefronts);
  return whole(a, wasted);
}

figure lanes_of(a_kernel a, pipe p) {
  return whole(a, counts(a).instructions[static_cast<int>(p)].lanes);
}

double issued(a_kernel a) {
  double all = 0;
  for (const line_profile& l : a.kernel->lines) all += l.stalled.issued;
  return all;
}
double stalled(a_kernel a, stall why) {
  double all = 0;
  for (const line_profile& l : a.kernel->lines) all += l.stalled.of[static_cast<int>(why)];
  return all;
}

void add_time(std::vector<metric>& all) {
  all.push_back({"time_us", "gpu_time", "gpu__time_duration.sum", "us", "time of all launches",
                 [](a_kernel a) { return figure(a.kernel->timing.us); }});
  all.push_back({"time_share", "", "", "%", "share of the time of all kernels",
                 [](a_kernel a) { return in_percent(a.share); }});
  all.push_back({"launches", "", "", "", "launches with this grid and block",
                 [](a_kernel a) { return figure(as_real(a.kernel->launches)); }});
}

void add_compute(std::vector<metric>& all) {
  all.push_back({"ipc", "", "sm__inst_executed.avg.per_cycle_active", "",
                 "instructions per cycle and multiprocessor (0 to 4)",
                 [](a_kernel a) { return figure(4 * busy(a, part::issue)); }});
  all.push_back({"ipc_per_scheduler", "", "smsp__inst_executed.avg.per_cycle_active", "",
                 "instructions per cycle and scheduler (0 to 1)",
                 [](a_kernel a) { return figure(busy(a, part::issue)); }});
  all.push_back({"issue_slot_utilization", "",
                 "smsp__issue_active.avg.pct_of_peak_sustained_active", "%",
                 "cycles in which a scheduler issues",
                 [](a_kernel a) { return in_percent(busy(a, part::issue)); }});
  all.push_back({"inst_executed", "", "smsp__inst_executed.sum", "",
                 "machine instructions executed by warps",
                 [](a_kernel a) { return figure(a.kernel->timing.instructions); }});
  all.push_back({"compute_throughput", "", "sm__throughput.avg.pct_of_peak_sustained_elapsed", "%",
                 "busy time of the busiest: issue slots, ALU pipe or FMA pipe",
                 [](a_kernel a) { return in_percent(a.busy.compute); }});
  all.push_back(
      {"alu_utilization", "", "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active", "%",
       "busy time of the ALU pipe", [](a_kernel a) { return in_percent(busy(a, part::alu)); }});
  all.push_back(
      {"fma_utilization", "", "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active", "%",
       "busy time of the FMA pipe", [](a_kernel a) { return in_percent(busy(a, part::fma)); }});
  all.push_back({"warp_execution_efficiency", "",
                 "smsp__thread_inst_executed_per_inst_executed.pct", "%", "active lanes, of 32",
                 [](a_kernel a) { return in_percent(a.lanes / 32); }});
  all.push_back({"lanes", "", "smsp__thread_inst_executed_per_inst_executed.ratio", "",
                 "active lanes per instruction", [](a_kernel a) { return figure(a.lanes); }});
  all.push_back({"branch_efficiency", "", "smsp__sass_average_branch_targets_threads_uniform.pct",
                 "%", "branches that do not diverge",
                 [](a_kernel a) { return in_percent(1 - a.divergent); }});
  all.push_back({"divergent_branch", "", "", "", "branches that diverge",
                 [](a_kernel a) { return figure(whole(a, counts(a).divergent_branches)); }});
  constexpr struct {
    const char *name, *what;
    pipe of;
  } kinds[] = {{"inst_fp_32", "float", pipe::fp32},
               {"inst_fp_64", "double", pipe::fp64},
               {"inst_integer", "integer", pipe::integer},
               {"inst_bit_convert", "conversion", pipe::conversion},
               {"inst_control", "control", pipe::control},
               {"inst_compute_ld_st", "load and store", pipe::load_store}};
  for (const auto& kind : kinds)
    all.push_back({kind.name, "", "", "", std::string(kind.what) + " instructions of threads, PTX",
                   [p = kind.of](a_kernel a) { return lanes_of(a, p); }});
}

void add_global(std::vector<metric>& all) {
  all.push_back({"gld_efficiency", "",
                 "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", "%",
                 "bytes requested / bytes of the sectors loaded",
                 [](a_kernel a) { return efficiency(counts(a).global_load); }});
  all.push_back({"gst_efficiency", "",
                 "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", "%",
                 "bytes requested / bytes of the sectors stored",
                 [](a_kernel a) { return efficiency(counts(a).global_store); }});
  all.push_back({"gld_excess", "", "", "%", "bytes loaded that no lane requested",
                 [](a_kernel a) { return excess(counts(a).global_load); }});
  all.push_back({"gst_excess", "", "", "%", "bytes stored that no lane requested",
                 [](a_kernel a) { return excess(counts(a).global_store); }});
  all.push_back({"gld_transactions_per_request", "",
                 "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", "",
                 "sectors per load; 4 for 32 neighbouring floats",
                 [](a_kernel a) { return per_request(counts(a).global_load); }});
  all.push_back({"gst_transactions_per_request", "",
                 "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", "",
                 "sectors per store; 4 for 32 neighbouring floats",
                 [](a_kernel a) { return per_request(counts(a).global_store); }});
  all.push_back({"gld_transactions", "", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "",
                 "sectors loaded",
                 [](a_kernel a) { return figure(whole(a, counts(a).global_load.sectors)); }});
  all.push_back({"gst_transactions", "", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "",
                 "sectors of stores",
                 [](a_kernel a) { return figure(whole(a, counts(a).global_store.sectors)); }});
  all.push_back({"gld_request", "", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "",
                 "loads executed by warps",
                 [](a_kernel a) { return figure(whole(a, counts(a).global_load.requests)); }});
  all.push_back({"gst_request", "", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "",
                 "stores executed by warps",
                 [](a_kernel a) { return figure(whole(a, counts(a).global_store.requests)); }});
  all.push_back({"gld_throughput", "", "", "GB/s", "sectors loaded per second", [](a_kernel a) {
                   return per_second(a, bytes_of_sector * whole(a, counts(a).global_load.sectors));
                 }});
  all.push_back({"gst_throughput", "", "", "GB/s", "sectors stored per second", [](a_kernel a) {
                   return per_second(a, bytes_of_sector * whole(a, counts(a).global_store.sectors));
                 }});
}

void add_shared(std::vector<metric>& all) {
  all.push_back({"shared_load_transactions_per_request", "", "", "",
                 "wavefronts per shared load; 1: no conflict",
                 [](a_kernel a) { return per_request(counts(a).shared_load); }});
  all.push_back({"shared_store_transactions_per_request", "", "", "", "wavefronts per shared store",
                 [](a_kernel a) { return per_request(counts(a).shared_store); }});
  all.push_back({"bank_conflicts", "shared_ld_bank_conflict",
                 "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "",
                 "wavefronts of shared memory beyond the ideal",
                 [](a_kernel a) { return figure(conflicts(a)); }});
  all.push_back({"shared_replay_overhead", "", "", "", "bank conflicts per instruction",
                 [](a_kernel a) { return ratio(conflicts(a), a.kernel->timing.instructions); }});
}

void add_levels(std::vector<metric>& all) {
  all.push_back({"memory_throughput", "",
                 "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "%",
                 "busy time of the busiest: L1/shared-memory pipe, L2, DRAM or atomics",
                 [](a_kernel a) { return in_percent(a.busy.memory); }});
  all.push_back({"port_utilization", "tex_utilization",
                 "l1tex__lsuin_requests.avg.pct_of_peak_sustained_active", "%",
                 "busy time of the L1/shared-memory pipe",
                 [](a_kernel a) { return in_percent(busy(a, part::l1_pipe)); }});
  all.push_back({"l2_utilization", "", "lts__t_sectors.avg.pct_of_peak_sustained_elapsed", "%",
                 "busy time of L2 (nvprof: 0 to 10)",
                 [](a_kernel a) { return in_percent(busy(a, part::l2)); }});
  all.push_back({"dram_utilization", "", "dram__throughput.avg.pct_of_peak_sustained_elapsed", "%",
                 "bytes of DRAM over its published bandwidth (nvprof: 0 to 10)",
                 [](a_kernel a) { return in_percent(busy(a, part::dram)); }});
  all.push_back({"global_hit_rate", "", "l1tex__t_sector_hit_rate.pct", "%",
                 "sectors loaded that hit in L1",
                 [](a_kernel a) { return ratio(a.traffic.load_hits, a.traffic.loads, 100); }});
  all.push_back({"l2_tex_hit_rate", "", "lts__t_sector_hit_rate.pct", "%", "sectors that hit in L2",
                 [](a_kernel a) { return ratio(a.traffic.l2_hits, a.traffic.l2_sectors, 100); }});
  all.push_back({"l2_bytes", "", "", "bytes", "bytes requested from L2",
                 [](a_kernel a) { return figure(a.bytes.l2); }});
  all.push_back({"dram_read_bytes", "", "dram__bytes_read.sum", "bytes", "bytes that DRAM reads",
                 [](a_kernel a) { return figure(a.traffic.dram_read_bytes); }});
  all.push_back({"dram_write_bytes", "", "dram__bytes_write.sum", "bytes", "bytes that DRAM writes",
                 [](a_kernel a) { return figure(a.traffic.dram_write_bytes); }});
  all.push_back({"dram_read_throughput", "", "dram__bytes_read.sum.per_second", "GB/s",
                 "bytes that DRAM reads per second",
                 [](a_kernel a) { return per_second(a, a.traffic.dram_read_bytes); }});
  all.push_back({"dram_write_throughput", "", "dram__bytes_write.sum.per_second", "GB/s",
                 "bytes that DRAM writes per second",
                 [](a_kernel a) { return per_second(a, a.traffic.dram_write_bytes); }});
}

void add_occupancy(std::vector<metric>& all) {
  all.push_back({"theoretical_occupancy", "", "sm__maximum_warps_per_active_cycle_pct", "%",
                 "warps of the blocks that fit",
                 [](a_kernel a) { return in_percent(a.theoretical_occupancy); }});
  all.push_back({"achieved_occupancy", "", "sm__warps_active.avg.pct_of_peak_sustained_active", "%",
                 "average resident warps (nvprof: 0 to 1)",
                 [](a_kernel a) { return in_percent(a.achieved_occupancy); }});
  all.push_back({"registers", "", "launch__registers_per_thread", "", "registers per thread",
                 [](a_kernel a) { return figure(a.kernel->registers); }});
  all.push_back({"shared_bytes", "", "", "bytes", "shared memory per block", [](a_kernel a) {
                   return figure(
                       as_real(a.kernel->static_shared_bytes + a.kernel->dynamic_shared_bytes));
                 }});
}

std::string per_issue_of_ncu(const char* reason) {
  return std::string("smsp__average_warps_issue_stalled_") + reason + "_per_issue_active.ratio";
}

void add_stalls(std::vector<metric>& all) {
  struct names {
    stall why;
    const char *name, *ncu;  // suffix of "smsp__average_warps_issue_stalled_"; "": none
  };
  const names reasons[] = {{stall::memory_dependency, "stall_memory_dependency", "long_scoreboard"},
                           {stall::execution_dependency, "stall_exec_dependency", "wait"},
                           {stall::shared_dependency, "stall_shared_dependency", ""},
                           {stall::special_functions, "stall_special_functions", ""},
                           {stall::synchronization, "stall_sync", "barrier"},
                           {stall::memory_throttle, "stall_memory_throttle", "lg_throttle"},
                           {stall::pipe_busy, "stall_pipe_busy", "math_pipe_throttle"},
                           {stall::instruction_fetch, "stall_inst_fetch", "no_instruction"},
                           {stall::not_selected, "stall_not_selected", "not_selected"}};
  for (const names& n : reasons)
    all.push_back({n.name, "", "", "%", std::string("of all stalls: ") + name_of(n.why),
                   [why = n.why](a_kernel a) { return in_percent(a.stall_of(why)); }});
  for (const names& n : reasons)
    all.push_back({std::string(n.name) + "_per_issue", "",
                   *n.ncu != 0 ? per_issue_of_ncu(n.ncu) : "", "",
                   std::string("stalled warps per issuing warp: ") + name_of(n.why),
                   [why = n.why](a_kernel a) { return ratio(stalled(a, why), issued(a)); }});
  // ncu counts both stalls as one reason.
  all.push_back({"stall_short_scoreboard_per_issue", "", per_issue_of_ncu("short_scoreboard"), "",
                 "stalled warps per issuing warp: shared, special", [](a_kernel a) {
                   return ratio(
                       stalled(a, stall::shared_dependency) + stalled(a, stall::special_functions),
                       issued(a));
                 }});
}

}  // namespace

const std::vector<metric>& all_metrics() {
  static const std::vector<metric> all = [] {
    std::vector<metric> list;
    add_time(list);
    add_compute(list);
    add_global(list);
    add_shared(list);
    add_levels(list);
    add_occupancy(list);
    add_stalls(list);
    return list;
  }();
  return all;
}

const metric* find_metric(std::string_view name) {
  const auto& all = all_metrics();
  if (name.empty()) return nullptr;
  const auto found = std::ranges::find_if(
      all, [&](const metric& m) { return m.name == name || m.older == name || m.ncu == name; });
  return found != all.end() ? &*found : nullptr;
}

std::string why_no_metric(std::string_view name) {
  if (name == "inst_replay_overhead" || name == "global_replay_overhead")
    return "since Maxwell the L1/shared-memory pipe repeats an access internally, and no "
           "instruction is issued again; use gld_transactions_per_request or bank_conflicts";
  if (name == "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum")
    return "use shared_load_transactions_per_request";
  return {};
}

}  // namespace stepwise
