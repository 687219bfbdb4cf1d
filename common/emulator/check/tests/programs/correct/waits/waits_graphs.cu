// Graphs with two branches, launched into streams of every kind. The host waits for the stream, an
// event after the graph, an event that the graph records, or its host function.
#include <atomic>

__global__ void add(int* x) { x[threadIdx.x] += 1; }
void set(void* at) { *static_cast<std::atomic<int>*>(at) = 1; }

int main() {
  int host[64], *x;
  cudaMalloc(&x, sizeof host);
  cudaStream_t all[4] = {nullptr, cudaStreamPerThread}, a, b, apart;
  cudaStreamCreate(&all[2]);
  cudaStreamCreateWithFlags(&all[3], cudaStreamNonBlocking);
  for (cudaStream_t* s : {&a, &b, &apart}) cudaStreamCreateWithFlags(s, cudaStreamNonBlocking);
  cudaEvent_t fork, joined, recorded, after;
  for (cudaEvent_t* e : {&fork, &joined, &recorded, &after}) cudaEventCreate(e);
  std::atomic<int> called{0};
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal);
  cudaEventRecord(fork, a);
  cudaStreamWaitEvent(b, fork);
  add<<<1, 32, 0, a>>>(x);
  add<<<1, 32, 0, b>>>(x + 32);
  cudaEventRecord(joined, b);
  cudaStreamWaitEvent(a, joined);
  cudaEventRecordWithFlags(recorded, a, cudaEventRecordExternal);
  cudaLaunchHostFunc(a, set, &called);
  cudaStreamEndCapture(a, &graph);
  cudaGraphInstantiate(&executable, graph, 0);
  cudaMemset(x, 0, sizeof host);
  cudaDeviceSynchronize();
  for (cudaStream_t one : all) {
    for (int way = 0; way < 5; ++way) {
      called = 0;
      add<<<1, 64, 0, one>>>(x);
      cudaGraphLaunch(executable, one);
      if (way == 0) cudaStreamSynchronize(one);
      if (way == 1) cudaEventRecord(after, one);
      if (way == 2) cudaEventRecord(after, one == all[3] ? one : nullptr);
      if (way == 1 || way == 2) cudaEventSynchronize(after);
      if (way == 3) cudaEventSynchronize(recorded);
      if (way == 4)
        while (called == 0) {
        }
      add<<<1, 64, 0, apart>>>(x);
      cudaDeviceSynchronize();
    }
  }
  // A launch of an executable graph comes after its earlier launches in other streams.
  cudaGraphLaunch(executable, apart);
  cudaGraphLaunch(executable, all[3]);
  add<<<1, 64, 0, all[3]>>>(x);
  cudaDeviceSynchronize();
  // A graph in the default stream comes after earlier and before later work of blocking streams.
  add<<<1, 64, 0, all[2]>>>(x);
  cudaGraphLaunch(executable, nullptr);
  add<<<1, 64, 0, cudaStreamPerThread>>>(x);
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  for (cudaStream_t s : {all[2], all[3], a, b, apart}) cudaStreamDestroy(s);
  for (cudaEvent_t e : {fork, joined, recorded, after}) cudaEventDestroy(e);
  cudaFree(x);
  return host[63] == 66 ? 0 : 1;
}
