// Graphs by the driver API, node by node: every kind of work, updates, user objects, and misuse.
// Built with -rdc=true -lcuda.
#include <cuda.h>

#include <string>

#include "driver/expect_result.hpp"

__global__ void scale(const int* in, int* out, int factor) {
  out[threadIdx.x] = in[threadIdx.x] * factor;
}
__global__ void add(int* values, int amount) { values[threadIdx.x] += amount; }
__global__ void step(cudaGraphConditionalHandle handle, int* left, int* done) {
  ++*done;
  cudaGraphSetConditional(handle, --*left > 0);
}

constexpr int n = 64;
constexpr std::size_t bytes = n * sizeof(int);

static CUcontext context;
static CUfunction added_to, scaled, stepped;

static void CUDA_CB take(void* data) {
  int* const values = static_cast<int*>(data);
  values[n] = values[0] + values[n - 1];
}

static CUDA_KERNEL_NODE_PARAMS kernel(CUfunction function, void** list) {
  CUDA_KERNEL_NODE_PARAMS p = {};
  p.func = function;
  p.gridDimX = p.gridDimY = p.gridDimZ = 1;
  p.blockDimX = n;
  p.blockDimY = p.blockDimZ = 1;
  p.kernelParams = list;
  return p;
}

static CUDA_MEMSET_NODE_PARAMS fill_of(CUdeviceptr to, unsigned value) {
  CUDA_MEMSET_NODE_PARAMS p = {};
  p.dst = to;
  p.value = value;
  p.elementSize = 4;
  p.width = n;
  p.height = 1;
  return p;
}

static CUDA_MEMCPY3D copy_back(void* to, CUdeviceptr from, std::size_t size) {
  CUDA_MEMCPY3D c = {};
  c.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  c.srcDevice = from;
  c.srcPitch = size;
  c.dstMemoryType = CU_MEMORYTYPE_HOST;
  c.dstHost = to;
  c.dstPitch = size;
  c.WidthInBytes = size;
  c.Height = c.Depth = 1;
  return c;
}

static CUgraphNodeType type_of(CUgraphNode node) {
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL;
  EXPECT_CU(cuGraphNodeGetType(node, &type), CUDA_SUCCESS);
  return type;
}

