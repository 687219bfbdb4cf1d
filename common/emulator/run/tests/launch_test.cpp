// Launches of small PTX kernels on the emulated device: refused launches, reports of failures, and
// the progress of lanes that wait for each other.
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>

#include "common/device/device.hpp"

using namespace stepwise;

namespace launch_test {

std::string module_text(const std::string& body, const std::string& before = "") {
  return ".version 9.0\n.target sm_90\n.address_size 64\n.file 1 \"/some/where/lesson.cu\"\n" +
         before +
         "\n.visible .entry _Z6kernelPii(.param .u64 out, .param .u32 n)\n{\n"
         ".reg .pred %p<8>;\n.reg .b32 %r<32>;\n.reg .b64 %rd<16>;\n"
         "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [n];\n" +
         body + "\nret;\n}\n";
}

struct outcome {
  status launch, end;
  std::vector<int> out;
};

struct run_options {
  unsigned blocks = 1, threads = 32;
  std::size_t elements = 32;
  int n = 0;
};

outcome run(const std::string& text, const run_options& o = {}) {
  const auto model = find_gpu("h200");
  REQUIRE(model.ok());
  const auto device = make_emulated_device(*model);
  const auto module = device->load_module(std::as_bytes(std::span(text)));
  if (!module.ok()) return {module.failure(), {}, {}};
  const auto kernel = device->find_kernel(*module, "_Z6kernelPii");
  REQUIRE(kernel.ok());
  const auto out = device->allocate(4 * o.elements);
  REQUIRE(out.ok());
  REQUIRE(device->fill(*out, 0, 4, o.elements).ok());
  struct {
    std::uint64_t out;
    int n;
  } const parameters{*out, o.n};
  outcome result;
  result.launch = device->launch(*kernel, {{o.blocks, 1, 1}, {o.threads, 1, 1}, 0, false},
                                 std::as_bytes(std::span(&parameters, 1)));
  result.end = device->synchronize();
  result.out.resize(o.elements);
  (void)device->read(std::as_writable_bytes(std::span(result.out)), *out);
  return result;
}

// Stores %r9 to out[tid].
const std::string store_result =
    "mov.u32 %r30, %tid.x;\nmul.wide.u32 %rd14, %r30, 4;\nadd.s64 %rd15, %rd1, %rd14;\n"
    "st.global.u32 [%rd15], %r9;\n";

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("blocks that the time model probes before a launch leave memory unchanged") {
  constexpr unsigned blocks = 13000;  // more than three waves
  const auto sums = [&](const std::string& body, const run_options& o) {
    setenv("STEPWISE_COUNTERS", "1", 1);
    setenv("STEPWISE_TIMES", "whole", 1);
    const outcome ran = run(module_text(body), o);
    unsetenv("STEPWISE_TIMES");
    unsetenv("STEPWISE_COUNTERS");
    CAPTURE(ran.end.message);
    REQUIRE(ran.end.ok());
    for (const int n : ran.out) CHECK(n == blocks);
  };
  sums(
      "mov.u32 %r30, %tid.x;\nmul.wide.u32 %rd14, %r30, 4;\nadd.s64 %rd15, %rd1, %rd14;\n"
      "red.global.add.u32 [%rd15], 1;",
      {.blocks = blocks});
  // Bulk copies cannot be skipped by an observer.
  sums(
      ".shared .align 16 .b8 ones[16];\nmov.u32 %r30, ones;\nmov.u32 %r29, 1;\n"
      "st.shared.v4.u32 [%r30], {%r29, %r29, %r29, %r29};\n"
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r30], 16;\n"
      "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;",
      {.blocks = blocks, .threads = 1, .elements = 4});
}

TEST_CASE("an unimplemented instruction fails the launch, with its name, kernel and line") {
  const outcome o = run(module_text(".loc 1 42 3\ntcgen05.wait::ld.sync.aligned;"));
  CHECK(o.launch.code == error::not_supported);
  CHECK(contains(o.launch.message, "tcgen05.wait::ld.sync.aligned"));
  CHECK(contains(o.launch.message, "kernel at lesson.cu:42"));
}

TEST_CASE("clusters that do not divide the grid fail the launch") {
  std::string text = module_text("");
  text.insert(text.find("\n{") + 1, ".explicitcluster\n.reqnctapercluster 2, 1, 1\n");
  const outcome o = run(text);
  CHECK(o.launch.code == error::invalid_cluster_size);
  CHECK(contains(o.launch.message, "clusters of 2x1x1 blocks, which do not divide the grid of 1x"));
}

