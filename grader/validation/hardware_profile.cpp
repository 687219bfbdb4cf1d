// Maps ncu's metrics to the profile, and combines several launches into one kernel.
#include "grader/validation/hardware_profile.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <tuple>
#include <utility>

#include "common/device/memory_rules.hpp"
#include "common/device/names.hpp"
#include "grader/system/failure.hpp"

namespace stepwise {
namespace {

constexpr const char* time_ns = "gpu__time_duration.sum";
constexpr const char* executed = "smsp__inst_executed.sum";
constexpr const char* warps_active = "sm__warps_active.avg.pct_of_peak_sustained_active";
constexpr const char* dynamic_shared = "launch__shared_mem_per_block_dynamic";
constexpr const char* compute_of_light = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char* memory_of_light =
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char* lanes_of_instructions = "smsp__thread_inst_executed_per_inst_executed.ratio";

struct part_metric {
  part of;
  const char* name;  // in percent
};
constexpr part_metric parts[] = {
    {part::issue, "smsp__issue_active.avg.pct_of_peak_sustained_active"},
    {part::alu, "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active"},
    {part::fma, "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active"},
    {part::l1_pipe, "l1tex__throughput.avg.pct_of_peak_sustained_active"},
    {part::l2, "lts__throughput.avg.pct_of_peak_sustained_elapsed"},
    {part::dram, "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"}};

struct stall_metric {
  stall of;
  const char* name;  // within smsp__average_warps_issue_stalled_..._per_issue_active.ratio
};
constexpr stall_metric reasons[] = {{stall::memory_dependency, "long_scoreboard"},
                                    {stall::shared_dependency, "short_scoreboard"},
                                    {stall::execution_dependency, "wait"},
                                    {stall::execution_dependency, "dispatch_stall"},
                                    {stall::synchronization, "barrier"},
                                    {stall::synchronization, "membar"},
                                    {stall::memory_throttle, "lg_throttle"},
                                    {stall::memory_throttle, "mio_throttle"},
                                    {stall::memory_throttle, "drain"},
                                    {stall::pipe_busy, "math_pipe_throttle"},
                                    {stall::instruction_fetch, "no_instruction"},
                                    {stall::instruction_fetch, "branch_resolving"},
                                    {stall::not_selected, "not_selected"}};
std::string stall_name(const char* reason) {
  return std::string("smsp__average_warps_issue_stalled_") + reason + "_per_issue_active.ratio";
}

struct pipe_metric {
  pipe of;
  const char* name;  // of lanes (threads)
};
constexpr pipe_metric pipe_lanes[] = {
    {pipe::fp32, "smsp__sass_thread_inst_executed_op_fp32_pred_on.sum"},
    {pipe::fp64, "smsp__sass_thread_inst_executed_op_fp64_pred_on.sum"},
    {pipe::half, "smsp__sass_thread_inst_executed_op_fp16_pred_on.sum"},
    {pipe::integer, "smsp__sass_thread_inst_executed_op_integer_pred_on.sum"},
    {pipe::conversion, "smsp__sass_thread_inst_executed_op_conversion_pred_on.sum"},
    {pipe::load_store, "smsp__sass_thread_inst_executed_op_memory_pred_on.sum"},
    {pipe::control, "smsp__sass_thread_inst_executed_op_control_pred_on.sum"}};

double value(const ncu_launch& l, const std::string& name) {
  const auto found = l.metrics.find(name);
  return found != l.metrics.end() ? found->second : 0;
}
std::uint64_t count(double n) { return static_cast<std::uint64_t>(std::llround(std::max(n, 0.0))); }

sector_counts sectors_of(const ncu_launch& l, const std::string& kind) {
  const std::string global = "_pipe_lsu_mem_global_op_" + kind;
  sector_counts c;
  c.requests = count(value(l, "l1tex__t_requests" + global + ".sum"));
  c.sectors = count(value(l, "l1tex__t_sectors" + global + ".sum"));
  // The fraction of their bytes that was requested. Some versions of ncu lack this figure.
  const double used =
      value(l, "smsp__sass_average_data_bytes_per_sector_mem_global_op_" + kind + ".pct");
  c.ideal_sectors = count(static_cast<double>(c.sectors) * used / 100);
  return c;
}

wavefront_counts wavefronts_of(const ncu_launch& l, const std::string& kind) {
  wavefront_counts c;
  c.requests = count(value(l, "smsp__sass_inst_executed_op_shared_" + kind + ".sum"));
  const double all =
      value(l, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_" + kind + ".sum");
  c.wavefronts = count(all);
  const double conflicts =
      value(l, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_" + kind + ".sum");
  c.ideal_wavefronts = count(all - std::min(conflicts, all));
  return c;
}

profile_counts counts_of(const ncu_launch& l) {
  profile_counts c;
  c.global_load = sectors_of(l, "ld");
  c.global_store = sectors_of(l, "st");
  // ncu reports L2 and DRAM traffic for all accesses together.
  c.global_load.l1_hits =
      count(value(l, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum"));
  c.global_load.l2_sectors = count(value(l, "lts__t_sectors_srcunit_tex.sum"));
  c.global_load.l2_hits = count(value(l, "lts__t_sectors_srcunit_tex_lookup_hit.sum"));
  c.global_load.dram_read_bytes = count(value(l, "dram__bytes_read.sum"));
  c.global_store.dram_write_bytes = count(value(l, "dram__bytes_write.sum"));
  c.shared_load = wavefronts_of(l, "ld");
  c.shared_store = wavefronts_of(l, "st");
  const double lanes = std::max(value(l, lanes_of_instructions), 1.0);
  for (const pipe_metric& p : pipe_lanes) {
    const double all = value(l, p.name);
    c.instructions[static_cast<int>(p.of)] = {count(all / lanes), count(all)};
  }
  c.branches = count(value(l, "smsp__sass_branch_targets.sum"));
  c.divergent_branches = count(value(l, "smsp__sass_branch_targets_threads_divergent.sum"));
  return c;
}

occupancy fits_of(const ncu_launch& l) {
  const auto limit = [&](const char* name) {
    return static_cast<int>(value(l, std::string("launch__occupancy_limit_") + name));
  };
  const int warps = limit("warps"), registers = limit("registers"), shared = limit("shared_mem"),
            blocks = limit("blocks");
  occupancy o;
  o.blocks = std::min({warps, registers, shared, blocks});
  o.by_warps = warps == o.blocks;
  o.by_registers = registers == o.blocks;
  o.by_shared = shared == o.blocks;
  o.by_blocks = blocks == o.blocks;
  return o;
}

kernel_profile new_kernel(const ncu_launch& l, const gpu& model) {
  kernel_profile k;
  k.kernel = readable_name(l.mangled);
  k.mangled = l.mangled;
  k.grid = l.grid;
  k.block = l.block;
  k.registers = static_cast<int>(value(l, "launch__registers_per_thread"));
  k.static_shared_bytes = count(value(l, "launch__shared_mem_per_block_static"));
  k.dynamic_shared_bytes = count(value(l, dynamic_shared));
  k.fits = fits_of(l);
  k.l2_bytes = model.l2_bytes;
  k.l1_bytes = l1_bytes_beside(model, k.static_shared_bytes + k.dynamic_shared_bytes,
                               static_cast<std::uint64_t>(std::max(1, k.fits.blocks)));
  k.most_warps = model.max_threads_per_multiprocessor / model.warp_size;
  const auto warps_of_block = static_cast<int>((volume(l.block) + 31) / 32);
  k.resident_warps = k.fits.blocks * warps_of_block;
  line_profile& all = k.lines.emplace_back();
  all.at.text = "(the whole kernel)";
  return k;
}

// Executed warp instructions of a kernel's machine code, by kind.
struct executed_kinds {
  bool has_machine_code = false;
  double special = 0, shared = 0;

  executed_kinds& operator+=(const ncu_line& l) {
    has_machine_code = has_machine_code || l.has_machine_code;
    special += l.special;
    shared += l.shared;
    return *this;
  }
};

// Keeps the samples of a line, as one stall cycle each, until all samples are known.
void add_lines(kernel_profile& k, const ncu_launch& l) {
  for (const ncu_line& from : l.lines) {
    const std::string file = from.path.substr(from.path.rfind('/') + 1);
    auto found = std::ranges::find_if(k.lines, [&](const line_profile& known) {
      return known.path == from.path && known.at.line == from.line;
    });
    if (found == k.lines.end()) {
      line_profile fresh;
      fresh.at = {file, from.line, from.text, {}};
      fresh.path = from.path;
      found = k.lines.insert(k.lines.end(), std::move(fresh));
    }
    found->counts += from.counts;
    found->stalled.issued += from.instructions;
    for (int s = 0; s < stalls; ++s)
      found->stalled.of[s] += from.samples[static_cast<std::size_t>(s)];
  }
}

// ncu counts waiting for special functions and for shared memory as one reason. The kernel's
// instructions decide which reason it is. If the kernel has both kinds, or its instructions are
// unknown, the reason remains undecided.
void name_short_scoreboard(kernel_profile& k, const executed_kinds& of) {
  const bool has_shared =
      of.shared > 0 || k.total.shared_load.requests + k.total.shared_store.requests > 0;
  if (of.has_machine_code && of.special == 0) return;
  if (!of.has_machine_code || has_shared) {
    k.timing.special_in_shared = true;
    return;
  }
  for (line_profile& l : k.lines)
    l.stalled.of[static_cast<int>(stall::special_functions)] +=
        std::exchange(l.stalled.of[static_cast<int>(stall::shared_dependency)], 0.0);
}

// The kernel's stalls are counted, and their distribution over lines is sampled.
void distribute_stalls(kernel_profile& k, const stall_cycles& all) {
  for (int s = 0; s < stalls; ++s) {
    double samples = 0;
    for (const line_profile& l : k.lines) samples += l.stalled.of[s];
    for (line_profile& l : k.lines)
      l.stalled.of[s] = samples > 0 ? l.stalled.of[s] / samples * all.of[s] : 0;
  }
}

// Sums fractions weighted by their time. finish() divides.
void add(kernel_profile& k, const ncu_launch& l) {
  const double us = value(l, time_ns) / 1000;
  ++k.launches;
  k.timing.us += us;
  k.timing.instructions += value(l, executed);
  for (const part_metric& p : parts)
    k.timing.busy[static_cast<int>(p.of)] += us * value(l, p.name) / 100;
  k.timing.active_warps += us * value(l, warps_active) / 100 * k.most_warps;
  line_profile& all = k.lines.front();
  all.counts += counts_of(l);
  all.stalled.issued += value(l, executed);
  for (const stall_metric& s : reasons)
    all.stalled.of[static_cast<int>(s.of)] += value(l, executed) * value(l, stall_name(s.name));
  add_lines(k, l);
}

void finish(kernel_profile& k, const executed_kinds& of) {
  if (k.timing.us > 0) {
    for (double& share : k.timing.busy) share /= k.timing.us;
    k.timing.active_warps /= k.timing.us;
  }
  const line_profile whole = k.lines.front();
  k.total = whole.counts;
  if (k.lines.size() == 1) return name_short_scoreboard(k, of);
  k.lines.erase(k.lines.begin());
  distribute_stalls(k, whole.stalled);
  name_short_scoreboard(k, of);
  // Kernel files come before headers, so the first line's file is the kernel's.
  const auto place = [](const line_profile& l) {
    return std::tuple(!l.path.ends_with(".cu"), std::string_view(l.path), l.at.line);
  };
  std::ranges::sort(k.lines, {}, place);
}

bool is_launch_of(const ncu_launch& l, const kernel_profile& k) {
  const auto same = [](const extent& x, const extent& y) {
    return x.x == y.x && x.y == y.y && x.z == y.z;
  };
  return k.mangled == l.mangled && same(k.grid, l.grid) && same(k.block, l.block) &&
         k.dynamic_shared_bytes == count(value(l, dynamic_shared));
}

}  // namespace

std::vector<std::string> needed_metrics() {
  std::vector<std::string> names = {
      time_ns,
      executed,
      warps_active,
      "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
      "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
      "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
      "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
      "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
      "lts__t_sectors_srcunit_tex.sum",
      "lts__t_sectors_srcunit_tex_lookup_hit.sum",
      "dram__bytes_read.sum",
      "dram__bytes_write.sum",
      "smsp__sass_inst_executed_op_shared_ld.sum",
      "smsp__sass_inst_executed_op_shared_st.sum",
      "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
      "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
      "launch__registers_per_thread",
      "launch__shared_mem_per_block_static",
      dynamic_shared,
      "launch__occupancy_limit_warps",
      "launch__occupancy_limit_registers",
      "launch__occupancy_limit_shared_mem",
      "launch__occupancy_limit_blocks"};
  for (const part_metric& p : parts)
    if (p.of != part::alu && p.of != part::fma) names.emplace_back(p.name);
  for (const stall_metric& s : reasons) names.push_back(stall_name(s.name));
  return names;
}

std::vector<std::string> further_metrics() {
  std::vector<std::string> names = {compute_of_light,
                                    memory_of_light,
                                    lanes_of_instructions,
                                    "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
                                    "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct",
                                    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
                                    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
                                    "smsp__sass_branch_targets.sum",
                                    "smsp__sass_branch_targets_threads_divergent.sum"};
  for (const part_metric& p : parts)
    if (p.of == part::alu || p.of == part::fma) names.emplace_back(p.name);
  for (const pipe_metric& p : pipe_lanes) names.emplace_back(p.name);
  return names;
}

std::vector<kernel_profile> profile_of(const std::vector<ncu_launch>& launches, const gpu& model) {
  std::vector<kernel_profile> kernels;
  for (const ncu_launch& l : launches) {
    auto found =
        std::ranges::find_if(kernels, [&](const kernel_profile& k) { return is_launch_of(l, k); });
    if (found == kernels.end()) found = kernels.insert(kernels.end(), new_kernel(l, model));
    add(*found, l);
  }
  for (kernel_profile& k : kernels) {
    executed_kinds of;
    for (const ncu_launch& l : launches)
      if (is_launch_of(l, k))
        for (const ncu_line& line : l.lines) of += line;
    finish(k, of);
  }
  return kernels;
}

busy_shares speed_of_light(const std::vector<ncu_launch>& launches, const kernel_profile& of) {
  busy_shares light;
  double ns = 0;
  for (const ncu_launch& l : launches) {
    if (!is_launch_of(l, of)) continue;
    ns += value(l, time_ns);
    light.compute += value(l, time_ns) * value(l, compute_of_light) / 100;
    light.memory += value(l, time_ns) * value(l, memory_of_light) / 100;
  }
  if (ns <= 0) return {};
  light.compute /= ns;
  light.memory /= ns;
  return light;
}

std::vector<ncu_launch> profile_under_ncu(const std::vector<std::string>& command,
                                          const device_choice& device, const activity& now,
                                          ncu_lines lines) {
  const std::string ncu = find_ncu();
  auto all = needed_metrics();
  for (const std::string& name : further_metrics()) all.push_back(name);
  try {
    return run_under_ncu(ncu, command, device, all, now, lines);
  } catch (const failure& why) {
    const std::string words = why.what();
    if (words.find("Failed to find metric") == words.npos) throw;
  }
  return run_under_ncu(ncu, command, device, needed_metrics(), now, lines);
}

}  // namespace stepwise
