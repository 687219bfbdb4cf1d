// Tests graphs in the driver API: functions of older versions, contexts, and refused calls.
// ../../runtime/conformance/driver/driver_*.cu tests what graphs do.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace {

constexpr char write_ptx[] = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry write(.param .u64 to, .param .u32 value)
{
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [to];
  ld.param.u32 %r1, [value];
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

// A context with a graph, a stream, a value in device memory and a kernel.
struct graph_fixture {
  graph_fixture() {
    CHECK(cuInit(0) == CUDA_SUCCESS);
    CHECK(cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS);
    CHECK(cuCtxSetCurrent(context) == CUDA_SUCCESS);
    CHECK(cuModuleLoadData(&module, write_ptx) == CUDA_SUCCESS);
    CHECK(cuModuleGetFunction(&write, module, "write") == CUDA_SUCCESS);
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    CHECK(cuMemAlloc(&value, 64) == CUDA_SUCCESS);
    CHECK(cuMemsetD8(value, 0, 64) == CUDA_SUCCESS);
    CHECK(cuGraphCreate(&graph, 0) == CUDA_SUCCESS);
  }
  ~graph_fixture() {
    CHECK(cuGraphDestroy(graph) == CUDA_SUCCESS);
    CHECK(cuMemFree(value) == CUDA_SUCCESS);
    CHECK(cuStreamDestroy(stream) == CUDA_SUCCESS);
    CHECK(cuModuleUnload(module) == CUDA_SUCCESS);
    CHECK(cuDevicePrimaryCtxRelease(0) == CUDA_SUCCESS);
  }

  int now() const {
    int found = -1;
    CHECK(cuMemcpyDtoH(&found, value, sizeof found) == CUDA_SUCCESS);
    return found;
  }
  void run(CUgraphExec executable) const {
    CHECK(cuGraphLaunch(executable, stream) == CUDA_SUCCESS);
    CHECK(cuStreamSynchronize(stream) == CUDA_SUCCESS);
  }

  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction write = nullptr;
  CUstream stream = nullptr;
  CUdeviceptr value = 0;
  CUgraph graph = nullptr;
};

template <class Function>
Function of_version(const char* name, int version) {
  void* found = nullptr;
  CUdriverProcAddressQueryResult outcome = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  CHECK(cuGetProcAddress(name, &found, version, 0, &outcome) == CUDA_SUCCESS);
  REQUIRE(found != nullptr);
  return reinterpret_cast<Function>(found);
}

}  // namespace

TEST_CASE_FIXTURE(graph_fixture, "graphs: each version of CUDA has its own functions") {
  using kernel_10 = CUresult (*)(CUgraphNode*, CUgraph, const CUgraphNode*, size_t,
                                 const CUDA_KERNEL_NODE_PARAMS_v1*);
  using dependencies_10 = CUresult (*)(CUgraph, const CUgraphNode*, const CUgraphNode*, size_t);
  using edges_10 = CUresult (*)(CUgraph, CUgraphNode*, CUgraphNode*, size_t*);
  using instantiate_11 = CUresult (*)(CUgraphExec*, CUgraph, CUgraphNode*, char*, size_t);
  using instantiate_12 = CUresult (*)(CUgraphExec*, CUgraph, unsigned long long);
  using update_10 = CUresult (*)(CUgraphExec, CUgraph, CUgraphNode*, CUgraphExecUpdateResult*);

  int number = 7;
  void* list[] = {&value, &number};
  CUDA_KERNEL_NODE_PARAMS_v1 p = {};
  p.func = write;
  p.gridDimX = p.gridDimY = p.gridDimZ = p.blockDimX = p.blockDimY = p.blockDimZ = 1;
  p.kernelParams = list;
  CUgraphNode first = nullptr, second = nullptr;
  // Version 1 of the structure has only these members, no matter what follows them in memory.
  CHECK(of_version<kernel_10>("cuGraphAddKernelNode", 11000)(&first, graph, nullptr, 0, &p) ==
        CUDA_SUCCESS);
  CHECK(cuGraphAddEmptyNode(&second, graph, nullptr, 0) == CUDA_SUCCESS);
  const auto connect = of_version<dependencies_10>("cuGraphAddDependencies", 12020);
  CHECK(connect(graph, &first, &second, 1) == CUDA_SUCCESS);
  CUgraphNode from = nullptr, to = nullptr;
  std::size_t edges = 1;
  CHECK(of_version<edges_10>("cuGraphGetEdges", 11000)(graph, &from, &to, &edges) == CUDA_SUCCESS);
  CHECK((edges == 1 && from == first && to == second));

  CUgraphExec executable = nullptr, other = nullptr;
  CUgraphNode wrong = first;
  char text[64] = "something";
  const auto instantiate = of_version<instantiate_11>("cuGraphInstantiate", 11080);
  CHECK(instantiate(&executable, graph, &wrong, text, sizeof text) == CUDA_SUCCESS);
  CHECK((wrong == nullptr && std::string_view(text).empty()));
  run(executable);
  CHECK(now() == 7);
  CHECK(of_version<instantiate_12>("cuGraphInstantiate", 12000)(
            &other, graph, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY) == CUDA_SUCCESS);
  cuuint64_t flags = 0;
  CHECK(cuGraphExecGetFlags(other, &flags) == CUDA_SUCCESS);
  CHECK(flags == CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);

  const auto update = of_version<update_10>("cuGraphExecUpdate", 11080);
  CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_ERROR;
  CHECK(update(executable, graph, &wrong, &result) == CUDA_SUCCESS);
  CHECK(result == CU_GRAPH_EXEC_UPDATE_SUCCESS);
  CHECK(connect(graph, &second, &first, 1) == CUDA_SUCCESS);  // a cycle
  CHECK(instantiate(&other, graph, &wrong, text, sizeof text) == CUDA_ERROR_INVALID_VALUE);
  CHECK(wrong != nullptr);
  CHECK(std::string_view(text) == "invalid argument");
  text[3] = '!';
  CHECK(instantiate(&other, graph, nullptr, text, 3) == CUDA_ERROR_INVALID_VALUE);
  CHECK(std::string_view(text) == "in");
  CHECK(text[3] == '!');
  CHECK(cuGraphExecDestroy(executable) == CUDA_SUCCESS);
  CHECK(cuGraphExecDestroy(other) == CUDA_SUCCESS);
}