TEST_CASE("a cluster of one block is an ordinary block") {
  std::string text = module_text("");
  text.insert(text.find("\n{") + 1, ".explicitcluster\n.reqnctapercluster 1, 1, 1\n");
  CHECK(run(text).launch.ok());
}

TEST_CASE(
    "an address past an allocation stops the kernel, and the error names the thread and the line") {
  const outcome o =
      run(module_text(".loc 1 7 3\nmov.u32 %r9, 5;\n" + store_result), {1, 64, 40, 0});
  CHECK(o.launch.ok());
  CHECK(o.end.code == error::illegal_address);
  CHECK(contains(o.end.message, "kernel at lesson.cu:7: out of bounds: 4-byte write"));
  CHECK(contains(o.end.message,
                 "just past the end of an allocation of 160 bytes; a GPU rounds "
                 "that up to a multiple of 512 and would not notice"));
  CHECK(contains(o.end.message, "block (0,0,0), thread (40,0,0)"));
}

TEST_CASE("an error in inlined code names the outermost line") {
  const outcome o = run(module_text(
      ".loc 1 20 3\nmov.u32 %r9, 5;\n.loc 1 3 1, function_name $L_name, inlined_at 1 20 3\n"
      "ld.global.u32 %r9, [0];\n",
      ".section .debug_str { $L_name: .b8 102,0 }"));
  CHECK(contains(o.end.message, "lesson.cu:20"));
  CHECK(contains(o.end.message, "null pointer"));
}

TEST_CASE("an index that was never set is not reported as a host pointer") {
  const auto at = [](const std::string& bytes) {
    return run(module_text("mov.u64 %rd14, " + bytes +
                           ";\nsub.s64 %rd15, %rd1, %rd14;\nst.global.u32 [%rd15], %r1;"))
        .end.message;
  };
  CHECK(contains(at("8589934592"), "far outside of every allocation"));                  // 4 * 2^31
  CHECK(contains(at("17592186044416"), "not a device address; is it a host address?"));  // 2^44
}

TEST_CASE("a misaligned address has its own error") {
  const outcome o = run(module_text("st.global.u32 [%rd1+2], %r1;"));
  CHECK(o.end.code == error::misaligned_address);
  CHECK(contains(o.end.message, "misaligned"));
}

TEST_CASE("an access past the end of shared memory is reported") {
  const outcome o = run(
      module_text(".shared .align 4 .b8 s[64];\nmov.u32 %r2, s;\nst.shared.u32 [%r2+64], %r1;"));
  CHECK(o.end.code == error::illegal_address);
  CHECK(contains(o.end.message, "outside the block's 64 bytes of shared memory"));
}

TEST_CASE("after a kernel's failure, the device answers every later call with the reason") {
  const auto device = make_emulated_device(*find_gpu("h200"));
  const std::string text = module_text("st.global.u32 [0], %r1;");
  const auto module = device->load_module(std::as_bytes(std::span(text)));
  REQUIRE(module.ok());
  const auto kernel = device->find_kernel(*module, "_Z6kernelPii");
  std::byte parameters[16] = {};
  CHECK(device->launch(*kernel, {}, parameters).ok());
  CHECK(device->synchronize().code == error::illegal_address);
  CHECK(device->synchronize().code == error::illegal_address);
  CHECK(device->allocate(4).failure().code == error::illegal_address);
  CHECK(device->launch(*kernel, {}, parameters).code == error::illegal_address);
}

TEST_CASE("a barrier that half of a block cannot reach is reported as a deadlock") {
  // Warp 0 waits at barrier 0, and warp 1 at barrier 1, each for 64 threads.
  const outcome o =
      run(module_text(".loc 1 9 1\nmov.u32 %r2, %tid.x;\nshr.u32 %r3, %r2, 5;\nbar.sync %r3, 64;"),
          {1, 64, 64, 0});
  CHECK(o.end.code == error::launch_timeout);
  CHECK(contains(o.end.message, "deadlock"));
  CHECK(contains(o.end.message, "barrier 1 at lesson.cu:9"));
}

TEST_CASE("a barrier does not wait for threads that have exited") {
  const outcome o =
      run(module_text("mov.u32 %r2, %tid.x;\nsetp.gt.u32 %p1, %r2, 40;\n@%p1 ret;\nbar.sync 0;\n"
                      "mov.u32 %r9, 1;\n" +
                      store_result),
          {1, 64, 64, 0});
  CHECK(o.end.ok());
  CHECK(o.out[40] == 1);
  CHECK(o.out[41] == 0);
}

