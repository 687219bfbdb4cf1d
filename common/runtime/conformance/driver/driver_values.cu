// Streams that wait for values in memory (cuStreamWaitValue): what comes after the wait waits, and
// what another stream, a kernel or the host writes ends it; also as nodes of graphs. Built with
// -lcuda.
#include <cuda_runtime.h>

#include <chrono>
#include <thread>

#include "driver/expect_result.hpp"

static __global__ void set(int* at, int value) {
  *at = value;
  __threadfence_system();
}
static __global__ void set_wide(unsigned long long* at, unsigned long long value) { *at = value; }
// One kernel writes a value, and another kernel reads it after the wait.
static __global__ void fill(int* out, int first) { out[threadIdx.x] = first + threadIdx.x; }
static __global__ void sum(const int* in, int* out) {
  int total = 0;
  for (int i = 0; i < 32; ++i) total += in[i];
  *out = total;
}

// Flags and results, 0 at first.
struct memory {
  CUdeviceptr flag = allocate(64), seen = flag + 32;
  memory() {
    need(cuMemsetD8(flag, 0, 64));
    need(cuCtxSynchronize());  // the streams here do not wait for the default one
  }
  ~memory() { need(cuMemFree(flag)); }
  int* flag_pointer() const { return reinterpret_cast<int*>(flag); }
  int* seen_pointer() const { return reinterpret_cast<int*>(seen); }
};

static bool is_ready(CUstream s) {
  const CUresult found = cuStreamQuery(s);
  EXPECT_TRUE(found == CUDA_SUCCESS || found == CUDA_ERROR_NOT_READY);
  return found == CUDA_SUCCESS;
}

// A value that a kernel of another stream writes, and what follows the wait.
static void by_a_kernel() {
  memory m;
  const CUstream a = stream_of(CU_STREAM_NON_BLOCKING), b = stream_of(CU_STREAM_NON_BLOCKING);
  EXPECT_CU(cuStreamWaitValue32(a, m.flag, 5, CU_STREAM_WAIT_VALUE_EQ), CUDA_SUCCESS);
  set<<<1, 1, 0, a>>>(m.seen_pointer(), 1);
  EXPECT_CU(cuMemsetD32Async(m.seen + 4, 2, 1, a), CUDA_SUCCESS);
  EXPECT_CU(cuStreamWriteValue32(a, m.seen + 8, 3, 0), CUDA_SUCCESS);
  EXPECT_TRUE(!is_ready(a));
  EXPECT_TRUE(is_ready(b));
  set<<<1, 1, 0, b>>>(m.flag_pointer(), 4);
  EXPECT_CU(cuStreamSynchronize(b), CUDA_SUCCESS);
  EXPECT_TRUE(!is_ready(a));
  set<<<1, 1, 0, b>>>(m.flag_pointer(), 5);
  EXPECT_CU(cuStreamSynchronize(a), CUDA_SUCCESS);
  EXPECT_TRUE(value_at(m.seen) == 1 && value_at(m.seen + 4) == 2 && value_at(m.seen + 8) == 3);
  for (const CUstream s : {a, b}) need(cuStreamDestroy(s));
}

// By a stream that has worked before; an event and another stream come after the wait.
static void by_a_stream() {
  memory m;
  const CUdeviceptr data = allocate(32 * sizeof(int));
  auto* const numbers = reinterpret_cast<int*>(data);
  const CUstream a = stream_of(CU_STREAM_NON_BLOCKING), b = stream_of(CU_STREAM_NON_BLOCKING),
                 c = stream_of(CU_STREAM_NON_BLOCKING);
  CUevent after;
  need(cuEventCreate(&after, CU_EVENT_DISABLE_TIMING));
  EXPECT_CU(cuStreamWaitValue64(a, m.flag, std::uint64_t{1} << 40, CU_STREAM_WAIT_VALUE_GEQ),
            CUDA_SUCCESS);
  sum<<<1, 1, 0, a>>>(numbers, m.seen_pointer());
  EXPECT_CU(cuEventRecord(after, a), CUDA_SUCCESS);
  EXPECT_CU(cuStreamWaitEvent(c, after, 0), CUDA_SUCCESS);
  fill<<<1, 32, 0, c>>>(numbers, 0);
  EXPECT_CU(cuEventQuery(after), CUDA_ERROR_NOT_READY);
  EXPECT_TRUE(!is_ready(c));
  fill<<<1, 32, 0, b>>>(numbers, 100);
  EXPECT_CU(cuStreamWriteValue64(b, m.flag, std::uint64_t{3} << 40, 0), CUDA_SUCCESS);
  EXPECT_CU(cuEventSynchronize(after), CUDA_SUCCESS);
  EXPECT_TRUE(value_at(m.seen) == 32 * 100 + 31 * 16);
  EXPECT_CU(cuStreamSynchronize(c), CUDA_SUCCESS);
  EXPECT_TRUE(value_at(data + 4) == 1);
  need(cuEventDestroy(after));
  for (const CUstream s : {a, b, c}) need(cuStreamDestroy(s));
  need(cuMemFree(data));
}

