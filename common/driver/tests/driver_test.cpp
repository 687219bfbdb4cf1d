// The driver API and the runtime in one process, links, and mistakes.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "common/driver/tests/linked_modules.hpp"

// Of libnvJitLink.so.13 (nvJitLink.h comes with NVIDIA's).
extern "C" {
int nvJitLinkCreate(void** handle, std::uint32_t count, const char** options);
int nvJitLinkDestroy(void** handle);
int nvJitLinkAddData(void* handle, int input, const void* data, std::size_t bytes, const char*);
int nvJitLinkComplete(void* handle);
int nvJitLinkGetLinkedCubinSize(void* handle, std::size_t* bytes);
int nvJitLinkGetLinkedCubin(void* handle, void* image);
int nvJitLinkGetErrorLog(void* handle, char* text);
}

namespace {

constexpr char empty_kernel[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry nothing()\n{\n  ret;\n}\n";
constexpr int ptx_input = 2, ltoir_input = 3;

int value_at(const void* address) {
  int value = 0;
  CHECK(cudaMemcpy(&value, address, sizeof value, cudaMemcpyDefault) == cudaSuccess);
  return value;
}

}  // namespace

// First: later the process has called cuInit, and a thread keeps its contexts.
TEST_CASE("without cuInit, and without a context") {
  CUdeviceptr address = 0;
  int count = 0;
  CHECK(cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED);
  CHECK(cuMemAlloc(&address, 4) == CUDA_ERROR_NOT_INITIALIZED);
  CHECK(cuInit(1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuInit(0) == CUDA_SUCCESS);
  CHECK(cuDeviceGetCount(&count) == CUDA_SUCCESS);
  CHECK(cuMemAlloc(&address, 4) == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(cuCtxSynchronize() == CUDA_ERROR_INVALID_CONTEXT);
  CUcontext context = nullptr;
  CHECK(cuDevicePrimaryCtxRetain(&context, 1) == CUDA_ERROR_INVALID_DEVICE);
  CHECK(cuDevicePrimaryCtxRelease(0) == CUDA_ERROR_INVALID_CONTEXT);
}

TEST_CASE("the runtime's device, memory, streams and kernels are the driver's too") {
  CUcontext current = nullptr, primary = nullptr;
  void* memory = nullptr;
  CHECK(cudaMalloc(&memory, 64) == cudaSuccess);
  CHECK(cuCtxGetCurrent(&current) == CUDA_SUCCESS);  // without cuInit: the runtime has started it
  CHECK(cuDevicePrimaryCtxRetain(&primary, 0) == CUDA_SUCCESS);
  CHECK(current == primary);
  CUdeviceptr first = 0;
  std::size_t bytes = 0;
  CHECK(cuMemGetAddressRange(&first, &bytes, reinterpret_cast<CUdeviceptr>(memory)) ==
        CUDA_SUCCESS);
  CHECK(bytes == 64);
  cudaStream_t stream = nullptr;
  CHECK(cudaStreamCreate(&stream) == cudaSuccess);
  CHECK(cuMemsetD32Async(first, 7, 16, stream) == CUDA_SUCCESS);
  CHECK(cuStreamSynchronize(stream) == CUDA_SUCCESS);
  CHECK(value_at(memory) == 7);
  CHECK(cuStreamDestroy(stream) == CUDA_SUCCESS);
  CHECK(cudaStreamQuery(stream) == cudaErrorInvalidResourceHandle);
  CHECK(cudaGetLastError() == cudaErrorInvalidResourceHandle);

  // The driver keeps no last error.
  CHECK(cuMemcpyHtoD(first, nullptr, 4) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(cuMemFree(first) == CUDA_SUCCESS);
  CHECK(cudaFree(memory) == cudaErrorInvalidValue);
  (void)cudaGetLastError();
  CHECK(cuDevicePrimaryCtxRelease(0) == CUDA_SUCCESS);
}

TEST_CASE("what a created context owns is released with it") {
  REQUIRE(cuInit(0) == CUDA_SUCCESS);
  CUcontext made = nullptr;
  CUdeviceptr address = 0, first = 0;
  CUstream stream = nullptr;
  CHECK(cuCtxCreate(&made, nullptr, 0, 0) == CUDA_SUCCESS);
  CHECK(cuMemAlloc(&address, 100) == CUDA_SUCCESS);
  CHECK(cuStreamCreate(&stream, 0) == CUDA_SUCCESS);
  CHECK(cuCtxDestroy(made) == CUDA_SUCCESS);
  CHECK(cudaStreamQuery(stream) == cudaErrorInvalidResourceHandle);
  (void)cudaGetLastError();
  CHECK(cuMemGetAddressRange(&first, nullptr, address) == CUDA_ERROR_NOT_FOUND);
  CHECK(cuCtxPushCurrent(made) == CUDA_ERROR_INVALID_CONTEXT);
}

TEST_CASE("nvJitLink links PTX into what the driver loads; a copy of it will do") {
  void* link = nullptr;
  const char* options[] = {"-lineinfo", "-arch=sm_90"};
  CHECK(nvJitLinkCreate(&link, 1, options) == 2);  // no -arch
  REQUIRE(nvJitLinkCreate(&link, 2, options) == 0);
  CHECK(nvJitLinkAddData(link, ltoir_input, caller, sizeof caller - 1, "a") == 8);
  CHECK(nvJitLinkAddData(link, ptx_input, caller, sizeof caller - 1, "a") == 0);
  CHECK(nvJitLinkAddData(link, ptx_input, callee, sizeof callee - 1, "b") == 0);
  REQUIRE(nvJitLinkComplete(link) == 0);
  std::size_t bytes = 0;
  REQUIRE(nvJitLinkGetLinkedCubinSize(link, &bytes) == 0);
  std::vector<char> image(bytes);
  CHECK(nvJitLinkGetLinkedCubin(link, image.data()) == 0);
  CHECK(nvJitLinkDestroy(&link) == 0);

  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  void* out = nullptr;
  REQUIRE(cudaMalloc(&out, 4) == cudaSuccess);
  REQUIRE(cuModuleLoadData(&module, image.data()) == CUDA_SUCCESS);
  REQUIRE(cuModuleGetFunction(&kernel, module, "call_twice") == CUDA_SUCCESS);
  // The driver's function is the runtime's kernel.
  void* arguments[] = {&out};
  CHECK(cudaLaunchKernel(kernel, 1, 1, arguments, 0, nullptr) == cudaSuccess);
  CHECK(value_at(out) == 42);
  CHECK(cuModuleUnload(module) == CUDA_SUCCESS);
  CHECK(cuModuleUnload(module) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(cudaFree(out) == cudaSuccess);
}

TEST_CASE("an error of a link is in its log, whose room is the program's") {
  void* link = nullptr;
  const char* options[] = {"-arch=sm_90"};
  const std::string nonsense = ".version 8.0\n.target sm_80\n.address_size 64\nnonsense;\n";
  REQUIRE(nvJitLinkCreate(&link, 1, options) == 0);
  CHECK(nvJitLinkAddData(link, ptx_input, nonsense.data(), nonsense.size(), "a") == 4);
  char text[4096] = "";
  CHECK(nvJitLinkGetErrorLog(link, text) == 0);
  CHECK(std::string(text).find("PTX line 4") != std::string::npos);
  CHECK(nvJitLinkDestroy(&link) == 0);

  char log[10];
  std::memset(log, 'x', sizeof log);
  CUjit_option kinds[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(std::uintptr_t{6})};
  CUmodule module = nullptr;
  CHECK(cuModuleLoadDataEx(&module, nonsense.c_str(), 2, kinds, values) == CUDA_ERROR_INVALID_PTX);
  CHECK(std::strlen(log) == 5);
  CHECK(log[6] == 'x');
  CHECK(reinterpret_cast<std::uintptr_t>(values[1]) == 5);
  CHECK(cuModuleLoadDataEx(&module, nonsense.c_str(), 2, nullptr, values) ==
        CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("modules, names, handles and launches that are wrong") {
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  REQUIRE(cuCtxCreate(&context, nullptr, 0, 0) == CUDA_SUCCESS);
  CHECK(cuModuleLoadData(&module, "this is no PTX") == CUDA_ERROR_INVALID_IMAGE);
  CHECK(cuModuleLoadData(&module, ".version 99.0\n.target sm_80\n") ==
        CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  static const char machine_code[64] = "\177ELF\2\1\1";
  CHECK(cuModuleLoadData(&module, machine_code) == CUDA_ERROR_NO_BINARY_FOR_GPU);
  CHECK(cuModuleLoadData(&module, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuModuleLoad(&module, "/no/such/file") == CUDA_ERROR_FILE_NOT_FOUND);
  REQUIRE(cuModuleLoadData(&module, empty_kernel) == CUDA_SUCCESS);
  CHECK(cuModuleGetFunction(&kernel, module, "no_such_kernel") == CUDA_ERROR_NOT_FOUND);
  REQUIRE(cuModuleGetFunction(&kernel, module, "nothing") == CUDA_SUCCESS);
  const auto launch = [&](unsigned grid, unsigned block, unsigned shared) {
    return cuLaunchKernel(kernel, grid, 1, 1, block, 1, 1, shared, nullptr, nullptr, nullptr);
  };
  CHECK(launch(1, 32, 0) == CUDA_SUCCESS);
  CHECK(launch(0, 32, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(launch(1, 1025, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(launch(1, 32, 49153) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuModuleUnload(module) == CUDA_SUCCESS);
  CHECK(launch(1, 32, 0) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(cuCtxDestroy(context) == CUDA_SUCCESS);
}

TEST_CASE("functions are found by name and version") {
  const auto found = [](const char* name, int version, cuuint64_t flags) {
    void* function = nullptr;
    CHECK(cuGetProcAddress(name, &function, version, flags, nullptr) == CUDA_SUCCESS);
    return function;
  };
  CHECK(found("cuMemAlloc", 12000, 0) == reinterpret_cast<void*>(&cuMemAlloc));
  CHECK(found("cuCtxCreate", 13000, 0) == reinterpret_cast<void*>(&cuCtxCreate));
  CHECK(found("cuCtxCreate", 12000, 0) != reinterpret_cast<void*>(&cuCtxCreate));
  CHECK(found("cuStreamSynchronize", 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) !=
        reinterpret_cast<void*>(&cuStreamSynchronize));
  void* none = nullptr;
  CHECK(cuGetProcAddress("cudaMalloc", &none, 13000, 0, nullptr) == CUDA_SUCCESS);
  CHECK(none == nullptr);
}

TEST_CASE("a name that is refused says so") {
  CHECK(cuMemAddressFree(0, 0) == CUDA_ERROR_NOT_SUPPORTED);
}
