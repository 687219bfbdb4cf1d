// Tests boxes of pitched memory, batches of copies, stream attributes and peers, on the fake
// device.
#include <doctest/doctest.h>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "common/runtime/api/api.hpp"
#include "common/runtime/tests/capture.hpp"
#include "common/runtime/tests/fake_device.hpp"

using namespace stepwise;

extern "C" cudaError_t cudaMemcpyBatchAsync_ptsz(void* const*, const void* const*,
                                                 const std::size_t*, std::size_t,
                                                 cudaMemcpyAttributes*, std::size_t*, std::size_t,
                                                 cudaStream_t);

namespace {

struct clean {
  clean() { fake::reset(); }
};

// A host box of 4 layers of 3 rows of 5 bytes. The value of each byte is its index.
struct host_box {
  host_box() : bytes(60) { std::iota(bytes.begin(), bytes.end(), char{0}); }
  cudaPitchedPtr pitched() { return {bytes.data(), 5, 5, 3}; }
  std::vector<char> bytes;
};

cudaMemcpy3DParms box_copy(const cudaPitchedPtr& to, const cudaPitchedPtr& from, cudaExtent extent,
                           cudaMemcpyKind kind) {
  cudaMemcpy3DParms p = {};
  p.dstPtr = to;
  p.srcPtr = from;
  p.extent = extent;
  p.kind = kind;
  return p;
}

}  // namespace

TEST_CASE_FIXTURE(clean, "a box is copied to pitched memory, and a part of it back") {
  host_box box;
  cudaPitchedPtr memory = {};
  REQUIRE(cudaMalloc3D(&memory, {5, 3, 4}) == cudaSuccess);
  CHECK(memory.pitch == 512);
  CHECK(memory.xsize == 5);
  CHECK(memory.ysize == 3);
  cudaMemcpy3DParms in = box_copy(memory, box.pitched(), {5, 3, 4}, cudaMemcpyHostToDevice);
  CHECK(cudaMemcpy3D(&in) == cudaSuccess);
  // Bytes 2 and 3 of rows 1 and 2 of layers 2 and 3.
  char part[2][2][2] = {};
  cudaMemcpy3DParms out = box_copy({part, 2, 2, 2}, memory, {2, 2, 2}, cudaMemcpyDeviceToHost);
  out.srcPos = {2, 1, 2};
  CHECK(cudaMemcpy3DAsync(&out, nullptr) == cudaSuccess);
  for (int z = 0; z < 2; z++) {
    for (int y = 0; y < 2; y++) {
      for (int x = 0; x < 2; x++) CHECK(part[z][y][x] == (z + 2) * 15 + (y + 1) * 5 + x + 2);
    }
  }
  CHECK(cudaMemset3D(memory, 7, {2, 1, 4}) == cudaSuccess);
  cudaMemcpy3DParms back = box_copy(box.pitched(), memory, {5, 3, 4}, cudaMemcpyDeviceToHost);
  CHECK(cudaMemcpy3D(&back) == cudaSuccess);
  CHECK(box.bytes[45] == 7);
  CHECK(box.bytes[46] == 7);
  CHECK(box.bytes[47] == 47);
  CHECK(box.bytes[50] == 50);
}

TEST_CASE_FIXTURE(clean, "boxes that do not fit are refused") {
  host_box box;
  cudaPitchedPtr memory = {};
  REQUIRE(cudaMalloc3D(&memory, {5, 3, 4}) == cudaSuccess);
  const auto copied = [&](cudaExtent extent, cudaPos at) {
    cudaMemcpy3DParms p = box_copy(memory, box.pitched(), extent, cudaMemcpyHostToDevice);
    p.srcPos = at;
    return cudaMemcpy3D(&p);
  };
  CHECK(copied({5, 3, 0}, {}) == cudaSuccess);
  CHECK(copied({6, 3, 1}, {}) == cudaErrorInvalidPitchValue);
  CHECK(copied({4, 3, 1}, {2, 0, 0}) == cudaErrorInvalidPitchValue);
  CHECK(copied({5, 3, 2}, {0, 1, 0}) == cudaErrorInvalidPitchValue);
  cudaMemcpy3DParms p = box_copy(memory, box.pitched(), {5, 3, 5}, cudaMemcpyHostToDevice);
  p.dstPos = {0, 0, 1};
  CHECK(cudaMemcpy3D(&p) == cudaErrorInvalidValue);  // one layer too many for the allocation
  p.dstArray = reinterpret_cast<cudaArray_t>(&p);
  CHECK(cudaMemcpy3D(&p) == cudaErrorInvalidValue);  // not an array
  CHECK(cudaMemcpy3D(nullptr) == cudaErrorInvalidValue);
  cudaMemcpy3DPeerParms peer = {};
  peer.srcDevice = 1;
  CHECK(cudaMemcpy3DPeer(&peer) == cudaErrorInvalidDevice);
  CHECK(cudaMalloc3D(&memory, {SIZE_MAX, 3, 4}) == cudaErrorMemoryAllocation);
  CHECK(cudaMalloc3D(&memory, {1, SIZE_MAX / 2, SIZE_MAX / 2}) == cudaErrorMemoryAllocation);
}

