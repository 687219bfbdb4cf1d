// Prints the driver API's answers, including those to invalid calls. A run on a GPU wrote
// query.expected.
//
// watch   The text of a question is printed, so changing it changes query.expected. Each section
//         has its own process, because a kernel's fault loses the device.
#include "common/driver/tests/query_memory.h"

namespace {

void before_init() {
  int value = 0;
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUdeviceptr address = 0;
  const char* text = nullptr;
  S(cuDriverGetVersion(nullptr));
  S(cuDeviceGet(&device, 0));
  S(cuDeviceGetCount(&value));
  S(cuCtxGetCurrent(&context));
  S(cuMemAlloc(&address, 4));
  S(cuGetErrorName(CUDA_ERROR_INVALID_VALUE, &text));
  S(cuInit(1));
  S(cuInit(0));
  S(cuInit(0));
  S(cuMemAlloc(&address, 4));
  S(cuDeviceGet(&device, 0));
  S(cuDeviceGet(&device, 99));
  S(cuDeviceGet(&device, -1));
  S(cuDeviceGet(nullptr, 0));
  S(cuDeviceGetCount(nullptr));
  S(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
  N(value);
  S(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(100000), 0));
  S(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 99));
  char name[8];
  S(cuDeviceGetName(name, 8, 0));
}

void contexts() {
  CUcontext primary = nullptr, made = nullptr, found = nullptr;
  CUdeviceptr address = 0;
  unsigned flags = 0;
  int active = 0;
  CUdevice device = -1;
  S(cuInit(0));
  S(cuCtxGetCurrent(&found));
  N(found == nullptr);
  S(cuCtxSynchronize());
  S(cuCtxGetDevice(&device));
  S(cuCtxPopCurrent(&found));
  S(cuDevicePrimaryCtxGetState(0, &flags, &active));
  N(active);
  S(cuDevicePrimaryCtxRelease(0));
  S(cuDevicePrimaryCtxRetain(&primary, 0));
  S(cuDevicePrimaryCtxRetain(&primary, 7));
  S(cuDevicePrimaryCtxGetState(0, &flags, &active));
  N(active);
  S(cuCtxGetCurrent(&found));
  N(found == nullptr);
  S(cuCtxPushCurrent(nullptr));
  S(cuCtxPushCurrent(primary));
  S(cuCtxGetCurrent(&found));
  N(found == primary);
  S(cuCtxGetDevice(&device));
  N(device);
  S(cuCtxDestroy(primary));
  S(cuCtxCreate(&made, nullptr, 0, 0));
  N(made == primary);
  S(cuCtxGetCurrent(&found));
  N(found == made);
  S(cuCtxCreate(&made, nullptr, 0xffffu, 0));
  S(cuCtxGetCurrent(&made));
  S(cuMemAlloc(&address, 1000));
  S(cuMemsetD8(address, 1, 1000));
  S(cuCtxSetCurrent(primary));
  S(cuMemsetD8(address, 1, 1000));
  S(cuMemFree(address));
  S(cuCtxSetCurrent(made));
  S(cuCtxDestroy(made));
  S(cuCtxGetCurrent(&found));
  S(cuMemAlloc(&address, 4));
  S(cuCtxPopCurrent(&found));
  S(cuCtxSetCurrent(nullptr));
  S(cuCtxGetCurrent(&found));
  N(found == nullptr);
  S(cuDevicePrimaryCtxRelease(0));
  S(cuDevicePrimaryCtxGetState(0, &flags, &active));
  N(active);
  S(cuDevicePrimaryCtxRelease(0));
  S(cuDevicePrimaryCtxReset(0));
}

