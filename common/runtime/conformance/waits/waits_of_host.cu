// For each way in which the host can wait, and each kind of stream: has the work ended when the
// wait returns?
//
// A kernel sleeps for 30 ms and then writes a flag into pinned memory, which the host reads right
// after the wait. The program prints one line per way and kind. On a GPU these lines are the GPU
// column of ../../HOST_WAITS.md. The program fails only where CUDA's documentation guarantees that
// the work has ended. Elsewhere both answers are right. The emulator's kernels end within their
// launch, so it always answers "ended".
#include <atomic>
#include <cstring>
#include <functional>

#include "common/runtime/conformance/expect.hpp"

namespace {

__global__ void work(volatile int* flag) {
  for (int k = 0; k < 30; ++k) __nanosleep(1000000);
  __threadfence_system();
  *flag = 1;
}
__global__ void nothing() {}
__device__ int symbol[16];

enum kind { legacy, per_thread, blocking, non_blocking, kinds };
const char* const kind_names[] = {"legacy", "per-thread", "blocking", "non-blocking"};

void set(void* at) { *static_cast<std::atomic<int>*>(at) = 1; }
void CUDART_CB set_back(cudaStream_t, cudaError_t, void* at) { set(at); }

cudaStream_t made(kind k) {
  cudaStream_t s = k == legacy ? cudaStreamLegacy : cudaStreamPerThread;
  if (k == blocking) check(cudaStreamCreate(&s));
  if (k == non_blocking) check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  return s;
}

// The objects that the waits use. Everything is allocated before the first measurement.
struct things {
  volatile int* flag;
  int *device, *other, *pinned, *managed, *pool_memory = nullptr;
  int pageable[16] = {};
  cudaEvent_t start, stop;
  cudaStream_t stream = nullptr;  // where the work runs
  cudaGraphExec_t graph;
  std::atomic<int> called{0};

