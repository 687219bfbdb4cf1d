// Tests that the launch lab's experiments have the counts that its handout predicts, for every
// value of their constants. The emulator counts as a GPU does.
#include "labs/launch/tests/experiments.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/emulator/check/tests/programs/checked_run.hpp"
#include "common/report/profile_json.hpp"
#include "labs/tests/problem_tests.hpp"

namespace {

using namespace stepwise;
using namespace stepwise::launch_experiments;
namespace fs = std::filesystem;

constexpr int lanes = 32;
constexpr int multiply_adds = 2 * 128;  // per element, on its branch: `rounds` in divergence.cu

// The lab's own inputs, in a file for the program.
class inputs {
 public:
  inputs() : file_(fs::temp_directory_path() / ("stepwise-inputs-" + std::to_string(getpid()))) {
    call_ = problem_under_test().make_call({elements_in_file}, 7);
    std::ofstream out(file_, std::ios::binary);
    for (const int array : {0, 1}) {
      const auto& data = call_.buffers.at(array).data;
      out.write(reinterpret_cast<const char*>(data.data()),
                static_cast<std::streamsize>(data.size()));
    }
  }
  ~inputs() { fs::remove(file_); }
  inputs(const inputs&) = delete;
  inputs& operator=(const inputs&) = delete;

  std::string command() const {
    return "'" + std::string(std::getenv("STEPWISE_EXPERIMENTS")) + "' '" + file_.string() + "'";
  }
  std::span<const float> x() const {
    return {reinterpret_cast<const float*>(call_.buffers.at(0).data.data()), elements_in_file};
  }

 private:
  fs::path file_;
  problem_call call_;
};

// The counts of each launch, by kernel name and number of blocks.
class counted_launches {
 public:
  explicit counted_launches(const inputs& of) {
    const fs::path file =
        fs::temp_directory_path() / ("stepwise-counted-" + std::to_string(getpid()));
    const std::string settings = "STEPWISE_COUNTERS=1 STEPWISE_PROFILE='" + file.string() + "' ";
    REQUIRE(std::system(check_tests::with_our_runtime(settings + of.command()).c_str()) == 0);
    std::ifstream stream(file);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    fs::remove(file);
    const auto kernels = parse_profile(text);
    REQUIRE(kernels);
    for (const kernel_profile& k : *kernels) {
      CHECK(k.launches == 1);
      totals_[{k.kernel, static_cast<int>(k.grid.x)}] = k.total;
    }
    REQUIRE(totals_.size() == 3 * 6 + 33 + 32 + 2 * most_blocks);
  }

  // The counts of an experiment's launch with this number of blocks.
  const profile_counts& of(const std::string& kernel, int blocks) const {
    CAPTURE(kernel);
    CAPTURE(blocks);
    const auto found = totals_.find({kernel, blocks});
    REQUIRE(found != totals_.end());
    return found->second;
  }