void limits() {
  start();
  std::size_t value = 0;
  S(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
  N(value);
  S(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
  S(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
  N(value);
  S(cuCtxGetLimit(&value, static_cast<CUlimit>(99)));
  S(cuCtxSetLimit(static_cast<CUlimit>(99), 1));
  S(cuCtxGetLimit(nullptr, CU_LIMIT_STACK_SIZE));
  unsigned version = 0;
  CUcontext context = nullptr;
  S(cuCtxGetCurrent(&context));
  S(cuCtxGetApiVersion(context, &version));
  N(version);
  int least = 9, greatest = 9;
  S(cuCtxGetStreamPriorityRange(&least, &greatest));
  N(least);
  N(greatest);
  void* function = nullptr;
  CUdriverProcAddressQueryResult outcome{};
  S(cuGetProcAddress("cuMemAlloc", &function, 12000, 0, &outcome));
  N(function == reinterpret_cast<void*>(&cuMemAlloc));
  N(outcome);
  S(cuGetProcAddress("cuNoSuchThing", &function, 12000, 0, &outcome));
  N(function == nullptr);
  N(outcome);
  S(cuGetProcAddress("cuNoSuchThing", &function, 12000, 0, nullptr));
}

void modules() {
  start();
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  int value = 0;
  S(cuModuleLoadData(nullptr, ptx));
  S(cuModuleLoadData(&module, nullptr));
  S(cuModuleLoadData(&module, "this is no PTX"));
  S(cuModuleLoadData(&module, ""));
  S(cuModuleLoadData(&module, ".version 8.0\n.target sm_80\n.address_size 64\nnonsense;\n"));
  S(cuModuleLoadData(&module, ".version 99.0\n.target sm_80\n.address_size 64\n"));
  S(cuModuleLoadData(&module, ".version 8.0\n.target sm_999\n.address_size 64\n"));
  S(cuModuleLoadData(&module, caller));
  static const std::uint64_t broken[8] = {0x001000011BA55ED50};
  S(cuModuleLoadData(&module, broken));
  static const char elf[64] = "\177ELF\2\1\1";
  S(cuModuleLoadData(&module, elf));
  char log[512] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  S(cuModuleLoadDataEx(&module, ".version 8.0\n.target sm_80\n.address_size 64\nx;\n", 2, options,
                       values));
  N(std::strlen(log) > 0);
  N(reinterpret_cast<std::uintptr_t>(values[1]) > 0);
  S(cuModuleLoad(&module, "/no/such/file"));
  S(cuModuleUnload(nullptr));
  S(cuModuleLoadData(&module, ptx));
  S(cuModuleGetFunction(&function, module, "no_such_kernel"));
  S(cuModuleGetFunction(&function, module, ""));
  S(cuModuleGetFunction(&function, module, nullptr));
  S(cuModuleGetFunction(nullptr, module, "add"));
  S(cuModuleGetFunction(&function, module, "counter"));
  S(cuModuleGetFunction(&function, module, "add"));
  S(cuModuleGetGlobal(&address, &bytes, module, "counter"));
  N(bytes);
  S(cuMemcpyDtoH(&value, address, 4));
  N(value);
  S(cuModuleGetGlobal(&address, &bytes, module, "table"));
  N(bytes);
  S(cuModuleGetGlobal(nullptr, &bytes, module, "table"));
  S(cuModuleGetGlobal(&address, &bytes, module, "no_such_variable"));
  S(cuModuleGetGlobal(&address, &bytes, module, "add"));
  S(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
  N(value);
  S(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, function));
  N(value);
  S(cuFuncGetAttribute(&value, static_cast<CUfunction_attribute>(99), function));
  S(cuFuncGetAttribute(nullptr, CU_FUNC_ATTRIBUTE_NUM_REGS, function));
  S(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000));
  S(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 20));
  S(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS, 5));
  std::size_t offset = 9, size = 9;
  S(cuFuncGetParamInfo(function, 1, &offset, &size));
  N(offset);
  N(size);
  S(cuFuncGetParamInfo(function, 3, &offset, &size));
  int grid = 0, block = 0;
  S(cuOccupancyMaxPotentialBlockSize(&grid, &block, function, nullptr, 0, 0));
  N(block);
  S(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, function, 256, 0));
  N(value);
  S(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, function, 0, 0));
  CUmodule of = nullptr;
  S(cuFuncGetModule(&of, function));
  N(of == module);
  S(cuModuleUnload(module));
}

void libraries() {
  start();
  CUlibrary library = nullptr;
  CUkernel found = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  S(cuLibraryLoadData(&library, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0));
  S(cuLibraryLoadData(&library, "this is no PTX", nullptr, nullptr, 0, nullptr, nullptr, 0));
  S(cuLibraryGetKernel(&found, library, "add"));
  S(cuLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  S(cuLibraryGetKernel(&found, library, "no_such_kernel"));
  S(cuLibraryGetKernel(&found, library, "add"));
  S(cuKernelGetFunction(&function, found));
  S(cuLibraryGetGlobal(&address, &bytes, library, "counter"));
  N(bytes);
  const char* name = nullptr;
  S(cuKernelGetName(&name, found));
  std::printf("  name %s\n", name ? name : "null");
  int value = 0;
  S(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, found, 0));
  N(value);
  S(cuLibraryUnload(library));
}

