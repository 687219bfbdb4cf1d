// The lines of ncu's source page: the counts of each line, per launch.
#include "grader/validation/ncu_source.hpp"

#include <doctest/doctest.h>

#include <string>

#include "grader/system/failure.hpp"
#include "grader/validation/hardware_profile.hpp"

using namespace stepwise;

namespace {

// Captured from ncu 2025.3.1 on an NVIDIA H100, with fewer columns, rows and launches.
const std::string captured_source =
    R"page(==PROF== Connected to process 580 (/course/build/grader/lab)
"File Path","/course/solutions/reduction/02_strided.cu"
"Function Name","reduce_kernel(const int *, int *, int)"
"Line No","Source","Address","Source","Instructions Executed","Predicated-On Thread Instructions Executed","Address Space","Access Operation","L1 Tag Requests Global","L1 Wavefronts Shared","L1 Wavefronts Shared Ideal","L2 Theoretical Sectors Global","L2 Theoretical Sectors Global Ideal","stall_barrier","stall_long_sb","stall_short_sb"
"21","partial[tid] = i < n ? in[i] : 0;","-","-","22528","720896","Global,Shared","Load,Store","2048","2048","2048","8192","8192","0","43","13"
"","","0x7f006b7ac2b0","@!P0  LDG.E R0, desc[UR8][R2.64]","2048","65536","Global","Load","2048","0","0","8192","8192","0","0","0"
"","","0x7f006b7ac320","      STS [R5], R0","2048","65536","Shared","Store","0","2048","2048","0","0","0","43","0"
"24","for (int s = 1; s < blockDim.x; s *= 2) {","-","-","55296","1638400","-","-","0","0","0","0","0","18","0","0"
"27","if (left < blockDim.x) partial[left] += partial[left + s];","-","-","131072","981248","Shared(3)","Load(2),Store","0","36096","9216","0","0","0","0","18"
"","","0x7f006b7ac3d0","@!P1  LDS R3, [R2]","16384","65280","Shared","Load","0","12032","3072","0","0","0","0","0"
"","","0x7f006b7ac3e0","@!P1  LDS R0, [R0]","16384","65280","Shared","Load","0","12032","3072","0","0","0","0","0"
"","","0x7f006b7ac400","@!P1  STS [R2], R3","16384","65280","Shared","Store","0","12032","3072","0","0","0","0","0"
"32","if (tid == 0) out[blockIdx.x] = partial[0];","-","-","5888","132608","Global,Shared","Load,Store","256","256","256","256","256","0","0","2"
"","","0x7f006b7ac4a0","      LDS R5, [UR4]","256","256","Shared","Load","0","256","256","0","0","0","0","0"
"","","0x7f006b7ac4b0","      STG.E desc[UR8][R2.64], R5","256","256","Global","Store","256","0","0","256","256","0","0","0"
"File Path","/course/solutions/reduction/02_strided.cu"
"Function Name","reduce_kernel(const int *, int *, int)"
"Line No","Source","Address","Source","Instructions Executed","Predicated-On Thread Instructions Executed","Address Space","Access Operation","L1 Tag Requests Global","L1 Wavefronts Shared","L1 Wavefronts Shared Ideal","L2 Theoretical Sectors Global","L2 Theoretical Sectors Global Ideal","stall_barrier","stall_long_sb","stall_short_sb"
"21","partial[tid] = i < n ? in[i] : 0;","-","-","88","2816","Global,Shared","Load,Store","8","8","8","32","32","0","0","0"
"","","0x7f006b7ac2b0","@!P0  LDG.E R0, desc[UR8][R2.64]","8","256","Global","Load","8","0","0","32","32","0","0","0"
"","","0x7f006b7ac320","      STS [R5], R0","8","256","Shared","Store","0","8","8","0","0","0","0","0"
"24","for (int s = 1; s < blockDim.x; s *= 2) {","-","-","216","6400","-","-","0","0","0","0","0","0","0","0"
"27","if (left < blockDim.x) partial[left] += partial[left + s];","-","-","512","3833","Shared(3)","Load(2),Store","0","141","36","0","0","0","0","1"
"","","0x7f006b7ac3d0","@!P1  LDS R3, [R2]","64","255","Shared","Load","0","47","12","0","0","0","0","0"
"","","0x7f006b7ac3e0","@!P1  LDS R0, [R0]","64","255","Shared","Load","0","47","12","0","0","0","0","0"
"","","0x7f006b7ac400","@!P1  STS [R2], R3","64","255","Shared","Store","0","47","12","0","0","0","0","0"
"32","if (tid == 0) out[blockIdx.x] = partial[0];","-","-","23","518","Global,Shared","Load,Store","1","1","1","1","1","0","0","0"
"","","0x7f006b7ac4a0","      LDS R5, [UR4]","1","1","Shared","Load","0","1","1","0","0","0","0","0"
"","","0x7f006b7ac4b0","      STG.E desc[UR8][R2.64], R5","1","1","Global","Store","1","0","0","1","1","0","0","0"
==PROF== Disconnected from process 580
)page";

const ncu_line& line_of(const std::vector<ncu_line>& all, int number) {
  for (const ncu_line& l : all)
    if (l.line == number) return l;
  throw std::out_of_range("no such line");
}

}  // namespace