TEST_CASE_FIXTURE(clean, "a batch copies each of its areas") {
  void* memory = nullptr;
  REQUIRE(cudaMalloc(&memory, 100) == cudaSuccess);
  char host[] = "abcdef", back[7] = {};
  char* const at = static_cast<char*>(memory);
  void* to[] = {at, at + 50};
  const void* from[] = {host, host + 3};
  std::size_t sizes[] = {3, 3}, starts[] = {0};
  cudaMemcpyAttributes attributes = {};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  cudaStream_t stream;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  CHECK(cudaMemcpyBatchAsync(to, from, sizes, 2, &attributes, starts, 1, stream) == cudaSuccess);
  CHECK(cudaMemcpy(back, at, 3, cudaMemcpyDefault) == cudaSuccess);
  CHECK(cudaMemcpy(back + 3, at + 50, 3, cudaMemcpyDefault) == cudaSuccess);
  CHECK(std::string(back) == "abcdef");
  CHECK(cudaMemcpyBatchAsync(to, from, sizes, 2, &attributes, starts, 1, nullptr) ==
        cudaErrorInvalidValue);
  CHECK(cudaMemcpyBatchAsync_ptsz(to, from, sizes, 2, &attributes, starts, 1, nullptr) ==
        cudaSuccess);
  CHECK(cudaMemcpyBatchAsync(to, from, sizes, 2, &attributes, starts, 0, stream) ==
        cudaErrorInvalidValue);
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderInvalid;
  CHECK(cudaMemcpyBatchAsync(to, from, sizes, 2, &attributes, starts, 1, stream) ==
        cudaErrorInvalidValue);
}

TEST_CASE_FIXTURE(clean, "a batch copies each of its boxes") {
  host_box box;
  void* memory = nullptr;
  REQUIRE(cudaMalloc(&memory, 60) == cudaSuccess);
  cudaMemcpy3DBatchOp op = {};
  op.src.type = op.dst.type = cudaMemcpyOperandTypePointer;
  op.src.op.ptr.ptr = box.bytes.data();
  op.src.op.ptr.rowLength = 5;
  op.src.op.ptr.layerHeight = 3;
  op.dst.op.ptr.ptr = memory;
  op.extent = {2, 2, 2};
  op.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  CHECK(cudaMemcpy3DBatchAsync(1, &op, 0, cudaStreamPerThread) == cudaSuccess);
  char back[8];
  CHECK(cudaMemcpy(back, memory, 8, cudaMemcpyDefault) == cudaSuccess);
  CHECK(std::vector<char>(back, back + 8) == std::vector<char>{0, 1, 5, 6, 15, 16, 20, 21});
  op.dst.type = cudaMemcpyOperandTypeArray;
  CHECK(cudaMemcpy3DBatchAsync(1, &op, 0, cudaStreamPerThread) == cudaErrorNotSupported);
}

TEST_CASE_FIXTURE(clean, "streams keep their attributes, and capture on request") {
  cudaStream_t a, b;
  REQUIRE(cudaStreamCreate(&a) == cudaSuccess);
  REQUIRE(cudaStreamCreateWithPriority(&b, 0, -2) == cudaSuccess);
  cudaStreamAttrValue value = {};
  CHECK(cudaStreamGetAttribute(b, cudaStreamAttributePriority, &value) == cudaSuccess);
  CHECK(value.priority == -2);
  CHECK(cudaStreamGetAttribute(a, cudaStreamAttributeSynchronizationPolicy, &value) == cudaSuccess);
  CHECK(runtime::number_of(value.syncPolicy) == -1);
  value.syncPolicy = cudaSyncPolicyYield;
  CHECK(cudaStreamSetAttribute(a, cudaStreamAttributeSynchronizationPolicy, &value) == cudaSuccess);
  CHECK(cudaStreamCopyAttributes(b, a) == cudaSuccess);
  value = {};
  CHECK(cudaStreamGetAttribute(b, cudaStreamAttributeSynchronizationPolicy, &value) == cudaSuccess);
  CHECK(value.syncPolicy == cudaSyncPolicyYield);
  CHECK(cudaStreamGetAttribute(b, cudaLaunchAttributeCooperative, &value) == cudaErrorInvalidValue);
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusActive;
  CHECK(cudaStreamGetCaptureInfo(a, &capture) == cudaSuccess);
  CHECK(capture == cudaStreamCaptureStatusNone);
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  CHECK(cudaThreadExchangeStreamCaptureMode(&mode) == cudaSuccess);
  CHECK(mode == cudaStreamCaptureModeGlobal);
  CHECK(cudaThreadExchangeStreamCaptureMode(&mode) == cudaSuccess);
  CHECK(mode == cudaStreamCaptureModeRelaxed);
}

