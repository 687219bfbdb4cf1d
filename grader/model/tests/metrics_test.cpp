// Tests each metric with hand-made counts: the formula, the unit, and the cases without a value.
#include "grader/model/metrics.hpp"

#include <doctest/doctest.h>

#include <set>

#include "grader/model/tests/made_profiles.hpp"

using namespace stepwise;

namespace {

// 4 us, with half of the blocks counted; loads of 8 sectors where 2 would do; bank conflicts;
// stalls.
kernel_profile example() {
  kernel_profile k = kernel_of(4);
  line_profile& l = add_line(k, 7);
  l.counts.global_load = sectors(100, 800, 200);
  l.counts.global_load.l1_hits = 200;
  l.counts.global_load.l2_sectors = 600;
  l.counts.global_load.l2_hits = 150;
  l.counts.global_load.dram_read_bytes = 4000;
  l.counts.shared_load = wavefronts(10, 40, 10);
  l.counts.branches = 10;
  l.counts.divergent_branches = 1;
  l.counts.instructions[static_cast<int>(pipe::fp32)] = {10, 160};
  l.stalled.of[static_cast<int>(stall::memory_dependency)] = 60;
  l.stalled.of[static_cast<int>(stall::synchronization)] = 20;
  l.stalled.of[static_cast<int>(stall::shared_dependency)] = 10;
  l.stalled.of[static_cast<int>(stall::special_functions)] = 30;
  l.stalled.issued = 20;
  sum_up(k);
  set_busy(k, part::issue, 0.25);
  set_busy(k, part::dram, 0.5);
  k.timing.instructions = 600;
  k.timing.active_warps = 16;
  k.timing.counted = 0.5;
  k.launches = 2;
  return k;
}

double value(std::string_view name) {
  const kernel_profile k = example();
  const metric* const m = find_metric(name);
  REQUIRE(m != nullptr);
  const auto v = m->of(analyse(k, 8, 132));
  REQUIRE(v);
  return *v;
}

}  // namespace

TEST_CASE("metrics: formulas, by the names that each profiler uses") {
  CHECK(value("time_us") == 4);
  CHECK(value("time_share") == 50);
  CHECK(value("ipc") == 1);
  CHECK(value("smsp__inst_executed.avg.per_cycle_active") == 0.25);
  CHECK(value("gld_efficiency") == 25);
  CHECK(value("gld_excess") == 75);
  CHECK(value("gld_transactions_per_request") == 8);
  CHECK(value("gld_transactions") == 1600);  // for the whole launch
  CHECK(value("gld_throughput") == doctest::Approx(12.8));
  CHECK(value("global_hit_rate") == 25);
  CHECK(value("l2_tex_hit_rate") == 25);
  CHECK(value("dram_read_bytes") == 8000);
  CHECK(value("dram__bytes_read.sum.per_second") == 2);
  CHECK(value("dram_utilization") == 50);
  CHECK(value("shared_load_transactions_per_request") == 4);
  CHECK(value("bank_conflicts") == 60);
  CHECK(value("shared_replay_overhead") == doctest::Approx(0.1));
  CHECK(value("branch_efficiency") == 90);
  CHECK(value("warp_execution_efficiency") == 50);
  CHECK(value("smsp__thread_inst_executed_per_inst_executed.ratio") == 16);
  CHECK(value("inst_fp_32") == 320);
  CHECK(value("achieved_occupancy") == 25);
  CHECK(value("sm__warps_active.avg.pct_of_peak_sustained_active") == 25);
  CHECK(value("stall_memory_dependency") == 50);
  CHECK(value("stall_special_functions") == 25);
  CHECK(value("stall_special_functions_per_issue") == 1.5);
  CHECK(value("smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio") == 2);
  CHECK(value("smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio") == 3);
  CHECK(value("stall_sync_per_issue") == 1);
}

TEST_CASE("metrics: without any operation to count there is no value, rather than 0") {
  const kernel_profile k = example();
  const kernel_analysis a = analyse(k, 8, 132);
  CHECK(!find_metric("gst_efficiency")->of(a));
  CHECK(!find_metric("shared_store_transactions_per_request")->of(a));
}

TEST_CASE("metrics: no name has two meanings, and each metric has a description of one line") {
  std::set<std::string> names;
  for (const metric& m : all_metrics()) {
    CAPTURE(m.name);
    for (const std::string* one : {&m.name, &m.older, &m.ncu})
      if (!one->empty()) CHECK(names.insert(*one).second);
    CHECK(!m.what.empty());
    CHECK(m.what.size() <= 75);
  }
  CHECK(find_metric("") == nullptr);
  CHECK(find_metric("ip") == nullptr);
  CHECK(!why_no_metric("inst_replay_overhead").empty());
  CHECK(why_no_metric("ipc").empty());
}