TEST_CASE("an endless loop reaches the time limit") {
  setenv("STEPWISE_TIME_LIMIT_S", "0.2", 1);
  const outcome o = run(module_text("$L_again:\n.loc 1 13 5\nadd.u32 %r2, %r2, 1;\nbra $L_again;"));
  unsetenv("STEPWISE_TIME_LIMIT_S");
  CHECK(o.end.code == error::launch_timeout);
  CHECK(contains(o.end.message,
                 "kernel at lesson.cu:13: still running after the time limit of 0.2 s"));
}

TEST_CASE("a launch of many short blocks reaches the time limit") {
  setenv("STEPWISE_TIME_LIMIT_S", "0.2", 1);
  const outcome o = run(module_text("mov.u32 %r2, 1;"), {2000000000, 32, 32, 0});
  unsetenv("STEPWISE_TIME_LIMIT_S");
  CHECK(o.end.code == error::launch_timeout);
  CHECK(contains(o.end.message, "still running after the time limit of 0.2 s; "));
  CHECK(contains(o.end.message, " of its 2000000000 blocks have begun"));
}

// Every lane polls out[0]. Odd lanes do something else in each iteration, and all lanes meet again.
const std::string poll_and_diverge =
    "mov.u32 %r2, %tid.x;\nand.b32 %r3, %r2, 1;\nsetp.eq.u32 %p1, %r3, 0;\n"
    "$L_wait:\nld.volatile.global.u32 %r4, [%rd1];\n@%p1 bra $L_even;\n"
    "ld.volatile.global.u32 %r5, [%rd1+4];\nbra $L_meet;\n"
    "$L_even:\nld.volatile.global.u32 %r5, [%rd1+8];\n"
    "$L_meet:\nsetp.eq.u32 %p2, %r4, 0;\n@%p2 bra $L_wait;\n";

TEST_CASE("a polling loop whose body diverges lets the other warps run") {
  // Warp 1 sets the word for which warp 0 waits.
  const outcome o =
      run(module_text("mov.u32 %r2, %tid.x;\nsetp.gt.u32 %p3, %r2, 31;\n@%p3 bra $L_set;\n" +
                      poll_and_diverge +
                      "bra $L_end;\n$L_set:\nmov.u32 %r6, 1;\n"
                      "st.volatile.global.u32 [%rd1], %r6;\n$L_end:"),
          {1, 64, 64, 0});
  CHECK(o.end.ok());
  CHECK(o.out[0] == 1);
}

TEST_CASE("a polling loop whose body diverges lets the other lanes of its warp run") {
  // Lane 31, which runs last, sets the word for which the other lanes wait.
  const outcome o = run(module_text(
      "mov.u32 %r2, %tid.x;\nsetp.eq.u32 %p3, %r2, 31;\n@%p3 bra $L_set;\n" + poll_and_diverge +
      "bra $L_end;\n$L_set:\nmov.u32 %r6, 1;\n"
      "st.volatile.global.u32 [%rd1], %r6;\n$L_end:"));
  CHECK(o.end.ok());
  CHECK(o.out[0] == 1);
}

TEST_CASE("a polling loop whose body diverges reaches the time limit") {
  setenv("STEPWISE_TIME_LIMIT_S", "0.2", 1);
  const outcome o = run(module_text(poll_and_diverge));
  unsetenv("STEPWISE_TIME_LIMIT_S");
  CHECK(o.end.code == error::launch_timeout);
}

TEST_CASE("lanes that compute for many slices still reconverge") {
  // Lane l runs n + l * n / 8 iterations of two instructions. After the loop all 32 lanes must be
  // together again.
  for (const int n : {1000, 10000, 100000, 1000000}) {
    const outcome o = run(
        module_text("mov.u32 %r2, %tid.x;\nshr.u32 %r3, %r1, 3;\nmad.lo.u32 %r3, %r2, %r3, %r1;\n"
                    "$L_loop:\nsub.u32 %r3, %r3, 1;\nsetp.ne.u32 %p1, %r3, 0;\n"
                    "@%p1 bra $L_loop;\nactivemask.b32 %r5;\npopc.b32 %r9, %r5;\n" +
                    store_result),
        {1, 32, 32, n});
    CHECK(o.end.ok());
    CHECK(o.out == std::vector<int>(32, 32));
  }
}