TEST_CASE_FIXTURE(graph_fixture, "graphs: the questions of older versions about captures") {
  using begin_10 = CUresult (*)(CUstream);
  using info_10 = CUresult (*)(CUstream, CUstreamCaptureStatus*, cuuint64_t*);
  using info_11 = CUresult (*)(CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*,
                               const CUgraphNode**, size_t*);
  CHECK(of_version<begin_10>("cuStreamBeginCapture", 10000)(stream) == CUDA_SUCCESS);
  CHECK(cuMemsetD32Async(value, 5, 1, stream) == CUDA_SUCCESS);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  cuuint64_t id = 0, same = 0;
  CHECK(of_version<info_10>("cuStreamGetCaptureInfo", 10010)(stream, &status, &id) == CUDA_SUCCESS);
  CHECK(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
  const CUgraphNode* nodes = nullptr;
  std::size_t count = 0;
  CUgraph into = nullptr, captured = nullptr;
  CHECK(of_version<info_11>("cuStreamGetCaptureInfo", 11030)(stream, &status, &same, &into, &nodes,
                                                             &count) == CUDA_SUCCESS);
  CHECK((same == id && count == 1));
  CHECK(cuStreamEndCapture(stream, &captured) == CUDA_SUCCESS);
  CHECK(captured == into);
  CHECK(cuGraphDestroy(captured) == CUDA_SUCCESS);
  CHECK(now() == 0);
}

TEST_CASE_FIXTURE(graph_fixture, "graphs: a kernel of a library, and a destroyed context") {
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  CHECK(cuLibraryLoadData(&library, write_ptx, nullptr, nullptr, 0, nullptr, nullptr, 0) ==
        CUDA_SUCCESS);
  CHECK(cuLibraryGetKernel(&kernel, library, "write") == CUDA_SUCCESS);
  CUcontext gone = nullptr;
  CHECK(cuCtxCreate(&gone, nullptr, 0, 0) == CUDA_SUCCESS);
  CHECK(cuCtxDestroy(gone) == CUDA_SUCCESS);
  CHECK(cuCtxSetCurrent(context) == CUDA_SUCCESS);

  int number = 3;
  void* list[] = {&value, &number};
  CUDA_KERNEL_NODE_PARAMS p = {};
  p.kern = kernel;
  p.gridDimX = p.gridDimY = p.gridDimZ = p.blockDimX = p.blockDimY = p.blockDimZ = 1;
  p.kernelParams = list;
  p.ctx = gone;
  CUgraphNode node = nullptr;
  CHECK(cuGraphAddKernelNode(&node, graph, nullptr, 0, &p) == CUDA_ERROR_INVALID_CONTEXT);
  p.ctx = nullptr;  // the current context
  CHECK(cuGraphAddKernelNode(&node, graph, nullptr, 0, &p) == CUDA_SUCCESS);
  CHECK(cuGraphKernelNodeGetParams(node, &p) == CUDA_SUCCESS);
  CHECK(p.func != nullptr);
  CHECK(cuGraphKernelNodeSetParams(node, &p) == CUDA_SUCCESS);  // the answer of the call before
  CUgraphExec executable = nullptr;
  CHECK(cuGraphInstantiate(&executable, graph, 0) == CUDA_SUCCESS);
  run(executable);
  CHECK(now() == 3);

  CUDA_MEMSET_NODE_PARAMS fill = {};
  fill.dst = value;
  fill.elementSize = 4;
  fill.width = fill.height = 1;
  CHECK(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &fill, gone) == CUDA_ERROR_INVALID_CONTEXT);
  CUgraphConditionalHandle handle = 0;
  CHECK(cuGraphConditionalHandleCreate(&handle, graph, gone, 0, 0) == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(cuGraphExecDestroy(executable) == CUDA_SUCCESS);
  CHECK(cuLibraryUnload(library) == CUDA_SUCCESS);
}

TEST_CASE_FIXTURE(graph_fixture, "graphs: the runtime's nodes are the driver's, and the reverse") {
  const int from[4] = {1, 2, 3, 4};
  cudaGraphNode_t node = nullptr;
  void* const to = reinterpret_cast<void*>(value);
  CHECK(cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, to, from, sizeof from,
                                 cudaMemcpyHostToDevice) == cudaSuccess);
  CUDA_MEMCPY3D c = {};
  CHECK(cuGraphMemcpyNodeGetParams(node, &c) == CUDA_SUCCESS);
  CHECK((c.srcMemoryType == CU_MEMORYTYPE_HOST && c.srcHost == from));
  CHECK((c.dstMemoryType == CU_MEMORYTYPE_DEVICE && c.dstDevice == value));
  CHECK((c.WidthInBytes == sizeof from && c.Height == 1 && c.Depth == 1));
  c.dstXInBytes = 4;
  c.WidthInBytes = 4;
  CHECK(cuGraphMemcpyNodeSetParams(node, &c) == CUDA_SUCCESS);
  cudaMemcpy3DParms p = {};
  CHECK(cudaGraphMemcpyNodeGetParams(node, &p) == cudaSuccess);
  CHECK((p.dstPos.x == 4 && p.extent.width == 4 && p.kind == cudaMemcpyHostToDevice));
  CUgraphExec executable = nullptr;
  CHECK(cuGraphInstantiate(&executable, graph, 0) == CUDA_SUCCESS);
  run(executable);
  CHECK(now() == 0);
  value += 4;
  CHECK(now() == 1);
  value -= 4;
  CHECK(cuGraphExecDestroy(executable) == CUDA_SUCCESS);
}

