// Tests registration and launches, on the fake device.
#include "common/runtime/api/launch.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "common/runtime/tests/capture.hpp"
#include "common/runtime/tests/fake_device.hpp"

using namespace stepwise;
using namespace stepwise::runtime;

// Declarations of crt/host_runtime.h.
extern "C" {
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFatBinaryEnd(void**);
void __cudaUnregisterFatBinary(void**);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*,
                            dim3*, int*);
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int);
unsigned __cudaPushCallConfiguration(dim3, dim3, std::size_t, CUstream_st*);
cudaError_t __cudaPopCallConfiguration(dim3*, dim3*, std::size_t*, void*);
cudaError_t __cudaGetKernel(cudaKernel_t*, const void*);
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, std::size_t, cudaStream_t);
}

namespace launch_test {
namespace {

struct container {
  std::uint32_t magic = 0xBA55ED50;
  std::uint16_t version = 1, header_bytes = 16;
  std::uint64_t bytes = 0;
};

char stub_a, stub_b, stub_c, shadow;

// A program with one fat binary, two kernels and a variable.
struct program {
  container image;
  fat_binary_wrapper wrapper{fat_binary_magic, 1, &image, nullptr};
  void** handle = nullptr;

  program() {
    fake::reset();
    kernel_attributes k;
    k.max_threads_per_block = 256;
    k.registers = 20;
    k.max_dynamic_shared_bytes = 48 * 1024;
    k.parameters = {{0, 4}, {8, 8}, {16, 3}};
    fake::controls().kernels["kernel_a"] = k;
    k.parameters.clear();
    fake::controls().kernels["kernel_b"] = k;
    fake::controls().variables["variable"] = 12;
    handle = __cudaRegisterFatBinary(&wrapper);
    REQUIRE(handle);
    __cudaRegisterFunction(handle, &stub_a, nullptr, "kernel_a", -1, nullptr, nullptr, nullptr,
                           nullptr, nullptr);
    __cudaRegisterFunction(handle, &stub_b, nullptr, "kernel_b", -1, nullptr, nullptr, nullptr,
                           nullptr, nullptr);
    __cudaRegisterVar(handle, &shadow, nullptr, "variable", 0, 12, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
  }
};

cudaError_t launch_b(dim3 grid, dim3 block, std::size_t shared = 0) {
  return cudaLaunchKernel(&stub_b, grid, block, nullptr, shared, nullptr);
}

// Suppresses the messages on stderr.
struct quiet {
  quiet() { setenv("STEPWISE_QUIET", "1", 1); }
  ~quiet() { unsetenv("STEPWISE_QUIET"); }
};

}  // namespace

TEST_CASE_FIXTURE(program, "registration does not use a device") {
  CHECK(fake::controls().devices_made == 0);
  CHECK(fake::controls().modules_loaded == 0);
  CHECK(launch_b(1, 1) == cudaSuccess);
  CHECK(launch_b(1, 1) == cudaSuccess);
  CHECK(fake::controls().modules_loaded == 1);
  CHECK(fake::controls().module_bytes[0] == sizeof(container));
  __cudaUnregisterFatBinary(handle);
  CHECK(fake::controls().modules_unloaded == 1);
  CHECK(launch_b(1, 1) == cudaErrorInvalidDeviceFunction);
}

TEST_CASE_FIXTURE(program, "arguments are packed by the kernel's layout") {
  const int first = 0x11223344;
  const double second = 2.5;
  const char third[3] = {'x', 'y', 'z'};
  void* arguments[] = {const_cast<int*>(&first), const_cast<double*>(&second),
                       const_cast<char*>(third)};
  CHECK(cudaLaunchKernel(&stub_a, dim3(2, 3), dim3(4, 5, 6), arguments, 7, nullptr) == cudaSuccess);
  REQUIRE(fake::controls().launches.size() == 1);
  const auto& launch = fake::controls().launches[0];
  CHECK(launch.kernel == "kernel_a");
  CHECK(launch.config.grid.y == 3);
  CHECK(launch.config.block.z == 6);
  CHECK(launch.config.dynamic_shared_bytes == 7);
  CHECK(!launch.config.cooperative);
  REQUIRE(launch.parameters.size() == 19);
  CHECK(std::memcmp(launch.parameters.data(), &first, 4) == 0);
  CHECK(launch.parameters[5] == std::byte{0});
  CHECK(std::memcmp(launch.parameters.data() + 8, &second, 8) == 0);
  CHECK(std::memcmp(launch.parameters.data() + 16, third, 3) == 0);
}

TEST_CASE_FIXTURE(program, "missing arguments are refused") {
  const quiet q;
  CHECK(cudaLaunchKernel(&stub_a, 1, 1, nullptr, 0, nullptr) == cudaErrorInvalidValue);
  int one = 1;
  void* arguments[] = {&one, nullptr, &one};
  CHECK(cudaLaunchKernel(&stub_a, 1, 1, arguments, 0, nullptr) == cudaErrorInvalidValue);
  CHECK(fake::controls().launches.empty());
}

TEST_CASE_FIXTURE(program, "the calls of <<<>>>: push, pop, get the kernel once, launch") {
  CHECK(__cudaPushCallConfiguration(dim3(1), dim3(2), 3, nullptr) == 0);
  CHECK(__cudaPushCallConfiguration(dim3(4), dim3(5), 6, cudaStreamLegacy) == 0);  // nested
  cudaKernel_t kernel = nullptr;
  CHECK(__cudaGetKernel(&kernel, &stub_b) == cudaSuccess);
  dim3 grid, block;
  std::size_t shared;
  cudaStream_t stream;
  CHECK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream) == cudaSuccess);
  CHECK(grid.x == 4);
  CHECK(shared == 6);
  CHECK(stream == cudaStreamLegacy);
  CHECK(__cudaLaunchKernel(kernel, grid, block, nullptr, shared, stream) == cudaSuccess);
  CHECK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream) == cudaSuccess);
  CHECK(block.x == 2);
  CHECK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream) ==
        cudaErrorMissingConfiguration);
  REQUIRE(fake::controls().launches.size() == 1);
  CHECK(fake::controls().launches[0].kernel == "kernel_b");
  // The handle outlives the device on which it was first used.
  CHECK(cudaDeviceReset() == cudaSuccess);
  CHECK(__cudaLaunchKernel(kernel, 1, 1, nullptr, 0, nullptr) == cudaSuccess);
  CHECK(fake::controls().devices_made == 2);
  CHECK(fake::controls().modules_loaded == 2);
}

