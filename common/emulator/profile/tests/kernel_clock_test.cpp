// Tests the clock values that a kernel reads on an H200.
#include "common/emulator/profile/kernel_clock.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>

#include "common/device/device.hpp"

namespace stepwise::emulator {
namespace {

double h200_figure(const char* name) { return find_gpu("h200")->measured.at(name); }

// A device, and a kernel with 8 MB at %rd1, the thread's index in %r1 and the block's index in %r2.
// run() returns the value of %rd9 of each thread.
struct clocked {
  std::unique_ptr<device> on;
  device_address memory = 0, answers = 0;

  explicit clocked(const char* watching = nullptr) {
    if (watching != nullptr) setenv(watching, "1", 1);
    on = make_emulated_device(*find_gpu("h200"));
    if (watching != nullptr) unsetenv(watching);
    memory = *on->allocate(8 << 20);
    answers = *on->allocate(4 << 20);
  }
  std::vector<std::uint64_t> run(const std::string& body, unsigned threads = 1,
                                 unsigned blocks = 1) {
    const std::string text =
        ".version 9.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry kernel(.param .u64 data, .param .u64 out)\n{\n"
        ".shared .align 16 .b8 s[4096];\n"
        ".reg .pred %p<8>;\n.reg .b32 %r<32>;\n.reg .f32 %f<8>;\n.reg .b64 %rd<32>;\n"
        "ld.param.u64 %rd1, [data];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"
        "mov.u32 %r3, %ntid.x;\nmov.u32 %r4, 0;\nmov.f32 %f1, 0f3F800000;\n" +
        body +
        "\nld.param.u64 %rd30, [out];\nmad.lo.u32 %r30, %r2, %r3, %r1;\n"
        "mad.wide.u32 %rd30, %r30, 8, %rd30;\nst.global.u64 [%rd30], %rd9;\nret;\n}\n";
    const auto module = on->load_module(std::as_bytes(std::span(text)));
    REQUIRE_MESSAGE(module.ok(), module.failure().message);
    const auto kernel = on->find_kernel(*module, "kernel");
    const std::uint64_t parameters[] = {memory, answers};
    const status s = on->launch(*kernel, {{blocks, 1, 1}, {threads, 1, 1}, 0, false},
                                std::as_bytes(std::span(parameters)));
    REQUIRE_MESSAGE(s.ok(), s.message);
    const status end = on->synchronize();
    REQUIRE_MESSAGE(end.ok(), end.message);
    std::vector<std::uint64_t> all(std::size_t{threads} * blocks);
    REQUIRE(on->read(std::as_writable_bytes(std::span(all)), answers).ok());
    return all;
  }
};

const std::string begin = "mov.u64 %rd8, %clock64;\n";
const std::string end = "mov.u64 %rd9, %clock64;\nsub.u64 %rd9, %rd9, %rd8;\n";

std::string loop(unsigned iterations, const std::string& body) {
  return "mov.u32 %r4, 0;\nagain:\n" + body + "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, " +
         std::to_string(iterations) + ";\n@%p1 bra again;\n";
}

std::string times(unsigned n, const std::string& what) {
  std::string all;
  for (unsigned k = 0; k < n; ++k) all += what;
  return all;
}

// Makes the first word of each line point to the next line, and that of the last line point to the
// first.
std::string chain_through(std::uint64_t bytes) {
  const std::string lines = std::to_string(bytes / 128);
  return "mov.u32 %r5, 0;\nfill:\nadd.u32 %r6, %r5, 1;\nrem.u32 %r6, %r6, " + lines +
         ";\nmad.wide.u32 %rd2, %r5, 128, %rd1;\nmad.wide.u32 %rd3, %r6, 128, %rd1;\n"
         "st.global.u64 [%rd2], %rd3;\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p2, %r5, " +
         lines + ";\n@%p2 bra fill;\n";
}

double per_load(clocked& c, std::uint64_t bytes) {
  const auto lines = static_cast<unsigned>(bytes / 128);
  const auto cycles = c.run("mov.u64 %rd4, %rd1;\n" + begin +
                            loop(lines / 8, times(8, "ld.global.u64 %rd4, [%rd4];\n")) + end +
                            "st.global.u64 [%rd1+8], %rd4;\n");
  return static_cast<double>(cycles[0]) / lines;
}

}  // namespace

TEST_CASE("clock64: dependent multiply-adds take an H200's four cycles each") {
  clocked c;
  const auto straight = c.run(begin + times(512, "fma.rn.f32 %f1, %f1, %f1, %f1;\n") + end)[0];
  CHECK(static_cast<double>(straight) / 512 ==
        doctest::Approx(h200_figure("fma_f32_latency")).epsilon(0.02));
  const auto looped =
      c.run(begin + loop(100, times(32, "fma.rn.f32 %f1, %f1, %f1, %f1;\n")) + end)[0];
  CHECK(static_cast<double>(looped) / 3200 ==
        doctest::Approx(h200_figure("fma_f32_latency")).epsilon(0.1));
}

TEST_CASE("clock64: dependent loads take the latency of the memory that holds their words") {
  clocked c;
  constexpr std::uint64_t small = 32 << 10, large = 4 << 20;
  c.run(chain_through(large) + "mov.u64 %rd9, %clock64;\n");
  CHECK(per_load(c, large) == doctest::Approx(h200_figure("l2_latency")).epsilon(0.05));
  c.run(chain_through(small) + "mov.u64 %rd9, %clock64;\n");
  CHECK(per_load(c, small) == doctest::Approx(h200_figure("l2_latency")).epsilon(0.05));
  // After one pass all lines are in L1. The first timed load waits for the last load of this pass.
  const std::string walk = loop(2 * small / 128, "ld.global.u64 %rd4, [%rd4];\n");
  const auto warm =
      c.run("mov.u64 %rd4, %rd1;\n" + walk + begin + times(64, "ld.global.u64 %rd4, [%rd4];\n") +
            end + "st.global.u64 [%rd1+8], %rd4;\n")[0];
  CHECK(static_cast<double>(warm) / 64 == doctest::Approx(h200_figure("l1_latency")).epsilon(0.05));
}

TEST_CASE("clock64: new data comes from memory, and shared memory has a short latency") {
  clocked c;
  // 64 loads, each from its own line. The address depends on the previous load's value, which is 0.
  std::string far = begin;
  for (int n = 0; n < 64; ++n)
    far +=
        "ld.global.u64 %rd5, [%rd1+" + std::to_string(256 * n) + "];\nadd.u64 %rd1, %rd1, %rd5;\n";
  const auto from_memory = c.run(far + end)[0];
  CHECK(static_cast<double>(from_memory) / 64 ==
        doctest::Approx(h200_figure("dram_latency")).epsilon(0.05));
  const auto near =
      c.run("mov.u32 %r6, s;\nst.shared.u32 [%r6], %r6;\n" + begin +
            times(64, "ld.shared.u32 %r6, [%r6];\n") + end + "st.shared.u32 [%r6], %r6;\n")[0];
  CHECK(static_cast<double>(near) / 63 ==
        doctest::Approx(h200_figure("shared_latency")).epsilon(0.1));
}

TEST_CASE("clocks never go back, not even between launches, and %globaltimer keeps the same pace") {
  clocked c;
  const std::string work = times(200, "fma.rn.f32 %f1, %f1, %f1, %f1;\n");
  std::uint64_t last = 0, last_ns = 0;
  // Both clocks follow the model in a kernel that reads clock64.
  const std::string also = "mov.u64 %rd10, %clock64;\n";
  for (int n = 0; n < 3; ++n) {
    const auto now = c.run("mov.u64 %rd9, %clock64;\n")[0];
    const auto ns = c.run(also + "mov.u64 %rd9, %globaltimer;\n")[0];
    CHECK(now > last);
    CHECK(now < std::uint64_t{1} << 56);  // counts from the device's start, not from a date
    CHECK(ns > last_ns);
    last = now;
    last_ns = ns;
  }
  const auto cycles = c.run(begin + work + end)[0];
  const auto ns = c.run(also + "mov.u64 %rd8, %globaltimer;\n" + work +
                        "mov.u64 %rd9, %globaltimer;\nsub.u64 %rd9, %rd9, %rd8;\n")[0];
  CHECK(static_cast<double>(ns) ==
        doctest::Approx(static_cast<double>(cycles) / (find_gpu("h200")->clock_khz / 1e6))
            .epsilon(0.05));
  const auto low =
      c.run("mov.u32 %r5, %clock;\n" + work +
            "mov.u32 %r6, %clock;\nsub.u32 %r6, %r6, %r5;\ncvt.u64.u32 %rd9, %r6;\n")[0];
  CHECK(low == cycles);
}

TEST_CASE("clock64: a wait of seconds ends soon, but lasts as long as requested by the clock") {
  clocked c;
  const auto wait = [](const std::string& cycles, const std::string& between) {
    return begin + "spin:\n" + between +
           "mov.u64 %rd10, %clock64;\nsub.u64 %rd9, %rd10, %rd8;\nsetp.lt.u64 %p3, %rd9, " +
           cycles + ";\n@%p3 bra spin;\n";
  };
  const auto started = std::chrono::steady_clock::now();
  for (const auto& between : {"", "ld.volatile.global.u32 %r9, [%rd1];\n", "nanosleep.u32 20;\n"}) {
    CAPTURE(between);
    const auto waited = static_cast<double>(c.run(wait("20000000000", between), 64, 4)[0]);
    CHECK(waited >= 2e10);
    CHECK(waited < 2.1e10);
    // With few readings, time passes only for the instructions.
    CHECK(static_cast<double>(c.run(wait("10000", between))[0]) < 1.1e4);
  }
  CHECK(std::chrono::steady_clock::now() - started < std::chrono::seconds(10));
  // A loop that measures something else is not a wait.
  const auto measured = c.run(
      begin + loop(4000, "mov.u64 %rd10, %clock64;\nst.global.u64 [%rd1], %rd10;\n") + end)[0];
  CHECK(measured < 4000 * 60);
}

TEST_CASE("clock64: warps leave a barrier together, and sleep as long as they asked") {
  clocked c;
  // Warp 1 computes, and warp 0 waits for it.
  const auto both =
      c.run(begin + "setp.lt.u32 %p4, %r1, 32;\n@%p4 bra here;\n" +
                times(1000, "fma.rn.f32 %f1, %f1, %f1, %f1;\n") + "here:\nbar.sync 0;\n" + end,
            64);
  CHECK(both[0] == doctest::Approx(both[32]).epsilon(0.01));
  CHECK(both[0] > 4000);
  const auto slept = c.run(begin + "nanosleep.u32 5000;\n" + end)[0];
  CHECK(static_cast<double>(slept) ==
        doctest::Approx(5e-3 * find_gpu("h200")->clock_khz).epsilon(0.02));
}

TEST_CASE("clock64: a block that does not fit at first begins when another one ends") {
  clocked c;
  const std::string body =
      begin + times(100, "fma.rn.f32 %f1, %f1, %f1, %f1;\n") + "mov.u64 %rd9, %rd8;\n";
  const auto starts = c.run(body, 1024, 132 * 2 + 1);
  CHECK(starts[0] == starts[1024 * (132 * 2 - 1)]);
  CHECK(starts[1024 * 132 * 2] > starts[0] + 400);
}

TEST_CASE("clock64: the same with checks and with counters, and after the host sets the time") {
  const std::string body = begin + times(100, "fma.rn.f32 %f1, %f1, %f1, %f1;\n") + end;
  const auto plain = clocked().run(body)[0];
  CHECK(clocked("STEPWISE_CHECK").run(body)[0] == plain);
  clocked counted("STEPWISE_COUNTERS");
  CHECK(counted.run(body)[0] == plain);
  counted.on->extras().time->set_time(7'000'000'000);
  const auto read_ns = counted.run("mov.u64 %rd9, %globaltimer;\n")[0];
  CHECK(read_ns >= 7'000'000'000);
  CHECK(read_ns < 7'000'001'000);
  CHECK(counted.on->extras().profile->take_profile().size() == 2);
}

TEST_CASE("%globaltimer alone: the host's date in plain runs, instructions in watched runs") {
  const std::string read = "mov.u64 %rd9, %globaltimer;\n";
  const auto date = std::chrono::system_clock::now().time_since_epoch();
  const auto ns = static_cast<double>(clocked().run(read)[0]);
  CHECK(ns >=
        static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(date).count()));
  clocked counted("STEPWISE_COUNTERS");
  const auto first = counted.run(read)[0], second = counted.run(read)[0];
  CHECK(first < 100);
  CHECK(second > first);
  CHECK(second < 200);
  // Once the host gives the time, the clock is set to that time and continues from there.
  counted.on->extras().time->set_time(1000);
  const auto read_ns = counted.run(read)[0];
  CHECK(read_ns >= 1000);
  CHECK(read_ns < 1100);
  counted.on->extras().time->set_time(500);
  CHECK(counted.run(read)[0] >= read_ns);
}

TEST_CASE("%globaltimer alone: waits end after their time in plain runs, soon in watched runs") {
  const auto wait = [](const std::string& ns, const std::string& between = "") {
    return "mov.u64 %rd8, %globaltimer;\nspin:\n" + between +
           "mov.u64 %rd10, %globaltimer;\nsub.u64 %rd9, %rd10, %rd8;\nsetp.lt.u64 %p3, %rd9, " +
           ns + ";\n@%p3 bra spin;\n";
  };
  auto started = std::chrono::steady_clock::now();
  CHECK(clocked().run(wait("20000000"))[0] >= 20000000);
  CHECK(std::chrono::steady_clock::now() - started >= std::chrono::milliseconds(20));
  started = std::chrono::steady_clock::now();
  clocked counted("STEPWISE_COUNTERS");
  for (const auto& between : {"", "ld.volatile.global.u32 %r9, [%rd1];\n"}) {
    CAPTURE(between);
    for (const auto waited : counted.run(wait("20000000000", between), 64, 4)) {
      CHECK(waited >= 20000000000);
      CHECK(waited < 22000000000);
    }
  }
  CHECK(counted.run("mov.u64 %rd9, %globaltimer;\n")[0] > 8 * 20000000000);
  CHECK(std::chrono::steady_clock::now() - started < std::chrono::seconds(10));
  // With few readings, time passes only for the instructions.
  CHECK(counted.run(wait("2000"))[0] < 2010);
}

}  // namespace stepwise::emulator