  void record(cudaStream_t in) {
    check(cudaEventRecord(start, in));
    check(cudaEventRecord(stop, in));
  }
  void poll(const std::function<cudaError_t()>& ask) {
    cudaError_t answer;
    while ((answer = ask()) == cudaErrorNotReady) (void)cudaGetLastError();
    check(answer);
  }
  void poll_called() {
    while (called == 0) {
    }
  }
};

// The streams whose work has ended after the wait, according to CUDA's documentation.
enum guarantee { none, its_own, of_blocking, everything };

struct way {
  const char* name;
  guarantee guaranteed;
  std::function<void(things&)> wait;
};

bool is_guaranteed(guarantee g, kind k) {
  return g == its_own || g == everything || (g == of_blocking && k != non_blocking);
}

constexpr std::size_t bytes = 16 * sizeof(int);

const std::vector<way>& ways() {
  using t = things&;
  static const std::vector<way> all = {
      {"cudaEventSynchronize, event in the stream", its_own,
       [](t x) { x.record(x.stream), check(cudaEventSynchronize(x.stop)); }},
      {"cudaEventQuery, event in the stream", its_own,
       [](t x) { x.record(x.stream), x.poll([&] { return cudaEventQuery(x.stop); }); }},
      {"cudaEventElapsedTime, events in the stream", its_own,
       [](t x) {
         float ms;
         x.record(x.stream), x.poll([&] { return cudaEventElapsedTime(&ms, x.start, x.stop); });
       }},
      {"cudaEventSynchronize, event in stream 0", of_blocking,
       [](t x) { x.record(nullptr), check(cudaEventSynchronize(x.stop)); }},
      {"cudaEventQuery, event in stream 0", of_blocking,
       [](t x) { x.record(nullptr), x.poll([&] { return cudaEventQuery(x.stop); }); }},
      {"cudaEventElapsedTime, events in stream 0", of_blocking,
       [](t x) {
         float ms;
         x.record(nullptr), x.poll([&] { return cudaEventElapsedTime(&ms, x.start, x.stop); });
       }},
      {"cudaStreamSynchronize, the stream", its_own,
       [](t x) { check(cudaStreamSynchronize(x.stream)); }},
      {"cudaStreamQuery, the stream", its_own,
       [](t x) { x.poll([&] { return cudaStreamQuery(x.stream); }); }},
      {"cudaStreamSynchronize, stream 0", of_blocking,
       [](t) { check(cudaStreamSynchronize(nullptr)); }},
      {"cudaStreamQuery, stream 0", of_blocking,
       [](t x) { x.poll([] { return cudaStreamQuery(nullptr); }); }},
      {"cudaDeviceSynchronize", everything, [](t) { check(cudaDeviceSynchronize()); }},
      {"cudaLaunchHostFunc in the stream", its_own,
       [](t x) { check(cudaLaunchHostFunc(x.stream, set, &x.called)), x.poll_called(); }},
      {"cudaLaunchHostFunc in stream 0", of_blocking,
       [](t x) { check(cudaLaunchHostFunc(nullptr, set, &x.called)), x.poll_called(); }},
      {"cudaStreamAddCallback in the stream", its_own,
       [](t x) {
         check(cudaStreamAddCallback(x.stream, set_back, &x.called, 0)), x.poll_called();
       }},
      {"cudaStreamAddCallback in stream 0", of_blocking,
       [](t x) { check(cudaStreamAddCallback(nullptr, set_back, &x.called, 0)), x.poll_called(); }},
      {"cudaMemcpy, device to pageable", of_blocking,
       [](t x) { check(cudaMemcpy(x.pageable, x.device, bytes, cudaMemcpyDeviceToHost)); }},
      {"cudaMemcpy, device to pinned", of_blocking,
       [](t x) { check(cudaMemcpy(x.pinned, x.device, bytes, cudaMemcpyDeviceToHost)); }},
      {"cudaMemcpy, pageable to device", of_blocking,
       [](t x) { check(cudaMemcpy(x.device, x.pageable, bytes, cudaMemcpyHostToDevice)); }},
      {"cudaMemcpy, pinned to device", of_blocking,
       [](t x) { check(cudaMemcpy(x.device, x.pinned, bytes, cudaMemcpyHostToDevice)); }},
      {"cudaMemcpy, device to device", none,
       [](t x) { check(cudaMemcpy(x.device, x.other, bytes, cudaMemcpyDeviceToDevice)); }},
      {"cudaMemcpy, host to host", none,
       [](t x) { check(cudaMemcpy(x.pageable, x.pageable + 8, 32, cudaMemcpyHostToHost)); }},
      {"cudaMemcpyFromSymbol", of_blocking,
       [](t x) { check(cudaMemcpyFromSymbol(x.pageable, symbol, bytes)); }},
      {"cudaMemcpyAsync in the stream, device to pageable", none,
       [](t x) {
         check(cudaMemcpyAsync(x.pageable, x.device, bytes, cudaMemcpyDeviceToHost, x.stream));
       }},
      {"cudaMemcpyAsync in the stream, pageable to device", none,
       [](t x) {
         check(cudaMemcpyAsync(x.device, x.pageable, bytes, cudaMemcpyHostToDevice, x.stream));
       }},
      {"cudaMemcpyAsync in the stream, device to pinned", none,
       [](t x) {
         check(cudaMemcpyAsync(x.pinned, x.device, bytes, cudaMemcpyDeviceToHost, x.stream));
       }},
      {"cudaMemcpyAsync in the stream, pinned to device", none,
       [](t x) {
         check(cudaMemcpyAsync(x.device, x.pinned, bytes, cudaMemcpyHostToDevice, x.stream));
       }},
      {"cudaMemset, device", none, [](t x) { check(cudaMemset(x.device, 0, bytes)); }},
      {"cudaMemset, pinned", of_blocking, [](t x) { check(cudaMemset(x.pinned, 0, bytes)); }},
      {"cudaMemset, managed", none, [](t x) { check(cudaMemset(x.managed, 0, bytes)); }},
      {"cudaMemsetAsync in the stream, pinned", none,
       [](t x) { check(cudaMemsetAsync(x.pinned, 0, bytes, x.stream)); }},
      {"a kernel in stream 0", none, [](t) { nothing<<<1, 1>>>(); }},
      {"cudaGraphLaunch in the stream", none,
       [](t x) { check(cudaGraphLaunch(x.graph, x.stream)); }},
      {"cudaMalloc", none,
       [](t) {
         void* more;
         check(cudaMalloc(&more, bytes));
       }},
      {"cudaFree", none, [](t x) { check(cudaFree(x.other)); }},
      {"cudaFree of memory of a pool", none, [](t x) { check(cudaFree(x.pool_memory)); }},
      {"cudaFreeAsync in the stream", none,
       [](t x) { check(cudaFreeAsync(x.pool_memory, x.stream)); }},
      {"cudaMallocHost", none,
       [](t) {
         void* more;
         check(cudaMallocHost(&more, bytes));
       }},
      {"cudaFreeHost", none, [](t x) { check(cudaFreeHost(x.pinned)); }},
      {"cudaEventDestroy", none, [](t x) { check(cudaEventDestroy(x.stop)); }},
      {"cudaStreamDestroy", none,
       [](t x) {
         if (x.stream != cudaStreamLegacy && x.stream != cudaStreamPerThread)
           check(cudaStreamDestroy(x.stream)), x.stream = nullptr;
       }},
  };
  return all;
}

// Whether the work of a stream has ended after a wait.
bool has_ended(const way& by, kind k, volatile int* flag) {
  things x;
  x.flag = flag;
  *flag = 0;
  check(cudaMalloc(&x.device, bytes));
  check(cudaMalloc(&x.other, bytes));
  check(cudaMallocHost(&x.pinned, bytes));
  check(cudaMallocManaged(&x.managed, bytes));
  check(cudaMallocAsync(&x.pool_memory, bytes, nullptr));
  check(cudaEventCreate(&x.start));
  check(cudaEventCreate(&x.stop));
  for (int* memory : {x.device, x.other, x.managed, x.pool_memory})
    check(cudaMemset(memory, 0, bytes));
  std::memset(x.pinned, 0, bytes);
  cudaGraph_t graph;
  check(cudaGraphCreate(&graph, 0));
  check(cudaGraphInstantiate(&x.graph, graph, 0));
  x.stream = made(k);
  check(cudaDeviceSynchronize());
  work<<<1, 1, 0, x.stream>>>(const_cast<int*>(flag));
  by.wait(x);
  const bool ended = *flag == 1;
  check(cudaDeviceSynchronize());
  EXPECT_TRUE(*flag == 1);
  // Memory that the wait freed is not freed twice. The process ends soon.
  check(cudaFree(x.device));
  check(cudaFree(x.managed));
  check(cudaGraphExecDestroy(x.graph));
  check(cudaGraphDestroy(graph));
  return ended;
}

}  // namespace

int main() {
  int* flag;
  check(cudaMallocHost(&flag, sizeof *flag));
  cudaFuncAttributes loaded;  // loading a kernel at launch may wait for running kernels
  check(cudaFuncGetAttributes(&loaded, work));
  check(cudaFuncGetAttributes(&loaded, nothing));
  for (const way& by : ways()) {
    for (int number = 0; number < kinds; ++number) {
      const auto k = static_cast<kind>(number);
      const bool ended = has_ended(by, k, flag), guaranteed = is_guaranteed(by.guaranteed, k);
      std::printf("%-52s %-13s %s%s\n", by.name, kind_names[k], ended ? "ended" : "still running",
                  guaranteed ? ", as guaranteed" : "");
      ++expectations;
      if (ended || !guaranteed) continue;
      ++broken_expectations;
      std::printf("  expected: the work has ended\n");
    }
  }
  check(cudaFreeHost(flag));
  return outcome("waits of the host");
}