TEST_CASE_FIXTURE(program, "functions that were not registered are refused") {
  const quiet q;
  cudaKernel_t kernel = nullptr;
  CHECK(__cudaGetKernel(&kernel, &stub_c) == cudaSuccess);
  CHECK(__cudaLaunchKernel(kernel, 1, 1, nullptr, 0, nullptr) == cudaErrorInvalidDeviceFunction);
  CHECK(cudaLaunchKernel(nullptr, 1, 1, nullptr, 0, nullptr) == cudaErrorInvalidDeviceFunction);
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, &stub_c) == cudaErrorInvalidDeviceFunction);
  CHECK(cudaFuncSetAttribute(&stub_c, cudaFuncAttributeMaxDynamicSharedMemorySize, 1) ==
        cudaErrorInvalidDeviceFunction);
  CHECK(cudaGetKernel(&kernel, &stub_c) == cudaErrorInvalidDeviceFunction);
}

TEST_CASE_FIXTURE(program, "two host functions with the same name each use their own module") {
  container other_image;
  fat_binary_wrapper other_wrapper{fat_binary_magic, 1, &other_image, nullptr};
  void** const other = __cudaRegisterFatBinary(&other_wrapper);
  __cudaRegisterFunction(other, &stub_c, nullptr, "kernel_b", -1, nullptr, nullptr, nullptr,
                         nullptr, nullptr);
  CHECK(launch_b(1, 1) == cudaSuccess);
  CHECK(fake::controls().modules_loaded == 1);
  CHECK(cudaLaunchKernel(&stub_c, 1, 1, nullptr, 0, nullptr) == cudaSuccess);
  CHECK(fake::controls().modules_loaded == 2);
  __cudaUnregisterFatBinary(other);
  CHECK(launch_b(1, 1) == cudaSuccess);
}