TEST_CASE_FIXTURE(clean, "there are no peers, and the device is found by its PCI address") {
  int value = -1;
  CHECK(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorPeerAccessUnsupported);
  CHECK(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorInvalidDevice);
  CHECK(cudaDeviceEnablePeerAccess(1, 1) == cudaErrorInvalidValue);
  CHECK(cudaDeviceDisablePeerAccess(1) == cudaErrorInvalidDevice);
  CHECK(cudaDeviceDisablePeerAccess(0) == cudaErrorPeerAccessNotEnabled);
  CHECK(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0) ==
        cudaErrorInvalidDevice);
  char id[32];
  CHECK(cudaDeviceGetPCIBusId(id, sizeof id, 0) == cudaSuccess);
  CHECK(cudaDeviceGetByPCIBusId(&value, id) == cudaSuccess);
  CHECK(value == 0);
  id[std::strlen(id) - 2] = '\0';  // without the function
  CHECK(cudaDeviceGetByPCIBusId(&value, id) == cudaSuccess);
  CHECK(cudaDeviceGetByPCIBusId(&value, "ffff:ff:1f.0") == cudaErrorInvalidDevice);
  CHECK(cudaDeviceGetByPCIBusId(&value, "nonsense") == cudaErrorInvalidValue);
  CHECK(cudaDeviceGetByPCIBusId(nullptr, id) == cudaErrorInvalidValue);
}

TEST_CASE_FIXTURE(
    clean, "a library with a bad module fails when a kernel or variable of it is requested") {
  fake::controls().load_failure = {error::invalid_kernel_image, "test: no module"};
  cudaLibrary_t library = nullptr;
  const std::string said = captured_stderr([&] {
    CHECK(cudaLibraryLoadData(&library, "rubbish", nullptr, nullptr, 0, nullptr, nullptr, 0) ==
          cudaSuccess);
  });
  CHECK(said.find("no module") != std::string::npos);
  cudaKernel_t kernel = nullptr;
  void* address = nullptr;
  CHECK(cudaLibraryGetKernel(&kernel, library, "work") == cudaErrorInvalidKernelImage);
  CHECK(cudaLibraryGetGlobal(&address, nullptr, library, "table") == cudaErrorInvalidKernelImage);
  CHECK(cudaLibraryUnload(library) == cudaSuccess);
  CHECK(fake::controls().modules_unloaded == 0);
  CHECK(cudaLibraryUnload(library) == cudaErrorInvalidResourceHandle);
}

TEST_CASE_FIXTURE(clean, "libraries hold kernels and variables until they are unloaded") {
  fake::controls().kernels["work"].max_threads_per_block = 1024;
  fake::controls().variables["table"] = 12;
  cudaLibrary_t library = nullptr;
  REQUIRE(cudaLibraryLoadData(&library, ".version 8.0\n", nullptr, nullptr, 0, nullptr, nullptr,
                              0) == cudaSuccess);
  CHECK(fake::controls().module_bytes.back() == 13);
  cudaKernel_t kernel = nullptr, again = nullptr;
  CHECK(cudaLibraryGetKernel(&kernel, library, "work") == cudaSuccess);
  CHECK(cudaLibraryGetKernel(&again, library, "work") == cudaSuccess);
  CHECK(kernel == again);
  CHECK(cudaLibraryGetKernel(&again, library, "other") == cudaErrorSymbolNotFound);
  CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(1), nullptr, 0,
                         nullptr) == cudaSuccess);
  CHECK(fake::controls().launches.size() == 1);
  void* address = nullptr;
  std::size_t bytes = 0;
  CHECK(cudaLibraryGetGlobal(&address, &bytes, library, "table") == cudaSuccess);
  CHECK(bytes == 12);
  CHECK(cudaLibraryGetManaged(&address, &bytes, library, "table") == cudaErrorSymbolNotFound);
  CHECK(cudaLibraryUnload(library) == cudaSuccess);
  CHECK(cudaLibraryUnload(library) == cudaErrorInvalidResourceHandle);
  CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(1), nullptr, 0,
                         nullptr) == cudaErrorInvalidDeviceFunction);
  CHECK(cudaLibraryLoadFromFile(&library, "/no/such/file", nullptr, nullptr, 0, nullptr, nullptr,
                                0) == cudaErrorFileNotFound);
}
