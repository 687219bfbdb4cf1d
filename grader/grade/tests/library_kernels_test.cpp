// Whether a kernel comes from a library, by its source lines or its namespace.
#include "grader/grade/library_kernels.hpp"

#include <doctest/doctest.h>

using namespace stepwise;

namespace {

std::string found(const std::string& mangled, const std::vector<std::string>& paths) {
  kernel_profile kernel;
  kernel.kernel = "sum_up";
  kernel.mangled = mangled;
  for (const auto& path : paths) kernel.lines.emplace_back().path = path;
  return library_kernel({kernel}, "/home/me/cub/stepwise");
}

}  // namespace

TEST_CASE("a kernel is a library's if its lines are in the library's headers") {
  const std::string header = "/usr/local/cuda/include/cccl/cub/device/dispatch/kernels.cuh";
  CHECK(found("_Z6sum_upPKi", {header, header}) == "sum_up");
  CHECK(found("_Z6sum_upPKi", {"/home/me/cub/stepwise/.cuda/include/cub/agent.cuh"}) == "sum_up");
  CHECK(found("_Z6sum_upPKi", {header, "/home/me/mine.cu"}).empty());
  CHECK(found("_Z6sum_upPKi", {"/home/me/cub/stepwise/labs/reduction/reduction.cu"}).empty());
  CHECK(found("_Z6sum_upPKi", {}).empty());
}

TEST_CASE("without lines, the namespace of the kernel itself decides") {
  CHECK(found("_ZN3cub6sum_upEPKi", {}) == "sum_up");
  CHECK(found("_ZN4mine3cub17CUB_300002_SM_9006sum_upIiEEvPKT_", {}) == "sum_up");
  CHECK(found("_ZN6thrust8cuda_cub4core6sum_upEv", {}) == "sum_up");
  CHECK(found("_Z6sum_upIN3cub3SumEEvPKiT_", {}).empty());
  CHECK(found("_ZN4mine6sum_upIN3cub3SumEEEvPKiT_", {}).empty());
  CHECK(found("_ZN99", {}).empty());
}
