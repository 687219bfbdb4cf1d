// Tests the driver API together with the runtime in one process, linking, and invalid calls.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "common/driver/tests/linked_modules.hpp"
#include "common/testing/skip_case.hpp"

// Declarations of libnvJitLink.so.13 (nvJitLink.h comes with NVIDIA's library).
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

// This case must come first, because later the process has called cuInit, and a thread keeps its
// contexts.
TEST_CASE("calls without cuInit, and calls without a context") {
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
  CHECK(cuCtxGetCurrent(&current) == CUDA_SUCCESS);  // no cuInit: the runtime has called it
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

TEST_CASE("destroying a context releases everything that it owns") {
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

TEST_CASE("a tensor map is the same from both libraries, and encoded only if it is right") {
  REQUIRE(cuInit(0) == CUDA_SUCCESS);
  const std::uint64_t sizes[] = {64, 10}, strides[] = {256};
  const std::uint32_t box[] = {32, 4}, steps[] = {1, 1};
  const auto encode = [&](auto function, CUtensorMap& map, unsigned rank) {
    return function(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, rank, reinterpret_cast<void*>(0x1000),
                    sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                    CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  void* of_runtime = nullptr;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &of_runtime, 12000, 0,
                                         nullptr) == cudaSuccess);
  CUtensorMap map{}, same{};
  CHECK(encode(&cuTensorMapEncodeTiled, map, 2) == CUDA_SUCCESS);
  CHECK(encode(reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(of_runtime), same, 2) ==
        CUDA_SUCCESS);
  CHECK(std::memcmp(&map, &same, sizeof map) == 0);
  CHECK(encode(&cuTensorMapEncodeTiled, map, 6) == CUDA_ERROR_INVALID_VALUE);
  CHECK(std::memcmp(&map, &same, sizeof map) == 0);
  CHECK(cuTensorMapReplaceAddress(&map, reinterpret_cast<void*>(0x1008)) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(cuTensorMapReplaceAddress(&map, reinterpret_cast<void*>(0x2000)) == CUDA_SUCCESS);
  CHECK(std::memcmp(&map, &same, sizeof map) != 0);
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("the runtime finds the driver's functions while the driver is loaded") {
  void *of_runtime = nullptr, *of_driver = nullptr;
  cudaDriverEntryPointQueryResult outcome{};
  CHECK(cudaGetDriverEntryPointByVersion("cuMemAlloc", &of_runtime, 12000, 0, &outcome) ==
        cudaSuccess);
  CHECK(outcome == cudaDriverEntryPointSuccess);
  CHECK(cuGetProcAddress("cuMemAlloc", &of_driver, 12000, 0, nullptr) == CUDA_SUCCESS);
  CHECK(of_runtime == of_driver);
  CHECK(cudaGetDriverEntryPointByVersion("cuNoSuch", &of_runtime, 12000, 0, &outcome) ==
        cudaSuccess);
  CHECK(outcome == cudaDriverEntryPointSymbolNotFound);
  CHECK(of_runtime == nullptr);
}

TEST_CASE("nvJitLink links PTX into an image that the driver loads from a copy") {
  void* link = nullptr;
  const char* options[] = {"-lineinfo", "-arch=sm_90"};
  CHECK(nvJitLinkCreate(&link, 1, options) == 2);  // no -arch
  REQUIRE(nvJitLinkCreate(&link, 2, options) == 0);
  CHECK(nvJitLinkAddData(link, ltoir_input, "LTO code", 8, "a") == 8);
  CHECK(nvJitLinkAddData(link, ptx_input, caller, sizeof caller - 1, "a") == 0);
  CHECK(nvJitLinkAddData(link, ltoir_input, callee, sizeof callee - 1, "b") == 0);  // as our NVRTC
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

TEST_CASE("a link error is in the log, which does not exceed the program's buffer") {
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

TEST_CASE("invalid modules, names, handles and launches are refused") {
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

TEST_CASE("arrays, textures and surfaces end with their context, and with their resources") {
  CUcontext context = nullptr;
  REQUIRE(cuCtxCreate(&context, nullptr, 0, 0) == CUDA_SUCCESS);
  const CUDA_ARRAY3D_DESCRIPTOR d{
      8, 4, 0, CU_AD_FORMAT_UNSIGNED_INT16, 2, CUDA_ARRAY3D_SURFACE_LDST};
  CUarray array = nullptr, kept = nullptr;
  REQUIRE(cuArray3DCreate(&array, &d) == CUDA_SUCCESS);
  REQUIRE(cuArray3DCreate(&kept, &d) == CUDA_SUCCESS);
  CUDA_RESOURCE_DESC r{};
  r.resType = CU_RESOURCE_TYPE_ARRAY;
  r.res.array.hArray = array;
  CUDA_TEXTURE_DESC t{};
  CUtexObject texture = 0;
  CUsurfObject surface = 0;
  t.flags = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES;
  CHECK(cuTexObjectCreate(&texture, &r, &t, nullptr) == CUDA_SUCCESS);
  CHECK(cuSurfObjectCreate(&surface, &r) == CUDA_SUCCESS);
  CUDA_TEXTURE_DESC found{};
  CHECK(cuTexObjectGetTextureDesc(&found, texture) == CUDA_SUCCESS);
  CHECK(found.flags == t.flags);
  // An object of the runtime has the driver's flags for the same settings.
  cudaTextureDesc same{};
  cudaTextureObject_t of_runtime = 0;
  CHECK(cudaGetTextureObjectTextureDesc(&same, texture) == cudaSuccess);
  cudaResourceDesc resource{};
  CHECK(cudaGetTextureObjectResourceDesc(&resource, texture) == cudaSuccess);
  CHECK(cudaCreateTextureObject(&of_runtime, &resource, &same, nullptr) == cudaSuccess);
  CHECK(cuTexObjectGetTextureDesc(&found, of_runtime) == CUDA_SUCCESS);
  CHECK(found.flags == t.flags);
  CHECK(cuTexObjectDestroy(of_runtime) == CUDA_SUCCESS);
  CHECK(cuTexObjectGetTextureDesc(&found, of_runtime) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuTexObjectGetTextureDesc(&found, surface) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuTexObjectGetResourceViewDesc(nullptr, texture) == CUDA_ERROR_INVALID_VALUE);

  // Unsupported requests return an error.
  t.flags |= 1U << 20;
  CHECK(cuTexObjectCreate(&texture, &r, &t, nullptr) == CUDA_ERROR_INVALID_VALUE);
  t.flags = 0;
  CUDA_RESOURCE_VIEW_DESC view{};
  CHECK(cuTexObjectCreate(&texture, &r, &t, &view) == CUDA_ERROR_NOT_SUPPORTED);
  r.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  CHECK(cuTexObjectCreate(&texture, &r, &t, nullptr) == CUDA_ERROR_NOT_SUPPORTED);
  CUDA_ARRAY3D_DESCRIPTOR other = d;
  other.Format = CU_AD_FORMAT_BC1_UNORM;
  CUarray none = nullptr;
  CHECK(cuArray3DCreate(&none, &other) == CUDA_ERROR_NOT_SUPPORTED);
  other = d;
  other.Flags = CUDA_ARRAY3D_SPARSE;
  CHECK(cuArray3DCreate(&none, &other) == CUDA_ERROR_NOT_SUPPORTED);

  // Use after destruction.
  CHECK(cuArrayDestroy(array) == CUDA_SUCCESS);
  CHECK(cuArrayDestroy(array) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(cuArrayDestroy(nullptr) == CUDA_ERROR_INVALID_HANDLE);
  CUDA_ARRAY_DESCRIPTOR plane{};
  CHECK(cuArrayGetDescriptor(&plane, array) == CUDA_ERROR_INVALID_HANDLE);
  r = {};
  r.res.array.hArray = array;
  CHECK(cuTexObjectCreate(&texture, &r, &t, nullptr) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(cuSurfObjectCreate(&surface, &r) == CUDA_ERROR_INVALID_HANDLE);
  short word[2] = {};
  CHECK(cuMemcpyAtoH(word, array, 0, sizeof word) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(cuMemcpyAtoH(word, kept, 0, sizeof word) == CUDA_SUCCESS);
  CHECK(cuCtxDestroy(context) == CUDA_SUCCESS);
  CHECK(cudaFreeArray(reinterpret_cast<cudaArray_t>(kept)) == cudaErrorInvalidResourceHandle);
  CHECK(cudaGetLastError() == cudaErrorInvalidResourceHandle);
}

TEST_CASE("copy nodes of arrays are those of the runtime, with sizes in bytes") {
  CUcontext context = nullptr;
  REQUIRE(cuCtxCreate(&context, nullptr, 0, 0) == CUDA_SUCCESS);
  const CUDA_ARRAY3D_DESCRIPTOR d{6, 2, 0, CU_AD_FORMAT_SIGNED_INT32, 1, 0};
  CUarray array = nullptr;
  REQUIRE(cuArray3DCreate(&array, &d) == CUDA_SUCCESS);
  int in[2][3] = {{1, 2, 3}, {4, 5, 6}}, out[4] = {};
  CUDA_MEMCPY3D c{};
  c.srcMemoryType = CU_MEMORYTYPE_HOST;
  c.srcHost = in;
  c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  c.dstArray = array;
  c.dstXInBytes = 2 * sizeof(int);
  c.WidthInBytes = sizeof in[0];
  c.Height = 2;
  c.Depth = 1;
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr, second = nullptr;
  REQUIRE(cuGraphCreate(&graph, 0) == CUDA_SUCCESS);
  CHECK(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &c, context) == CUDA_SUCCESS);
  CUDA_MEMCPY3D found{};
  CHECK(cuGraphMemcpyNodeGetParams(node, &found) == CUDA_SUCCESS);
  CHECK(found.dstMemoryType == CU_MEMORYTYPE_ARRAY);
  CHECK(found.dstArray == array);
  CHECK(found.dstXInBytes == 2 * sizeof(int));
  CHECK(found.WidthInBytes == sizeof in[0]);
  CHECK(found.srcHost == in);
  c = {};
  c.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  c.srcArray = array;
  c.srcXInBytes = 3 * sizeof(int);
  c.dstMemoryType = CU_MEMORYTYPE_HOST;
  c.dstHost = out;
  c.WidthInBytes = 2 * sizeof(int);
  c.Height = 2;
  c.Depth = 1;
  CHECK(cuGraphAddMemcpyNode(&second, graph, &node, 1, &c, context) == CUDA_SUCCESS);
  c.WidthInBytes = 5;  // not a whole number of texels
  CHECK(cuGraphAddMemcpyNode(&second, graph, &node, 1, &c, context) == CUDA_ERROR_INVALID_VALUE);
  CUgraphExec executable = nullptr;
  REQUIRE(cuGraphInstantiate(&executable, graph, 0) == CUDA_SUCCESS);
  CHECK(cuGraphLaunch(executable, nullptr) == CUDA_SUCCESS);
  CHECK(cuCtxSynchronize() == CUDA_SUCCESS);
  CHECK(out[0] == 2);
  CHECK(out[3] == 6);
  CHECK(cuGraphExecDestroy(executable) == CUDA_SUCCESS);
  CHECK(cuGraphDestroy(graph) == CUDA_SUCCESS);
  CHECK(cuCtxDestroy(context) == CUDA_SUCCESS);
}

TEST_CASE("mapped memory: invalid calls that only our driver answers safely") {
  CUcontext context = nullptr;
  REQUIRE(cuCtxCreate(&context, nullptr, 0, 0) == CUDA_SUCCESS);
  constexpr std::size_t step = std::size_t{2} << 20;
  CUmemAllocationProp p{};
  p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  p.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemGenericAllocationHandle piece = 0;
  CUdeviceptr at = 0;
  REQUIRE(cuMemCreate(&piece, step, &p, 0) == CUDA_SUCCESS);
  REQUIRE(cuMemAddressReserve(&at, step, 0, 0, 0) == CUDA_SUCCESS);
  CHECK(cuMemMap(at, step, step, piece, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemMap(at, step, 0, piece, 1) == CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuMemMap(at, step, 0, piece, 0) == CUDA_SUCCESS);
  int word = 3;
  CHECK(cuMemcpyHtoD(at, &word, sizeof word) == CUDA_ERROR_INVALID_VALUE);  // no access was set yet
  CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_HOST, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CHECK(cuMemSetAccess(at, step, &access, 1) == CUDA_ERROR_NOT_SUPPORTED);
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.flags = static_cast<CUmemAccess_flags>(2);
  CHECK(cuMemSetAccess(at, step, &access, 1) == CUDA_ERROR_INVALID_VALUE);
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
  CHECK(cuMemSetAccess(at, step, &access, 1) == CUDA_SUCCESS);
  unsigned long long flags = 0;
  CHECK(cuMemGetAccess(&flags, &access.location, at + 5) == CUDA_SUCCESS);
  CHECK(flags == CU_MEM_ACCESS_FLAGS_PROT_READ);
  CHECK(cuMemcpyDtoH(&word, at, sizeof word) == CUDA_SUCCESS);
  CHECK(word == 0);
  CHECK(cuMemFree(at) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemRelease(piece) == CUDA_SUCCESS);
  CHECK(cuMemRelease(piece) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemGetAllocationPropertiesFromHandle(&p, piece) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemUnmap(at, step) == CUDA_SUCCESS);
  CHECK(cuMemGetAccess(&flags, &access.location, at) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemMap(at, step, 0, piece, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemAddressFree(at, step) == CUDA_SUCCESS);
  p.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
  CHECK(cuMemCreate(&piece, step, &p, 0) == CUDA_ERROR_NOT_SUPPORTED);
  p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
  CHECK(cuMemCreate(&piece, step, &p, 0) == CUDA_ERROR_NOT_SUPPORTED);
  CHECK(cuCtxDestroy(context) == CUDA_SUCCESS);
}

TEST_CASE("every error of cuda.h has its name, and no other number has a name") {
  const char* const header = std::getenv("STEPWISE_CUDA_H");
  if (!header) return stepwise::skip_case("no cuda.h of CUDA 13.0");
  std::ifstream file(header);
  std::map<int, std::string> names;
  const std::regex error("^ *(CUDA_(?:SUCCESS|ERROR_[A-Z0-9_]+)) *= *([0-9]+),?$");
  std::smatch found;
  for (std::string line; std::getline(file, line);)
    if (std::regex_match(line, found, error)) names[std::stoi(found[2])] = found[1];
  CHECK(names.size() > 100);
  for (int code = 0; code < 1100; ++code) {
    const auto name = names.find(code);
    const char *known = nullptr, *text = nullptr;
    const CUresult result = name == names.end() ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    INFO("code " << code);
    CHECK(cuGetErrorName(static_cast<CUresult>(code), &known) == result);
    CHECK(cuGetErrorString(static_cast<CUresult>(code), &text) == result);
    CHECK((known ? known : "") == (name == names.end() ? "" : name->second));
    CHECK((text != nullptr) == (known != nullptr));
  }
}

TEST_CASE("an unsupported function returns CUDA_ERROR_NOT_SUPPORTED") {
  CHECK(cuMulticastUnbind(0, 0, 0, 0) == CUDA_ERROR_NOT_SUPPORTED);
}
