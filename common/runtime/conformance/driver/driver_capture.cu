// Captured streams by the driver API: fork and join, what is known of a capture, and misuse.
// Built with -lcuda.
#include "driver/expect_result.hpp"

constexpr int n = 64;
constexpr std::size_t bytes = n * sizeof(int);

__global__ void scale(const int* in, int* out, int factor) {
  out[threadIdx.x] = in[threadIdx.x] * factor;
}

// The kernel of a module, without the runtime: y[i] += a.
constexpr char add_ptx[] = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 y, .param .u32 a)
{
  .reg .b64 %rd<4>;
  .reg .b32 %r<4>;
  ld.param.u64 %rd1, [y];
  ld.param.u32 %r1, [a];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r3, [%rd3];
  add.s32 %r3, %r3, %r1;
  st.global.u32 [%rd3], %r3;
  ret;
}
)";

static CUfunction add, scaled;

static void captured() {
  const CUstream first = stream_of(CU_STREAM_NON_BLOCKING), second = stream_of(CU_STREAM_DEFAULT);
  CUevent forked, joined;
  need(cuEventCreate(&forked, CU_EVENT_DISABLE_TIMING));
  need(cuEventCreate(&joined, CU_EVENT_DISABLE_TIMING));
  CUdeviceptr a = allocate(bytes), b = allocate(bytes);
  int* back = nullptr;
  need(cuMemAllocHost(reinterpret_cast<void**>(&back), bytes + sizeof(int)));
  int calls = 0;

  EXPECT_CU(cuStreamBeginCapture(first, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  EXPECT_CU(cuMemsetD32Async(a, 5, n, first), CUDA_SUCCESS);
  EXPECT_CU(cuEventRecord(forked, first), CUDA_SUCCESS);
  EXPECT_CU(cuStreamWaitEvent(second, forked, 0), CUDA_SUCCESS);
  int amount = 2, factor = 10;
  void* add_list[] = {&a, &amount};
  EXPECT_CU(cuLaunchKernel(add, 1, 1, 1, n, 1, 1, 0, second, add_list, nullptr), CUDA_SUCCESS);
  EXPECT_CU(cuEventRecord(joined, second), CUDA_SUCCESS);
  EXPECT_CU(cuStreamWaitEvent(first, joined, 0), CUDA_SUCCESS);
  CUstreamCaptureStatus status;
  EXPECT_CU(cuStreamIsCapturing(second, &status), CUDA_SUCCESS);
  EXPECT_TRUE(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
  CUgraph within = nullptr;
  const CUgraphNode* before = nullptr;
  std::size_t before_count = 0;
  cuuint64_t id = 0;
  EXPECT_CU(cuStreamGetCaptureInfo(first, &status, &id, &within, &before, nullptr, &before_count),
            CUDA_SUCCESS);
  EXPECT_TRUE(id != 0 && before_count >= 1 && before != nullptr);
  void* scale_list[] = {&a, &b, &factor};
  EXPECT_CU(cuLaunchKernel(scaled, 1, 1, 1, n, 1, 1, 0, first, scale_list, nullptr), CUDA_SUCCESS);
  EXPECT_CU(cuMemcpyDtoHAsync(back, b, bytes, first), CUDA_SUCCESS);
  EXPECT_CU(cuLaunchHostFunc(first, count, &calls), CUDA_SUCCESS);
  CUgraph graph = nullptr;
  EXPECT_CU(cuStreamEndCapture(first, &graph), CUDA_SUCCESS);
  EXPECT_TRUE(graph == within && calls == 0);

  std::size_t nodes = 0, roots = 0;
  EXPECT_CU(cuGraphGetNodes(graph, nullptr, &nodes), CUDA_SUCCESS);
  EXPECT_CU(cuGraphGetRootNodes(graph, nullptr, &roots), CUDA_SUCCESS);
  EXPECT_TRUE(nodes == 5 && roots == 1);
  CUgraphExec executable;
  EXPECT_CU(cuGraphInstantiate(&executable, graph, 0), CUDA_SUCCESS);
  EXPECT_CU(cuGraphUpload(executable, first), CUDA_SUCCESS);
  for (int launch = 1; launch <= 2; ++launch) {
    EXPECT_CU(cuGraphLaunch(executable, first), CUDA_SUCCESS);
    EXPECT_CU(cuStreamSynchronize(first), CUDA_SUCCESS);
    EXPECT_TRUE(back[0] == 70 && back[n - 1] == 70 && calls == launch);
  }

  // The runtime sees the same graph.
  std::size_t seen = 0;
  EXPECT_TRUE(cudaGraphGetNodes(graph, nullptr, &seen) == cudaSuccess && seen == nodes);

  // A capture into a graph that exists.
  CUgraph mine;
  EXPECT_CU(cuGraphCreate(&mine, 0), CUDA_SUCCESS);
  CUgraphNode start;
  EXPECT_CU(cuGraphAddEmptyNode(&start, mine, nullptr, 0), CUDA_SUCCESS);
  EXPECT_CU(cuStreamBeginCaptureToGraph(second, mine, &start, nullptr, 1,
                                        CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
            CUDA_SUCCESS);
  EXPECT_CU(cuMemsetD8Async(a, 1, 4, second), CUDA_SUCCESS);
  EXPECT_CU(cuStreamUpdateCaptureDependencies(second, &start, nullptr, 1,
                                              CU_STREAM_SET_CAPTURE_DEPENDENCIES),
            CUDA_SUCCESS);
  EXPECT_CU(cuStreamEndCapture(second, &within), CUDA_SUCCESS);
  EXPECT_TRUE(within == mine);
  std::size_t dependents = 0;
  EXPECT_CU(cuGraphNodeGetDependentNodes(start, nullptr, nullptr, &dependents), CUDA_SUCCESS);
  EXPECT_TRUE(dependents == 1);

  need(cuGraphDestroy(mine));
  need(cuGraphExecDestroy(executable));
  need(cuGraphDestroy(graph));
  need(cuEventDestroy(forked));
  need(cuEventDestroy(joined));
  need(cuMemFreeHost(back));
  need(cuMemFree(a));
  need(cuMemFree(b));
  need(cuStreamDestroy(first));
  need(cuStreamDestroy(second));
}

static void captures_misused() {
  const CUstream stream = stream_of(CU_STREAM_NON_BLOCKING),
                 other = stream_of(CU_STREAM_NON_BLOCKING);
  CUevent event, outside;
  need(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  need(cuEventCreate(&outside, CU_EVENT_DISABLE_TIMING));
  need(cuEventRecord(outside, other));
  CUdeviceptr memory = allocate(bytes);
  CUgraph graph = nullptr;
  const auto begin = [&] {
    EXPECT_CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  };
  const auto ends = [&](CUresult how) {
    graph = nullptr;
    EXPECT_CU(cuStreamEndCapture(stream, &graph), how);
    EXPECT_TRUE((graph != nullptr) == (how == CUDA_SUCCESS));
    if (graph) need(cuGraphDestroy(graph));
  };
  EXPECT_CU(cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL),
            CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_CU(cuStreamBeginCapture(stream, static_cast<CUstreamCaptureMode>(3)),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuStreamEndCapture(stream, &graph), CUDA_ERROR_ILLEGAL_STATE);

  begin();  // again
  EXPECT_CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_ERROR_ILLEGAL_STATE);
  ends(CUDA_SUCCESS);

  begin();  // the host cannot wait for what does not run
  EXPECT_CU(cuStreamSynchronize(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_CU(cuMemsetD8Async(memory, 0, 4, stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  ends(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

  begin();  // nor for other work
  CUdeviceptr more = 0;
  EXPECT_CU(cuMemAlloc(&more, 4), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  ends(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

  begin();
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  EXPECT_CU(cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
  EXPECT_TRUE(mode == CU_STREAM_CAPTURE_MODE_GLOBAL);
  EXPECT_CU(cuMemAlloc(&more, 4), CUDA_SUCCESS);
  EXPECT_CU(cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
  ends(CUDA_SUCCESS);
  need(cuMemFree(more));

  begin();  // an event of the time before
  EXPECT_CU(cuStreamWaitEvent(stream, outside, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  ends(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

  begin();  // a stream that joined is left
  EXPECT_CU(cuEventRecord(event, stream), CUDA_SUCCESS);
  EXPECT_CU(cuStreamWaitEvent(other, event, 0), CUDA_SUCCESS);
  EXPECT_CU(cuMemsetD8Async(memory, 0, 4, other), CUDA_SUCCESS);
  EXPECT_CU(cuStreamEndCapture(other, &graph), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  EXPECT_TRUE(cuStreamEndCapture(stream, &graph) != CUDA_SUCCESS);

  begin();
  EXPECT_CU(cuEventRecord(event, stream), CUDA_SUCCESS);
  EXPECT_CU(cuStreamWaitEvent(other, event, 0), CUDA_SUCCESS);
  EXPECT_CU(cuMemsetD8Async(memory, 0, 4, other), CUDA_SUCCESS);
  graph = nullptr;
  EXPECT_CU(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  EXPECT_CU(cuEventQuery(event), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuEventSynchronize(event), CUDA_ERROR_INVALID_VALUE);

  begin();  // while the capture continues
  EXPECT_CU(cuEventRecord(event, stream), CUDA_SUCCESS);
  EXPECT_CU(cuEventQuery(event), CUDA_ERROR_CAPTURED_EVENT);
  graph = nullptr;
  (void)cuStreamEndCapture(stream, &graph);
  if (graph) need(cuGraphDestroy(graph));

  need(cuMemFree(memory));
  need(cuEventDestroy(event));
  need(cuEventDestroy(outside));
  need(cuStreamDestroy(stream));
  need(cuStreamDestroy(other));
}

int main() {
  need(cuInit(0));
  CUcontext context;
  need(cuDevicePrimaryCtxRetain(&context, 0));
  need(cuCtxSetCurrent(context));
  CUmodule module;
  need(cuModuleLoadData(&module, add_ptx));
  need(cuModuleGetFunction(&add, module, "add"));
  check(cudaGetFuncBySymbol(&scaled, reinterpret_cast<const void*>(scale)));
  captured();
  captures_misused();
  need(cuModuleUnload(module));
  return outcome("captures by the driver API");
}
