// Tests the emulator's reports on wrong asynchronous copies, barriers in shared memory and
// warp-wide matrix operations. PTX leaves most of these cases open, so they do not run on a GPU.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "common/device/device.hpp"
#include "common/device/tensor_map.hpp"

using namespace stepwise;

namespace {

// Runs a kernel and returns its final status. %rd1 is the address of 256 bytes, %r1 of 64 bytes of
// shared memory and %r2 of an mbarrier. %r3 is the thread's index. `map` is copied to %rd1. `words`
// are copied to %rd1 before the kernel runs, and back afterwards.
status run(const std::string& body, unsigned threads = 32, const opaque_tensor_map* map = nullptr,
           std::span<std::uint32_t> words = {}) {
  const std::string text =
      ".version 9.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 out)\n{\n.shared .align 16 .b8 tile[64];\n"
      ".shared .align 8 .b64 bar;\n.reg .pred %p<8>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<8>;\n"
      "ld.param.u64 %rd1, [out];\nmov.u32 %r1, tile;\nmov.u32 %r2, bar;\nmov.u32 %r3, %tid.x;\n" +
      body + "\nret;\n}\n";
  const auto model = find_gpu("h200");
  REQUIRE(model.ok());
  const auto device = make_emulated_device(*model);
  const auto module = device->load_module(std::as_bytes(std::span(text)));
  REQUIRE(module.ok());
  const auto kernel = device->find_kernel(*module, "k");
  REQUIRE(kernel.ok());
  const auto out = device->allocate(256);
  REQUIRE(out.ok());
  if (map != nullptr) REQUIRE(device->write(*out, std::as_bytes(std::span(map, 1))).ok());
  REQUIRE(device->write(*out, std::as_bytes(words)).ok());
  const status launch = device->launch(*kernel, {{1, 1, 1}, {threads, 1, 1}, 0, false},
                                       std::as_bytes(std::span(&*out, 1)));
  if (!launch.ok()) return launch;
  const status end = device->synchronize();
  if (end.ok()) REQUIRE(device->read(std::as_writable_bytes(words), *out).ok());
  return end;
}

void check_says(const status& s, error code, const std::string& part) {
  CHECK(s.code == code);
  CAPTURE(s.message);
  CHECK(s.message.find(part) != std::string::npos);
}

const std::string one_thread = "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra end;\n";

TEST_CASE("an error names the end of an asynchronous copy at which it occurs") {
  check_says(run("cp.async.ca.shared.global [%r1], [%rd1+256], 4;"), error::illegal_address,
             "out of bounds: the source of cp.async: 4-byte read");
  check_says(run("cp.async.ca.shared.global [%r1+4096], [%rd1], 4;"), error::illegal_address,
             "out of bounds: the destination of cp.async: 4-byte write outside the block's");
  check_says(run("cp.async.ca.shared.global [%r1+2], [%rd1], 4;"), error::misaligned_address,
             "the destination of cp.async: 4-byte write");
  check_says(run("mov.u32 %r4, 12;\ncp.async.ca.shared.global [%r1], [%rd1], 8, %r4;"),
             error::launch_failure, "cp.async of 8 bytes with a source of 12");
}

TEST_CASE("bulk copies need whole, aligned pieces of 16 bytes") {
  const std::string copy = one_thread +
                           "mbarrier.init.shared.b64 [%r2], 1;\n"
                           "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes ";
  check_says(run(copy + "[%r1], [%rd1], 24, [%r2];\nend:"), error::launch_failure,
             "a bulk copy of 24 bytes, expected a multiple of 16");
  check_says(run(copy + "[%r1], [%rd1+8], 16, [%r2];\nend:"), error::misaligned_address,
             "the source of a bulk copy: 16-byte read");
  check_says(run(copy + "[%r1], [%rd1+224], 48, [%r2];\nend:"), error::illegal_address,
             "48-byte read");
  check_says(run(copy + "[%r1], [%rd1], 16, [%r1+32];\nend:"), error::launch_failure,
             "no mbarrier was initialised");
}

TEST_CASE("a bulk copy takes place after its issue, and before the wait for it returns") {
  const std::string load =
      one_thread +
      "mov.u32 %r4, 1;\nst.shared.u32 [%r1], %r4;\nmbarrier.init.shared.b64 [%r2], 1;\n"
      "mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 16;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 16, "
      "[%r2];\n"
      "ld.shared.u32 %r5, [%r1];\n"
      "again:\nmbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;\n@!%p2 bra again;\n"
      "ld.shared.u32 %r6, [%r1];\nst.global.u32 [%rd1+16], %r5;\nst.global.u32 [%rd1+20], %r6;\n"
      "end:";
  const std::string store =
      one_thread +
      "mov.u32 %r4, 1;\nst.shared.u32 [%r1], %r4;\n"
      "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 16;\n"
      "cp.async.bulk.commit_group;\nmov.u32 %r4, 2;\nst.shared.u32 [%r1], %r4;\n"
      "cp.async.bulk.wait_group 0;\nmov.u32 %r4, 3;\nst.shared.u32 [%r1], %r4;\nend:";
  for (const bool at_once : {false, true}) {
    CAPTURE(at_once);
    if (at_once) setenv("STEPWISE_COPY_SEED", "0", 1);
    std::uint32_t words[6] = {7};
    CHECK(run(load, 32, nullptr, words).ok());
    CHECK(words[4] == (at_once ? 7 : 1));
    CHECK(words[5] == 7);
    CHECK(run(store, 32, nullptr, words).ok());
    CHECK(words[0] == (at_once ? 1 : 2));
    unsetenv("STEPWISE_COPY_SEED");
  }
}

TEST_CASE("a bulk copy within shared memory is refused, as on a GPU without clusters") {
  check_says(run("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
                 "[%r1], [%r1+16], 16, [%r2];"),
             error::illegal_instruction, "a bulk copy from shared to shared memory");
  check_says(run("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add"
                 ".u32 [%r1], [%r1+16], 16, [%r2];"),
             error::illegal_instruction, "a bulk copy from shared to shared memory");
}

TEST_CASE("a copy needs a tensor map that was encoded, at an address that is aligned") {
  const std::string copy =
      one_thread +
      "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], ";
  check_says(run(copy + "[%rd1, {%r3}], [%r2];\nend:"), error::illegal_instruction,
             "a tensor map that cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col did not make");
  check_says(run(copy + "[%rd1+32, {%r3}], [%r2];\nend:"), error::misaligned_address,
             "the tensor map: 128-byte read");
  check_says(run(copy + "[%rd1+256, {%r3}], [%r2];\nend:"), error::illegal_address,
             "the tensor map: 128-byte read");
  check_says(run("mov.b64 %rd2, out;\ncvta.param.u64 %rd2, %rd2;\n" + copy +
                 "[%rd2, {%r3}], [%r2];\nend:"),
             error::illegal_address, "the tensor map: 128-byte read");
  check_says(run(".local .align 64 .b8 copied[128];\nmov.b64 %rd2, copied;\n"
                 "cvta.local.u64 %rd2, %rd2;\n" +
                 copy + "[%rd2, {%r3}], [%r2];\nend:"),
             error::illegal_address, "a tensor map in local memory");
}

TEST_CASE("a copy to a block that the cluster does not have is an error") {
  check_says(
      run(one_thread + "mbarrier.init.shared.b64 [%r2], 1;\n.reg .b16 %rs<2>;\nmov.u16 %rs1, 2;\n"
                       "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                       ".multicast::cluster [%r1], [%rd1], 16, [%r2], %rs1;\nend:"),
      error::illegal_instruction, "a multicast to other blocks");
}

TEST_CASE("misuse of a barrier in shared memory is reported") {
  check_says(run("mbarrier.arrive.shared.b64 %rd2, [%r2];"), error::launch_failure,
             "no mbarrier was initialised at shared address");
  check_says(run(one_thread + "mbarrier.init.shared.b64 [%r2], 0;\nend:"), error::launch_failure,
             "mbarrier.init with a count of 0");
  check_says(run(one_thread + "mbarrier.init.shared.b64 [%r2+4], 1;\nend:"),
             error::misaligned_address, "the mbarrier object: 8-byte write");
  check_says(run(one_thread + "mbarrier.init.shared.b64 [%r2], 2;\n"
                              "mbarrier.arrive.shared::cta.b64 %rd2, [%r2], 3;\nend:"),
             error::launch_failure,
             "arrives 3 times at an mbarrier whose phase lacks 2 of 2 arrivals");
  check_says(run(one_thread + "mbarrier.init.shared.b64 [%r2], 1;\n"
                              "mbarrier.arrive.noComplete.shared.b64 %rd2, [%r2], 1;\nend:"),
             error::launch_failure, "noComplete completes");
  check_says(run(one_thread + "mbarrier.init.shared.b64 [%r2], 1;\n"
                              "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2], 1048575;\n"
                              "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2], 1;\nend:"),
             error::launch_failure, "would be 1048576");
  check_says(run("mbarrier.arrive.b64 %rd2, [%rd1];"), error::illegal_address,
             "the mbarrier object: an address that is not in shared memory");
  check_says(
      run(one_thread + "mbarrier.init.shared.b64 [%r2], 1;\nmbarrier.inval.shared.b64 [%r2];\n"
                       "mbarrier.test_wait.parity.shared.b64 %p2, [%r2], 0;\nend:"),
      error::launch_failure, "no mbarrier was initialised");
}

TEST_CASE("a wait for a phase that never ends reaches the time limit") {
  setenv("STEPWISE_TIME_LIMIT_S", "0.1", 1);
  const status s =
      run("mbarrier.init.shared.b64 [%r2], 33;\nbar.sync 0;\n"
          "mbarrier.arrive.shared.b64 %rd2, [%r2];\n"
          "again:\nmbarrier.try_wait.shared.b64 %p2, [%r2], %rd2;\n@!%p2 bra again;");
  unsetenv("STEPWISE_TIME_LIMIT_S");
  check_says(s, error::launch_timeout, "still running after the time limit");
}

TEST_CASE("in a launch without clusters, a block has no others") {
  check_says(run("mapa.shared::cluster.u32 %r4, %r1, 1;\nld.shared::cluster.u32 %r4, [%r4];"),
             error::illegal_instruction, "4-byte read outside the block's");
  check_says(run("barrier.cluster.arrive;\nsetp.lt.u32 %p1, %r3, 9;\n@%p1 bra end;\n"
                 "barrier.cluster.arrive;\nend:",
                 64),
             error::launch_failure, "barrier.cluster.arrive twice without a wait between");
  check_says(run("setp.eq.u32 %p1, %r3, 0;\n@%p1 bra end;\nbarrier.cluster.arrive;\n"
                 "barrier.cluster.wait;\nend:\nbar.sync 0;"),
             error::launch_timeout, "31 threads wait at the cluster's barrier");
}

TEST_CASE("a matrix operation needs all lanes of the warp at one instruction") {
  const std::string move = "movmatrix.sync.aligned.m8n8.trans.b16 %r4, %r3;\n";
  CHECK(run(move, 64).ok());
  check_says(run(move, 48), error::launch_failure,
             "an instruction for all 32 lanes of a warp, 16 of which have exited or never began");
  check_says(run("setp.gt.u32 %p1, %r3, 29;\n@%p1 bra end;\n" + move + "end:"),
             error::launch_failure, "2 of which have exited");
  check_says(run("setp.gt.u32 %p1, %r3, 15;\n@%p1 bra other;\n" + move + "bra end;\nother:\n" +
                 move + "end:"),
             error::launch_failure, "but some lanes wait at another one");
  check_says(
      run("setp.gt.u32 %p1, %r3, 15;\n@%p1 bra other;\n" + move + "other:\nbar.sync 0;\nend:"),
      error::launch_timeout, "deadlock");
}

// The stores that work are in ../../../runtime/conformance/tma/tma_im2col.cu.
TEST_CASE("stores in im2col mode with a bounding box outside of the images stop the launch") {
  const auto map_with = [](int lower, int upper) {
    const auto map = encode_map({.type = static_cast<int>(tensor_type::u32),
                                 .rank = 3,
                                 .address = 0x1000,
                                 .sizes = {4, 8, 2},
                                 .strides = {16, 128},
                                 .box = {4, 4},
                                 .element_strides = {1, 1, 1},
                                 .is_im2col = true,
                                 .lower = {lower},
                                 .upper = {upper}});
    REQUIRE(map.ok());
    return *map;
  };
  for (const char* const name : {"cp.async.bulk.tensor.3d.global.shared::cta",
                                 "cp.reduce.async.bulk.tensor.3d.global.shared::cta.add"}) {
    const std::string store =
        one_thread + name + ".im2col_no_offs.bulk_group [%rd1, {%r3, %r3, %r3}], [%r1];\nend:";
    const opaque_tensor_map before = map_with(-1, -1), after = map_with(0, 1);
    check_says(run(store, 32, &before), error::illegal_instruction, "begins outside of the images");
    check_says(run(store, 32, &after), error::not_supported, "ends outside of the images");
    const opaque_tensor_map inner = map_with(0, -1);
    check_says(run(store, 32, &inner), error::illegal_address, "the tensor: 16-byte");
  }
}

// The uses that an H200 ran are in ../../../runtime/conformance/tma/tma_interleaved.cu.
TEST_CASE("uses of interleaved layouts that were not measured are refused") {
  const auto map_with = [](tensor_interleave layout, tensor_swizzle swizzle, bool is_im2col) {
    const auto map = encode_map({.type = static_cast<int>(tensor_type::u32),
                                 .rank = 3,
                                 .address = 0x1000,
                                 .sizes = {4, 2, 2},
                                 .strides = {128, 256},
                                 .box = {4, 4, 1},
                                 .element_strides = {1, 1, 1},
                                 .is_im2col = is_im2col,
                                 .interleave = static_cast<int>(layout),
                                 .swizzle = static_cast<int>(swizzle)});
    REQUIRE(map.ok());
    return *map;
  };
  using enum tensor_interleave;
  const std::string name = one_thread + "cp.async.bulk.tensor.3d.global.shared::cta";
  const std::string store = name + ".tile.bulk_group [%rd1, {%r3, %r3, %r3}], [%r1];\nend:";
  const opaque_tensor_map plain = map_with(bytes_16, tensor_swizzle::none, false);
  check_says(run(store, 32, &plain), error::illegal_address, "the tensor: 16-byte");
  const opaque_tensor_map wide = map_with(bytes_32, tensor_swizzle::bytes_64, false);
  check_says(run(store, 32, &wide), error::not_supported, "without a swizzle of 32 bytes");
  const opaque_tensor_map narrow = map_with(bytes_16, tensor_swizzle::bytes_128, false);
  check_says(run(store, 32, &narrow), error::not_supported, "a swizzle of 128 bytes");
  const opaque_tensor_map images = map_with(bytes_16, tensor_swizzle::none, true);
  check_says(
      run(name + ".im2col_no_offs.bulk_group [%rd1, {%r3, %r3, %r3}], [%r1];\nend:", 32, &images),
      error::not_supported, "a store in im2col mode to an interleaved tensor");
  check_says(
      run("mov.u32 %r4, 2;\n" + name + ".tile.bulk_group [%rd1, {%r3, %r4, %r3}], [%r1];\nend:", 32,
          &plain),
      error::not_supported, "past the last slice");
}

TEST_CASE("tensormap.replace keeps the layout of a map") {
  const auto map = encode_map({.type = static_cast<int>(tensor_type::u32),
                               .rank = 3,
                               .sizes = {4, 2, 2},
                               .strides = {64, 128},
                               .box = {4, 4, 1},
                               .element_strides = {1, 1, 1},
                               .interleave = 1});
  REQUIRE(map.ok());
  const std::string replace = "tensormap.replace.tile.interleave_layout.global.b1024.b32 [%rd1], ";
  CHECK(run(replace + "1;", 32, &*map).ok());
  for (const char* const other : {"0;", "2;"})
    check_says(run(replace + other, 32, &*map), error::not_supported,
               "an interleaved layout other than the map's");
}

TEST_CASE("an error names a row of ldmatrix past the end of shared memory") {
  check_says(run("mad.lo.u32 %r4, %r3, 16, %r1;\n"
                 "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r4];"),
             error::illegal_address, "a row of a matrix: 16-byte read");
}

TEST_CASE("an instruction that is not implemented is refused by name") {
  for (const char* text :
       {"cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes "
        "[%r1], [%rd1, {%r3, %r3, %r3}], [%r2], {%rs1, %rs1};",
        "cp.async.bulk.tensor.2d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
        "[%r1], [%rd1, {%r3, %r3}], [%r2], {%rs1};",
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
        "[%r1], [%rd1, {%r3, %r3, %r3, %r3}], [%r2], {%rs1};",
        "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%r4, %r5, %r6, %r7}, %rd1, %rd1, "
        "%r8, 0, 1, 1, 1, 0, 0;",
        "tensormap.replace.tile.interleave_layout.global.b1024.b32 [%rd1], 3;",
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r4, %r5, %r6, %r7}, {%r4, %r5}, "
        "{%r4, %r5}, {%r4, %r5, %r6, %r7}, %r8, 0x0;",
        "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {%r4, %r5, %r6, %r7}, {%r4, %r5}, "
        "{%r4, %r5}, {%r4, %r5, %r6, %r7};",
        "tcgen05.wait::ld.sync.aligned;"}) {
    const std::string name(text, std::string(text).find_first_of(" ;"));
    check_says(run(".reg .b16 %rs1;\n" + std::string(text)), error::not_supported,
               "does not implement the instruction " + name);
  }
}

}  // namespace
