// Tests that ncu's output is read and its error messages are understood.
#include "grader/validation/ncu.hpp"

#include <doctest/doctest.h>

#include <string>

#include "grader/system/failure.hpp"
#include "grader/validation/hardware_profile.hpp"

using namespace stepwise;

namespace {

// Captured from ncu 2025.3.1 on an NVIDIA H200, with fewer columns.
const std::string page =
    R"page(==WARNING== Note: Running with unmodified GPU clocks. If not controlled otherwise, profiling results may be inconsistent.
==PROF== Connected to process 6259 (/tmp/r_07_grid_stride)
1000 2997 2997 no error
"ID","Process Name","Kernel Name","Block Size","Grid Size","CC","device__attribute_display_name","l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum","launch__func_cache_config","launch__registers_per_thread","launch__shared_mem_per_block_dynamic","sm__maximum_warps_per_active_cycle_pct"
"","","","","","","","","sector","","register/thread","byte/block","%"
"2","r_07_grid_stride","void reduce_kernel<256>(const int *, int *, int)","(256, 1, 1)","(128, 1, 1)","9.0","NVIDIA H200","2,048","8,192","CachePreferNone","16","0","100"
"3","r_07_grid_stride","void reduce_kernel<256>(const int *, int *, int)","(256, 1, 1)","(1, 1, 1)","9.0","NVIDIA H200","4","16","CachePreferNone","16","0","100"
==PROF== Disconnected from process 6259
)page";

}  // namespace

TEST_CASE("a page of ncu is read") {
  const auto launches = parse_ncu_page(page);
  REQUIRE(launches.size() == 2);
  CHECK(launches[0].mangled == "void reduce_kernel<256>(const int *, int *, int)");
  CHECK(launches[0].grid.x == 128);
  CHECK(launches[0].block.x == 256);
  CHECK(launches[0].block.z == 1);
  CHECK(launches[0].metrics.at("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum") == 8192);
  CHECK(launches[1].metrics.at("sm__maximum_warps_per_active_cycle_pct") == 100);
  CHECK(launches[1].metrics.count("launch__func_cache_config") == 0);
  CHECK(ncu_trouble(page).empty());
}

TEST_CASE("a truncated page is refused, and an empty page has no launches") {
  const std::string torn = page.substr(0, page.rfind("\"CachePreferNone\"")) + "\n";
  CHECK_THROWS_AS(parse_ncu_page(torn), failure);
  CHECK(parse_ncu_page("==PROF== Connected to process 1 (/tmp/x)\n").empty());
}

TEST_CASE("the reason why ncu does not count is reported") {
  CHECK(ncu_trouble("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access "
                    "NVIDIA GPU Performance Counters on the target device 0.\n")
            .find("not permitted") != std::string::npos);
  CHECK(ncu_trouble("==PROF== Connected\n==ERROR== Failed to profile \"k\" in process 4\n") ==
        "ncu: Failed to profile \"k\" in process 4");
  CHECK(ncu_trouble("==WARNING== No kernels were profiled.\n") == "ncu saw no kernel");
}

TEST_CASE("a profile from ncu's launches: sums, and fractions weighted by time") {
  const auto launch = [](double us, double l2) {
    ncu_launch l;
    l.mangled = "_Z1kPf";
    l.grid = {10, 1, 1};
    l.block = {256, 1, 1};
    l.metrics = {{"gpu__time_duration.sum", 1000 * us},
                 {"smsp__inst_executed.sum", 50},
                 {"lts__throughput.avg.pct_of_peak_sustained_elapsed", l2},
                 {"sm__warps_active.avg.pct_of_peak_sustained_active", 50},
                 {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", 10},
                 {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 320},
                 {"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", 12.5},
                 {"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", 6},
                 {"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", 2},
                 {"launch__occupancy_limit_warps", 8},
                 {"launch__occupancy_limit_registers", 4},
                 {"launch__occupancy_limit_shared_mem", 16},
                 {"launch__occupancy_limit_blocks", 32}};
    return l;
  };
  const auto kernels = profile_of({launch(1, 20), launch(3, 60)}, *find_gpu("h200"));
  REQUIRE(kernels.size() == 1);
  const kernel_profile& k = kernels[0];
  CHECK(k.kernel == "k");
  CHECK(k.launches == 2);
  CHECK(k.timing.us == doctest::Approx(4));
  CHECK(k.timing.busy[static_cast<int>(part::l2)] == doctest::Approx(0.5));
  CHECK(k.timing.active_warps == doctest::Approx(32));
  CHECK(k.timing.counted == 1);
  CHECK(k.fits.blocks == 4);
  CHECK(k.fits.by_registers);
  CHECK(k.resident_warps == 32);
  CHECK(k.total.global_store.sectors == 640);
  CHECK(k.total.global_store.ideal_sectors == 80);
  const line_profile& all = k.lines.at(0);
  CHECK(all.stalled.of[static_cast<int>(stall::memory_dependency)] == doctest::Approx(600));
  CHECK(all.stalled.of[static_cast<int>(stall::synchronization)] == doctest::Approx(200));
  auto other = launch(1, 20);
  other.grid.x = 11;
  CHECK(profile_of({launch(1, 20), other}, *find_gpu("h200")).size() == 2);
}
