// Streams that wait for values in memory (cuStreamWaitValue): what comes after the wait does, what
// another stream, a kernel or the host writes ends it. Built with -lcuda.
#include <cuda_runtime.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "driver/expect_result.hpp"

static __global__ void set(int* at, int value) {
  *at = value;
  __threadfence_system();
}
static __global__ void set_wide(unsigned long long* at, unsigned long long value) { *at = value; }
static __global__ void wait_in_kernel(volatile int* flag, int value, int* seen) {
  while (*flag != value) {
  }
  *seen = value;
}

// Flags and results, 0 at first.
struct memory {
  CUdeviceptr flag = allocate(64), seen = flag + 32;
  memory() { need(cuMemsetD8(flag, 0, 64)); }
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

// By a stream that writes it after an event; a kernel waits for what the first stream writes then.
static void by_a_stream() {
  memory m;
  const CUstream a = stream_of(CU_STREAM_NON_BLOCKING), b = stream_of(CU_STREAM_NON_BLOCKING),
                 c = stream_of(CU_STREAM_NON_BLOCKING);
  CUevent after;
  need(cuEventCreate(&after, CU_EVENT_DISABLE_TIMING));
  wait_in_kernel<<<1, 1, 0, c>>>(m.flag_pointer() + 2, 9, m.seen_pointer());
  EXPECT_CU(cuStreamWaitValue64(a, m.flag, std::uint64_t{1} << 40, CU_STREAM_WAIT_VALUE_GEQ),
            CUDA_SUCCESS);
  EXPECT_CU(cuStreamWriteValue32(a, m.flag + 8, 9, 0), CUDA_SUCCESS);
  EXPECT_CU(cuEventRecord(after, a), CUDA_SUCCESS);
  EXPECT_CU(cuEventQuery(after), CUDA_ERROR_NOT_READY);
  EXPECT_TRUE(!is_ready(c));
  EXPECT_CU(cuStreamWriteValue64(b, m.flag, std::uint64_t{3} << 40, 0), CUDA_SUCCESS);
  EXPECT_CU(cuEventSynchronize(after), CUDA_SUCCESS);
  EXPECT_CU(cuStreamSynchronize(c), CUDA_SUCCESS);
  EXPECT_TRUE(value_at(m.seen) == 9);
  need(cuEventDestroy(after));
  for (const CUstream s : {a, b, c}) need(cuStreamDestroy(s));
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
    std::atomic_ref<unsigned>(*word).store(4);
  });
  EXPECT_CU(cuStreamSynchronize(a), CUDA_SUCCESS);
  EXPECT_TRUE(std::atomic_ref<unsigned>(*word).load() == 4);
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
    EXPECT_CU(cuStreamWaitValue32(a, m.flag, c.wanted, c.how), CUDA_SUCCESS);
    EXPECT_TRUE(!is_ready(a));
    EXPECT_CU(cuStreamWriteValue32(b, m.flag, c.right, 0), CUDA_SUCCESS);
    EXPECT_CU(cuStreamSynchronize(a), CUDA_SUCCESS);
  }
  need(cuMemsetD32(m.flag, 0xffffffff, 2));
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

static void misuse() {
  memory m;
  const CUstream a = stream_of(CU_STREAM_NON_BLOCKING);
  EXPECT_CU(cuStreamWaitValue32(a, m.flag + 2, 0, CU_STREAM_WAIT_VALUE_EQ),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuStreamWaitValue32(a, 0, 0, CU_STREAM_WAIT_VALUE_EQ), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuStreamWriteValue64(a, m.flag + 4, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuStreamWriteValue32(a, m.flag, 0, 64), CUDA_ERROR_INVALID_VALUE);
  CUstreamBatchMemOpParams p = write_of(m.flag, 1);
  EXPECT_CU(cuStreamBatchMemOp(a, 1, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
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
  check(cudaFuncGetAttributes(&a, wait_in_kernel));
  by_a_kernel();
  by_a_stream();
  by_the_host();
  comparisons();
  batches();
  misuse();
  return outcome("streams that wait for values");
}
