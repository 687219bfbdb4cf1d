// Tests memory, copies, symbols, pointers, streams and events, on the fake device.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "common/runtime/api/api.hpp"
#include "common/runtime/tests/fake_device.hpp"

using namespace stepwise;

namespace memory_test {
namespace {

struct clean {
  clean() { fake::reset(); }
};

template <class T>
T* allocate(std::size_t count) {
  void* memory = nullptr;
  REQUIRE(cudaMalloc(&memory, count * sizeof(T)) == cudaSuccess);
  return static_cast<T*>(memory);
}

}  // namespace

TEST_CASE_FIXTURE(clean, "the device is created only when it is needed") {
  int value;
  CHECK(cudaRuntimeGetVersion(&value) == cudaSuccess);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(cudaDeviceReset() == cudaSuccess);
  CHECK(fake::controls().devices_made == 0);
  CHECK(cudaFree(nullptr) == cudaSuccess);
  CHECK(fake::controls().devices_made == 1);
  CHECK(cudaDeviceReset() == cudaSuccess);
  CHECK(cudaFree(nullptr) == cudaSuccess);
  CHECK(fake::controls().devices_made == 2);
}

TEST_CASE_FIXTURE(clean, "device memory is allocated, pitched, filled and freed") {
  void* memory = &memory;
  CHECK(cudaMalloc(&memory, 0) == cudaSuccess);
  CHECK(memory == nullptr);
  CHECK(cudaMalloc(&memory, std::size_t{1} << 60) == cudaErrorMemoryAllocation);
  memory = allocate<char>(100);
  CHECK(cudaFree(static_cast<char*>(memory) + 4) == cudaErrorInvalidValue);
  CHECK(cudaFree(memory) == cudaSuccess);
  CHECK(cudaFree(memory) == cudaErrorInvalidValue);
  std::size_t free_bytes = 0, total_bytes = 0, pitch = 0;
  CHECK(cudaMemGetInfo(&free_bytes, &total_bytes) == cudaSuccess);
  CHECK(free_bytes == 1000);
  CHECK(total_bytes == 2000);
  CHECK(cudaMemGetInfo(nullptr, nullptr) == cudaSuccess);
  CHECK(cudaMallocPitch(&memory, &pitch, 513, 3) == cudaSuccess);
  CHECK(pitch == 1024);
  CHECK(cudaMemset(memory, 1, 3 * 1024) == cudaSuccess);
  CHECK(cudaMemset(memory, 1, 3 * 1024 + 1) == cudaErrorInvalidValue);
  CHECK(cudaMallocPitch(&memory, &pitch, SIZE_MAX - 5, 3) == cudaErrorMemoryAllocation);
  CHECK(cudaMallocPitch(&memory, &pitch, std::size_t{1} << 40, std::size_t{1} << 40) ==
        cudaErrorMemoryAllocation);
}

TEST_CASE_FIXTURE(clean, "pinned host memory can be used, queried and freed once") {
  void* memory = nullptr;
  unsigned flags = 0;
  int other = 0;
  CHECK(cudaMallocHost(&memory, 100) == cudaSuccess);
  std::memset(memory, 1, 100);
  CHECK(cudaHostGetFlags(&flags, memory) == cudaSuccess);
  CHECK(flags == cudaHostAllocMapped);
  CHECK(cudaFree(memory) == cudaErrorInvalidValue);
  CHECK(cudaFreeHost(memory) == cudaSuccess);
  REQUIRE(cudaHostAlloc(&memory, 100, cudaHostAllocPortable) == cudaSuccess);
  CHECK(cudaHostGetFlags(&flags, memory) == cudaSuccess);
  CHECK(flags == cudaHostAllocMapped);
  CHECK(cudaFreeHost(memory) == cudaSuccess);
  REQUIRE(cudaHostAlloc(&memory, 100, cudaHostAllocWriteCombined) == cudaSuccess);
  CHECK(cudaHostGetFlags(&flags, memory) == cudaSuccess);
  CHECK(flags == (cudaHostAllocMapped | cudaHostAllocWriteCombined));
  CHECK(cudaFreeHost(memory) == cudaSuccess);
  CHECK(cudaFreeHost(memory) == cudaErrorInvalidValue);
  CHECK(cudaFreeHost(&other) == cudaErrorInvalidValue);
  CHECK(cudaFreeHost(nullptr) == cudaSuccess);
  CHECK(cudaMallocHost(&memory, 0) == cudaSuccess);
  CHECK(memory == nullptr);
  CHECK(cudaMallocHost(&memory, SIZE_MAX) == cudaErrorMemoryAllocation);
  CHECK(cudaHostAlloc(&memory, 8, 0x80) == cudaErrorInvalidValue);
  CHECK(cudaHostRegister(&other, sizeof other, 0) == cudaSuccess);
  CHECK(cudaHostRegister(&other, sizeof other, 0) == cudaErrorHostMemoryAlreadyRegistered);
  CHECK(cudaFreeHost(&other) == cudaErrorInvalidValue);
  CHECK(cudaHostUnregister(&other) == cudaSuccess);
  CHECK(cudaHostUnregister(&other) == cudaErrorHostMemoryNotRegistered);
}

TEST_CASE_FIXTURE(clean, "copies follow their kind, and a wrong kind is refused") {
  int host[4] = {1, 2, 3, 4}, back[4] = {};
  int *a = allocate<int>(4), *b = allocate<int>(4);
  CHECK(cudaMemcpy(a, host, 16, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(cudaMemcpy(b, a, 16, cudaMemcpyDeviceToDevice) == cudaSuccess);
  CHECK(cudaMemcpy(back, b, 16, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(std::memcmp(back, host, 16) == 0);
  CHECK(fake::controls().copies == 1);
  CHECK(cudaMemcpy(b, host + 3, 4, cudaMemcpyDefault) == cudaSuccess);
  CHECK(cudaMemcpy(back, b, 4, cudaMemcpyDefault) == cudaSuccess);
  CHECK(back[0] == 4);
  CHECK(cudaMemcpy(back, host, 16, cudaMemcpyHostToHost) == cudaSuccess);
  CHECK(back[0] == 1);
  CHECK(cudaMemcpy(host, a, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(a, host, 4, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(back, host, 4, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(back, host, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(back, host, 4, cudaMemcpyDeviceToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(a, b, 4, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(cudaMemcpy(b, a, 4, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(cudaMemcpy(a, b, 4, cudaMemcpyHostToHost) == cudaSuccess);
  CHECK(cudaMemcpy(a, host, 4, static_cast<cudaMemcpyKind>(5)) == cudaErrorInvalidMemcpyDirection);
  CHECK(cudaMemcpy(a, host, 0, static_cast<cudaMemcpyKind>(5)) == cudaSuccess);
  CHECK(cudaMemcpy(nullptr, host, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(a, nullptr, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(cudaMemcpy(a, host, 17, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpyAsync(a, host, 4, cudaMemcpyHostToDevice, cudaStreamPerThread) == cudaSuccess);
  CHECK(cudaMemcpyAsync(a, host, 4, cudaMemcpyHostToDevice, cudaStream_t(0x5555)) ==
        cudaErrorInvalidResourceHandle);
}

TEST_CASE_FIXTURE(clean, "a function under test cannot reset its caller's device") {
  char* const a = allocate<char>(64);
  stepwiseBeginCall();
  CHECK(cudaDeviceReset() == cudaErrorNotPermitted);
  CHECK(cudaMemset(a, 0, 64) == cudaSuccess);
  stepwiseEndCall();
  CHECK(cudaDeviceReset() == cudaSuccess);
  CHECK(cudaMemset(a, 0, 64) == cudaErrorInvalidValue);
}

TEST_CASE_FIXTURE(clean, "a copy cannot exceed a host array of the call") {
  char host[64]{};
  char* const a = allocate<char>(64);
  stepwiseHostArray(host + 8, 16, 0);
  CHECK(cudaMemcpy(a, host + 8, 16, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(cudaMemcpy(a, host + 24, 40, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(cudaMemcpy(a, host, 64, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(cudaMemcpy(a, host + 8, 17, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(stepwiseLastErrorMessage() ==
        std::string_view("reading 17 bytes at the start of a host array of 16 bytes: check the "
                         "size in bytes"));
  CHECK(cudaMemcpyAsync(host + 12, a, 13, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  CHECK(stepwiseLastErrorMessage() ==
        std::string_view("writing 13 bytes inside a host array of 16 bytes: check the size in "
                         "bytes"));
  // Two rows of 4 bytes, with 13 bytes from the first to the last.
  CHECK(cudaMemcpy2D(a, 4, host + 8, 9, 4, 2, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(cudaMemcpy2D(a, 4, host + 8, 13, 4, 2, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  stepwiseEndCall();
  CHECK(cudaMemcpy(a, host + 8, 17, cudaMemcpyHostToDevice) == cudaSuccess);
}

TEST_CASE_FIXTURE(clean, "areas of one allocation may overlap") {
  const int host[6] = {1, 2, 3, 4, 5, 6};
  int back[6] = {};
  int* a = allocate<int>(6);
  CHECK(cudaMemcpy(a, host, 24, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(cudaMemcpy(a + 1, a, 20, cudaMemcpyDeviceToDevice) == cudaSuccess);
  CHECK(cudaMemcpy(back, a, 24, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(std::vector<int>(back, back + 6) == std::vector<int>{1, 1, 2, 3, 4, 5});
  CHECK(fake::controls().copies == 0);
}

TEST_CASE_FIXTURE(clean, "rows are copied with their pitches") {
  const char host[] = "abc-def-ghi-";
  char* a = allocate<char>(30);
  CHECK(cudaMemset(a, '.', 30) == cudaSuccess);
  CHECK(cudaMemcpy2D(a, 10, host, 4, 3, 3, cudaMemcpyHostToDevice) == cudaSuccess);
  char back[31] = {};
  CHECK(cudaMemcpy(back, a, 30, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(std::string(back) == "abc.......def.......ghi.......");
  CHECK(cudaMemcpy2D(a, 2, host, 4, 3, 3, cudaMemcpyHostToDevice) == cudaErrorInvalidPitchValue);
  CHECK(cudaMemcpy2D(a, 10, host, 2, 3, 3, cudaMemcpyHostToDevice) == cudaErrorInvalidPitchValue);
  CHECK(cudaMemcpy2D(a, 10, host, 4, 3, 0, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(cudaMemset2D(a, 10, 'x', 2, 3) == cudaSuccess);
  CHECK(cudaMemcpy(back, a, 30, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(std::string(back) == "xxc.......xxf.......xxi.......");
  CHECK(cudaMemset2D(a, 1, 'x', 2, 3) == cudaErrorInvalidValue);
}

TEST_CASE_FIXTURE(clean, "pointers have the type of their memory") {
  char* a = allocate<char>(100);
  void* pinned;
  CHECK(cudaMallocHost(&pinned, 10) == cudaSuccess);
  const auto type = [](const void* pointer) {
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, pointer) == cudaSuccess);
    return attributes.type;
  };
  CHECK(type(a) == cudaMemoryTypeDevice);
  CHECK(type(a + 99) == cudaMemoryTypeDevice);
  CHECK(type(a + 100) == cudaMemoryTypeUnregistered);
  CHECK(type(pinned) == cudaMemoryTypeHost);
  CHECK(type(static_cast<char*>(pinned) + 9) == cudaMemoryTypeHost);
  CHECK(type(static_cast<char*>(pinned) + 10) == cudaMemoryTypeUnregistered);
  CHECK(type(&a) == cudaMemoryTypeUnregistered);
  CHECK(type(nullptr) == cudaMemoryTypeUnregistered);
  CHECK(cudaFreeHost(pinned) == cudaSuccess);
}

TEST_CASE_FIXTURE(clean, "streams can be created, used and destroyed, and are unknown afterwards") {
  cudaStream_t stream;
  unsigned flags;
  int priority;
  CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -100) == cudaSuccess);
  CHECK(cudaStreamGetFlags(stream, &flags) == cudaSuccess);
  CHECK(flags == cudaStreamNonBlocking);
  CHECK(cudaStreamGetPriority(stream, &priority) == cudaSuccess);
  CHECK(priority == -5);
  CHECK(cudaStreamQuery(stream) == cudaSuccess);
  int called = 0;
  CHECK(cudaLaunchHostFunc(
            stream, [](void* data) { ++*static_cast<int*>(data); }, &called) == cudaSuccess);
  CHECK(called == 1);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream) == cudaErrorInvalidResourceHandle);
  CHECK(cudaStreamDestroy(stream) == cudaErrorInvalidResourceHandle);
  CHECK(cudaStreamDestroy(nullptr) == cudaErrorInvalidResourceHandle);
  CHECK(cudaStreamSynchronize(nullptr) == cudaSuccess);
  CHECK(cudaStreamSynchronize(cudaStreamLegacy) == cudaSuccess);
  CHECK(cudaStreamCreateWithFlags(&stream, 0x40) == cudaErrorInvalidValue);
}

TEST_CASE_FIXTURE(clean, "a host function may call the runtime") {
  const auto body = [](void* memory) { CHECK(cudaMalloc(static_cast<void**>(memory), 4) == 0); };
  void* memory = nullptr;
  CHECK(cudaLaunchHostFunc(nullptr, body, &memory) == cudaSuccess);
  CHECK(memory != nullptr);
}

TEST_CASE_FIXTURE(clean, "events have a time once both are recorded") {
  cudaEvent_t a, b, untimed;
  float ms = -1;
  CHECK(cudaEventCreate(&a) == cudaSuccess);
  CHECK(cudaEventCreate(&b) == cudaSuccess);
  CHECK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming) == cudaSuccess);
  CHECK(cudaEventQuery(a) == cudaSuccess);
  CHECK(cudaEventElapsedTime(&ms, a, b) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventRecord(a, nullptr) == cudaSuccess);
  CHECK(cudaEventElapsedTime(&ms, a, b) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventRecord(b, nullptr) == cudaSuccess);
  CHECK(cudaEventRecord(untimed, nullptr) == cudaSuccess);
  CHECK(cudaEventElapsedTime(&ms, a, b) == cudaSuccess);
  CHECK(ms == 1.0f);
  CHECK(cudaEventElapsedTime(&ms, a, untimed) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventElapsedTime(nullptr, a, b) == cudaErrorInvalidValue);
  CHECK(cudaStreamWaitEvent(nullptr, a, 0) == cudaSuccess);
  CHECK(cudaEventDestroy(a) == cudaSuccess);
  CHECK(cudaEventRecord(a, nullptr) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventDestroy(a) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventDestroy(nullptr) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventCreateWithFlags(&a, 0x80) == cudaErrorInvalidValue);
}

TEST_CASE_FIXTURE(clean, "properties and attributes are those of the described GPU") {
  cudaDeviceProp p;
  std::memset(&p, 0xAB, sizeof p);
  CHECK(cudaGetDeviceProperties(&p, 0) == cudaSuccess);
  CHECK(std::string(p.name) == "NVIDIA H200");
  CHECK(p.maxGridSize[0] == 2147483647);
  CHECK(p.maxTexture2DLinear[2] == 2097120);
  CHECK(p.unifiedFunctionPointers == 1);
  CHECK(p.totalGlobalMem == find_gpu("h200")->memory_bytes);
  CHECK(p.reserved[0] == 0);
  int value = 0;
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0) == cudaSuccess);
  CHECK(value == 232448);
  CHECK(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(0), 0) == cudaErrorInvalidValue);
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 1) == cudaErrorInvalidDevice);
  CHECK(cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0) == cudaErrorInvalidValue);
  std::size_t limit = 0;
  CHECK(cudaDeviceGetLimit(&limit, cudaLimitStackSize) == cudaSuccess);
  CHECK(limit == 1024);
  CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 4096) == cudaSuccess);
  CHECK(cudaDeviceGetLimit(&limit, cudaLimitStackSize) == cudaSuccess);
  CHECK(limit == 4096);
  CHECK(cudaDeviceGetLimit(&limit, cudaLimitDevRuntimeSyncDepth) == cudaErrorUnsupportedLimit);
  CHECK(cudaDeviceSetLimit(cudaLimitDevRuntimeSyncDepth, 4) == cudaErrorUnsupportedLimit);
  CHECK(cudaDeviceSetLimit(static_cast<cudaLimit>(77), 1) == cudaErrorInvalidValue);
}

}  // namespace memory_test