TEST_CASE("lanes that do atomic additions for many slices still reconverge") {
  for (const char* const add :
       {"atom.global.add.u32 %r8, [%rd1+128], 1;", "red.global.add.u32 [%rd1+128], 1;"}) {
    const outcome o =
        run(module_text("mov.u32 %r2, %tid.x;\nmad.lo.u32 %r3, %r2, 100, 1000;\n$L_loop:\n" +
                        std::string(add) +
                        "\nsub.u32 %r3, %r3, 1;\nsetp.ne.u32 %p1, %r3, 0;\n"
                        "@%p1 bra $L_loop;\nactivemask.b32 %r5;\npopc.b32 %r9, %r5;\n" +
                        store_result),
            {1, 32, 33, 0});
    CHECK(o.end.ok());
    CHECK(o.out[32] == 32 * 1000 + 100 * 31 * 16);
    CHECK(std::vector<int>(o.out.begin(), o.out.begin() + 32) == std::vector<int>(32, 32));
  }
}

TEST_CASE("lanes that poll for many slices still reconverge") {
  // out[33] is zero. Each iteration polls it, but the loop ends after 1000 to 32000 iterations
  // anyway.
  for (const char* const poll :
       {"ld.volatile.global.u32 %r4, [%rd1+132];", "atom.global.or.b32 %r4, [%rd1+132], 0;"}) {
    const outcome o =
        run(module_text("mov.u32 %r2, %tid.x;\nmad.lo.u32 %r3, %r2, 1000, 1000;\n$L_loop:\n" +
                        std::string(poll) +
                        "\nsub.u32 %r3, %r3, 1;\nadd.u32 %r8, %r3, %r4;\nsetp.ne.u32 %p1, %r8, 0;\n"
                        "@%p1 bra $L_loop;\nactivemask.b32 %r5;\npopc.b32 %r9, %r5;\n" +
                        store_result),
            {1, 32, 34, 0});
    CHECK(o.end.ok());
    CHECK(std::vector<int>(o.out.begin(), o.out.begin() + 32) == std::vector<int>(32, 32));
  }
}

TEST_CASE("lanes that wait at a join continue if polling lanes wait for their later work") {
  // Lane 0 leaves the loop at once, and then sets the word for which the others wait.
  for (const char* const each_pass : {"", "add.u32 %r7, %r7, 1;\n"}) {
    const outcome o = run(module_text(
        "mov.u32 %r2, %tid.x;\nmov.u32 %r7, 0;\nsetp.eq.u32 %p1, %r2, 0;\n$L_wait:\n" +
        std::string(each_pass) +
        "ld.volatile.global.u32 %r4, [%rd1];\nsetp.ne.u32 %p2, %r4, 0;\nor.pred %p2, %p1, %p2;\n"
        "@!%p2 bra $L_wait;\nmov.u32 %r6, 1;\nst.volatile.global.u32 [%rd1], %r6;\n"));
    CHECK(o.end.ok());
    CHECK(o.out[0] == 1);
  }
}

TEST_CASE("lanes that wait at a join continue if plain loads wait for them for a long time") {
  // Lane 0 waits for a word that the others write after the point where all would reconverge.
  const outcome o =
      run(module_text("mov.u32 %r2, %tid.x;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra $L_meet;\n"
                      "$L_wait:\nld.global.u32 %r4, [%rd1+4];\nsetp.eq.u32 %p2, %r4, 0;\n"
                      "@%p2 bra $L_wait;\n$L_meet:\nmov.u32 %r9, 7;\n" +
                      store_result));
  CHECK(o.end.ok());
  CHECK(o.out == std::vector<int>(32, 7));
}

TEST_CASE("both sides of a branch run and then reconverge") {
  const outcome o = run(module_text(
      "mov.u32 %r2, %tid.x;\nand.b32 %r3, %r2, 1;\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra $L_even;\n"
      "mov.u32 %r4, 100;\nbra $L_meet;\n$L_even:\nmov.u32 %r4, 200;\n$L_meet:\n"
      "activemask.b32 %r5;\npopc.b32 %r6, %r5;\nadd.u32 %r9, %r4, %r6;\n" +
      store_result));
  CHECK(o.end.ok());
  CHECK(o.out[0] == 232);
  CHECK(o.out[1] == 132);
}

TEST_CASE("lanes that leave a loop one by one reconverge after it") {
  const outcome o =
      run(module_text("mov.u32 %r2, %tid.x;\nmov.u32 %r4, 0;\n$L_loop:\nadd.u32 %r4, %r4, "
                      "1;\nsetp.lt.u32 %p1, %r4, %r2;\n"
                      "@%p1 bra $L_loop;\nactivemask.b32 %r5;\npopc.b32 %r9, %r5;\n" +
                      store_result));
  CHECK(o.end.ok());
  CHECK(o.out == std::vector<int>(32, 32));
}