TEST_CASE_FIXTURE(graph_fixture, "graphs: unsupported or invalid nodes and flags are refused") {
  CUgraphNode node = nullptr;
  CUgraphNodeParams any = {};
  any.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT;
  CHECK(cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &any) == CUDA_ERROR_NOT_SUPPORTED);
  any.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
  CHECK(cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &any) == CUDA_ERROR_INVALID_VALUE);
  any.type = static_cast<CUgraphNodeType>(99);
  CHECK(cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &any) == CUDA_ERROR_INVALID_VALUE);
  CUDA_MEMCPY3D c = {};
  c.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  c.dstDevice = value;
  c.WidthInBytes = c.Height = c.Depth = 1;
  CHECK(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &c, context) == CUDA_ERROR_INVALID_VALUE);
  CUgraphExec executable = nullptr;
  CHECK(cuGraphInstantiate(&executable, graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) ==
        CUDA_ERROR_NOT_SUPPORTED);
}

CUstreamBatchMemOpParams operation(CUstreamBatchMemOpType type, CUdeviceptr address,
                                   unsigned wanted) {
  CUstreamBatchMemOpParams p{};
  p.waitValue.operation = type;
  p.waitValue.address = address;
  p.waitValue.value = wanted;
  p.waitValue.flags = type == CU_STREAM_MEM_OP_WAIT_VALUE_32 ? CU_STREAM_WAIT_VALUE_EQ : 0;
  return p;
}