 private:
  std::map<std::pair<std::string, int>, profile_counts> totals_;
};

// The loads of x and y, and the store of z.
void check_sectors(const profile_counts& counted, int n, int sectors_of_a_request) {
  const std::uint64_t warps = n / lanes;
  CHECK(counted.global_load.requests == 2 * warps);
  CHECK(counted.global_load.sectors == 2 * warps * sectors_of_a_request);
  CHECK(counted.global_store.requests == warps);
  CHECK(counted.global_store.sectors == warps * sectors_of_a_request);
  // The ideal number of sectors: 32 floats fill 4.
  CHECK(counted.global_load.ideal_sectors == 2 * warps * 4);
  CHECK(counted.global_store.ideal_sectors == warps * 4);
}

// One floating-point instruction per warp is the addition, which is on no branch. The others are on
// branches.
void check_ways(const profile_counts& counted, int n, std::uint64_t ways_of_all_warps) {
  const std::uint64_t warps = n / lanes;
  const instruction_counts& done = counted.instructions[static_cast<int>(pipe::fp32)];
  CHECK(done.warps - warps == ways_of_all_warps * multiply_adds);
  CHECK(done.lanes == static_cast<std::uint64_t>(n) * (1 + multiply_adds));
}

std::uint64_t ways_by_value(std::span<const float> x, int n, int ways) {
  std::uint64_t sum = 0;
  for (int first = 0; first < n; first += lanes) {
    std::set<int> taken;
    for (int i = first; i < first + lanes; ++i) taken.insert(static_cast<int>(x[i]) & (ways - 1));
    sum += taken.size();
  }
  return sum;
}

TEST_CASE("the experiments have the predicted counts for every offset, stride and way") {
  const inputs in;
  const counted_launches counted(in);
  for (int offset = 0; offset <= furthest_offset; ++offset) {
    CAPTURE(offset);
    const int n = count_for_offset(offset);
    check_sectors(counted.of("alignment::add_kernel", n / block), n, offset % 8 == 0 ? 4 : 5);
  }
  for (int stride = 1; stride <= longest_stride; ++stride) {
    CAPTURE(stride);
    const int n = count_for_stride(stride);
    check_sectors(counted.of("strided::add_kernel<" + std::to_string(stride) + ">", n / block), n,
                  std::min(4 * stride, 32));
  }
  for (int ways = 1; ways <= most_ways; ways *= 2) {
    CAPTURE(ways);
    for (const int by : {0, 1, 2}) {
      CAPTURE(by);
      const int n = count_for_ways(ways, by);
      const auto& found = counted.of("divergence::add_kernel", n / block);
      const std::uint64_t warps = n / lanes;
      const std::uint64_t taken = by == 0   ? warps * ways
                                  : by == 1 ? warps
                                            : ways_by_value(in.x(), n, ways);
      check_ways(found, n, taken);
      // The whole kernel: the branches, and a few instructions before and after them.
      const auto all = found.all_instructions();
      const double efficiency =
          static_cast<double>(all.lanes) / lanes / static_cast<double>(all.warps);
      const double predicted = static_cast<double>(warps) / static_cast<double>(taken);
      CHECK(efficiency >= predicted);
      CHECK(efficiency <= predicted + 0.02);
      CHECK((found.divergent_branches == 0) == (ways == 1 || by == 1));
    }
  }
}

TEST_CASE("a grid with a stride has the requested blocks, and the same accesses as any other") {
  const inputs in;
  const counted_launches counted(in);
  for (int blocks = 1; blocks <= most_blocks; ++blocks) {
    for (const bool together : {false, true}) {
      CAPTURE(blocks);
      CAPTURE(together);
      const int n = count_for_blocks(blocks), grid = blocks * multiprocessors;
      const std::string kernel = together ? "<true>" : "<false>";
      const auto& found = counted.of("grid_stride::add_kernel" + kernel, grid);
      check_sectors(found, n, 4);
      const std::uint64_t rounds = 2, warps = grid * block / lanes;
      CHECK(found.instructions[static_cast<int>(pipe::barrier)].warps ==
            (together ? rounds * warps : 0));
    }
  }
}

TEST_CASE("the data choose as many branches as random values would") {
  const inputs in;
  for (int ways = 1; ways <= most_ways; ways *= 2) {
    const int n = count_for_ways(ways, 2);
    const double mean = static_cast<double>(ways_by_value(in.x(), n, ways)) / (n / lanes);
    CHECK(mean == doctest::Approx(ways * (1 - std::pow(1 - 1.0 / ways, lanes))).epsilon(0.01));
  }
}

TEST_CASE("the experiments are right for any n, and the checks find nothing in them") {
  const inputs in;
  const auto run = check_tests::run_checked(in.command() + " any", 60);
  CHECK(run.exit_code == 0);
  for (const auto& found : run.findings) CHECK(check_tests::in_words(found) == "");
}

}  // namespace
