// Tests the error state, the names and sentences of errors, and the messages on stderr.
#include "common/runtime/errors.hpp"

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <thread>

#include "common/runtime/api/api.hpp"
#include "common/runtime/api/tensor_maps.hpp"
#include "common/runtime/tests/capture.hpp"
#include "common/runtime/tests/fake_device.hpp"
#include "common/testing/skip_case.hpp"

using namespace stepwise;

TEST_CASE("errors have the names and sentences of CUDA 13") {
  CHECK(std::string(cudaGetErrorName(cudaSuccess)) == "cudaSuccess");
  CHECK(std::string(cudaGetErrorString(cudaSuccess)) == "no error");
  CHECK(std::string(cudaGetErrorName(cudaErrorIllegalAddress)) == "cudaErrorIllegalAddress");
  CHECK(std::string(cudaGetErrorString(cudaErrorIllegalAddress)) ==
        "an illegal memory access was encountered");
  CHECK(std::string(cudaGetErrorName(cudaErrorUnknown)) == "cudaErrorUnknown");
  CHECK(std::string(cudaGetErrorName(static_cast<cudaError_t>(4711))) == "unrecognized error code");
  CHECK(std::string(cudaGetErrorString(static_cast<cudaError_t>(-1))) == "unrecognized error code");
}

// The toolkit's library answers these two calls without a driver.
TEST_CASE("every name and sentence is the same as in the real library, if it is installed") {
  const char* const path = std::getenv("STEPWISE_TEST_REAL_CUDART");
  void* const real = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (!real) {
    return stepwise::skip_case("the toolkit's libcudart.so.13 was not found");
  }
  using answer = const char* (*)(cudaError_t);
  const auto name = reinterpret_cast<answer>(dlsym(real, "cudaGetErrorName"));
  const auto text = reinterpret_cast<answer>(dlsym(real, "cudaGetErrorString"));
  REQUIRE((name && text));
  for (int code = -2; code < 1100; code++) {
    const auto e = static_cast<cudaError_t>(code);
    INFO("code " << code);
    CHECK(std::string(cudaGetErrorName(e)) == name(e));
    CHECK(std::string(cudaGetErrorString(e)) == text(e));
  }
}

TEST_CASE("the last error is kept until it is taken, and success does not reset it") {
  fake::reset();
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(cudaSetDevice(9) == cudaErrorInvalidDevice);
  CHECK(cudaPeekAtLastError() == cudaErrorInvalidDevice);
  CHECK(cudaPeekAtLastError() == cudaErrorInvalidDevice);
  CHECK(cudaFree(nullptr) == cudaSuccess);
  CHECK(cudaPeekAtLastError() == cudaErrorInvalidDevice);
  CHECK(cudaMalloc(nullptr, 1) == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("the last error belongs to a thread") {
  fake::reset();
  CHECK(cudaSetDevice(9) == cudaErrorInvalidDevice);
  std::thread([] {
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    CHECK(cudaMalloc(nullptr, 1) == cudaErrorInvalidValue);
    CHECK(cudaPeekAtLastError() == cudaErrorInvalidValue);
  }).join();
  CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
}

TEST_CASE("every later call returns a kernel's fault, which is cleared like any other error") {
  fake::reset();
  void* memory;
  CHECK(cudaMalloc(&memory, 16) == cudaSuccess);
  fake::controls().fault = {error::illegal_address, "kernel k wrote where nothing is (case 1)"};
  const std::string said = captured_stderr([&] {
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(cudaMalloc(&memory, 16) == cudaErrorIllegalAddress);
    CHECK(cudaFree(memory) == cudaErrorIllegalAddress);
    CHECK(cudaMalloc(nullptr, 16) == cudaErrorInvalidValue);
    CHECK(cudaStreamSynchronize(nullptr) == cudaErrorIllegalAddress);
    std::thread([] { CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress); }).join();
    CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
  });
  CHECK(said == "stepwise: kernel k wrote where nothing is (case 1)\n");  // once
  // Questions about the device itself are still answered.
  int count = 0;
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceCount(&count) == cudaSuccess);
  CHECK(count == 1);
  CHECK(cudaSetDevice(0) == cudaSuccess);
  CHECK(cudaGetDeviceProperties(&properties, 0) == cudaSuccess);
  int value = 1;
  CHECK(cudaMemcpy(&value, &value, 0, cudaMemcpyHostToHost) == cudaSuccess);
  CHECK(cudaMemcpy(&value, &value, 4, static_cast<cudaMemcpyKind>(9)) ==
        cudaErrorInvalidMemcpyDirection);
  CHECK(cudaMemcpy(&value, &count, 4, cudaMemcpyHostToHost) == cudaErrorIllegalAddress);
  // The device cannot be used again in this process.
  fake::controls().fault = {};
  CHECK(cudaDeviceReset() == cudaSuccess);
  CHECK(cudaMalloc(&memory, 16) == cudaErrorDevicesUnavailable);
  CHECK(cudaSetDevice(0) == cudaErrorDevicesUnavailable);
  CHECK(cudaSetDevice(1) == cudaErrorInvalidDevice);
  CHECK(cudaGetDeviceProperties(&properties, 0) == cudaSuccess);
  CHECK(fake::controls().devices_made == 1);
}