// By the host, in memory that both use.
static void by_the_host() {
  memory m;
  const CUstream a = stream_of(CU_STREAM_NON_BLOCKING);
  unsigned* word = nullptr;
  need(cuMemHostAlloc(reinterpret_cast<void**>(&word), 64, CU_MEMHOSTALLOC_DEVICEMAP));
  *word = 0;
  CUdeviceptr there = 0;
  need(cuMemHostGetDevicePointer(&there, word, 0));
  EXPECT_CU(cuStreamWaitValue32(a, there, 6, CU_STREAM_WAIT_VALUE_AND), CUDA_SUCCESS);
  set<<<1, 1, 0, a>>>(m.seen_pointer(), 8);
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    __atomic_store_n(word, 4u, __ATOMIC_SEQ_CST);
  });
  EXPECT_CU(cuStreamSynchronize(a), CUDA_SUCCESS);
  EXPECT_TRUE(__atomic_load_n(word, __ATOMIC_SEQ_CST) == 4);
  EXPECT_TRUE(value_at(m.seen) == 8);
  writer.join();
  need(cuStreamDestroy(a));
  need(cuMemFreeHost(word));
}

// Each comparison, with values that are there and values that are not.
static void comparisons() {
  memory m;
  const CUstream a = stream_of(CU_STREAM_NON_BLOCKING), b = stream_of(CU_STREAM_NON_BLOCKING);
  struct {
    unsigned how, wanted, wrong, right;
  } const cases[] = {
      {CU_STREAM_WAIT_VALUE_GEQ, 10, 9, 10},
      {CU_STREAM_WAIT_VALUE_GEQ, 10, 0xffffffff, 11},  // around zero: -1 is less
      {CU_STREAM_WAIT_VALUE_GEQ, 0xfffffffe, 0xfffffffd, 1},
      {CU_STREAM_WAIT_VALUE_EQ, 10, 11, 10},
      {CU_STREAM_WAIT_VALUE_AND, 12, 3, 4},
      {CU_STREAM_WAIT_VALUE_NOR, 0xfffffff0, 15, 14},
  };
  for (const auto& c : cases) {
    need(cuMemsetD32(m.flag, c.wrong, 1));
    need(cuCtxSynchronize());
    EXPECT_CU(cuStreamWaitValue32(a, m.flag, c.wanted, c.how), CUDA_SUCCESS);
    EXPECT_TRUE(!is_ready(a));
    EXPECT_CU(cuStreamWriteValue32(b, m.flag, c.right, 0), CUDA_SUCCESS);
    EXPECT_CU(cuStreamSynchronize(a), CUDA_SUCCESS);
  }
  need(cuMemsetD32(m.flag, 0xffffffff, 2));
  need(cuCtxSynchronize());
  EXPECT_CU(cuStreamWaitValue64(a, m.flag, 1, CU_STREAM_WAIT_VALUE_GEQ), CUDA_SUCCESS);
  EXPECT_TRUE(!is_ready(a));
  set_wide<<<1, 1, 0, b>>>(reinterpret_cast<unsigned long long*>(m.flag), 2);
  EXPECT_CU(cuStreamSynchronize(a), CUDA_SUCCESS);
  for (const CUstream s : {a, b}) need(cuStreamDestroy(s));
}

