// Tests memory pools and their accounts, on the fake device.
#include <doctest/doctest.h>

#include <cstdint>

#include "common/runtime/api/api.hpp"
#include "common/runtime/tests/fake_device.hpp"

using namespace stepwise;

namespace {

constexpr std::uint64_t megabyte = 1 << 20;

struct pool_of_its_own {
  pool_of_its_own() {
    fake::reset();
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, {0}};
    properties.maxSize = 100 * megabyte;
    REQUIRE(cudaMemPoolCreate(&pool, &properties) == cudaSuccess);
  }

  std::uint64_t ask(cudaMemPoolAttr attribute) {
    std::uint64_t value = 0;
    CHECK(cudaMemPoolGetAttribute(pool, attribute, &value) == cudaSuccess);
    return value;
  }
  void* take(std::size_t bytes) {
    void* memory = nullptr;
    REQUIRE(cudaMallocFromPoolAsync(&memory, bytes, pool, nullptr) == cudaSuccess);
    return memory;
  }

  cudaMemPool_t pool = nullptr;
};

}  // namespace

TEST_CASE_FIXTURE(pool_of_its_own, "a pool counts the used and the reserved memory") {
  void *a = take(10 * megabyte), *b = take(30 * megabyte);
  CHECK(ask(cudaMemPoolAttrUsedMemCurrent) == 40 * megabyte);
  CHECK(ask(cudaMemPoolAttrReservedMemCurrent) >= 40 * megabyte);
  CHECK(cudaFreeAsync(b, nullptr) == cudaSuccess);
  CHECK(cudaFreeAsync(b, nullptr) == cudaErrorInvalidValue);
  CHECK(ask(cudaMemPoolAttrUsedMemCurrent) == 10 * megabyte);
  CHECK(ask(cudaMemPoolAttrUsedMemHigh) == 40 * megabyte);
  CHECK(ask(cudaMemPoolAttrReservedMemCurrent) >= 40 * megabyte);  // until a synchronisation
  CHECK(cudaStreamSynchronize(nullptr) == cudaSuccess);
  CHECK(ask(cudaMemPoolAttrReservedMemCurrent) < 40 * megabyte);
  CHECK(ask(cudaMemPoolAttrReservedMemCurrent) >= 10 * megabyte);
  CHECK(ask(cudaMemPoolAttrReservedMemHigh) >= 40 * megabyte);
  std::uint64_t zero = 0;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero) == cudaSuccess);
  CHECK(ask(cudaMemPoolAttrUsedMemHigh) == 10 * megabyte);
  CHECK(cudaFree(a) == cudaSuccess);
  CHECK(ask(cudaMemPoolAttrUsedMemCurrent) == 0);
}

TEST_CASE_FIXTURE(pool_of_its_own, "a threshold keeps memory reserved, and trimming releases it") {
  std::uint64_t threshold = UINT64_MAX;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold) == cudaSuccess);
  CHECK(ask(cudaMemPoolAttrReleaseThreshold) == UINT64_MAX);
  CHECK(cudaFreeAsync(take(50 * megabyte), nullptr) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(ask(cudaMemPoolAttrReservedMemCurrent) >= 50 * megabyte);
  CHECK(cudaMemPoolTrimTo(pool, 0) == cudaSuccess);
  CHECK(ask(cudaMemPoolAttrReservedMemCurrent) == 0);
}

TEST_CASE_FIXTURE(pool_of_its_own, "a pool cannot exceed its size") {
  void* memory = nullptr;
  CHECK(cudaMallocFromPoolAsync(&memory, 101 * megabyte, pool, nullptr) ==
        cudaErrorMemoryAllocation);
  take(60 * megabyte);
  CHECK(cudaMallocFromPoolAsync(&memory, 60 * megabyte, pool, nullptr) ==
        cudaErrorMemoryAllocation);
  CHECK(memory == nullptr);
}

TEST_CASE_FIXTURE(pool_of_its_own, "the device's pool can be exchanged") {
  cudaMemPool_t found = nullptr, standard = nullptr;
  CHECK(cudaDeviceGetDefaultMemPool(&standard, 0) == cudaSuccess);
  CHECK(cudaDeviceGetMemPool(&found, 0) == cudaSuccess);
  CHECK(found == standard);
  CHECK(cudaDeviceSetMemPool(0, pool) == cudaSuccess);
  CHECK(cudaDeviceGetMemPool(&found, 0) == cudaSuccess);
  CHECK(found == pool);
  void* memory = nullptr;
  CHECK(cudaMallocAsync(&memory, 1000, nullptr) == cudaSuccess);
  CHECK(ask(cudaMemPoolAttrUsedMemCurrent) == 1000);
  CHECK(cudaMemPoolDestroy(standard) == cudaErrorInvalidValue);
  CHECK(cudaMemPoolDestroy(pool) == cudaSuccess);
  CHECK(cudaMemPoolDestroy(pool) == cudaErrorInvalidValue);
  CHECK(cudaDeviceGetMemPool(&found, 0) == cudaSuccess);
  CHECK(found == standard);
  CHECK(cudaFreeAsync(memory, nullptr) == cudaSuccess);  // the memory outlived its pool
  CHECK(cudaDeviceGetDefaultMemPool(&found, 1) == cudaErrorInvalidDevice);
  cudaMemLocation place = {cudaMemLocationTypeDevice, {0}};
  CHECK(cudaMemGetDefaultMemPool(&found, &place, cudaMemAllocationTypePinned) == cudaSuccess);
  CHECK(found == standard);
  CHECK(cudaMemGetDefaultMemPool(&found, &place, cudaMemAllocationTypeManaged) ==
        cudaErrorNotSupported);
}

TEST_CASE_FIXTURE(pool_of_its_own, "invalid properties and attributes of a pool are refused") {
  cudaMemPool_t made;
  cudaMemPoolProps properties = {};
  CHECK(cudaMemPoolCreate(&made, &properties) == cudaErrorInvalidValue);
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, {1}};
  CHECK(cudaMemPoolCreate(&made, &properties) == cudaErrorInvalidValue);
  properties.location.id = 0;
  properties.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  CHECK(cudaMemPoolCreate(&made, &properties) == cudaErrorNotSupported);
  std::uint64_t value = 5;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &value) == cudaErrorInvalidValue);
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &value) ==
        cudaErrorInvalidValue);
  CHECK(cudaMemPoolGetAttribute(pool, static_cast<cudaMemPoolAttr>(99), &value) ==
        cudaErrorInvalidValue);
  cudaMemAccessDesc access = {{cudaMemLocationTypeDevice, {0}}, cudaMemAccessFlagsProtReadWrite};
  CHECK(cudaMemPoolSetAccess(pool, &access, 1) == cudaSuccess);
  access.flags = cudaMemAccessFlagsProtNone;
  CHECK(cudaMemPoolSetAccess(pool, &access, 1) == cudaErrorInvalidDevice);
  cudaMemAccessFlags flags;
  CHECK(cudaMemPoolGetAccess(&flags, pool, &access.location) == cudaSuccess);
  CHECK(flags == cudaMemAccessFlagsProtReadWrite);
}
