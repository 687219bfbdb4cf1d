// The glossary's table, and three ways to show it.
#include "grader/cli/text/glossary.hpp"

#include <fmt/format.h>

#include "grader/cli/text/page.hpp"

namespace stepwise::cli {
namespace {

constexpr glossary_entry entries[] = {
    {"IPC, instructions per cycle", "ipc", "smsp__inst_executed.avg.per_cycle_active",
     "instructions that warps executed / cycles in which a multiprocessor (ncu: a quarter of one) "
     "had warps; Fermi: at most 2, since Volta at most 1 per scheduler, of which there are 4",
     "4 x \"issue slots\""},
    {"issue slot utilization", "issue_slot_utilization",
     "smsp__issue_active.avg.pct_of_peak_sustained_active",
     "cycles in which a scheduler issued / cycles", "\"issue slots\" (busy: issue)"},
    {"instruction throughput", "instruction throughput (1.x)",
     "sm__throughput.avg.pct_of_peak_sustained_elapsed",
     "throughput of compute as a share of its peak: the busiest of its parts",
     "\"compute\": the busiest of issue slots, ALU pipe, FMA pipe"},
    {"memory utilization", "dram_utilization, l2_utilization",
     "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
     "throughput of memory as a share of its peak: the busiest of its parts",
     "\"memory\": the busiest of L1/shared-memory pipe, L2, DRAM, atomics"},
    {"replayed instructions", "inst_replay_overhead", "",
     "(issued - executed) / executed: on old GPUs an access that took several passes was issued "
     "again for each pass; since Maxwell the L1/shared-memory pipe repeats it internally",
     "sectors and wavefronts beyond the ideal; stalls: memory throttle"},
    {"shared bank conflict replay", "shared_replay_overhead",
     "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
     "passes over shared memory beyond those without conflicts / instructions",
     "bank conflicts (wasted wavefronts)"},
    {"bank conflicts per shared instruction", "shared_load_transactions_per_request",
     "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum / requests",
     "wavefronts / requests; the ideal is 1 for words of 4 bytes",
     "wavefronts per request, by line"},
    {"divergent branches", "branch_efficiency (1 - share)",
     "smsp__sass_average_branch_targets_threads_uniform.pct (1 - share)",
     "branches at which the lanes of a warp diverge / branches executed by warps",
     "\"divergent\", by line"},
    {"control flow divergence", "warp_execution_efficiency",
     "smsp__thread_inst_executed_per_inst_executed.ratio",
     "average number of active lanes per instruction, of 32",
     "\"lanes\", warp efficiency = lanes / 32"},
    {"global load efficiency", "gld_efficiency",
     "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
     "bytes that the lanes requested / bytes of the sectors transferred",
     "ideal / per request of a \"global load\" (where the ideal is full sectors)"},
    {"global store efficiency", "gst_efficiency",
     "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", "the same for stores",
     "ideal / per request of a \"global store\""},
    {"global memory excess load, store", "1 - gld_efficiency, 1 - gst_efficiency", "",
     "bytes transferred that no lane requested / bytes transferred",
     "1 - ideal / per request; \"waste\" is a line's share of it"},
    {"transactions per access", "gld_transactions_per_request",
     "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
     "sectors of 32 bytes / requests of warps; 4 for 32 neighbouring floats",
     "sectors per request, by line"},
    {"L1 hit ratio", "global_hit_rate", "l1tex__t_sector_hit_rate.pct",
     "sectors found in L1 / sectors requested from it",
     "./lab run LAB --counters; l1_hits with --json"},
    {"L2 hit ratio", "l2_tex_hit_rate", "lts__t_sector_hit_rate.pct",
     "sectors found in L2 / sectors requested from it",
     "./lab run LAB --counters; l2_hits with --json"},
    {"DRAM throughput", "dram_read_throughput, dram_write_throughput",
     "dram__bytes_read.sum.per_second, dram__bytes_write.sum.per_second",
     "bytes that memory reads or writes / time", "\"DRAM\": bytes, and busy"},
    {"theoretical occupancy", "(occupancy calculator)", "sm__maximum_warps_per_active_cycle_pct",
     "warps of the resident blocks / warps that a multiprocessor can hold",
     "theoretical occupancy; ./lab occupancy"},
    {"achieved occupancy", "achieved_occupancy",
     "sm__warps_active.avg.pct_of_peak_sustained_active",
     "resident warps, averaged over busy cycles / warps that a multiprocessor can hold",
     "achieved occupancy"},
    {"stalls: memory dependency", "stall_memory_dependency",
     "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
     "warps that wait for a load from global or local memory", "stalls: memory dependency"},
    {"stalls: execution dependency", "stall_exec_dependency",
     "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio",
     "warps that wait for arithmetic", "stalls: execution dependency"},
    {"stalls: shared dependency", "stall_exec_dependency",
     "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio",
     "warps that wait for shared memory or a shuffle; ncu counts special functions there, too",
     "stalls: shared dependency"},
    {"stalls: special functions", "stall_exec_dependency",
     "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio",
     "warps that wait for sin, exp, rsqrt, a quotient; ncu counts shared memory there, too",
     "stalls: special functions"},
    {"stalls: synchronization", "stall_sync",
     "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
     "warps that wait at the block's barrier", "stalls: synchronization"},
    {"stalls: memory throttle", "stall_memory_throttle",
     "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio, ..._mio_throttle_...",
     "warps that cannot issue an access because too many accesses are queued",
     "stalls: memory throttle"},
    {"stalls: pipe busy", "stall_pipe_busy",
     "smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio",
     "warps whose next instruction needs a busy pipe", "stalls: pipe busy"},
    {"stalls: instruction fetch", "stall_inst_fetch",
     "smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio, "
     "..._branch_resolving_...",
     "warps whose next instruction has not been fetched yet", "stalls: instruction fetch"},
    {"stalls: not selected", "stall_not_selected",
     "smsp__average_warps_issue_stalled_not_selected_per_issue_active.ratio",
     "warps that are ready while another warp issues: there is enough work",
     "stalls: not selected"},
};

std::string or_none(const char* text) { return *text != '\0' ? text : "none"; }

}  // namespace

std::span<const glossary_entry> glossary() { return entries; }

std::vector<std::string> glossary_lines(const terminal_style& style) {
  page p(style);
  for (const glossary_entry& e : entries) {
    p.line(style.paint(tone::strong, e.name));
    p.labelled("is     ", e.formula);
    p.labelled("here   ", e.ours);
    p.labelled("older  ", e.older, tone::dim);
    // An ncu name takes nearly the whole line.
    p.labelled("ncu    ", *e.ncu != '\0' ? "" : "none", tone::dim);
    if (*e.ncu != '\0') p.labelled("  ", e.ncu, tone::dim);
    p.line();
  }
  return p.take();
}

std::string glossary_markdown() {
  std::string text =
      "# Glossary of the profilers' metrics\n\n"
      "The metrics of lectures and older profilers, their names in Nsight Compute (ncu) today, "
      "and\n"
      "where `lab profile` shows them. `./lab profile --glossary` prints the same table. Its "
      "source is\n"
      "[cli/text/glossary.cpp](cli/text/glossary.cpp), this file is `./lab profile --glossary "
      "--markdown`,\n"
      "and a test compares them. The values of `lab profile` are modelled, and labelled as "
      "such.\n\n"
      "| metric | nvprof, visual profiler | ncu | is | lab profile |\n"
      "|---|---|---|---|---|\n";
  for (const glossary_entry& e : entries)
    text += fmt::format("| {} | {} | {} | {} | {} |\n", e.name, e.older, or_none(e.ncu), e.formula,
                        e.ours);
  return text;
}

json glossary_json() {
  json all = json::array();
  for (const glossary_entry& e : entries)
    all.push_back({{"name", e.name},
                   {"older", e.older},
                   {"ncu", *e.ncu != '\0' ? json(e.ncu) : json(nullptr)},
                   {"formula", e.formula},
                   {"ours", e.ours}});
  return all;
}

}  // namespace stepwise::cli