TEST_CASE("the first call that waits returns a fault") {
  for (int which = 0; which < 5; which++) {
    fake::reset();
    void* memory;
    int value = 0;
    cudaEvent_t event;
    CHECK(cudaMalloc(&memory, 16) == cudaSuccess);
    CHECK(cudaEventCreate(&event) == cudaSuccess);
    fake::controls().fault = {error::misaligned_address, ""};
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    CHECK((which == 0   ? cudaMemcpy(&value, memory, 4, cudaMemcpyDeviceToHost)
           : which == 1 ? cudaFree(memory)
           : which == 2 ? cudaEventSynchronize(event)
           : which == 3 ? cudaStreamQuery(nullptr)
                        : cudaMemcpy(memory, &value, 4, cudaMemcpyHostToDevice)) ==
          cudaErrorMisalignedAddress);
    CHECK(cudaMalloc(&memory, 16) == cudaErrorMisalignedAddress);
  }
}

TEST_CASE("without a usable device every call fails, and stderr has the reason once") {
  fake::reset();
  fake::controls().no_device = {error::no_device, "no such GPU (case 2)"};
  int count = 5;
  void* memory;
  const std::string said = captured_stderr([&] {
    CHECK(cudaGetDeviceCount(&count) == cudaErrorNoDevice);
    CHECK(cudaMalloc(&memory, 4) == cudaErrorNoDevice);
    CHECK(cudaDeviceSynchronize() == cudaErrorNoDevice);
  });
  CHECK(said == "stepwise: no such GPU (case 2)\n");
  CHECK(count == 5);
  CHECK(std::string(stepwise::runtime::last_message()) == "no such GPU (case 2)");
  int version = -1;
  CHECK(cudaDriverGetVersion(&version) == cudaSuccess);
  CHECK(version == 0);
  CHECK(cudaRuntimeGetVersion(&version) == cudaSuccess);
  CHECK(version == CUDART_VERSION);
}

TEST_CASE("each sentence is printed once, line by line, and not at all with STEPWISE_QUIET") {
  const auto said = [](const char* sentence) {
    return captured_stderr([&] { runtime::announce(sentence); });
  };
  CHECK(said("one line\nand another") == "stepwise: one line\nstepwise: and another\n");
  CHECK(said("one line\nand another") == "");
  CHECK(said("") == "");
  setenv("STEPWISE_QUIET", "1", 1);
  CHECK(said("something else") == "");
  setenv("STEPWISE_QUIET", "0", 1);
  CHECK(said("something else") == "stepwise: something else\n");
  unsetenv("STEPWISE_QUIET");
}

TEST_CASE("a sentence that is longer than its buffer is truncated") {
  fake::reset();
  fake::controls().no_device = {error::no_device, std::string(100'000, 'x')};
  setenv("STEPWISE_QUIET", "1", 1);
  CHECK(cudaFree(nullptr) == cudaErrorNoDevice);
  unsetenv("STEPWISE_QUIET");
  const std::size_t length = std::strlen(runtime::last_message());
  CHECK(length > 1000);
  CHECK(length < 10'000);
}

TEST_CASE("an unsupported function is reported once, by name") {
  fake::reset();
  const std::string said = captured_stderr([] {
    CHECK(cudaIpcCloseMemHandle(nullptr) == cudaErrorNotSupported);
    CHECK(cudaIpcCloseMemHandle(nullptr) == cudaErrorNotSupported);
  });
  CHECK(said.find("stepwise: cudaIpcCloseMemHandle is not supported") == 0);
  CHECK(said.find('\n') == said.size() - 1);
  CHECK(cudaGetLastError() == cudaErrorNotSupported);
}

// The device of the tests has no tensor maps. NVIDIA's library crashes on a null map.
TEST_CASE("a tensor map is refused by name, and null pointers are invalid") {
  fake::reset();
  const std::uint64_t sizes[] = {64}, strides[] = {0};
  const std::uint32_t box[] = {32}, steps[] = {1};
  const auto encode = [&](CUtensorMap* to, const std::uint64_t* with_strides) {
    return runtime::encode_tiled_map(
        to, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 1, reinterpret_cast<void*>(0x1000), sizes,
        with_strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  CUtensorMap map{};
  const std::string said = captured_stderr([&] {
    CHECK(encode(&map, strides) == CUDA_ERROR_NOT_SUPPORTED);
    CHECK(encode(&map, nullptr) == CUDA_ERROR_INVALID_VALUE);
    CHECK(encode(nullptr, strides) == CUDA_ERROR_INVALID_VALUE);
    CHECK(runtime::replace_map_address(nullptr, &map) == CUDA_ERROR_INVALID_VALUE);
    CHECK(runtime::replace_map_address(&map, &map) == CUDA_ERROR_NOT_SUPPORTED);
  });
  CHECK(said.find("this device has no tensor maps") != std::string::npos);
  CHECK(said.find("an array is null") != std::string::npos);
  CHECK(map.opaque[0] == 0);
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("a missing driver function is announced, and the call succeeds") {
  fake::reset();
  void* function = &function;
  cudaDriverEntryPointQueryResult outcome{};
  const std::string said = captured_stderr([&] {
    for (int n = 0; n < 2; ++n)
      CHECK(cudaGetDriverEntryPointByVersion("cuMemAlloc", &function, 12000, cudaEnableDefault,
                                             &outcome) == cudaSuccess);
  });
  CHECK(outcome == cudaDriverEntryPointSymbolNotFound);
  CHECK(function == nullptr);
  CHECK(said ==
        "stepwise: the driver function cuMemAlloc was not found: no libcuda.so.1 of this "
        "project is loaded\n");
}
