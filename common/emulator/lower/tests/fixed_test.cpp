// Registers that are other names of parameters, special registers and constants. They have no op,
// they hold the right value in every block, and their moves count as instructions.
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "common/device/device.hpp"
#include "common/emulator/lower/lower.hpp"
#include "common/emulator/machine/modules.hpp"

using namespace stepwise;

namespace fixed_test {
namespace {

constexpr unsigned blocks = 5, threads = 48;

// Runs `body` and then stores %r9 to out[global thread].
std::string module_text(const std::string& body) {
  return ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry kernel("
         ".param .u64 out, .param .u32 n)\n{\n.reg .pred %p<8>;\n.reg .b32 %r<32>;\n"
         ".reg .f32 %f<4>;\n.reg .b64 %rd<16>;\n.shared .align 4 .b32 words[64];\n"
         "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [n];\n" +
         body +
         "\nmov.u32 %r20, %ctaid.x;\nmov.u32 %r21, %ntid.x;\nmov.u32 %r22, %tid.x;\n"
         "mad.lo.s32 %r23, %r20, %r21, %r22;\ncvta.to.global.u64 %rd2, %rd1;\n"
         "mul.wide.u32 %rd3, %r23, 4;\nadd.s64 %rd4, %rd2, %rd3;\nst.global.u32 [%rd4], %r9;\n"
         "ret;\n}\n";
}

struct outcome {
  std::vector<int> out = std::vector<int>(blocks * threads);
  std::uint64_t warp_instructions = 0, lane_instructions = 0;
};

outcome run(const std::string& body) {
  const std::string text = module_text(body);
  const auto on = make_emulated_device(*find_gpu("h200"));
  const auto module = on->load_module(std::as_bytes(std::span(text)));
  REQUIRE(module.ok());
  const auto kernel = on->find_kernel(*module, "kernel");
  REQUIRE(kernel.ok());
  outcome o;
  const auto out = on->allocate(4 * o.out.size());
  REQUIRE(out.ok());
  const struct {
    std::uint64_t out;
    int n;
  } parameters{*out, 1000};
  REQUIRE(on->launch(*kernel, {{blocks, 1, 1}, {threads, 1, 1}, 0, false},
                     std::as_bytes(std::span(&parameters, 1)))
              .ok());
  const status end = on->synchronize();
  CAPTURE(end.message);
  REQUIRE(end.ok());
  REQUIRE(on->read(std::as_writable_bytes(std::span(o.out)), *out).ok());
  o.warp_instructions = on->extras().counting->counters()->warp_instructions;
  o.lane_instructions = on->extras().counting->counters()->lane_instructions;
  return o;
}

// Checks the value that each thread stores. In watched kernels each move is an op; they must store
// and count the same.
template <class Expected>
void check(const std::string& body, const Expected& expected) {
  CAPTURE(body);
  const outcome plain = run(body);
  for (unsigned b = 0; b < blocks; ++b)
    for (unsigned t = 0; t < threads; ++t)
      REQUIRE(plain.out[b * threads + t] == static_cast<int>(expected(b, t)));
  setenv("STEPWISE_COUNTERS", "1", 1);
  setenv("STEPWISE_PROFILE", "/dev/null", 1);
  const outcome watched = run(body);
  unsetenv("STEPWISE_PROFILE");
  unsetenv("STEPWISE_COUNTERS");
  CHECK(watched.out == plain.out);
  CHECK(watched.warp_instructions == plain.warp_instructions);
  CHECK(watched.lane_instructions == plain.lane_instructions);
}

std::size_t ops(const std::string& body, bool watched) {
  static const gpu model = *find_gpu("h200");
  emulator::global_memory memory(model.memory_bytes);
  const std::string text = module_text(body);
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  const auto loaded = emulator::load_parts({&bytes, 1}, model, memory);
  REQUIRE(loaded.ok());
  const auto lowered =
      emulator::lower((*loaded)->unit, *(*loaded)->unit.find_kernel("kernel"),
                      watched ? emulator::watched_by::checks : emulator::watched_by::none);
  REQUIRE(lowered.ok());
  return (*lowered)->code.size();
}

TEST_CASE("moves of parameters, special registers and constants have no op in plain runs") {
  const std::size_t without = ops("", false);
  for (const char* move : {"mov.u32 %r2, %tid.x;", "mov.u32 %r2, %nctaid.y;", "mov.u32 %r2, 7;",
                           "mov.f32 %f1, 0f3F800000;", "mov.u32 %r2, words;",
                           "ld.param.u32 %r2, [n];", "mov.u32 %r2, %r1;", "mov.b64 %rd5, %rd1;"}) {
    CAPTURE(move);
    CHECK(ops(move, false) == without);
    CHECK(ops(move, true) > ops("", true));
  }
  // The ops are the first instruction, which counts the block, the instructions after cvta, and
  // finally <exit>, which ends each kernel.
  CHECK(without == 7);
}

TEST_CASE("moves that must not become names stay ops") {
  const std::size_t without = ops("", false);
  for (const char* moves :
       {"mov.u32 %r2, %tid.x;\nadd.u32 %r2, %r2, 1;", "@%p1 mov.u32 %r2, %tid.x;",
        "add.u32 %r3, %r2, 1;\nmov.u32 %r2, %tid.x;", "bar.sync 0;\nmov.u32 %r2, %tid.x;",
        "bra.uni next;\nnext:\nmov.u32 %r2, %tid.x;"}) {
    CAPTURE(moves);
    CHECK(ops(moves, false) >= without + 2);
  }
}

TEST_CASE("the other names hold the right value in every block") {
  check("mov.u32 %r9, %ctaid.x;", [](unsigned b, unsigned) { return b; });
  check("mov.u32 %r2, %tid.x;\nmov.u32 %r3, %ctaid.x;\nmad.lo.u32 %r9, %r3, %r1, %r2;",
        [](unsigned b, unsigned t) { return b * 1000 + t; });
  check("mov.u32 %r2, %laneid;\nmov.u32 %r3, %r2;\nadd.u32 %r9, %r3, %r2;",
        [](unsigned, unsigned t) { return 2 * (t % 32); });
  check("mov.f32 %f1, 0f40400000;\ncvt.rzi.s32.f32 %r9, %f1;",
        [](unsigned, unsigned) { return 3; });
}

TEST_CASE("writing a register again does not change the values of its other names") {
  check(
      "mov.u32 %r2, %tid.x;\nadd.u32 %r2, %r2, 100;\nmov.u32 %r3, %tid.x;\n"
      "add.u32 %r9, %r2, %r3;",
      [](unsigned, unsigned t) { return 2 * t + 100; });
  // Written as part of a vector, by an atomic operation, and with a predicate as second result.
  check(
      "mov.u32 %r2, %tid.x;\nmov.u32 %r4, words;\nst.shared.v2.u32 [words], {%r1, %r1};\n"
      "bar.sync 0;\nld.shared.v2.u32 {%r3, %r2}, [%r4];\nmov.u32 %r5, %tid.x;\n"
      "add.u32 %r9, %r2, %r5;",
      [](unsigned, unsigned t) { return 1000 + t; });
  check(
      "mov.u32 %r4, words;\nmov.u32 %r2, %tid.x;\nst.shared.u32 [%r4], %r1;\nbar.sync 0;\n"
      "atom.shared.max.u32 %r2, [%r4], 5;\nmov.u32 %r5, %tid.x;\nadd.u32 %r9, %r2, %r5;",
      [](unsigned, unsigned t) { return 1000 + t; });
  check(
      "mov.u32 %r2, %tid.x;\nshfl.sync.idx.b32 %r2|%p1, %r2, 0, 31, -1;\nmov.u32 %r3, %tid.x;\n"
      "mad.lo.u32 %r9, %r2, %r1, %r3;",
      [](unsigned, unsigned t) { return t / 32 * 32 * 1000 + t; });
}

TEST_CASE("instructions without an op still count: after waits, branches and exits") {
  check("bar.sync 0;\nmov.u32 %r2, %tid.x;\nmov.u32 %r3, %ctaid.x;\nadd.u32 %r9, %r2, %r3;",
        [](unsigned b, unsigned t) { return b + t; });
  check(
      "mov.u32 %r4, %tid.x;\nshfl.sync.down.b32 %r5, %r4, 1, 31, -1;\nmov.u32 %r2, %ctaid.x;\n"
      "mov.u32 %r3, 3;\nmad.lo.u32 %r9, %r2, %r3, %r4;",
      [](unsigned b, unsigned t) { return 3 * b + t; });
  check(
      "mov.u32 %r2, %tid.x;\nsetp.lt.u32 %p1, %r2, 7;\nmov.u32 %r9, 0;\n@%p1 bra there;\n"
      "mov.u32 %r3, %ctaid.x;\nmov.u32 %r4, 5;\nadd.u32 %r9, %r3, %r4;\nthere:\n"
      "mov.u32 %r6, %ntid.x;\nmov.u32 %r7, %ctaid.x;\nmad.lo.u32 %r9, %r7, %r6, %r9;",
      [](unsigned b, unsigned t) { return (t < 7 ? 0 : b + 5) + b * threads; });
  check(
      "mov.u32 %r9, 0;\nmov.u32 %r2, %tid.x;\nagain:\nmov.u32 %r3, %ctaid.x;\n"
      "mov.u32 %r4, %ntid.x;\nadd.u32 %r9, %r9, 1;\nadd.u32 %r9, %r9, %r3;\n"
      "setp.lt.u32 %p1, %r9, %r2;\n@%p1 bra again;",
      [](unsigned b, unsigned t) {
        unsigned sum = 0;
        do sum += 1 + b;
        while (sum < t);
        return sum;
      });
}

}  // namespace
}  // namespace fixed_test