TEST_CASE_FIXTURE(program, "launches are refused as hardware refuses them, and reported once") {
  const std::string said = captured_stderr([] {
    CHECK(launch_b(dim3(0), 1) == cudaErrorInvalidValue);
    CHECK(launch_b(dim3(0), 1) == cudaErrorInvalidValue);
    CHECK(launch_b(1, 257) == cudaErrorInvalidValue);
    CHECK(launch_b(1, 2000) == cudaErrorInvalidValue);
    CHECK(launch_b(1, 1, 48 * 1024 + 1) == cudaErrorInvalidValue);
  });
  CHECK(std::count(said.begin(), said.end(), '\n') == 4);
  CHECK(said.find("stepwise: kernel_b: a grid of 0x1x1") == 0);
  CHECK(fake::controls().launches.empty());
  CHECK(std::string(last_message()).find("49153 bytes of dynamic shared memory") !=
        std::string::npos);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  CHECK(launch_b(1, 256) == cudaSuccess);
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE_FIXTURE(program, "a kernel gets more shared memory after opting in") {
  const quiet q;
  CHECK(launch_b(1, 1, 100'000) == cudaErrorInvalidValue);
  CHECK(cudaFuncSetAttribute(&stub_b, cudaFuncAttributeMaxDynamicSharedMemorySize, 100'000) ==
        cudaSuccess);
  CHECK(launch_b(1, 1, 100'000) == cudaSuccess);
  CHECK(launch_b(1, 1, 100'001) == cudaErrorInvalidValue);
  CHECK(cudaFuncSetAttribute(&stub_b, cudaFuncAttributeMaxDynamicSharedMemorySize, 300'000) ==
        cudaErrorInvalidValue);
  CHECK(cudaFuncSetAttribute(&stub_b, cudaFuncAttributeMaxDynamicSharedMemorySize, -1) ==
        cudaErrorInvalidValue);
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, &stub_b) == cudaSuccess);
  CHECK(attributes.maxDynamicSharedSizeBytes == 100'000);
  CHECK(attributes.numRegs == 20);
  CHECK(attributes.maxThreadsPerBlock == 256);
  int blocks = -1;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &stub_b, 256, 100'000) ==
        cudaSuccess);
  CHECK(blocks == 2);
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &stub_b, 0, 0) ==
        cudaErrorInvalidValue);
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &stub_b, 1025, 0) == cudaSuccess);
  CHECK(blocks == 0);
}

TEST_CASE_FIXTURE(program, "launch attributes: cooperative, hints, and unsupported attributes") {
  const quiet q;
  cudaLaunchAttribute attribute{};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(2);
  config.blockDim = dim3(32);
  config.attrs = &attribute;
  config.numAttrs = 1;
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  CHECK(cudaLaunchKernelExC(&config, &stub_b, nullptr) == cudaSuccess);
  CHECK(fake::controls().launches.back().config.cooperative);
  attribute.id = cudaLaunchAttributePriority;
  CHECK(cudaLaunchKernelExC(&config, &stub_b, nullptr) == cudaSuccess);
  CHECK(!fake::controls().launches.back().config.cooperative);
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {2, 1, 1};
  CHECK(cudaLaunchKernelExC(&config, &stub_b, nullptr) == cudaSuccess);
  CHECK(fake::controls().launches.back().config.cluster == extent{2, 1, 1});
  attribute.val.clusterDim = {3, 1, 1};
  CHECK(cudaLaunchKernelExC(&config, &stub_b, nullptr) == cudaErrorInvalidClusterSize);
  CHECK(cudaLaunchKernelExC(nullptr, &stub_b, nullptr) == cudaErrorInvalidValue);
  CHECK(fake::controls().launches.size() == 3);
  CHECK(cudaLaunchCooperativeKernel(&stub_b, dim3(1'000'000), 32, nullptr, 0, nullptr) ==
        cudaErrorCooperativeLaunchTooLarge);
  CHECK(cudaLaunchCooperativeKernel(&stub_b, 1, 32, nullptr, 0, nullptr) == cudaSuccess);
  CHECK(fake::controls().launches.back().config.cooperative);
}

TEST_CASE_FIXTURE(program, "the device's error for a launch is returned, and is not a fault") {
  fake::controls().launch_failure = {error::not_supported, "kernel_b: opcode foo (case 3)"};
  const std::string said = captured_stderr([] { CHECK(launch_b(1, 1) == cudaErrorNotSupported); });
  CHECK(said == "stepwise: kernel_b: opcode foo (case 3)\n");
  CHECK(launch_b(1, 1) == cudaSuccess);
}

TEST_CASE_FIXTURE(program, "a variable is copied to and from by its host name") {
  int values[3] = {1, 2, 3}, back[3] = {};
  CHECK(cudaMemcpyToSymbol(&shadow, values, 12) == cudaSuccess);
  CHECK(cudaMemcpyFromSymbol(back, &shadow, 8, 4) == cudaSuccess);
  CHECK(back[0] == 2);
  CHECK(back[1] == 3);
  CHECK(cudaMemcpyToSymbol(&shadow, values, 12, 1) == cudaErrorInvalidValue);
  CHECK(cudaMemcpyToSymbol(&shadow, values, 13) == cudaErrorInvalidValue);
  CHECK(cudaMemcpyToSymbol(&shadow, values, 1, SIZE_MAX) == cudaErrorInvalidValue);
  CHECK(cudaMemcpyToSymbol(&shadow, values, 0) == cudaSuccess);
  CHECK(cudaMemcpyToSymbol(&shadow, nullptr, 4) == cudaErrorInvalidValue);
  CHECK(cudaMemcpyToSymbol(&stub_a, values, 4) == cudaErrorInvalidSymbol);
  CHECK(cudaMemcpyToSymbol(&shadow, values, 4, 0, cudaMemcpyDeviceToHost) ==
        cudaErrorInvalidMemcpyDirection);
  CHECK(cudaMemcpyFromSymbol(back, &shadow, 4, 0, cudaMemcpyHostToDevice) ==
        cudaErrorInvalidMemcpyDirection);
  std::size_t bytes = 0;
  void* address = nullptr;
  CHECK(cudaGetSymbolSize(&bytes, &shadow) == cudaSuccess);
  CHECK(bytes == 12);
  CHECK(cudaGetSymbolAddress(&address, &shadow) == cudaSuccess);
  CHECK(cudaMemcpy(back, address, 4, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(back[0] == 1);
  CHECK(cudaGetSymbolAddress(&address, &stub_a) == cudaErrorInvalidSymbol);
  CHECK(cudaGetSymbolAddress(nullptr, &shadow) == cudaErrorInvalidValue);
}

TEST_CASE_FIXTURE(program, "damaged fat binaries fail only where they are used") {
  const quiet q;
  container good;
  std::uint64_t zeros[4] = {};
  const struct {
    fat_binary_wrapper wrapper;
    cudaError_t expected;
  } cases[] = {
      {{fat_binary_magic, 1, zeros, nullptr}, cudaErrorInvalidKernelImage},
      {{fat_binary_magic, 1, nullptr, nullptr}, cudaErrorSymbolNotFound},
      {{fat_binary_magic, 9, &good, nullptr}, cudaErrorNoKernelImageForDevice},
      {{0x12345678, 1, &good, nullptr}, cudaErrorInvalidKernelImage},
      {{fat_binary_magic, 1, &good, nullptr}, cudaErrorSymbolNotFound},  // no such kernel in it
      {{fat_binary_magic, 2, nullptr, nullptr}, cudaErrorSymbolNotFound},
  };
  for (const auto& c : cases) {
    fat_binary_wrapper wrapper = c.wrapper;
    void** const damaged = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(damaged, &stub_c, nullptr, "absent", -1, nullptr, nullptr, nullptr,
                           nullptr, nullptr);
    __cudaRegisterFatBinaryEnd(damaged);
    CHECK(cudaFree(nullptr) == cudaSuccess);
    CHECK(cudaLaunchKernel(&stub_c, 1, 1, nullptr, 0, nullptr) == c.expected);
    CHECK(cudaLaunchKernel(&stub_c, 1, 1, nullptr, 0, nullptr) == c.expected);
    CHECK(launch_b(1, 1) == cudaSuccess);
    __cudaUnregisterFatBinary(damaged);
  }
}

TEST_CASE_FIXTURE(program, "a relocatable program is one module of all its parts") {
  container linked, part_a, part_b;
  const void* const parts[] = {&part_a, &part_b, nullptr};
  fat_binary_wrapper wrapper2{fat_binary_magic, 2, &linked, parts};
  void** const handle2 = __cudaRegisterFatBinary(&wrapper2);
  __cudaRegisterFunction(handle2, &stub_c, nullptr, "kernel_b", -1, nullptr, nullptr, nullptr,
                         nullptr, nullptr);
  CHECK(cudaLaunchKernel(&stub_c, 1, 1, nullptr, 0, nullptr) == cudaSuccess);
  CHECK(fake::controls().modules_loaded == 1);
  CHECK(fake::controls().module_bytes.size() == 3);
}

TEST_CASE_FIXTURE(program, "the error of loading a module is returned for its kernels") {
  const quiet q;
  fake::controls().load_failure = {error::no_kernel_image_for_device, "no PTX for this GPU"};
  CHECK(launch_b(1, 1) == cudaErrorNoKernelImageForDevice);
  CHECK(std::string(last_message()).find("no PTX for this GPU") != std::string::npos);
  void* address;
  CHECK(cudaGetSymbolAddress(&address, &shadow) == cudaErrorNoKernelImageForDevice);
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, &stub_b) == cudaErrorNoKernelImageForDevice);
}

TEST_CASE_FIXTURE(program, "a fault that no call waited for is reported when the program ends") {
  CHECK(launch_b(1, 1) == cudaSuccess);
  fake::controls().fault = {error::illegal_address, "kernel_b wrote too far (case 4)"};
  const std::string said = captured_stderr([&] { __cudaUnregisterFatBinary(handle); });
  CHECK(said == "stepwise: kernel_b wrote too far (case 4)\n");
}

}  // namespace launch_test