TEST_CASE("ncu's source page: lines with their accesses and stalls, per launch") {
  const auto launches = parse_ncu_source(captured_source);
  REQUIRE(launches.size() == 2);
  const auto& first = launches[0];
  REQUIRE(first.size() == 4);
  const ncu_line& loads = line_of(first, 21);
  CHECK(loads.path == "/course/solutions/reduction/02_strided.cu");
  CHECK(loads.text == "partial[tid] = i < n ? in[i] : 0;");
  CHECK(loads.instructions == 22528);
  CHECK(loads.counts.global_load.requests == 2048);
  CHECK(loads.counts.global_load.sectors == 8192);
  CHECK(loads.counts.global_load.ideal_sectors == 8192);
  CHECK(loads.counts.shared_store.wavefronts == 2048);
  CHECK(loads.samples[static_cast<std::size_t>(stall::memory_dependency)] == 43);
  // Two loads and a store. Most warps had no active lane there, and such accesses are not requests.
  const ncu_line& adds = line_of(first, 27);
  CHECK(adds.counts.shared_load.wavefronts == 2 * 12032);
  CHECK(adds.counts.shared_load.requests == 2 * 3072);
  CHECK(adds.counts.shared_store.wavefronts == 12032);
  CHECK(line_of(first, 24).samples[static_cast<std::size_t>(stall::synchronization)] == 18);
  CHECK(line_of(launches[1], 21).counts.global_load.requests == 8);
}

TEST_CASE("ncu's source page: quotes in the source, truncated rows, and another page") {
  std::string quoted = captured_source;
  const std::string plain = "partial[tid] = i < n ? in[i] : 0;";
  quoted.replace(quoted.find(plain), plain.size(), R"(log("a","b"), partial[tid] = 0;)");
  CHECK(line_of(parse_ncu_source(quoted)[0], 21).text == R"(log("a","b"), partial[tid] = 0;)");
  CHECK(line_of(parse_ncu_source(quoted)[0], 21).counts.global_load.sectors == 8192);
  const auto torn =
      parse_ncu_source(captured_source.substr(0, captured_source.find("partial[left]") + 4));
  REQUIRE(torn.size() == 1);
  CHECK(torn[0].size() == 2);
  CHECK(parse_ncu_source("").empty());
  CHECK_THROWS_AS(parse_ncu_source("\"File Path\",\"x.cu\"\nnothing more"), failure);
}

TEST_CASE("a kernel's lines: counts of all its launches, and stalls scaled to the total") {
  const auto by_launch = parse_ncu_source(captured_source);
  std::vector<ncu_launch> launches(2);
  for (std::size_t n = 0; n < 2; ++n) {
    launches[n].mangled = "_Z1kPf";
    launches[n].grid = {10, 1, 1};
    launches[n].block = {256, 1, 1};
    launches[n].metrics = {{"gpu__time_duration.sum", 1000},
                           {"smsp__inst_executed.sum", 50},
                           {"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", 2}};
    launches[n].lines = by_launch[n];
  }
  const auto kernels = profile_of(launches, *find_gpu("h200"));
  REQUIRE(kernels.size() == 1);
  const auto& lines = kernels[0].lines;
  REQUIRE(lines.size() == 4);
  CHECK(lines[0].at.line == 21);
  CHECK(lines[0].at.file == "02_strided.cu");
  CHECK(lines[0].counts.global_load.requests == 2056);
  double barrier = 0;
  for (const auto& l : lines) barrier += l.stalled.of[static_cast<int>(stall::synchronization)];
  CHECK(barrier == doctest::Approx(200));
  CHECK(lines[1].stalled.of[static_cast<int>(stall::synchronization)] > 0);
}

TEST_CASE("the meaning of ncu's short scoreboard depends on the kernel's instructions") {
  const std::string head =
      R"page("File Path","/course/a.cu"
"Line No","Source","Address","Source","Instructions Executed","Address Space","Access Operation","stall_short_sb"
"7","v = rsqrtf(v);","-","-","30","-","-","9"
)page";
  const std::string special = R"page("","","0x7f10","@!P0  MUFU.RSQ R4, R5","10","-","-","0"
)page",
                    exchange =
                        R"page("","","0x7f20","      SHFL.BFLY PT, R4, R5, 0x1","20","-","-","0"
)page",
                    shared = R"page("","","0x7f30","      LDS R4, [R5]","20","Shared","Load","0"
)page";
  CHECK(line_of(parse_ncu_source(head + special + exchange + shared)[0], 7).special == 10);
  CHECK(line_of(parse_ncu_source(head + special + exchange + shared)[0], 7).shared == 40);
  const auto kernel_of_page = [](const std::string& page, std::uint64_t shared_loads) {
    ncu_launch l;
    l.mangled = "_Z1kPf";
    const std::string waits = "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active";
    l.metrics = {{"smsp__inst_executed.sum", 50},
                 {waits + ".ratio", 2},
                 {"smsp__sass_inst_executed_op_shared_ld.sum", static_cast<double>(shared_loads)}};
    if (!page.empty()) l.lines = parse_ncu_source(page)[0];
    return profile_of({l}, *find_gpu("h200")).at(0);
  };
  const auto waiting = [](const kernel_profile& k, stall why) {
    double all = 0;
    for (const line_profile& l : k.lines) all += l.stalled.of[static_cast<int>(why)];
    return all;
  };
  const kernel_profile one = kernel_of_page(head + special, 0);
  CHECK(waiting(one, stall::special_functions) == doctest::Approx(100));
  CHECK(waiting(one, stall::shared_dependency) == 0);
  CHECK(!one.timing.special_in_shared);
  for (const std::string& other : {exchange, shared}) {
    const kernel_profile k = kernel_of_page(head + other, 0);
    CHECK(waiting(k, stall::shared_dependency) == doctest::Approx(100));
    CHECK(!k.timing.special_in_shared);
    CHECK(kernel_of_page(head + special + other, 0).timing.special_in_shared);
  }
  CHECK(kernel_of_page(head + special, 20).timing.special_in_shared);
  CHECK(kernel_of_page("", 0).timing.special_in_shared);  // the kernel's instructions are unknown
}