CUresult launch(CUfunction f, unsigned grid, unsigned block, unsigned shared,
                std::vector<void*> arguments, CUstream stream = nullptr) {
  const CUresult launched = cuLaunchKernel(f, grid, 1, 1, block, 1, 1, shared, stream,
                                           arguments.empty() ? nullptr : arguments.data(), nullptr);
  return launched ? launched : cuCtxSynchronize();
}

void launches() {
  start();
  CUfunction add = kernel(load(), "add");
  CUdeviceptr data = 0;
  unsigned value = 5, count = 1000;
  int back = 0;
  S(cuMemAlloc(&data, 4000));
  S(cuMemsetD32(data, 1, 1000));
  S(launch(add, 4, 256, 0, {&data, &value, &count}));
  S(cuMemcpyDtoH(&back, data + 3996, 4));
  N(back);
  struct {
    CUdeviceptr data;
    unsigned value, count;
  } packed{data, 10, 1000};
  std::size_t size = sizeof packed;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  S(cuLaunchKernel(add, 4, 1, 1, 256, 1, 1, 0, nullptr, nullptr, extra));
  S(cuMemcpyDtoH(&back, data, 4));
  N(back);
  void* arguments[] = {&data, &value, &count};
  S(cuLaunchKernel(add, 4, 1, 1, 256, 1, 1, 0, nullptr, arguments, extra));
  size = 4;
  S(cuLaunchKernel(add, 4, 1, 1, 256, 1, 1, 0, nullptr, nullptr, extra));
  S(cuLaunchKernel(nullptr, 4, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  S(launch(add, 0, 256, 0, {&data, &value, &count}));
  S(launch(add, 1, 0, 0, {&data, &value, &count}));
  S(launch(add, 1, 1025, 0, {&data, &value, &count}));
  S(launch(add, 0x80000000u, 1, 0, {&data, &value, &count}));
  S(cuLaunchKernel(add, 1, 65536, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  S(cuLaunchKernel(add, 1, 1, 1, 1, 1, 65, 0, nullptr, arguments, nullptr));
  S(launch(add, 1, 32, 49153, {&data, &value, &count}));
  S(launch(add, 1, 32, 0x7fffffff, {&data, &value, &count}));
  S(launch(add, 1, 32, 0, {}));
  S(launch(kernel(load(), "nothing"), 1, 32, 0, {}));
  CUlaunchConfig config{};
  config.gridDimX = 4, config.gridDimY = 1, config.gridDimZ = 1;
  config.blockDimX = 256, config.blockDimY = 1, config.blockDimZ = 1;
  S(cuLaunchKernelEx(&config, add, arguments, nullptr));
  S(cuLaunchKernelEx(nullptr, add, arguments, nullptr));
  S(cuLaunchCooperativeKernel(add, 4, 1, 1, 256, 1, 1, 0, nullptr, arguments));
  S(cuLaunchCooperativeKernel(add, 1000000, 1, 1, 256, 1, 1, 0, nullptr, arguments));
  S(cuCtxSynchronize());
  S(cuMemcpyDtoH(&back, data, 4));
  N(back);
}

void links() {
  start();
  CUlinkState link = nullptr;
  CUmodule module = nullptr;
  void* image = nullptr;
  std::size_t bytes = 0;
  CUdeviceptr data = 0;
  int back = 0;
  const auto add = [&](const char* text) {
    return cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(text), std::strlen(text) + 1,
                         "part", 0, nullptr, nullptr);
  };
  S(cuLinkCreate(0, nullptr, nullptr, nullptr));
  S(cuLinkCreate(0, nullptr, nullptr, &link));
  S(add(caller));
  S(add(callee));
  S(cuLinkComplete(link, &image, &bytes));
  S(cuModuleLoadData(&module, image));
  S(cuLinkDestroy(link));
  S(cuMemAlloc(&data, 4));
  S(launch(kernel(module, "call_twice"), 1, 1, 0, {&data}));
  S(cuMemcpyDtoH(&back, data, 4));
  N(back);
  S(cuLinkCreate(0, nullptr, nullptr, &link));
  S(add(caller));
  S(cuLinkComplete(link, &image, &bytes));
  S(cuLinkDestroy(link));
  S(cuLinkCreate(0, nullptr, nullptr, &link));
  S(cuLinkAddFile(link, CU_JIT_INPUT_PTX, "/no/such/file", 0, nullptr, nullptr));
  S(cuLinkAddData(link, CU_JIT_INPUT_PTX, nullptr, 0, "part", 0, nullptr, nullptr));
  S(cuLinkDestroy(link));
}

void bad_link() {
  start();
  CUlinkState link = nullptr;
  char text[] = ".version 8.0\n.target sm_80\n.address_size 64\nnonsense;\n";
  S(cuLinkCreate(0, nullptr, nullptr, &link));
  S(cuLinkAddData(link, CU_JIT_INPUT_PTX, text, sizeof text, "part", 0, nullptr, nullptr));
  S(cuLinkDestroy(link));
}

void count_call(void* place) { ++*static_cast<int*>(place); }

void streams() {
  CUcontext context = start();
  CUstream stream = nullptr;
  CUevent first = nullptr, second = nullptr, untimed = nullptr;
  CUcontext of = nullptr;
  unsigned flags = 9;
  int priority = 9;
  float ms = -1;
  S(cuStreamCreate(nullptr, 0));
  S(cuStreamCreate(&stream, 77));
  S(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  S(cuStreamGetFlags(stream, &flags));
  N(flags);
  S(cuStreamGetPriority(stream, &priority));
  N(priority);
  S(cuStreamGetCtx(stream, &of));
  N(of == context);
  S(cuStreamQuery(stream));
  S(cuStreamSynchronize(stream));
  S(cuStreamSynchronize(nullptr));
  S(cuEventCreate(nullptr, 0));
  S(cuEventCreate(&first, 0));
  S(cuEventCreate(&second, 0));
  S(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
  S(cuEventElapsedTime(&ms, first, second));
  S(cuEventQuery(first));
  S(cuEventSynchronize(first));
  S(cuEventRecord(first, stream));
  S(cuEventRecord(second, stream));
  S(cuEventRecord(untimed, stream));
  S(cuStreamWaitEvent(nullptr, first, 0));
  S(cuStreamWaitEvent(stream, nullptr, 0));
  S(cuEventSynchronize(second));
  S(cuEventElapsedTime(&ms, first, second));
  N(ms >= 0);
  S(cuEventElapsedTime(&ms, first, untimed));
  S(cuEventElapsedTime(nullptr, first, second));
  S(cuEventDestroy(first));
  S(cuEventDestroy(second));
  S(cuEventDestroy(nullptr));
  static int called = 0;
  S(cuLaunchHostFunc(stream, count_call, &called));
  S(cuStreamSynchronize(stream));
  N(called);
  S(cuLaunchHostFunc(stream, nullptr, nullptr));
  CUdeviceptr data = 0;
  S(cuMemAllocAsync(&data, 256, stream));
  S(cuMemsetD32Async(data, 3, 64, stream));
  S(cuStreamWriteValue32(stream, data, 12, 0));
  S(cuStreamWaitValue32(stream, data, 12, CU_STREAM_WAIT_VALUE_EQ));
  int back = 0;
  S(cuMemcpyDtoHAsync(&back, data, 4, stream));
  S(cuStreamSynchronize(stream));
  N(back);
  S(cuMemFreeAsync(data, stream));
  S(cuStreamDestroy(stream));
  S(cuStreamDestroy(nullptr));
}

void fault() {
  start();
  CUfunction store = kernel(load(), "store");
  CUdeviceptr null = 0, data = 0;
  int value = 0;
  S(cuMemAlloc(&data, 4));
  S(launch(store, 1, 1, 0, {&null}));
  S(cuCtxSynchronize());
  S(cuMemcpyDtoH(&value, data, 4));
  S(cuMemAlloc(&data, 4));
  S(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
  S(launch(store, 1, 1, 0, {&data}));
}

}  // namespace

int main() {
  section("before cuInit", before_init);
  section("contexts", contexts);
  section("limits, addresses of functions", limits);
  section("memory", memory);
  section("copies of rows", copies_of_rows);
  section("pointers", pointers);
  section("modules", modules);
  section("libraries", libraries);
  section("launches", launches);
  section("links", links);
  section("a bad link", bad_link);
  section("streams and events", streams);
  section("a fault", fault);
}
