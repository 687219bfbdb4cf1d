// Compares occupancy with NVIDIA's calculator, and with the lectures' tables for GPUs that the
// calculator dropped.
#include "common/device/occupancy.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

#if __has_include(<cuda_occupancy.h>)
#include <cuda_occupancy.h>
#define HAS_CALCULATOR 1
#endif

using namespace stepwise;

namespace {

kernel_attributes kernel(int registers, std::uint64_t static_shared, std::uint64_t most_dynamic) {
  kernel_attributes k;
  k.name = "_Z1kv";
  k.registers = registers;
  k.static_shared_bytes = static_shared;
  k.max_dynamic_shared_bytes = most_dynamic;
  return k;
}

block_room room(const char* gpu, std::uint64_t threads, std::uint64_t registers,
                std::uint64_t shared) {
  const auto model = find_gpu(gpu);
  REQUIRE(model.ok());
  const auto found =
      room_for(*model, {threads, registers, shared, model->shared_bytes_per_block_optin});
  REQUIRE(found.ok());
  return *found;
}

}  // namespace

#ifdef HAS_CALCULATOR
namespace {

cudaOccDeviceProp properties_of(const gpu& model) {
  cudaOccDeviceProp p;
  p.computeMajor = model.compute_major;
  p.computeMinor = model.compute_minor;
  p.maxThreadsPerBlock = model.max_threads_per_block;
  p.maxThreadsPerMultiprocessor = model.max_threads_per_multiprocessor;
  p.regsPerBlock = model.registers_per_block;
  p.regsPerMultiprocessor = model.registers_per_multiprocessor;
  p.warpSize = model.warp_size;
  p.sharedMemPerBlock = model.shared_bytes_per_block;
  p.sharedMemPerMultiprocessor = model.shared_bytes_per_multiprocessor;
  p.numSms = model.multiprocessors;
  p.sharedMemPerBlockOptin = model.shared_bytes_per_block_optin;
  p.reservedSharedMemPerBlock = model.reserved_shared_bytes_per_block;
  return p;
}

cudaOccFuncAttributes attributes_of(const gpu& model, const kernel_attributes& k) {
  cudaOccFuncAttributes a;
  a.maxThreadsPerBlock = model.max_threads_per_block;
  a.numRegs = k.registers;
  a.sharedSizeBytes = k.static_shared_bytes;
  a.partitionedGCConfig = PARTITIONED_GC_OFF;
  a.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  a.maxDynamicSharedSizeBytes = k.max_dynamic_shared_bytes;
  a.numBlockBarriers = 1;
  return a;
}

}  // namespace

TEST_CASE(
    "10,000 random blocks have the occupancy of cuda_occupancy.h, on every GPU that it knows") {
  std::set<std::string> known;
  for (const std::string& id : known_gpus()) {
    const gpu model = *find_gpu(id);
    std::mt19937 random(7);
    const auto below = [&](int end) {
      return static_cast<int>(random() % static_cast<unsigned>(end));
    };
    int differ = 0;
    for (int i = 0; i < 10000; ++i) {
      const int threads = 1 + below(model.max_threads_per_block);
      const auto optin = static_cast<int>(model.shared_bytes_per_block_optin);
      const bool asks = below(3) == 0;
      const auto most = static_cast<std::uint64_t>(asks ? below(optin) : 48 * 1024);
      const kernel_attributes k =
          kernel(below(256), static_cast<std::uint64_t>(below(2) * below(48 * 1024)), most);
      const auto dynamic =
          static_cast<std::uint64_t>(below(3) == 0 ? 0 : below(static_cast<int>(most) + 2));
      const cudaOccDeviceProp properties = properties_of(model);
      const cudaOccFuncAttributes attributes = attributes_of(model, k);
      const cudaOccDeviceState state;
      cudaOccResult expected{};
      const auto code = cudaOccMaxActiveBlocksPerMultiprocessor(&expected, &properties, &attributes,
                                                                &state, threads, dynamic);
      if (code == CUDA_OCC_ERROR_UNKNOWN_DEVICE) break;
      known.insert(id);
      const auto found = resident_blocks(model, k, static_cast<unsigned>(threads), dynamic);
      REQUIRE(found.ok());
      const auto limits = static_cast<unsigned>(expected.limitingFactors);
      const bool same = found->blocks == expected.activeBlocksPerMultiprocessor &&
                        found->by_warps == ((limits & OCC_LIMIT_WARPS) != 0) &&
                        found->by_registers == ((limits & OCC_LIMIT_REGISTERS) != 0) &&
                        found->by_shared == ((limits & OCC_LIMIT_SHARED_MEMORY) != 0) &&
                        found->by_blocks == ((limits & OCC_LIMIT_BLOCKS) != 0);
      INFO(id << ": " << threads << " threads, " << k.registers << " registers, "
              << k.static_shared_bytes << " + " << dynamic << " of " << most
              << " bytes: " << found->blocks << ", not " << expected.activeBlocksPerMultiprocessor);
      if (!same && ++differ <= 3) CHECK(same);

      const int blocks = 1 + below(8);
      std::size_t bytes = 0;
      const bool can = cudaOccAvailableDynamicSMemPerBlock(&bytes, &properties, &attributes, &state,
                                                           blocks, threads) == CUDA_OCC_SUCCESS;
      const auto left = available_dynamic_shared(model, k, blocks, static_cast<unsigned>(threads));
      const bool same_left = left.ok() == can && (!can || *left == bytes);
      INFO("for " << blocks << " blocks: " << (left.ok() ? *left : 0) << ", not " << bytes);
      if (!same_left && ++differ <= 3) CHECK(same_left);
    }
    CHECK(differ == 0);
  }
  for (const char* id : {"h200", "h100", "a100", "rtx4090", "t4", "gtx980"})
    CHECK_MESSAGE(known.contains(id), id);
}
#endif

