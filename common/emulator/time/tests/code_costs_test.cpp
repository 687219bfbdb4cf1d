// Tests the costs read from PTX, through the times of whole kernels on the emulated device.
#include <doctest/doctest.h>

#include <cstdlib>
#include <span>
#include <string>

#include "common/device/device.hpp"
#include "common/report/profile.hpp"

namespace stepwise::emulator {
namespace {

// The time of a launch of 528 blocks of 256 threads. All threads share a buffer at %rd1; %r1 is
// tid.x.
double us_of(const std::string& body) {
  const std::string text =
      ".version 9.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry kernel(.param .u64 out)\n{\n"
      ".reg .pred %p<8>;\n.reg .b32 %r<32>;\n.reg .f32 %f<8>;\n.reg .b64 %rd<16>;\n"
      "ld.param.u64 %rd9, [out];\ncvta.to.global.u64 %rd1, %rd9;\nmov.u32 %r1, %tid.x;\n" +
      body + "\nret;\n}\n";
  setenv("STEPWISE_COUNTERS", "1", 1);
  setenv("STEPWISE_TIMES", "whole", 1);
  const auto device = make_emulated_device(*find_gpu("h200"));
  unsetenv("STEPWISE_COUNTERS");
  unsetenv("STEPWISE_TIMES");
  const auto module = device->load_module(std::as_bytes(std::span(text)));
  REQUIRE_MESSAGE(module.ok(), module.failure().message);
  const auto kernel = device->find_kernel(*module, "kernel");
  const auto memory = device->allocate(1 << 20);
  REQUIRE(memory.ok());
  const std::uint64_t parameter = *memory;
  const status s = device->launch(*kernel, {{528, 1, 1}, {256, 1, 1}, 0, false},
                                  std::as_bytes(std::span(&parameter, 1)));
  REQUIRE_MESSAGE(s.ok(), s.message);
  REQUIRE(device->synchronize().ok());
  const auto profiles = device->extras().profile->take_profile();
  REQUIRE(profiles.size() == 1);
  return profiles[0].timing.us;
}

TEST_CASE("warps combine integers for one address where ptxas can prove that it is one address") {
  const double lanes = 528 * 256, per_us = 1000 * find_gpu("h200")->measured.at("add_one_address");
  const double by_warps = us_of("atom.global.add.u32 %r2, [%rd1], 1;");
  CHECK(by_warps < 3 * lanes / 32 / per_us + 5);
  // Each lane adds a different value, and no lane reads the sum.
  CHECK(us_of("atom.global.add.u32 %r2, [%rd1], %r1;") < 1.5 * by_warps);
  // Computes the same address in a form that ptxas does not recognise.
  const std::string unknown = "mul.wide.u32 %rd2, %r1, 0;\nadd.s64 %rd3, %rd1, %rd2;\n";
  CHECK(us_of(unknown + "atom.global.add.u32 %r2, [%rd3], 1;") > 0.9 * lanes / per_us);
  // Each lane needs the value from before its own addition.
  CHECK(us_of("atom.global.add.u32 %r2, [%rd1], %r1;\nst.global.u32 [%rd1+64], %r2;") >
        0.9 * lanes / per_us);
}

TEST_CASE("float additions at one address run lane by lane, and slower than integer additions") {
  const double lanes = 528 * 256;
  const double floats = us_of("mov.f32 %f1, 0f3F800000;\nred.global.add.f32 [%rd1], %f1;");
  CHECK(floats > 0.9 * lanes / (1000 * find_gpu("h200")->measured.at("add_f32_one_address")));
}

}  // namespace
}  // namespace stepwise::emulator
