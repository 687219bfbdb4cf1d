// Tests managed memory, pinned memory as kernels see it, and managed variables, on the fake device.
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "common/runtime/api/api.hpp"
#include "common/runtime/tests/fake_device.hpp"

using namespace stepwise;

extern "C" void** __cudaRegisterFatBinary(void*);
extern "C" void __cudaRegisterManagedVar(void**, void**, char*, const char*, int, std::size_t, int,
                                         int);
extern "C" char __cudaInitModule(void**);

namespace {

constexpr cudaMemLocation on_device = {cudaMemLocationTypeDevice, 0};
constexpr cudaMemLocation on_host = {cudaMemLocationTypeHost, 0};

struct managed_memory {
  managed_memory() {
    fake::reset();
    void* memory = nullptr;
    REQUIRE(cudaMallocManaged(&memory, 100) == cudaSuccess);
    bytes = static_cast<char*>(memory);
  }

  int ask(cudaMemRangeAttribute attribute, int first = 0, int count = 100) {
    int answer = -77;
    CHECK(cudaMemRangeGetAttribute(&answer, sizeof answer, attribute, bytes + first,
                                   static_cast<std::size_t>(count)) == cudaSuccess);
    return answer;
  }

  char* bytes = nullptr;
};

cudaPointerAttributes attributes_of(const void* pointer) {
  cudaPointerAttributes found;
  CHECK(cudaPointerGetAttributes(&found, pointer) == cudaSuccess);
  return found;
}

}  // namespace

