// Tests the CPU baselines. Every baseline that was built is right at every check size, with any
// number of threads. The tests need neither nvcc nor the emulator.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "grader/course/lab.hpp"
#include "grader/judge/check.hpp"
#include "grader/judge/device_choice.hpp"
#include "grader/judge/installation.hpp"
#include "labs/tests/problem_of.hpp"

namespace {

using namespace stepwise;

// Sizes at which the work is divided differently than at the check sizes: more than one part per
// thread, more than one slice of k, more than one strip of rows.
std::vector<lab_size> larger_sizes(const lab& l) {
  if (l.name == "first") return {{1921, 1081}, {1, 3000}, {65535, 7}};
  if (l.name == "matmul") return {{300}, {523}};
  if (l.name == "transpose") return {{2003, 4099}, {3200, 3200}};
  if (l.name == "launch") return {{4000001}};
  if (l.name == "blur") return {{1921, 1081}, {1, 3000}};
  if (l.name == "gemm") return {{520, 264, 520}, {8, 1000, 1032}};
  if (l.name == "neighbour") return {{20000, 0}, {20000, 1}, {20000, 3}};
  return {{4000001}};
}

TEST_CASE("every CPU baseline is right at every size, also with more threads than cores") {
  const char* const build = std::getenv("STEPWISE_BUILD");
  REQUIRE_MESSAGE(build != nullptr, "run this test through `meson test`");
  const installation where = load_installation(build);
  const device_choice device = choose_device(device_request::emulated, where);
  for (const lab& l : load_labs(where.build)) {
    auto sizes = l.check;
    for (auto& size : larger_sizes(l)) sizes.push_back(size);
    for (const baseline& p : l.baselines) {
      if (!p.on_cpu || !p.is_right) continue;
      const fs::path program = where.solution(l.name, "baseline-" + p.name);
      CAPTURE(program.string());
      // `ninja baselines` builds baselines that use another library, if it is installed.
      if (p.name != "cpu" && !fs::exists(program)) continue;
      for (const std::string threads : {"", "1", "7"}) {
        setenv("OMP_NUM_THREADS", threads.c_str(), 1);
        const auto report = check_program(l, problem_of(l), program, device, sizes, 1, activity());
        INFO(threads, " threads: ", report.found.message);
        CHECK(report.correct());
        CHECK(report.right.size() == sizes.size());
      }
    }
  }
}

}  // namespace
