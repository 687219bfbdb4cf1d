// Kernels that are small enough to count by hand.
#include "common/emulator/profile/profiler.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "common/device/device.hpp"

namespace stepwise::emulator {
namespace {

struct counted {
  std::vector<kernel_profile> kernels;
  const kernel_profile& kernel() const { return kernels.at(0); }
  const line_profile& line(int number) const {
    for (const line_profile& l : kernel().lines)
      if (l.at.line == number) return l;
    FAIL("no such line: " << number);
    return kernel().lines.at(0);
  }
};

// Launches a kernel `times` times, with 1 MB of memory at %rd1 and a table in constant memory. %r1
// is tid.x and %r2 is the lane's index.
counted count(const std::string& body, unsigned threads = 32, unsigned blocks = 1, int times = 1) {
  const std::string text =
      ".version 9.0\n.target sm_90\n.address_size 64\n.file 1 \"/home/me/lesson.cu\"\n"
      ".const .align 4 .b8 table[256];\n"
      ".visible .entry kernel(.param .u64 out)\n{\n.shared .align 16 .b8 s[16384];\n"
      ".local .align 16 .b8 own[256];\n"
      ".reg .pred %p<8>;\n.reg .b32 %r<32>;\n.reg .f32 %f<8>;\n.reg .b64 %rd<16>;\n"
      ".loc 1 1 0\n"
      "ld.param.u64 %rd1, [out];\ncvta.to.global.u64 %rd1, %rd1;\nmov.u32 %r1, %tid.x;\n"
      "mov.u32 %r2, %laneid;\nmov.u32 %r3, s;\n" +
      body + "\n.loc 1 99 0\nret;\n}\n";
  setenv("STEPWISE_COUNTERS", "1", 1);
  const auto device = make_emulated_device(*find_gpu("h200"));
  unsetenv("STEPWISE_COUNTERS");
  const auto module = device->load_module(std::as_bytes(std::span(text)));
  REQUIRE_MESSAGE(module.ok(), module.failure().message);
  const auto kernel = device->find_kernel(*module, "kernel");
  const auto memory = device->allocate(1 << 20);
  REQUIRE(memory.ok());
  const std::uint64_t parameter = *memory;
  for (int n = 0; n < times; ++n) {
    const status s = device->launch(*kernel, {{blocks, 1, 1}, {threads, 1, 1}, 0, false},
                                    std::as_bytes(std::span(&parameter, 1)));
    REQUIRE_MESSAGE(s.ok(), s.message);
  }
  const status end = device->synchronize();
  REQUIRE_MESSAGE(end.ok(), end.message);
  counted c{device->extras().profile->take_profile()};
  REQUIRE(c.kernels.size() == 1);
  CHECK(device->extras().profile->take_profile().empty());
  return c;
}

// %rd3 = %rd1 + lane * bytes
std::string lane_address(int bytes) {
  return "mul.wide.u32 %rd2, %r2, " + std::to_string(bytes) + ";\nadd.s64 %rd3, %rd1, %rd2;\n";
}

TEST_CASE("a device that does not count returns an empty profile") {
  const auto device = make_emulated_device(*find_gpu("h200"));
  CHECK(device->extras().profile->take_profile().empty());
}

TEST_CASE("a bulk copy counts as warps that load 16 bytes per lane") {
  const counted c = count(
      ".shared .align 8 .b64 bar;\nmov.u32 %r5, bar;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra END;\n"
      "mbarrier.init.shared.b64 [%r5], 1;\n"
      "mbarrier.arrive.expect_tx.shared.b64 _, [%r5], 4096;\n"
      ".loc 1 5 0\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 4096, "
      "[%r5];\nEND:");
  const profile_counts& copy = c.line(5).counts;
  CHECK(copy.global_load.requests == 8);
  CHECK(copy.global_load.sectors == 128);
  CHECK(copy.global_load.ideal_sectors == 128);
  CHECK(copy.shared_copy.wavefronts == 32);
  CHECK(copy.async.copies == 1);
  CHECK(copy.async.received_sectors == 128);
  CHECK(c.kernel().total.async.arrivals == 1);
  CHECK(c.kernel().uncounted.empty());
}

TEST_CASE("an instruction whose accesses are not counted is named") {
  const counted c = count(
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
      "[%rd1], [%r3], 128;");
  CHECK(c.kernel().uncounted.starts_with("tensormap.cp_fenceproxy.global.shared::cta"));
}

// On an H200 (2026-11-30), ncu counts four requests of eight sectors each for a tile of 16-bit
// elements in rows of at least 32 bytes. For a store of 16 x 16 floats to shared memory, it counts
// 16 wavefronts.
TEST_CASE("wmma: each lane moves its adjacent elements at once") {
  const counted c = count(
      ".reg .f32 %t<8>;\n.reg .b32 %h<8>;\nmov.u32 %r6, 1024;\nmov.u32 %r7, 16;\n"
      ".loc 1 5 0\n"
      "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%h0,%h1,%h2,%h3,%h4,%h5,%h6,%h7}, "
      "[%rd1], %r6;\n"
      "mov.f32 %t0, 0f00000000;\nmov.f32 %t1, %t0;\nmov.f32 %t2, %t0;\nmov.f32 %t3, %t0;\n"
      "mov.f32 %t4, %t0;\nmov.f32 %t5, %t0;\nmov.f32 %t6, %t0;\nmov.f32 %t7, %t0;\n"
      ".loc 1 6 0\n"
      "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%r3], "
      "{%t0,%t1,%t2,%t3,%t4,%t5,%t6,%t7}, %r7;");
  CHECK(c.kernel().uncounted.empty());
  CHECK(c.line(5).counts.global_load.requests == 4);
  CHECK(c.line(5).counts.global_load.sectors == 32);
  CHECK(c.line(6).counts.shared_store.requests == 4);
  CHECK(c.line(6).counts.shared_store.wavefronts == 16);
}

// The machine code loads b's rows like a's, and transposes 8 x 8 elements with MOVM afterwards.
TEST_CASE("wmma: a tile against the fragment's order is loaded by lines") {
  const counted c = count(
      ".reg .b32 %h<8>;\nmov.u32 %r6, 1024;\nmov.u32 %r7, 16;\n"
      ".loc 1 5 0\n"
      "wmma.load.b.sync.aligned.row.m16n16k16.global.f16 {%h0,%h1,%h2,%h3,%h4,%h5,%h6,%h7}, "
      "[%rd1], %r6;\n"
      ".loc 1 6 0\n"
      "wmma.load.a.sync.aligned.col.m16n16k16.shared.f16 {%h0,%h1,%h2,%h3,%h4,%h5,%h6,%h7}, "
      "[%r3], %r7;\n");
  CHECK(c.line(5).counts.global_load.requests == 4);
  CHECK(c.line(5).counts.global_load.sectors == 32);
  CHECK(c.line(6).counts.shared_load.requests == 4);
  CHECK(c.line(6).counts.shared_load.wavefronts == 8);
}

// The expected counts are ncu's on an H200 (2026-11-30).
TEST_CASE("tensor cores: instructions, cycles and the wavefronts of operands") {
  std::string sums, zeros;
  for (int n = 0; n < 32; ++n) sums += (n == 0 ? "{%d" : ", %d") + std::to_string(n);
  for (int n = 0; n < 32; ++n) zeros += "mov.f32 %d" + std::to_string(n) + ", 0f00000000;\n";
  const counted c =
      count(".reg .f32 %d<32>;\n.reg .b32 %a<4>;\nsetp.eq.u32 %p1, %r3, %r3;\n" + zeros +
                "mov.u32 %a0, 0;\nmov.u32 %a1, 0;\nmov.u32 %a2, 0;\nmov.u32 %a3, 0;\n"
                "mov.u64 %rd5, 4611686293305294848;\nwgmma.fence.sync.aligned;\n"
                ".loc 1 5 0\nwgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 " +
                sums +
                "}, %rd5, %rd5, %p1, 1, 1, 0, 0;\n"
                ".loc 1 6 0\nwgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 " +
                sums +
                "}, {%a0,%a1,%a2,%a3}, %rd5, %p1, 1, 1, 0;\n"
                ".loc 1 7 0\nwgmma.commit_group.sync.aligned;\n"
                "wgmma.wait_group.sync.aligned 0;\n"
                ".loc 1 8 0\nmma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                "{%d0,%d1,%d2,%d3}, {%a0,%a1,%a2,%a3}, {%a0,%a1}, {%d0,%d1,%d2,%d3};",
            128);
  CHECK(c.kernel().uncounted.empty());
  CHECK(c.line(5).counts.async.tensor_instructions == 4);
  CHECK(c.line(5).counts.async.tensor_cycles == 128);
  CHECK(c.line(5).counts.async.operand_wavefronts == 32);
  CHECK(c.line(6).counts.async.operand_wavefronts == 16);
  CHECK(c.line(7).counts.async.tensor_instructions == 0);
  CHECK(c.line(8).counts.async.tensor_instructions == 4);
  CHECK(c.line(8).counts.async.tensor_cycles == 24);
}

TEST_CASE("global loads and stores by line: requests, lanes, sectors") {
  const counted c = count(lane_address(4) + ".loc 1 5 0\nld.global.u32 %r4, [%rd3];\n" +
                              lane_address(128) + ".loc 1 6 0\nst.global.u32 [%rd3], %r4;\n",
                          64, 3, 2);
  CHECK(c.kernel().launches == 2);
  CHECK(c.kernel().kernel == "kernel");
  const sector_counts& load = c.line(5).counts.global_load;
  CHECK(load.requests == 2 * 3 * 2);
  CHECK(load.lanes == 12 * 32);
  CHECK(load.sectors == 12 * 4);
  CHECK(load.ideal_sectors == 12 * 4);
  const sector_counts& store = c.line(6).counts.global_store;
  CHECK(store.requests == 12);
  CHECK(store.sectors == 12 * 32);
  CHECK(store.ideal_sectors == 12 * 4);
  CHECK(c.kernel().total.global_load == load);
  CHECK(c.kernel().total.global_store == store);
}

TEST_CASE("shared memory: an eight-way conflict and a broadcast, for loads and stores") {
  const counted c = count(
      "shl.b32 %r4, %r2, 5;\nadd.u32 %r4, %r4, %r3;\n"
      ".loc 1 7 0\nst.shared.u32 [%r4], %r2;\n"
      ".loc 1 8 0\nld.shared.u32 %r5, [%r4];\n"
      ".loc 1 9 0\nld.shared.u32 %r5, [%r3];\n"
      ".loc 1 10 0\nld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r3];\n");
  CHECK(c.line(7).counts.shared_store.wavefronts == 8);
  CHECK(c.line(7).counts.shared_store.ideal_wavefronts == 1);
  CHECK(c.line(8).counts.shared_load.wavefronts == 8);
  CHECK(c.line(9).counts.shared_load.wavefronts == 1);
  CHECK(c.line(9).counts.shared_load.requests == 1);
  CHECK(c.line(10).counts.shared_load.wavefronts == 2);
  CHECK(c.kernel().static_shared_bytes == 16384);
}

TEST_CASE("an access by generic address is counted for the memory that it reaches") {
  const counted c = count(
      "mov.u32 %r4, s;\ncvt.u64.u32 %rd4, %r4;\ncvta.shared.u64 %rd4, %rd4;\n"
      "setp.lt.u32 %p1, %r2, 16;\nselp.b64 %rd5, %rd4, %rd1, %p1;\n"
      ".loc 1 5 0\nld.u32 %r5, [%rd5];\n");
  CHECK(c.line(5).counts.global_load.requests == 1);
  CHECK(c.line(5).counts.global_load.lanes == 16);
  CHECK(c.line(5).counts.shared_load.requests == 1);
  CHECK(c.line(5).counts.shared_load.lanes == 16);
}

TEST_CASE("atomics: lanes on one shared word are serialised, and a float addition is a loop") {
  const counted c = count(
      ".loc 1 5 0\natom.shared.add.u32 %r5, [%r3], 1;\n"
      ".loc 1 6 0\nred.global.add.u32 [%rd1], 1;\n"
      "mov.f32 %f1, 0f3F800000;\n.loc 1 7 0\natom.shared.add.f32 %f2, [%r3+64], %f1;\n");
  CHECK(c.line(5).counts.shared_atomic.wavefronts == 32);
  CHECK(c.line(5).counts.shared_atomic.ideal_wavefronts == 1);
  CHECK(c.line(6).counts.global_atomic.sectors == 32);
  CHECK(c.line(6).counts.global_atomic.requests == 1);
  CHECK(c.line(7).counts.shared_atomic.requests == 32);
  CHECK(c.line(7).counts.shared_atomic.wavefronts == 64);
  CHECK(c.line(7).counts.shared_load.requests == 32);
  // All wavefronts but one are repeated, because with a sum per warp, the lanes would need only
  // one.
  CHECK(c.line(5).counts.shared_atomic.repeated_wavefronts == 31);
  CHECK(c.line(6).counts.global_atomic.repeated_sectors == 31);
  CHECK(c.line(6).counts.global_atomic.ideal_sectors == 1);
  CHECK(c.line(7).counts.shared_atomic.repeated_wavefronts == 62);
  CHECK(c.line(7).counts.shared_load.repeated_wavefronts == 31);
}

TEST_CASE("atomics at separate addresses repeat nothing") {
  const counted c = count(
      "mul.lo.u32 %r4, %r2, 128;\ncvt.u64.u32 %rd4, %r4;\nadd.u64 %rd4, %rd4, %rd1;\n"
      ".loc 1 5 0\nred.global.add.u32 [%rd4], 1;\n"
      "add.u32 %r4, %r4, %r3;\n.loc 1 6 0\natom.shared.add.u32 %r5, [%r4], 1;\n"
      "st.shared.u32 [%r4], %r5;\n");
  CHECK(c.line(5).counts.global_atomic.sectors == 32);
  CHECK(c.line(5).counts.global_atomic.ideal_sectors == 4);
  CHECK(c.line(5).counts.global_atomic.repeated_sectors == 0);
  CHECK(c.line(6).counts.shared_atomic.wavefronts == 32);
  CHECK(c.line(6).counts.shared_atomic.repeated_wavefronts == 0);
  CHECK(c.line(6).counts.shared_store.repeated_wavefronts == 0);
}

TEST_CASE("local memory") {
  const counted c = count(".loc 1 5 0\nst.local.u32 [own+8], %r2;\nld.local.u32 %r5, [own+8];\n");
  CHECK(c.line(5).counts.local_store.sectors == 4);
  CHECK(c.line(5).counts.local_load.requests == 1);
  CHECK(c.line(5).counts.local_load.sectors == 4);
}

TEST_CASE("constant memory: requests are counted, for one word of all lanes and one per lane") {
  const counted c = count(
      ".loc 1 5 0\nld.const.u32 %r5, [table+4];\n"
      "mov.u64 %rd4, table;\nmul.wide.u32 %rd5, %r2, 4;\nadd.u64 %rd4, %rd4, %rd5;\n"
      ".loc 1 6 0\nld.const.u32 %r6, [%rd4];\nadd.u32 %r5, %r5, %r6;\n"
      ".loc 1 7 0\nst.global.u32 [%rd1], %r5;\n");
  CHECK(c.line(5).counts.constant_load.requests == 1);
  CHECK(c.line(5).counts.constant_load.lanes == 32);
  CHECK(c.line(5).counts.constant_load.ideal_sectors == 1);
  CHECK(c.line(6).counts.constant_load.ideal_sectors == 4);
  CHECK(c.kernel().total.global_load.requests == 0);
}

TEST_CASE("instructions by pipe, branches, and lanes that sit out a branch") {
  // Lanes 0 to 7 execute line 6. All lanes execute lines 5 and 7 twice.
  const counted c = count(
      "mov.u32 %r4, 0;\nmov.f32 %f1, 0f3F800000;\nLoop:\n"
      ".loc 1 5 0\nsetp.ge.u32 %p1, %r2, 8;\n@%p1 bra Skip;\n"
      ".loc 1 6 0\nfma.rn.f32 %f1, %f1, %f1, %f1;\nsqrt.approx.f32 %f2, %f1;\n"
      "cvt.rzi.u32.f32 %r5, %f1;\n"
      "Skip:\n.loc 1 7 0\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p2, %r4, 2;\n@%p2 bra Loop;\n"
      ".loc 1 8 0\nbar.sync 0;\n");
  const auto on = [&](int line, pipe p) {
    return c.line(line).counts.instructions[static_cast<int>(p)];
  };
  CHECK(on(5, pipe::integer).warps == 2);
  CHECK(on(5, pipe::control).lanes == 64);
  CHECK(on(6, pipe::fp32).warps == 2);
  CHECK(on(6, pipe::fp32).lanes == 16);
  CHECK(on(6, pipe::special).warps == 2);
  CHECK(on(6, pipe::conversion).warps == 2);
  CHECK(on(7, pipe::integer).warps == 4);
  CHECK(on(7, pipe::integer).lanes == 128);
  CHECK(on(8, pipe::barrier).warps == 1);
  CHECK(c.line(5).counts.branches == 2);
  CHECK(c.line(5).counts.divergent_branches == 2);
  CHECK(c.line(7).counts.branches == 2);
  CHECK(c.line(7).counts.divergent_branches == 0);
  // n instructions of full warps have 32 * n lanes. Here 24 lanes sat out 6 instructions each.
  const instruction_counts all = c.kernel().total.all_instructions();
  CHECK(all.lanes == 32 * all.warps - 6 * 24);
  CHECK(c.kernel().warp_efficiency() ==
        doctest::Approx(1 - 6.0 * 24 / (32.0 * static_cast<double>(all.warps))));
}

TEST_CASE("a guard that is false in all lanes makes no request") {
  const counted c =
      count("setp.gt.u32 %p1, %r2, 99;\n.loc 1 5 0\n@%p1 ld.global.u32 %r4, [%rd1];\n");
  CHECK(c.line(5).counts.global_load.requests == 0);
  CHECK(c.line(5).counts.instructions[static_cast<int>(pipe::load_store)].warps == 1);
}

TEST_CASE("reading a parameter is not a memory access") {
  const counted c = count(".loc 1 5 0\nld.param.u64 %rd3, [out];\n");
  CHECK(c.line(5).counts.instructions[static_cast<int>(pipe::load_store)].warps == 0);
  CHECK(c.line(5).counts.instructions[static_cast<int>(pipe::other)].warps == 1);
}

TEST_CASE("launches with the same configuration are one kernel, and counts repeat") {
  const std::string body = lane_address(4) + ".loc 1 5 0\nld.global.u32 %r4, [%rd3];\n";
  const counted a = count(body, 128, 7), b = count(body, 128, 7);
  CHECK(a.kernel().total.global_load == b.kernel().total.global_load);
  CHECK(a.kernel().total.global_load.requests == 28);
  CHECK(a.kernel().grid.x == 7);
  CHECK(a.kernel().block.x == 128);
}

TEST_CASE("cp.async: the load from global memory and the write to shared memory") {
  const counted c = count(
      "mul.wide.u32 %rd2, %r2, 16;\nadd.s64 %rd3, %rd1, %rd2;\nshl.b32 %r4, %r2, 4;\n"
      "add.u32 %r4, %r4, %r3;\n"
      ".loc 1 5 0\ncp.async.ca.shared.global [%r4], [%rd3], 16;\ncp.async.wait_all;\n");
  CHECK(c.line(5).counts.global_load.requests == 1);
  CHECK(c.line(5).counts.global_load.sectors == 16);
  CHECK(c.line(5).counts.shared_copy.requests == 1);
  CHECK(c.line(5).counts.shared_copy.wavefronts == 4);
  CHECK(c.line(5).counts.shared_store.requests == 0);
}

// The counts of line 5, which executes an access 16 times: in a loop, or as 16 instructions. %r4
// and %rd3 move before each.
profile_counts counts_of_16(const std::string& access, int shared_step, int global_step,
                            bool loops) {
  const std::string once = "add.u32 %r4, %r4, " + std::to_string(shared_step) +
                           ";\nadd.s64 %rd3, %rd3, " + std::to_string(global_step) +
                           ";\n.loc 1 5 0\n" + access + ";\n.loc 1 6 0\n";
  std::string body =
      "mul.wide.u32 %rd2, %r2, 16;\nadd.s64 %rd3, %rd1, %rd2;\nxor.b32 %r4, %r2, 5;\n"
      "shl.b32 %r4, %r4, 4;\nadd.u32 %r4, %r4, %r3;\nmov.u32 %r9, 0;\n";
  if (loops) {
    body +=
        "again:\n" + once + "add.u32 %r9, %r9, 1;\nsetp.lt.u32 %p1, %r9, 16;\n@%p1 bra again;\n";
  } else {
    for (int n = 0; n < 16; ++n) body += once;
  }
  return count(body + "cp.async.wait_all;\n").line(5).counts;
}

TEST_CASE("an access of the same shape at another place has the cost of that place") {
  for (const auto& [access, shared_step, global_step] :
       std::vector<std::tuple<std::string, int, int>>{
           {"cp.async.cg.shared.global [%r4], [%rd3], 16", 16, 0},
           {"cp.async.cg.shared.global [%r4], [%rd3], 16", 0, 16},
           {"cp.async.cg.shared.global [%r4], [%rd3], 16", 128, 48},
           {"cp.async.ca.shared.global [%r4], [%rd3], 16", 32, 16},
           {"cp.async.ca.shared.global [%r4], [%rd3], 4", 4, 12},
           {"ld.shared.u8 %r10, [%r4]", 1, 0},
           {"ld.shared.u16 %r10, [%r4]", 6, 0}}) {
    CAPTURE(access);
    CAPTURE(shared_step);
    const auto repeated = counts_of_16(access, shared_step, global_step, true);
    const auto separate = counts_of_16(access, shared_step, global_step, false);
    CHECK(repeated.shared_copy == separate.shared_copy);
    CHECK(repeated.shared_load == separate.shared_load);
    CHECK(repeated.global_load == separate.global_load);
    CHECK(separate.shared_copy.requests + separate.shared_load.requests == 16);
  }
}

TEST_CASE("a text may have any number of lines and of functions inlined into them") {
  constexpr int many = 150000;
  std::string body;
  for (int n = 0; n < many; ++n) {
    const std::string line = std::to_string(n + 100);
    body += ".loc 1 " + line + " 0\nmov.u32 %r4, %r1;\n.loc 1 7 0, function_name f, inlined_at 1 " +
            line + " 0\nmov.u32 %r4, %r1;\n";
  }
  const auto start = std::chrono::steady_clock::now();
  const counted c = count(body);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));
  CHECK(c.line(100 + many - 1).counts.instructions[static_cast<int>(pipe::other)].warps +
            c.line(100 + many - 1).counts.instructions[static_cast<int>(pipe::integer)].warps ==
        2);
}

}  // namespace
}  // namespace stepwise::emulator