TEST_CASE("GT 430: registers are allocated in units, which a plain division ignores") {
  // 32768 / (25 * 32) is 40 warps in theory. But a warp takes 832 registers, and each half of the
  // register file holds 19 warps.
  const auto r = room("gt430", 32, 25, 0);
  CHECK(r.registers == 832);
  CHECK(r.by_registers == 38);
  CHECK(room("gt430", 256, 25, 0).blocks() == 4);
  CHECK(room("gt430", 32, 20, 0).by_registers == 50);
  CHECK(room("gt430", 32, 21, 0).by_registers == 42);  // 672, allocated as 768
  // 48 KB hold 32 blocks of 1.5 KB, but there are slots for only 8 blocks.
  const auto s = room("gt430", 32, 10, 1536);
  CHECK(s.by_shared == 32);
  CHECK(s.blocks() == 8);
}

TEST_CASE("GTX 280: registers are allocated to whole blocks") {
  CHECK(room("gtx280", 256, 16, 0).blocks() == 4);
  const auto r = room("gtx280", 256, 17, 0);
  CHECK(r.registers == 4608);
  CHECK(r.blocks() == 3);
  CHECK(room("gtx280", 512, 8, 16385).blocks() == 0);
}

TEST_CASE("newer GPUs: blocks of 256 threads with 33 registers, and of 1024 threads with 65") {
  for (const char* id : {"k20x", "gtx980"}) {
    const auto r = room(id, 256, 33, 0);
    CHECK(r.registers == 8 * 1280);
    CHECK(r.blocks() == 6);
  }
  CHECK(room("h100", 1024, 65, 0).blocks() == 0);
  CHECK(room("h100", 1024, 64, 0).blocks() == 1);
}

TEST_CASE("an unknown GPU and a block of 0 threads are errors") {
  gpu strange = *find_gpu("h200");
  strange.compute_major = 4;
  CHECK(room_for(strange, {32, 10, 0, 0}).failure().code == error::not_supported);
  CHECK(room_for(*find_gpu("h200"), {0, 10, 0, 0}).failure().code == error::invalid_value);
}

TEST_CASE("clusters fit into the groups of multiprocessors as on an H200") {
  const struct {
    int blocks;  // per multiprocessor
    int clusters[16];
  } measured[] = {
      {1, {132, 66, 39, 30, 22, 17, 15, 15, 9, 7, 7, 7, 7, 7, 7, 7}},
      {2, {264, 132, 79, 62, 47, 39, 32, 30, 23, 21, 16, 16, 14, 14, 14, 14}},
      {3, {396, 198, 124, 92, 69, 62, 47, 45, 37, 30, 28, 28, 23, 21, 21, 21}},
      {4, {528, 264, 163, 124, 94, 79, 69, 62, 51, 44, 37, 37, 30, 30, 28, 28}},
      {7, {924, 462, 287, 216, 171, 141, 124, 107, 88, 79, 72, 65, 58, 58, 51, 49}},
      {8, {1056, 528, 327, 248, 193, 163, 139, 124, 102, 88, 81, 74, 67, 65, 58, 58}},
      {32, {1056, 528, 327, 248, 193, 163, 139, 124, 102, 88, 81, 74, 67, 65, 58, 58}},
  };
  const gpu h200 = *find_gpu("h200");
  for (const auto& m : measured) {
    CAPTURE(m.blocks);
    for (unsigned size = 1; size <= 16; ++size)
      CHECK(*resident_clusters(h200, m.blocks, size) == m.clusters[size - 1]);
  }
  CHECK(*resident_clusters(h200, 8, 17) == 16);
}

TEST_CASE("clusters are not counted for a GPU whose groups are unknown") {
  const auto found = resident_clusters(*find_gpu("h100"), 1, 2);
  CHECK(found.failure().code == error::not_supported);
  CHECK(found.failure().message.find("H100") != std::string::npos);
}
