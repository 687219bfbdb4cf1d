// The points of two fake runners that are right and fast, right and slow, or wrong.
#include "grader/grade/grade.hpp"

#include <doctest/doctest.h>

#include "grader/judge/tests/two_programs.hpp"

using namespace stepwise;
using namespace stepwise::tests;

namespace {

grade_report grade_fake(const two_programs& programs, const device_choice& device,
                        const std::vector<std::string>& errors = {}) {
  const static lab l = doubling_lab();
  installation where;
  where.build = programs.build();
  return grade_program(l, doubling(), "mine", programs.mine(), errors, where, device, 7, {});
}

}  // namespace

TEST_CASE("right and fast earns everything, right and slow earns a part, wrong earns nothing") {
  const auto fast = grade_fake(two_programs("0.5", "1"), gpu_device());
  CHECK(fast.what == verdict::pass);
  CHECK(fast.points == 100);
  CHECK(fast.max_points == 100);
  const auto slow = grade_fake(two_programs("1", "1"), gpu_device());
  CHECK(slow.what == verdict::slow);
  CHECK(slow.points == 40);
  CHECK(slow.max_points == 100);
  CHECK(slow.goals[1].message.find("the goal is 1.50x") != std::string::npos);
  const auto wrong = grade_fake(two_programs("0.5", "1", "wrong"), gpu_device());
  CHECK(wrong.what == verdict::wrong);
  CHECK(wrong.points == 0);
  CHECK(wrong.goals[1].passed == false);
  CHECK(wrong.goals[1].message == "not judged: the results must be correct first");
}

TEST_CASE("a program that becomes wrong while it is timed earns nothing for speed") {
  const auto report = grade_fake(two_programs("0.1", "1", "late"), gpu_device());
  CHECK(report.what == verdict::wrong);
  CHECK(report.points == 0);
}

TEST_CASE("without a GPU, speed neither earns nor loses points") {
  const auto report = grade_fake(two_programs("0.5", "1"), emulated_device());
  CHECK(report.what == verdict::pass);
  CHECK(report.points == 40);
  CHECK(report.max_points == 40);
  CHECK(!report.goals[1].passed);
  CHECK(report.goals[1].message.starts_with("not graded here: "));
}

TEST_CASE("a file that does not compile is not run") {
  const auto report =
      grade_fake(two_programs("0.5", "1"), emulated_device(), {"x.cu:1: no", "int x"});
  CHECK(report.what == verdict::compile);
  CHECK(report.points == 0);
  CHECK(report.max_points == 40);
  CHECK(report.message == "x.cu:1: no\nint x");
}

TEST_CASE("a failure that is not the submission's fault loses no points") {
  const auto report = grade_fake(two_programs("0.5", "1", "no device", "no device"), gpu_device());
  CHECK(report.what == verdict::infra);
  CHECK(report.max_points == 0);
  for (const auto& g : report.goals) CHECK(!g.passed);
}

TEST_CASE("a program that blames the machine is at fault if the first step runs there") {
  const auto report = grade_fake(two_programs("0.5", "1", "no device"), gpu_device());
  CHECK(report.what == verdict::crash);
  CHECK(report.message.ends_with("; a step of the course does run here"));
  CHECK(report.points == 0);
  CHECK(report.max_points == 100);
}

TEST_CASE("if the emulator cannot run a kernel, the file is at fault, not the machine") {
  const auto report = grade_fake(two_programs("0.5", "1", "error 801"), emulated_device());
  CHECK(report.what == verdict::crash);
  CHECK(report.message.find("a limit of the emulator") != std::string::npos);
  CHECK(report.points == 0);
  CHECK(report.max_points > 0);
}

TEST_CASE("a time that is faster than the memory allows is held") {
  auto device = gpu_device();
  device.state.peak_gb_per_s = 0.001;  // 100000 ints take 400 ms
  const auto report = grade_fake(two_programs("0.5", "1"), device);
  CHECK(report.what == verdict::held);
  CHECK(!report.goals[1].passed);
  CHECK(report.goals[1].message.find("held for review") != std::string::npos);
}