TEST_CASE("lanes that skip part of a loop's body meet the others in the same iteration") {
  // In iteration i, lane i skips the sum and the other lanes add up their number. From iteration 32
  // on, lanes leave one by one.
  const outcome o = run(module_text(
      "mov.u32 %r2, %tid.x;\nadd.u32 %r10, %r2, 32;\nmov.u32 %r3, 0;\nmov.u32 %r9, 0;\n"
      "$L_pass:\nsetp.eq.u32 %p1, %r3, %r2;\n@%p1 bra $L_next;\n"
      "activemask.b32 %r5;\npopc.b32 %r6, %r5;\nadd.u32 %r9, %r9, %r6;\n"
      "setp.eq.u32 %p2, %r3, %r10;\n@%p2 bra $L_found;\n"
      "$L_next:\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p3, %r3, 64;\n@%p3 bra $L_pass;\n"
      "$L_found:\nactivemask.b32 %r5;\npopc.b32 %r6, %r5;\nmad.lo.u32 %r9, %r6, 10000, %r9;\n" +
      store_result));
  REQUIRE(o.end.ok());
  for (int lane = 0; lane < 32; ++lane) {
    int met = 31 * 31;
    for (int left = 0; left <= lane; ++left) met += 32 - left;
    CHECK(o.out[static_cast<std::size_t>(lane)] == 32 * 10000 + met);
  }
}

TEST_CASE("a predicated instruction does not affect the other lanes") {
  const outcome o =
      run(module_text("mov.u32 %r2, %tid.x;\nmov.u32 %r9, 1;\nsetp.lt.u32 %p1, %r2, 3;\n"
                      "@!%p1 mov.u32 %r9, 2;\n" +
                      store_result));
  CHECK(o.out[2] == 1);
  CHECK(o.out[3] == 2);
}

TEST_CASE("a guarded shuffle waits only for its own lanes") {
  const outcome o =
      run(module_text("mov.u32 %r2, %tid.x;\nmov.u32 %r9, 77;\nsetp.lt.u32 %p1, %r2, 16;\n"
                      "@%p1 shfl.sync.bfly.b32 %r9, %r2, 1, 31, 65535;\n" +
                      store_result));
  CHECK(o.end.ok());
  CHECK(o.out[0] == 1);
  CHECK(o.out[15] == 14);
  CHECK(o.out[16] == 77);
}

TEST_CASE("a register wider than a converted value is extended according to the value's type") {
  const outcome o = run(module_text("mov.u32 %r2, 511;\ncvt.s32.s8 %r9, %r2;\n" + store_result));
  CHECK(o.out[0] == -1);
  const outcome saturated =
      run(module_text("mov.u32 %r2, -5;\ncvt.sat.u8.s32 %r9, %r2;\n" + store_result));
  CHECK(saturated.out[0] == 0);
}

TEST_CASE("a block waits, by polling, for another block that has not started") {
  // Block 0 waits until block 1 has written out[1].
  const std::string text = module_text(
      "mov.u32 %r2, %ctaid.x;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra $L_writer;\n"
      "$L_wait:\nld.volatile.global.u32 %r3, [%rd1+4];\nsetp.eq.u32 %p2, %r3, 0;\n@%p2 bra "
      "$L_wait;\n"
      "st.global.u32 [%rd1], %r3;\nbra $L_end;\n$L_writer:\nmov.u32 %r4, 9;\n"
      "st.volatile.global.u32 [%rd1+4], %r4;\n$L_end:");
  setenv("STEPWISE_WORKERS", "1", 1);
  const outcome o = run(text, {2, 1, 2, 0});
  unsetenv("STEPWISE_WORKERS");
  CHECK(o.end.ok());
  CHECK(o.out[0] == 9);
}

TEST_CASE(
    "counters count the instructions that a warp issues and the bytes that its lanes access") {
  const auto device = make_emulated_device(*find_gpu("h200"));
  const std::string text = module_text("mov.u32 %r9, 1;\n" + store_result);
  const auto module = device->load_module(std::as_bytes(std::span(text)));
  const auto kernel = device->find_kernel(*module, "_Z6kernelPii");
  const auto out = device->allocate(4 * 48);
  struct {
    std::uint64_t out;
    int n;
  } const parameters{*out, 0};
  CHECK(device
            ->launch(*kernel, {{1, 1, 1}, {48, 1, 1}, 0, false},
                     std::as_bytes(std::span(&parameters, 1)))
            .ok());
  const auto counted = *device->extras().counting->counters();
  CHECK(counted.launches == 1);
  CHECK(counted.warp_instructions == 2 * 8);  // two warps, eight instructions each, including ret
  CHECK(counted.lane_instructions == 48 * 8);
  CHECK(counted.global_store_bytes == 48 * 4);
  CHECK(counted.global_load_bytes == 0);
}

}  // namespace launch_test