TEST_CASE_FIXTURE(managed_memory, "the host and the device can use managed memory") {
  std::memset(bytes, 5, 100);
  char back[100] = {};
  for (const auto kind : {cudaMemcpyDefault, cudaMemcpyHostToHost, cudaMemcpyDeviceToHost}) {
    CHECK(cudaMemcpy(back, bytes, 100, kind) == cudaSuccess);
    CHECK(back[99] == 5);
    back[99] = 0;
  }
  CHECK(cudaMemcpy(back, bytes, 100, cudaMemcpyDeviceToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(back, bytes, 101, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  CHECK(cudaMemset(bytes + 1, 9, 99) == cudaSuccess);
  CHECK(bytes[0] == 5);
  CHECK(bytes[99] == 9);
  const cudaPointerAttributes a = attributes_of(bytes + 3);
  CHECK(a.type == cudaMemoryTypeManaged);
  CHECK(a.hostPointer == bytes + 3);
  CHECK(a.devicePointer == bytes + 3);
  CHECK(cudaFreeHost(bytes) == cudaErrorInvalidValue);
  CHECK(cudaFree(bytes) == cudaSuccess);
  CHECK(cudaFree(bytes) == cudaErrorInvalidValue);
  void* none;
  none = bytes;
  CHECK(cudaMallocManaged(&none, 0) == cudaSuccess);
  CHECK(none == nullptr);
  CHECK(cudaMallocManaged(&none, 4, 7) == cudaErrorInvalidValue);
  CHECK(cudaMallocManaged(&none, SIZE_MAX) == cudaErrorMemoryAllocation);
}

TEST_CASE_FIXTURE(managed_memory, "advice is kept by range and returned by queries") {
  CHECK(ask(cudaMemRangeAttributeReadMostly) == 0);
  CHECK(ask(cudaMemRangeAttributePreferredLocation) == cudaInvalidDeviceId);
  CHECK(ask(cudaMemRangeAttributeLastPrefetchLocation) == cudaInvalidDeviceId);
  CHECK(ask(cudaMemRangeAttributePreferredLocationId) == cudaInvalidDeviceId);
  CHECK(ask(cudaMemRangeAttributeLastPrefetchLocationId) == cudaInvalidDeviceId);
  CHECK(cudaMemAdvise(bytes, 50, cudaMemAdviseSetReadMostly, on_device) == cudaSuccess);
  CHECK(ask(cudaMemRangeAttributeReadMostly) == 0);
  CHECK(ask(cudaMemRangeAttributeReadMostly, 0, 50) == 1);
  CHECK(ask(cudaMemRangeAttributeReadMostly, 10, 5) == 1);
  CHECK(ask(cudaMemRangeAttributeReadMostly, 50, 50) == 0);
  CHECK(cudaMemAdvise(bytes + 20, 10, cudaMemAdviseUnsetReadMostly, on_device) == cudaSuccess);
  CHECK(ask(cudaMemRangeAttributeReadMostly, 0, 50) == 0);
  CHECK(ask(cudaMemRangeAttributeReadMostly, 30, 20) == 1);
  CHECK(cudaMemAdvise(bytes, 100, cudaMemAdviseSetPreferredLocation, on_host) == cudaSuccess);
  CHECK(ask(cudaMemRangeAttributePreferredLocation) == cudaCpuDeviceId);
  CHECK(ask(cudaMemRangeAttributePreferredLocationType) == cudaMemLocationTypeHost);
  CHECK(ask(cudaMemRangeAttributePreferredLocationId) == cudaCpuDeviceId);
  CHECK(cudaMemAdvise(bytes, 100, cudaMemAdviseUnsetPreferredLocation, on_host) == cudaSuccess);
  CHECK(ask(cudaMemRangeAttributePreferredLocation) == cudaInvalidDeviceId);
  CHECK(cudaMemPrefetchAsync(bytes, 100, on_device, 0) == cudaSuccess);
  CHECK(ask(cudaMemRangeAttributeLastPrefetchLocation) == 0);
  int users[3] = {};
  CHECK(cudaMemAdvise(bytes, 100, cudaMemAdviseSetAccessedBy, on_host) == cudaSuccess);
  CHECK(cudaMemAdvise(bytes, 100, cudaMemAdviseSetAccessedBy, on_device) == cudaSuccess);
  CHECK(cudaMemRangeGetAttribute(users, sizeof users, cudaMemRangeAttributeAccessedBy, bytes,
                                 100) == cudaSuccess);
  CHECK(std::vector<int>(users, users + 3) ==
        std::vector<int>{0, cudaCpuDeviceId, cudaInvalidDeviceId});
}

TEST_CASE_FIXTURE(managed_memory, "a freed range forgets its advice, and its neighbours do not") {
  runtime::managed_advice advice;
  const auto mostly = [](const runtime::memory_advice& a) { return a.read_mostly; };
  advice.update(1000, 300, [](runtime::memory_advice& a) { a.read_mostly = true; });
  advice.forget(1100, 100);
  CHECK(advice.common(1000, 100, mostly) == true);
  CHECK(advice.common(1100, 100, mostly) == false);
  CHECK(advice.common(1200, 100, mostly) == true);
  CHECK(advice.common(1000, 300, mostly) == std::nullopt);
  advice.forget(1000, 300);
  CHECK(advice.common(0, 5000, mostly) == false);
}

TEST_CASE_FIXTURE(managed_memory, "ranges that are not managed are refused") {
  void* pinned;
  int host = 0, answer = 0;
  REQUIRE(cudaMallocHost(&pinned, 100) == cudaSuccess);
  for (const void* wrong : {static_cast<const void*>(&host), static_cast<const void*>(pinned),
                            static_cast<const void*>(bytes + 97)}) {
    CHECK(cudaMemPrefetchAsync(wrong, 4, on_device, 0) == cudaErrorInvalidValue);
    CHECK(cudaMemAdvise(wrong, 4, cudaMemAdviseSetReadMostly, on_device) == cudaErrorInvalidValue);
    CHECK(cudaMemRangeGetAttribute(&answer, 4, cudaMemRangeAttributeReadMostly, wrong, 4) ==
          cudaErrorInvalidValue);
  }
  CHECK(cudaMemPrefetchAsync(bytes, 4, {cudaMemLocationTypeDevice, 3}, 0) ==
        cudaErrorInvalidDevice);
  CHECK(cudaMemAdvise(bytes, 4, cudaMemAdviseSetPreferredLocation,
                      {cudaMemLocationTypeDevice, 3}) == cudaErrorInvalidValue);
  CHECK(cudaMemPrefetchAsync(bytes, 4, on_device, 8) == cudaErrorInvalidValue);
  CHECK(cudaMemPrefetchAsync(bytes, 0, on_device, 0) == cudaErrorInvalidValue);
  CHECK(cudaStreamAttachMemAsync(nullptr, bytes, 0, cudaMemAttachGlobal) == cudaSuccess);
  CHECK(cudaStreamAttachMemAsync(nullptr, bytes, 0, cudaMemAttachSingle) == cudaErrorInvalidValue);
  CHECK(cudaStreamAttachMemAsync(nullptr, bytes + 4, 0, cudaMemAttachHost) ==
        cudaErrorInvalidValue);
}

TEST_CASE_FIXTURE(managed_memory, "several ranges are prefetched by one call") {
  void* ranges[] = {bytes, bytes + 20, bytes + 40};
  std::size_t sizes[] = {20, 20, 20}, starts[] = {0, 2};
  cudaMemLocation places[] = {on_device, on_host};
  CHECK(cudaMemPrefetchBatchAsync(ranges, sizes, 3, places, starts, 2, 0, nullptr) ==
        cudaErrorInvalidValue);  // refused in the legacy default stream
  const cudaStream_t stream = cudaStreamPerThread;
  CHECK(cudaMemPrefetchBatchAsync(ranges, sizes, 3, places, starts, 2, 0, stream) == cudaSuccess);
  CHECK(ask(cudaMemRangeAttributeLastPrefetchLocation, 0, 40) == 0);
  CHECK(ask(cudaMemRangeAttributeLastPrefetchLocation, 40, 20) == cudaCpuDeviceId);
  starts[1] = 3;
  CHECK(cudaMemPrefetchBatchAsync(ranges, sizes, 3, places, starts, 2, 0, stream) ==
        cudaErrorInvalidValue);
  starts[0] = 1;
  CHECK(cudaMemPrefetchBatchAsync(ranges, sizes, 3, places, starts, 1, 0, stream) ==
        cudaErrorInvalidValue);
  CHECK(cudaMemDiscardBatchAsync(ranges, sizes, 3, 0, stream) == cudaSuccess);
  ranges[1] = places;
  CHECK(cudaMemDiscardBatchAsync(ranges, sizes, 3, 0, stream) == cudaErrorInvalidValue);
}

TEST_CASE_FIXTURE(managed_memory, "kernels know pinned memory by its own address") {
  void *pinned = nullptr, *as_device = nullptr;
  int registered = 0;
  REQUIRE(cudaHostAlloc(&pinned, 64, cudaHostAllocMapped) == cudaSuccess);
  char* const inside = static_cast<char*>(pinned) + 8;
  CHECK(cudaHostGetDevicePointer(&as_device, inside, 0) == cudaSuccess);
  CHECK(as_device == inside);
  CHECK(cudaHostGetDevicePointer(&as_device, bytes, 0) == cudaErrorInvalidValue);
  CHECK(cudaHostGetDevicePointer(&as_device, inside, 1) == cudaErrorInvalidValue);
  CHECK(cudaHostRegister(&registered, sizeof registered, cudaHostRegisterMapped) == cudaSuccess);
  CHECK(cudaHostGetDevicePointer(&as_device, &registered, 0) == cudaErrorNotSupported);
  CHECK(as_device == nullptr);
  CHECK(cudaHostUnregister(&registered) == cudaSuccess);
  CHECK(attributes_of(inside).type == cudaMemoryTypeHost);
  CHECK(attributes_of(inside).devicePointer == inside);
  CHECK(cudaFreeHost(pinned) == cudaSuccess);
  CHECK(attributes_of(inside).type == cudaMemoryTypeUnregistered);
}

TEST_CASE_FIXTURE(managed_memory, "a fault is explained to a program that registers its memory") {
  int registered = 0;
  fake::controls().fault = {error::illegal_address, "a kernel went astray"};
  REQUIRE(cudaHostRegister(&registered, sizeof registered, 0) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  const std::string said = runtime::last_message();
  CHECK(said.find("a kernel went astray; ") == 0);
  CHECK(said.find("cudaHostRegister") != std::string::npos);
}

TEST_CASE_FIXTURE(managed_memory, "a managed variable gets its address before it is used") {
  fake::controls().variables["total"] = 8;
  static std::uint64_t image[2] = {0x00100001BA55ED50ull, 0};
  static runtime::fat_binary_wrapper wrapper{runtime::fat_binary_magic, 1, image, nullptr};
  static void* place = nullptr;
  void** const module = __cudaRegisterFatBinary(&wrapper);
  __cudaRegisterManagedVar(module, &place, nullptr, "total", 0, 8, 0, 0);
  CHECK(place == nullptr);
  CHECK(__cudaInitModule(module) == 1);
  REQUIRE(place != nullptr);
  void* address = nullptr;
  std::size_t size = 0;
  // nvcc's code names the variable by the pointer in `place`.
  CHECK(cudaGetSymbolAddress(&address, place) == cudaSuccess);
  CHECK(address == place);
  CHECK(cudaGetSymbolSize(&size, place) == cudaSuccess);
  CHECK(size == 8);
  // A device that is created again also allocates the variable again, at its first use.
  const void* const before = place;
  CHECK(cudaDeviceReset() == cudaSuccess);
  CHECK(cudaGetSymbolAddress(&address, before) == cudaSuccess);
  CHECK(address == place);
  CHECK(cudaDeviceReset() == cudaSuccess);
  place = nullptr;
  CHECK(__cudaInitModule(module) == 1);
  CHECK(place != nullptr);
}