static void explicit_nodes() {
  const CUstream stream = stream_of(CU_STREAM_DEFAULT);
  CUdeviceptr in = allocate(bytes), out = allocate(bytes);
  int* host = nullptr;
  need(cuMemAllocHost(reinterpret_cast<void**>(&host), bytes + sizeof(int)));

  CUgraph graph;
  EXPECT_CU(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  CUgraphNode fill, multiply, copy, call;
  CUDA_MEMSET_NODE_PARAMS filled = fill_of(in, 3);
  EXPECT_CU(cuGraphAddMemsetNode(&fill, graph, nullptr, 0, &filled, context), CUDA_SUCCESS);
  int factor = 4;
  void* list[] = {&in, &out, &factor};
  CUDA_KERNEL_NODE_PARAMS multiplied = kernel(scaled, list);
  EXPECT_CU(cuGraphAddKernelNode(&multiply, graph, &fill, 1, &multiplied), CUDA_SUCCESS);
  factor = 0;  // arguments are copied
  CUDA_MEMCPY3D copied = copy_back(host, out, bytes);
  EXPECT_CU(cuGraphAddMemcpyNode(&copy, graph, &multiply, 1, &copied, context), CUDA_SUCCESS);
  CUDA_HOST_NODE_PARAMS called = {take, host};
  EXPECT_CU(cuGraphAddHostNode(&call, graph, nullptr, 0, &called), CUDA_SUCCESS);
  EXPECT_CU(cuGraphAddDependencies(graph, &copy, &call, nullptr, 1), CUDA_SUCCESS);

  // Its contents.
  EXPECT_TRUE(type_of(fill) == CU_GRAPH_NODE_TYPE_MEMSET);
  EXPECT_TRUE(type_of(multiply) == CU_GRAPH_NODE_TYPE_KERNEL);
  EXPECT_TRUE(type_of(copy) == CU_GRAPH_NODE_TYPE_MEMCPY);
  EXPECT_TRUE(type_of(call) == CU_GRAPH_NODE_TYPE_HOST);
  CUgraphNode from[3] = {}, to[3] = {}, near[1] = {};
  std::size_t edges = 3, one = 1;
  EXPECT_CU(cuGraphGetEdges(graph, from, to, nullptr, &edges), CUDA_SUCCESS);
  EXPECT_TRUE(edges == 3);
  EXPECT_CU(cuGraphNodeGetDependencies(call, near, nullptr, &one), CUDA_SUCCESS);
  EXPECT_TRUE(one == 1 && near[0] == copy);
  CUDA_KERNEL_NODE_PARAMS found_kernel = {};
  EXPECT_CU(cuGraphKernelNodeGetParams(multiply, &found_kernel), CUDA_SUCCESS);
  EXPECT_TRUE(found_kernel.func == scaled && found_kernel.blockDimX == n);
  EXPECT_TRUE(*static_cast<int*>(found_kernel.kernelParams[2]) == 4);
  CUDA_MEMSET_NODE_PARAMS found_fill = {};
  EXPECT_CU(cuGraphMemsetNodeGetParams(fill, &found_fill), CUDA_SUCCESS);
  EXPECT_TRUE(found_fill.dst == in && found_fill.value == 3 && found_fill.width == n);
  CUDA_MEMCPY3D found_copy = {};
  EXPECT_CU(cuGraphMemcpyNodeGetParams(copy, &found_copy), CUDA_SUCCESS);
  EXPECT_TRUE(found_copy.srcMemoryType == CU_MEMORYTYPE_DEVICE && found_copy.srcDevice == out);
  EXPECT_TRUE(found_copy.dstMemoryType == CU_MEMORYTYPE_HOST && found_copy.dstHost == host);
  EXPECT_TRUE(found_copy.WidthInBytes == bytes && found_copy.Height == 1);
  CUDA_HOST_NODE_PARAMS found_call = {};
  EXPECT_CU(cuGraphHostNodeGetParams(call, &found_call), CUDA_SUCCESS);
  EXPECT_TRUE(found_call.fn == take && found_call.userData == host);

  CUDA_GRAPH_INSTANTIATE_PARAMS instantiated = {};
  CUgraphExec executable;
  EXPECT_CU(cuGraphInstantiateWithParams(&executable, graph, &instantiated), CUDA_SUCCESS);
  EXPECT_TRUE(instantiated.result_out == CUDA_GRAPH_INSTANTIATE_SUCCESS);
  const auto run = [&] {
    host[n] = -1;
    EXPECT_CU(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
    EXPECT_CU(cuStreamSynchronize(stream), CUDA_SUCCESS);
    return host[n];
  };
  EXPECT_TRUE(run() == 2 * 3 * 4);

  // New work, node by node.
  factor = 5;
  EXPECT_CU(cuGraphExecKernelNodeSetParams(executable, multiply, &multiplied), CUDA_SUCCESS);
  EXPECT_TRUE(run() == 2 * 3 * 5);
  filled.value = 1;
  EXPECT_CU(cuGraphExecMemsetNodeSetParams(executable, fill, &filled, context), CUDA_SUCCESS);
  EXPECT_TRUE(run() == 2 * 5);
  EXPECT_CU(cuGraphExecMemcpyNodeSetParams(executable, copy, &copied, context), CUDA_SUCCESS);
  unsigned enabled = 7;
  EXPECT_CU(cuGraphNodeSetEnabled(executable, multiply, 0), CUDA_SUCCESS);
  EXPECT_CU(cuGraphNodeGetEnabled(executable, multiply, &enabled), CUDA_SUCCESS);
  need(cuMemsetD32(out, 8, n));
  EXPECT_TRUE(enabled == 0 && run() == 16);
  EXPECT_CU(cuGraphNodeSetEnabled(executable, call, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuGraphNodeSetEnabled(executable, multiply, 1), CUDA_SUCCESS);
  int calls = 0;
  CUDA_HOST_NODE_PARAMS counted = {count, &calls};
  EXPECT_CU(cuGraphExecHostNodeSetParams(executable, call, &counted), CUDA_SUCCESS);
  EXPECT_TRUE(run() == -1 && calls == 1);

  // The same by parameters of any type.
  CUgraphNodeParams any = {};
  any.type = CU_GRAPH_NODE_TYPE_KERNEL;
  any.kernel.func = scaled;
  any.kernel.gridDimX = any.kernel.gridDimY = any.kernel.gridDimZ = 1;
  any.kernel.blockDimX = n;
  any.kernel.blockDimY = any.kernel.blockDimZ = 1;
  any.kernel.kernelParams = list;
  factor = 6;
  EXPECT_CU(cuGraphExecNodeSetParams(executable, multiply, &any), CUDA_SUCCESS);
  EXPECT_TRUE(run() == -1 && host[0] == 6);
  EXPECT_CU(cuGraphNodeSetParams(multiply, &any), CUDA_SUCCESS);

  // All of it, from the graph and a clone, which has one node more then.
  CUgraphExecUpdateResultInfo info = {};
  EXPECT_CU(cuGraphExecUpdate(executable, graph, &info), CUDA_SUCCESS);
  EXPECT_TRUE(info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS && run() == 2 * 3 * 6);
  CUgraph clone;
  EXPECT_CU(cuGraphClone(&clone, graph), CUDA_SUCCESS);
  CUgraphNode twin = nullptr, extra;
  EXPECT_CU(cuGraphNodeFindInClone(&twin, multiply, clone), CUDA_SUCCESS);
  factor = 7;
  EXPECT_CU(cuGraphKernelNodeSetParams(twin, &multiplied), CUDA_SUCCESS);
  EXPECT_CU(cuGraphExecUpdate(executable, clone, &info), CUDA_SUCCESS);
  EXPECT_TRUE(run() == 2 * 3 * 7);
  EXPECT_CU(cuGraphAddEmptyNode(&extra, clone, nullptr, 0), CUDA_SUCCESS);
  EXPECT_CU(cuGraphExecUpdate(executable, clone, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_TRUE(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  EXPECT_CU(cuGraphDestroyNode(extra), CUDA_SUCCESS);

  // A child, a plane of a box, and a kernel whose arguments are packed.
  CUgraph outer, inner;
  EXPECT_CU(cuGraphCreate(&outer, 0), CUDA_SUCCESS);
  CUgraphNode child, box, packed;
  EXPECT_CU(cuGraphAddChildGraphNode(&child, outer, nullptr, 0, graph), CUDA_SUCCESS);
  EXPECT_CU(cuGraphChildGraphNodeGetGraph(child, &inner), CUDA_SUCCESS);
  EXPECT_TRUE(inner != graph);
  struct {
    CUdeviceptr y;
    int a;
  } arguments = {out, 100};
  std::size_t size = 12;
  void* buffer[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &arguments, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                    CU_LAUNCH_PARAM_END};
  CUDA_KERNEL_NODE_PARAMS added = kernel(added_to, nullptr);
  added.extra = buffer;
  EXPECT_CU(cuGraphAddKernelNode(&packed, outer, &child, 1, &added), CUDA_SUCCESS);
  int corner[4] = {};
  copied = copy_back(corner, out, 8);  // rows of 4 elements, from row 1: the first two of two
  copied.srcPitch = 16;
  copied.srcHeight = 4;
  copied.srcY = 1;
  copied.srcXInBytes = 4;
  copied.Height = 2;
  EXPECT_CU(cuGraphAddMemcpyNode(&box, outer, &packed, 1, &copied, context), CUDA_SUCCESS);
  CUgraphExec nested;
  EXPECT_CU(cuGraphInstantiateWithFlags(&nested, outer, 0), CUDA_SUCCESS);
  EXPECT_CU(cuGraphLaunch(nested, stream), CUDA_SUCCESS);
  EXPECT_CU(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_TRUE(corner[0] == 118 && corner[3] == 118);
  EXPECT_CU(cuGraphExecChildGraphNodeSetParams(nested, child, graph), CUDA_SUCCESS);
  EXPECT_CU(cuGraphExecChildGraphNodeSetParams(nested, child, outer),
            CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);

  need(cuGraphExecDestroy(nested));
  need(cuGraphExecDestroy(executable));
  for (const CUgraph g : {graph, clone, outer}) need(cuGraphDestroy(g));
  need(cuMemFreeHost(host));
  need(cuMemFree(in));
  need(cuMemFree(out));
  need(cuStreamDestroy(stream));
}

static void events_memory_conditions() {
  const CUstream stream = stream_of(CU_STREAM_DEFAULT);
  CUevent first, second, found;
  need(cuEventCreate(&first, CU_EVENT_DEFAULT));
  need(cuEventCreate(&second, CU_EVENT_DEFAULT));
  CUgraph graph;
  need(cuGraphCreate(&graph, 0));
  CUgraphNode record, wait, allocation, fill, release;
  EXPECT_CU(cuGraphAddEventRecordNode(&record, graph, nullptr, 0, second), CUDA_SUCCESS);
  EXPECT_CU(cuGraphEventRecordNodeSetEvent(record, first), CUDA_SUCCESS);
  EXPECT_CU(cuGraphEventRecordNodeGetEvent(record, &found), CUDA_SUCCESS);
  EXPECT_TRUE(found == first);
  EXPECT_CU(cuGraphAddEventWaitNode(&wait, graph, &record, 1, first), CUDA_SUCCESS);
  EXPECT_CU(cuGraphEventWaitNodeGetEvent(wait, &found), CUDA_SUCCESS);
  EXPECT_TRUE(found == first);
  CUDA_MEM_ALLOC_NODE_PARAMS memory = {};
  memory.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  memory.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  memory.bytesize = bytes;
  EXPECT_CU(cuGraphAddMemAllocNode(&allocation, graph, &wait, 1, &memory), CUDA_SUCCESS);
  EXPECT_TRUE(memory.dptr != 0);
  CUDA_MEM_ALLOC_NODE_PARAMS same = {};
  EXPECT_CU(cuGraphMemAllocNodeGetParams(allocation, &same), CUDA_SUCCESS);
  EXPECT_TRUE(same.dptr == memory.dptr && same.bytesize == bytes);
  CUDA_MEMSET_NODE_PARAMS filled = fill_of(memory.dptr, 9);
  EXPECT_CU(cuGraphAddMemsetNode(&fill, graph, &allocation, 1, &filled, context), CUDA_SUCCESS);
  CUdeviceptr target = allocate(bytes);
  CUgraphNodeParams any = {};
  any.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  any.memcpy.copyCtx = context;
  any.memcpy.copyParams = copy_back(nullptr, memory.dptr, bytes);
  any.memcpy.copyParams.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  any.memcpy.copyParams.dstDevice = target;
  CUgraphNode copy;
  EXPECT_CU(cuGraphAddNode(&copy, graph, &fill, nullptr, 1, &any), CUDA_SUCCESS);
  EXPECT_CU(cuGraphAddMemFreeNode(&release, graph, &copy, 1, memory.dptr), CUDA_SUCCESS);
  CUdeviceptr released = 0;
  EXPECT_CU(cuGraphMemFreeNodeGetParams(release, &released), CUDA_SUCCESS);
  EXPECT_TRUE(released == memory.dptr);
  EXPECT_CU(cuGraphAddMemFreeNode(&release, graph, &copy, 1, memory.dptr),
            CUDA_ERROR_INVALID_VALUE);
  CUgraphExec executable;
  EXPECT_CU(cuGraphInstantiate(&executable, graph, 0), CUDA_SUCCESS);
  EXPECT_CU(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  EXPECT_CU(cuEventSynchronize(first), CUDA_SUCCESS);
  EXPECT_CU(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_TRUE(value_at(target + bytes - 4) == 9);
  EXPECT_CU(cuGraphExecEventRecordNodeSetEvent(executable, record, second), CUDA_SUCCESS);
  EXPECT_CU(cuGraphExecEventWaitNodeSetEvent(executable, wait, second), CUDA_SUCCESS);
  EXPECT_CU(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  EXPECT_CU(cuEventSynchronize(second), CUDA_SUCCESS);
  CUgraph clone;
  EXPECT_TRUE(cuGraphClone(&clone, graph) != CUDA_SUCCESS);
  cuuint64_t reserved = 1;
  EXPECT_CU(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &reserved),
            CUDA_SUCCESS);
  EXPECT_TRUE(reserved >= bytes);
  EXPECT_CU(cuStreamSynchronize(stream), CUDA_SUCCESS);
  need(cuGraphExecDestroy(executable));
  need(cuGraphDestroy(graph));
  EXPECT_CU(cuDeviceGraphMemTrim(0), CUDA_SUCCESS);
  EXPECT_CU(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &reserved),
            CUDA_SUCCESS);
  EXPECT_TRUE(reserved == 0);

  // A loop that its kernel ends.
  need(cuGraphCreate(&graph, 0));
  CUgraphConditionalHandle handle;
  EXPECT_CU(
      cuGraphConditionalHandleCreate(&handle, graph, context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT),
      CUDA_SUCCESS);
  CUgraphNodeParams loop = {};
  loop.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  loop.conditional.handle = handle;
  loop.conditional.type = CU_GRAPH_COND_TYPE_WHILE;
  loop.conditional.size = 1;
  loop.conditional.ctx = context;
  CUgraphNode node, inside;
  EXPECT_CU(cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &loop), CUDA_SUCCESS);
  CUdeviceptr left = target, done = target + 4;
  void* list[] = {&handle, &left, &done};
  CUgraphNodeParams body = {};
  body.type = CU_GRAPH_NODE_TYPE_KERNEL;
  body.kernel.func = stepped;
  body.kernel.gridDimX = body.kernel.gridDimY = body.kernel.gridDimZ = 1;
  body.kernel.blockDimX = body.kernel.blockDimY = body.kernel.blockDimZ = 1;
  body.kernel.kernelParams = list;
  EXPECT_CU(cuGraphAddNode(&inside, loop.conditional.phGraph_out[0], nullptr, nullptr, 0, &body),
            CUDA_SUCCESS);
  EXPECT_CU(cuGraphInstantiate(&executable, graph, 0), CUDA_SUCCESS);
  need(cuMemsetD32(left, 5, 1));
  need(cuMemsetD32(done, 0, 1));
  EXPECT_CU(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
  EXPECT_CU(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_TRUE(value_at(done) == 5);
  loop.conditional.size = 2;
  EXPECT_CU(cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &loop), CUDA_ERROR_INVALID_VALUE);
  need(cuGraphExecDestroy(executable));
  need(cuGraphDestroy(graph));
  need(cuMemFree(target));
  need(cuEventDestroy(first));
  need(cuEventDestroy(second));
  need(cuStreamDestroy(stream));
}

static void user_objects() {
  int gone = 0;
  CUuserObject object;
  EXPECT_CU(cuUserObjectCreate(&object, &gone, count, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
            CUDA_SUCCESS);
  CUgraph graph, clone;
  need(cuGraphCreate(&graph, 0));
  EXPECT_CU(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE), CUDA_SUCCESS);
  need(cuGraphClone(&clone, graph));
  EXPECT_CU(cuUserObjectRetain(object, 2), CUDA_SUCCESS);
  EXPECT_CU(cuGraphReleaseUserObject(graph, object, 1), CUDA_SUCCESS);
  need(cuGraphDestroy(graph));
  EXPECT_CU(cuUserObjectRelease(object, 2), CUDA_SUCCESS);
  EXPECT_TRUE(gone == 0);  // the clone has it
  need(cuGraphDestroy(clone));
  for (int i = 0; i < 1000 && gone == 0; ++i) usleep(1000);  // a thread of the driver's may call it
  EXPECT_TRUE(gone == 1);
  EXPECT_CU(cuUserObjectCreate(&object, &gone, count, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuUserObjectCreate(&object, &gone, nullptr, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
            CUDA_ERROR_INVALID_VALUE);
}

static void graphs_misused() {
  CUgraph graph, other;
  need(cuGraphCreate(&graph, 0));
  need(cuGraphCreate(&other, 0));
  EXPECT_CU(cuGraphCreate(&other, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuGraphCreate(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  CUgraphNode a, b, c, foreign;
  EXPECT_CU(cuGraphAddEmptyNode(&a, graph, nullptr, 0), CUDA_SUCCESS);
  EXPECT_CU(cuGraphAddEmptyNode(&b, graph, &a, 1), CUDA_SUCCESS);
  EXPECT_CU(cuGraphAddEmptyNode(&c, graph, &b, 1), CUDA_SUCCESS);
  EXPECT_CU(cuGraphAddEmptyNode(&foreign, other, nullptr, 0), CUDA_SUCCESS);

  // Nodes of another graph, edges that are there or not, a cycle.
  CUgraphNode made;
  EXPECT_CU(cuGraphAddEmptyNode(&made, graph, &foreign, 1), CUDA_ERROR_INVALID_VALUE);
  const CUgraphNode twice[] = {a, a};
  EXPECT_CU(cuGraphAddEmptyNode(&made, graph, twice, 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuGraphAddEmptyNode(&made, graph, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuGraphAddDependencies(graph, &a, &foreign, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuGraphAddDependencies(graph, &a, &b, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuGraphRemoveDependencies(graph, &a, &c, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuGraphAddDependencies(graph, &a, &a, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  CUgraphExec executable = nullptr;
  if (cuGraphAddDependencies(graph, &c, &a, nullptr, 1) == CUDA_SUCCESS) {
    EXPECT_CU(cuGraphInstantiate(&executable, graph, 0), CUDA_ERROR_INVALID_VALUE);
    CUDA_GRAPH_INSTANTIATE_PARAMS p = {};
    EXPECT_CU(cuGraphInstantiateWithParams(&executable, graph, &p), CUDA_ERROR_INVALID_VALUE);
    EXPECT_TRUE(p.result_out == CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
    EXPECT_CU(cuGraphRemoveDependencies(graph, &c, &a, nullptr, 1), CUDA_SUCCESS);
  }
  EXPECT_CU(cuGraphInstantiate(&executable, graph, 1ull << 40), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuGraphInstantiate(&executable, graph, 0), CUDA_SUCCESS);
  int calls = 0;
  CUDA_HOST_NODE_PARAMS counted = {count, &calls};
  EXPECT_CU(cuGraphExecHostNodeSetParams(executable, foreign, &counted), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuGraphExecHostNodeSetParams(executable, a, &counted), CUDA_ERROR_INVALID_VALUE);

  // Parameters that cannot be.
  CUdeviceptr memory = allocate(bytes);
  CUDA_MEMSET_NODE_PARAMS filled = fill_of(memory, 1);
  filled.elementSize = 3;
  EXPECT_CU(cuGraphAddMemsetNode(&made, graph, nullptr, 0, &filled, context),
            CUDA_ERROR_INVALID_VALUE);
  filled.elementSize = 4;
  filled.width = 0;
  EXPECT_CU(cuGraphAddMemsetNode(&made, graph, nullptr, 0, &filled, context),
            CUDA_ERROR_INVALID_VALUE);
  int factor = 1;
  void* list[] = {&memory, &memory, &factor};
  CUDA_KERNEL_NODE_PARAMS wrong = kernel(scaled, list);
  wrong.blockDimX = 2048;
  EXPECT_CU(cuGraphAddKernelNode(&made, graph, nullptr, 0, &wrong), CUDA_ERROR_INVALID_VALUE);
  wrong = kernel(nullptr, list);
  EXPECT_TRUE(cuGraphAddKernelNode(&made, graph, nullptr, 0, &wrong) != CUDA_SUCCESS);
  CUDA_MEMCPY3D copied = copy_back(&factor, memory, sizeof factor);
  copied.dstMemoryType = static_cast<CUmemorytype>(0);
  EXPECT_CU(cuGraphAddMemcpyNode(&made, graph, nullptr, 0, &copied, context),
            CUDA_ERROR_INVALID_VALUE);
  CUDA_HOST_NODE_PARAMS no_function = {nullptr, nullptr};
  EXPECT_CU(cuGraphAddHostNode(&made, graph, nullptr, 0, &no_function), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuGraphAddChildGraphNode(&made, graph, nullptr, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuGraphAddMemFreeNode(&made, graph, nullptr, 0, memory), CUDA_ERROR_INVALID_VALUE);
  CUDA_MEMSET_NODE_PARAMS none = {};
  EXPECT_CU(cuGraphMemsetNodeGetParams(a, &none), CUDA_ERROR_INVALID_VALUE);

  EXPECT_CU(cuGraphLaunch(nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuGraphDestroy(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuGraphExecDestroy(nullptr), CUDA_ERROR_INVALID_VALUE);
  need(cuGraphExecDestroy(executable));
  need(cuGraphDestroy(other));

  // A picture of what is left.
  const std::string file = "driver_graphs." + std::to_string(getpid()) + ".dot";
  EXPECT_CU(cuGraphDebugDotPrint(graph, file.c_str(), CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE),
            CUDA_SUCCESS);
  std::ifstream drawn(file);
  const std::string text{std::istreambuf_iterator<char>(drawn), {}};
  EXPECT_TRUE(text.find("digraph") != std::string::npos && text.find("->") != std::string::npos);
  unlink(file.c_str());
  need(cuGraphDestroy(graph));
  need(cuMemFree(memory));
}

int main() {
  need(cuInit(0));
  need(cuDevicePrimaryCtxRetain(&context, 0));
  need(cuCtxSetCurrent(context));
  check(cudaGetFuncBySymbol(&added_to, reinterpret_cast<const void*>(add)));
  check(cudaGetFuncBySymbol(&scaled, reinterpret_cast<const void*>(scale)));
  check(cudaGetFuncBySymbol(&stepped, reinterpret_cast<const void*>(step)));
  explicit_nodes();
  events_memory_conditions();
  user_objects();
  graphs_misused();
  return outcome("graphs by the driver API");
}