static CUstreamBatchMemOpParams wait_of(CUdeviceptr at, unsigned value) {
  CUstreamBatchMemOpParams p{};
  p.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  p.waitValue.address = at;
  p.waitValue.value = value;
  p.waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
  return p;
}
static CUstreamBatchMemOpParams write_of(CUdeviceptr at, unsigned value) {
  CUstreamBatchMemOpParams p{};
  p.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  p.writeValue.address = at;
  p.writeValue.value = value;
  return p;
}

static void batches() {
  memory m;
  const CUstream a = stream_of(CU_STREAM_NON_BLOCKING), b = stream_of(CU_STREAM_NON_BLOCKING);
  CUstreamBatchMemOpParams first[] = {wait_of(m.flag, 1), write_of(m.flag + 4, 2),
                                      wait_of(m.flag + 8, 3), write_of(m.seen, 4)};
  CUstreamBatchMemOpParams second[] = {write_of(m.flag, 1), wait_of(m.flag + 4, 2),
                                       write_of(m.flag + 8, 3)};
  EXPECT_CU(cuStreamBatchMemOp(a, 4, first, 0), CUDA_SUCCESS);
  EXPECT_TRUE(!is_ready(a));
  EXPECT_CU(cuStreamBatchMemOp(b, 3, second, 0), CUDA_SUCCESS);
  EXPECT_CU(cuStreamSynchronize(a), CUDA_SUCCESS);
  EXPECT_CU(cuStreamSynchronize(b), CUDA_SUCCESS);
  EXPECT_TRUE(value_at(m.seen) == 4 && value_at(m.flag + 4) == 2);
  for (const CUstream s : {a, b}) need(cuStreamDestroy(s));
}