TEST_CASE_FIXTURE(graph_fixture, "graphs: nodes that write values and wait for them") {
  CUdeviceptr flags = 0;
  REQUIRE(cuMemAlloc(&flags, 16) == CUDA_SUCCESS);
  REQUIRE(cuMemsetD32(flags, 0, 4) == CUDA_SUCCESS);
  const auto flag = [&](int n) {
    int found = -1;
    CHECK(cuMemcpyDtoH(&found, flags + 4 * n, sizeof found) == CUDA_SUCCESS);
    return found;
  };
  CUstreamBatchMemOpParams list[] = {operation(CU_STREAM_MEM_OP_WAIT_VALUE_32, flags, 5),
                                     operation(CU_STREAM_MEM_OP_WRITE_VALUE_32, flags + 4, 6)};
  CUDA_BATCH_MEM_OP_NODE_PARAMS p{context, 2, list, 0};
  CUgraphNode waits = nullptr, after = nullptr;
  CHECK(cuGraphAddBatchMemOpNode(&waits, graph, nullptr, 0, &p) == CUDA_SUCCESS);
  CUgraphNodeType type{};
  CHECK(cuGraphNodeGetType(waits, &type) == CUDA_SUCCESS);
  CHECK(type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
  CUgraphNodeParams any = {};
  any.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
  CUstreamBatchMemOpParams last = operation(CU_STREAM_MEM_OP_WRITE_VALUE_32, value, 7);
  any.memOp = {context, 1, &last, 0};
  CHECK(cuGraphAddNode(&after, graph, &waits, nullptr, 1, &any) == CUDA_SUCCESS);
  CUgraphExec executable = nullptr;
  REQUIRE(cuGraphInstantiate(&executable, graph, 0) == CUDA_SUCCESS);
  list[0].waitValue.value = 99;  // the node has its own copy
  CHECK(cuGraphLaunch(executable, stream) == CUDA_SUCCESS);
  CHECK(cuStreamQuery(stream) == CUDA_ERROR_NOT_READY);
  CUstream other = nullptr;
  REQUIRE(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
  CHECK(cuStreamWriteValue32(other, flags, 5, 0) == CUDA_SUCCESS);
  CHECK(cuStreamSynchronize(stream) == CUDA_SUCCESS);
  CHECK(flag(1) == 6);
  CHECK(now() == 7);

  CUDA_BATCH_MEM_OP_NODE_PARAMS found{};
  CHECK(cuGraphBatchMemOpNodeGetParams(waits, &found) == CUDA_SUCCESS);
  REQUIRE(found.count == 2);
  CHECK(found.paramArray != list);
  CHECK(found.paramArray[0].waitValue.value == 5);
  CHECK(found.paramArray[1].writeValue.address == flags + 4);
  list[0].waitValue.value = 6;
  list[0].waitValue.address = flags + 4;
  list[1].writeValue.value = 8;
  CHECK(cuGraphExecBatchMemOpNodeSetParams(executable, waits, &p) == CUDA_SUCCESS);
  CHECK(cuGraphLaunch(executable, stream) == CUDA_SUCCESS);
  CHECK(cuStreamSynchronize(stream) == CUDA_SUCCESS);
  CHECK(flag(1) == 8);
  CHECK(cuGraphBatchMemOpNodeGetParams(waits, &found) == CUDA_SUCCESS);
  CHECK(found.paramArray[0].waitValue.value == 5);
  CHECK(cuGraphBatchMemOpNodeSetParams(waits, &p) == CUDA_SUCCESS);
  CHECK(cuGraphBatchMemOpNodeGetParams(waits, &found) == CUDA_SUCCESS);
  CHECK(found.paramArray[0].waitValue.value == 6);

  // Errors in a list or in a node.
  p.count = 1;
  CHECK(cuGraphExecBatchMemOpNodeSetParams(executable, waits, &p) == CUDA_ERROR_INVALID_VALUE);
  p.count = 0;
  CHECK(cuGraphBatchMemOpNodeSetParams(waits, &p) == CUDA_ERROR_INVALID_VALUE);
  p = {context, 1, nullptr, 0};
  CHECK(cuGraphAddBatchMemOpNode(&after, graph, nullptr, 0, &p) == CUDA_ERROR_INVALID_VALUE);
  p = {context, 2, list, 1};
  CHECK(cuGraphAddBatchMemOpNode(&after, graph, nullptr, 0, &p) == CUDA_ERROR_INVALID_VALUE);
  p.flags = 0;
  list[1].operation = static_cast<CUstreamBatchMemOpType>(40);
  CHECK(cuGraphAddBatchMemOpNode(&after, graph, nullptr, 0, &p) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuGraphAddEmptyNode(&after, graph, nullptr, 0) == CUDA_SUCCESS);
  CHECK(cuGraphBatchMemOpNodeGetParams(after, &found) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuGraphBatchMemOpNodeSetParams(after, &p) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuGraphExecDestroy(executable) == CUDA_SUCCESS);
  CHECK(cuStreamDestroy(other) == CUDA_SUCCESS);
  CHECK(cuMemFree(flags) == CUDA_SUCCESS);
}

TEST_CASE_FIXTURE(graph_fixture, "graphs: the writes and waits of a captured stream become nodes") {
  CUgraph captured = nullptr;
  CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS);
  CHECK(cuStreamWriteValue32(stream, value, 3, 0) == CUDA_SUCCESS);
  CHECK(cuStreamWaitValue32(stream, value, 3, CU_STREAM_WAIT_VALUE_EQ) == CUDA_SUCCESS);
  CHECK(cuStreamEndCapture(stream, &captured) == CUDA_SUCCESS);
  CHECK(now() == 0);
  CUgraphNode nodes[2] = {};
  std::size_t count = 2;
  CHECK(cuGraphGetNodes(captured, nodes, &count) == CUDA_SUCCESS);
  REQUIRE(count == 2);
  CUDA_BATCH_MEM_OP_NODE_PARAMS p{};
  CHECK(cuGraphBatchMemOpNodeGetParams(nodes[0], &p) == CUDA_SUCCESS);
  CHECK(p.count == 1);
  CUgraphExec executable = nullptr;
  REQUIRE(cuGraphInstantiate(&executable, captured, 0) == CUDA_SUCCESS);
  CHECK(cuGraphLaunch(executable, stream) == CUDA_SUCCESS);
  CHECK(cuStreamSynchronize(stream) == CUDA_SUCCESS);
  CHECK(now() == 3);
  CHECK(cuGraphExecDestroy(executable) == CUDA_SUCCESS);
  CHECK(cuGraphDestroy(captured) == CUDA_SUCCESS);
}

// NVIDIA's driver may read the memory of destroyed handles. Ours knows which handles exist.
TEST_CASE_FIXTURE(graph_fixture, "graphs: a destroyed handle is an invalid value") {
  CUgraph gone = nullptr, child = nullptr;
  CUgraphNode node = nullptr, other = nullptr, inside = nullptr;
  CHECK(cuGraphCreate(&gone, 0) == CUDA_SUCCESS);
  CHECK(cuGraphAddEmptyNode(&node, gone, nullptr, 0) == CUDA_SUCCESS);
  CHECK(cuGraphAddChildGraphNode(&inside, graph, nullptr, 0, gone) == CUDA_SUCCESS);
  CHECK(cuGraphChildGraphNodeGetGraph(inside, &child) == CUDA_SUCCESS);
  CHECK(cuGraphDestroy(child) == CUDA_ERROR_INVALID_VALUE);  // it belongs to the node
  CUgraphExec executable = nullptr;
  CHECK(cuGraphInstantiate(&executable, gone, 0) == CUDA_SUCCESS);
  CHECK(cuGraphDestroy(gone) == CUDA_SUCCESS);
  CHECK(cuGraphDestroy(gone) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuGraphAddEmptyNode(&other, gone, nullptr, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuGraphInstantiate(&executable, gone, 0) == CUDA_ERROR_INVALID_VALUE);
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_KERNEL;
  CHECK(cuGraphNodeGetType(node, &type) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuGraphDestroyNode(node) == CUDA_ERROR_INVALID_VALUE);
  CUgraphExecUpdateResultInfo info = {};
  CHECK(cuGraphExecUpdate(executable, gone, &info) == CUDA_ERROR_INVALID_VALUE);

  run(executable);  // the executable graph has a copy
  CHECK(cuGraphExecDestroy(executable) == CUDA_SUCCESS);
  CHECK(cuGraphExecDestroy(executable) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuGraphLaunch(executable, stream) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuGraphUpload(executable, stream) == CUDA_ERROR_INVALID_VALUE);

  CHECK(cuGraphDestroyNode(inside) == CUDA_SUCCESS);
  std::size_t count = 0;
  CHECK(cuGraphGetNodes(child, nullptr, &count) == CUDA_ERROR_INVALID_VALUE);

  CUuserObject object = nullptr;
  const auto nothing = [](void*) {};
  CHECK(cuUserObjectCreate(&object, nullptr, nothing, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC) ==
        CUDA_SUCCESS);
  CHECK(cuUserObjectRelease(object, 1) == CUDA_SUCCESS);
  CHECK(cuUserObjectRelease(object, 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuGraphRetainUserObject(graph, object, 1, 0) == CUDA_ERROR_INVALID_VALUE);
}
