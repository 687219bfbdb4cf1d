// The speeds of judged programs without a GPU. The emulator runs behind a server that claims to be
// a GPU. The values of the times mean nothing here. The test checks that times are taken, and for
// which calls.
//
// LAB_ROOT is the clone, LAB_BUILD its build folder.
#include <doctest/doctest.h>

#include <cstdlib>
#include <set>

#include "grader/grade/speed.hpp"
#include "grader/judge/installation.hpp"
#include "grader/system/files.hpp"

using namespace stepwise;

namespace {

fs::path build() { return std::getenv("LAB_BUILD"); }
fs::path program(const std::string& step) { return build() / "solutions" / ("reduction-" + step); }

// A GPU whose server is the emulator's.
class pretended_gpu {
 public:
  pretended_gpu() : folder_(fs::temp_directory_path()) {
    const fs::path server = build() / "common/device/remote/server/stepwise-device-server";
    const fs::path script = folder_.path() / "server";
    write_atomically(script, "#!/bin/sh\nexec '" + server.string() +
                                 "' \"$1\" \"$2\" \"$3\" \"$4\" \"$5\" emulated\n");
    fs::permissions(script, fs::perms::owner_all);
    device.gpu = true;
    device = judged_on(device, load_installation(build()));
    device.server = script;
    device.state.memory_bytes = std::size_t{80} << 30;
    // Overwriting a large cache takes long on the emulator.
    std::string gpu = *read_if_there(fs::path(std::getenv("LAB_ROOT")) / "common/gpus/h200.toml");
    const auto at = gpu.find("\n38 = ");
    REQUIRE(at != std::string::npos);
    gpu.replace(at, gpu.find(' ', at + 6) - at, "\n38 = 65536");
    write_atomically(folder_.path() / "small.toml", gpu);
    setenv("STEPWISE_GPU", (folder_.path() / "small.toml").c_str(), 1);
  }
  ~pretended_gpu() { unsetenv("STEPWISE_GPU"); }
  device_choice device;

 private:
  temporary_folder folder_;
};

// Records the seeds of the inputs.
class watched : public problem {
 public:
  problem_call make_call(const size& n, std::uint64_t seed) const override {
    seeds.push_back(seed);
    return problem_of(reduction, load_installation(build())).make_call(n, seed);
  }
  std::optional<std::string> check(
      const problem_call& call,
      std::span<const std::span<const std::byte>> outputs) const override {
    ++checks;
    return problem_of(reduction, load_installation(build())).check(call, outputs);
  }
  problem_work work(const size& n) const override {
    return problem_of(reduction, load_installation(build())).work(n);
  }

  lab reduction = load_lab(std::getenv("LAB_BUILD"), "reduction");
  mutable std::vector<std::uint64_t> seeds;
  mutable int checks = 0;
};

}  // namespace

TEST_CASE("judged: each round has new inputs, the same for all, and every output is checked") {
  const pretended_gpu gpu;
  const watched p;
  const auto all = compare(p.reduction, p, {"mine", program("10_one_launch")},
                           {{{"01_interleaved", program("01_interleaved")}, {1e-6}},
                            {{"09_vectors", program("09_vectors")}, {1e6}}},
                           gpu.device, {30011}, 7, {});
  REQUIRE(all.size() == 2);
  for (const auto& run : all) {
    CHECK(run.found.message == "");
    CHECK(run.ratios.size() == 8);
    CHECK(run.mine_ms > 0);
  }
  CHECK(p.seeds.size() == 1 + 9);  // a small input, the input of the first calls, and eight rounds
  CHECK(std::set(p.seeds.begin(), p.seeds.end()).size() == 10);
  CHECK(p.checks == 9);  // the other programs' outputs have the same bytes
}

TEST_CASE("judged: a remembered result is wrong, and work on the host takes time") {
  const pretended_gpu gpu;
  const watched p;
  const rival step{{"09_vectors", program("09_vectors")}, {1e-6}};
  const auto remembers = compare(p.reduction, p, {"mine", build() / "grader/reduction-remembers"},
                                 {step}, gpu.device, {3001}, 7, {});
  REQUIRE(remembers.size() == 1);
  CHECK(remembers[0].found.what == verdict::wrong);
  CHECK(remembers[0].whose == "mine");
  const auto sleeps = compare(p.reduction, p, {"mine", build() / "grader/reduction-sleeps"}, {step},
                              gpu.device, {3001}, 7, {});
  REQUIRE(sleeps[0].found.ok());
  // The host sleeps 200 ms. The time that empty calls took on a busy machine is subtracted.
  CHECK(sleeps[0].mine_ms > 1);
}

TEST_CASE("judged: an undecided comparison has a second attempt, if there is time") {
  const pretended_gpu gpu;
  watched p;
  p.reduction.timing_s = 0;
  // The program competes with itself. The goal lies inside the interval unless all ratios are on
  // the same side of it.
  double goal = 1;
  for (int i = 0; i < 3; ++i) {
    const auto all =
        compare(p.reduction, p, {"mine", program("10_one_launch")},
                {{{"10_one_launch", program("10_one_launch")}, {goal}}}, gpu.device, {1000}, 7, {});
    REQUIRE(all.size() == 1);
    REQUIRE(all[0].found.ok());
    CHECK(all[0].ratios.size() == 8);
    if (decide(all[0].range, goal) == decision::open) {
      CHECK(all[0].is_out_of_time);
      CHECK(all[0].attempts == 2);
      return;
    }
    goal = all[0].ratio;
  }
  FAIL("never open");
}