// A node of a graph that waits, with nodes before and after it, and one beside it.
static void in_a_graph(CUcontext context) {
  memory m;
  const CUstream a = stream_of(CU_STREAM_NON_BLOCKING), b = stream_of(CU_STREAM_NON_BLOCKING);
  CUgraph graph;
  CUgraphNode nodes[4];
  need(cuGraphCreate(&graph, 0));
  CUDA_MEMSET_NODE_PARAMS to{m.flag + 4, 4, 1, 4, 1, 1};
  EXPECT_CU(cuGraphAddMemsetNode(&nodes[0], graph, nullptr, 0, &to, context), CUDA_SUCCESS);
  CUstreamBatchMemOpParams list[] = {wait_of(m.flag, 7), write_of(m.flag + 8, 2)};
  CUDA_BATCH_MEM_OP_NODE_PARAMS batch{context, 2, list, 0};
  EXPECT_CU(cuGraphAddBatchMemOpNode(&nodes[1], graph, &nodes[0], 1, &batch), CUDA_SUCCESS);
  to.dst = m.seen;
  to.value = 3;
  EXPECT_CU(cuGraphAddMemsetNode(&nodes[2], graph, &nodes[1], 1, &to, context), CUDA_SUCCESS);
  to.dst = m.seen + 4;
  to.value = 4;
  EXPECT_CU(cuGraphAddMemsetNode(&nodes[3], graph, nullptr, 0, &to, context), CUDA_SUCCESS);
  CUgraphNodeType type;
  EXPECT_CU(cuGraphNodeGetType(nodes[1], &type), CUDA_SUCCESS);
  EXPECT_TRUE(type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
  CUDA_BATCH_MEM_OP_NODE_PARAMS found{};
  EXPECT_CU(cuGraphBatchMemOpNodeGetParams(nodes[1], &found), CUDA_SUCCESS);
  EXPECT_TRUE(found.count == 2 && found.paramArray[0].waitValue.value == 7 &&
              found.paramArray[1].writeValue.address == m.flag + 8);
  CUgraphExec executable;
  need(cuGraphInstantiate(&executable, graph, 0));
  EXPECT_CU(cuGraphLaunch(executable, a), CUDA_SUCCESS);
  EXPECT_TRUE(!is_ready(a));
  EXPECT_CU(cuStreamWriteValue32(b, m.flag, 7, 0), CUDA_SUCCESS);
  EXPECT_CU(cuStreamSynchronize(a), CUDA_SUCCESS);
  EXPECT_TRUE(value_at(m.flag + 4) == 1 && value_at(m.flag + 8) == 2);
  EXPECT_TRUE(value_at(m.seen) == 3 && value_at(m.seen + 4) == 4);
  // Other values in the executable graph; another number of operations is refused.
  list[0] = wait_of(m.flag, 8);
  list[1] = write_of(m.flag + 8, 5);
  EXPECT_CU(cuGraphExecBatchMemOpNodeSetParams(executable, nodes[1], &batch), CUDA_SUCCESS);
  EXPECT_CU(cuGraphLaunch(executable, a), CUDA_SUCCESS);
  EXPECT_TRUE(!is_ready(a));
  EXPECT_CU(cuStreamWriteValue32(b, m.flag, 8, 0), CUDA_SUCCESS);
  EXPECT_CU(cuStreamSynchronize(a), CUDA_SUCCESS);
  EXPECT_TRUE(value_at(m.flag + 8) == 5);
  batch.count = 1;
  EXPECT_CU(cuGraphExecBatchMemOpNodeSetParams(executable, nodes[1], &batch),
            CUDA_ERROR_INVALID_VALUE);
  need(cuGraphExecDestroy(executable));
  need(cuGraphDestroy(graph));

  // Writes and waits of a captured stream.
  need(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_CU(cuStreamWriteValue32(a, m.flag, 11, 0), CUDA_SUCCESS);
  EXPECT_CU(cuStreamWaitValue32(a, m.flag, 11, CU_STREAM_WAIT_VALUE_EQ), CUDA_SUCCESS);
  EXPECT_CU(cuStreamEndCapture(a, &graph), CUDA_SUCCESS);
  std::size_t count = 0;
  EXPECT_CU(cuGraphGetNodes(graph, nullptr, &count), CUDA_SUCCESS);
  EXPECT_TRUE(count == 2);
  need(cuGraphInstantiate(&executable, graph, 0));
  EXPECT_TRUE(value_at(m.flag) == 8);
  EXPECT_CU(cuGraphLaunch(executable, a), CUDA_SUCCESS);
  EXPECT_CU(cuStreamSynchronize(a), CUDA_SUCCESS);
  EXPECT_TRUE(value_at(m.flag) == 11);
  need(cuGraphExecDestroy(executable));
  need(cuGraphDestroy(graph));
  for (const CUstream s : {a, b}) need(cuStreamDestroy(s));
}

static void misuse() {
  memory m;
  const CUstream a = stream_of(CU_STREAM_NON_BLOCKING);
  EXPECT_CU(cuStreamWaitValue32(a, m.flag + 2, 0, CU_STREAM_WAIT_VALUE_EQ),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuStreamWaitValue32(a, 0, 0, CU_STREAM_WAIT_VALUE_EQ), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuStreamWriteValue64(a, m.flag + 4, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuStreamWriteValue32(a, m.flag, 0, 64), CUDA_ERROR_INVALID_VALUE);
  CUstreamBatchMemOpParams p = write_of(m.flag, 1);
  EXPECT_CU(cuStreamBatchMemOp(a, 1, &p, 8), CUDA_ERROR_INVALID_VALUE);
  CUstreamBatchMemOpParams mixed[] = {write_of(m.flag, 1), write_of(m.flag + 1, 1)};
  EXPECT_CU(cuStreamBatchMemOp(a, 2, mixed, 0), CUDA_ERROR_INVALID_VALUE);
  p.operation = static_cast<CUstreamBatchMemOpType>(77);
  EXPECT_CU(cuStreamBatchMemOp(a, 1, &p, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuStreamSynchronize(a), CUDA_SUCCESS);
  EXPECT_TRUE(value_at(m.flag) == 0);  // a batch is done as a whole, or not at all
  need(cuStreamDestroy(a));
}

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // what was said stays said, should a call crash
  need(cuInit(0));
  CUcontext context;
  need(cuDevicePrimaryCtxRetain(&context, 0));
  need(cuCtxSetCurrent(context));
  // On a GPU a kernel that is loaded at its first launch may wait for those that run.
  cudaFuncAttributes a;
  check(cudaFuncGetAttributes(&a, set));
  check(cudaFuncGetAttributes(&a, set_wide));
  check(cudaFuncGetAttributes(&a, fill));
  check(cudaFuncGetAttributes(&a, sum));
  by_a_kernel();
  by_a_stream();
  by_the_host();
  comparisons();
  batches();
  in_a_graph(context);
  misuse();
  return outcome("streams that wait for values");
}
