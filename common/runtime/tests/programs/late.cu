// Prints the values that the host finds before and after it waits, if asynchronous work is delayed
// (STEPWISE_LATE=1): first the old values, as usually on a GPU, and then the new ones.
#include <unistd.h>

#include <cstdio>

__global__ void set(int* x, int value) { x[threadIdx.x] = value; }
__global__ void add(int* x, int value) { atomicAdd(x, value); }
__global__ void wait_for(volatile int* flag, int* answer) {
  while (*flag == 0) {
  }
  *answer = *flag + 1;
}
__global__ void say(int number) { printf("kernel %d at the end\n", number); }

namespace {

int *device, *pinned, *managed;
cudaStream_t a, b;

void called(void* number) { ++*static_cast<volatile int*>(number); }

// Resets both to 0.
void begin() {
  cudaDeviceSynchronize();
  for (int i = 0; i < 64; ++i) pinned[i] = managed[i] = 0;
}

void show(const char* what, int first, int second) {
  printf("%s: %d, then %d\n", what, first, second);
}

template <class Query>
void ask(const char* what, Query query) {
  const cudaError_t first = query();
  const int seen = *static_cast<volatile int*>(managed);
  int asked = 1;
  while (query() == cudaErrorNotReady) ++asked;
  printf("%s: %s and %d at first, then %d\n", what, cudaGetErrorName(first), seen, managed[0]);
}

}  // namespace

int main() {
  cudaMalloc(&device, 256);
  cudaMallocHost(&pinned, 256);
  cudaMallocManaged(&managed, 256);
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  cudaEvent_t event;
  cudaEventCreate(&event);

  begin();
  set<<<1, 32, 0, a>>>(device, 7);
  cudaMemcpyAsync(pinned, device, 128, cudaMemcpyDeviceToHost, a);
  set<<<1, 32>>>(managed, 7);
  int first = pinned[3], second = managed[3];
  cudaStreamSynchronize(a);
  show("copy", first, pinned[3]);
  cudaDeviceSynchronize();
  show("kernel", second, managed[3]);

  begin();
  set<<<1, 32, 0, a>>>(managed, 1);
  set<<<1, 32, 0, b>>>(pinned, 1);
  cudaStreamSynchronize(b);
  show("another stream", managed[3], pinned[3]);

  begin();
  set<<<1, 32, 0, a>>>(managed, 1);
  cudaEventRecord(event, a);
  set<<<1, 32, 0, a>>>(managed, 2);
  first = managed[0];
  cudaEventSynchronize(event);
  second = managed[0];
  cudaStreamSynchronize(a);
  printf("event: %d, %d, %d\n", first, second, managed[0]);

  begin();
  set<<<1, 32, 0, a>>>(managed, 1);
  ask("stream", [] { return cudaStreamQuery(a); });
  begin();
  set<<<1, 32, 0, a>>>(managed, 1);
  cudaEventRecord(event, a);
  ask("event", [&] { return cudaEventQuery(event); });

  begin();
  cudaMemsetAsync(managed, 1, 128, a);
  first = managed[0];
  cudaStreamWaitEvent(b, event);
  cudaStreamSynchronize(a);
  show("fill", first, managed[0]);

  begin();
  volatile int calls = 0;
  cudaLaunchHostFunc(a, called, const_cast<int*>(&calls));
  first = calls;
  cudaStreamSynchronize(a);
  show("host function", first, calls);

  begin();
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  add<<<1, 1, 0, a>>>(managed, 5);
  cudaStreamEndCapture(a, &graph);
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphLaunch(executable, a);
  cudaGraphLaunch(executable, a);
  first = managed[0];
  cudaStreamSynchronize(a);
  show("graphs", first, managed[0]);

  // A copy to unpinned memory waits. In the default stream, it also waits for other streams.
  begin();
  int own = 0;
  cudaStream_t blocking;
  cudaStreamCreate(&blocking);
  set<<<1, 32, 0, blocking>>>(device, 9);
  cudaMemcpy(&own, device, 4, cudaMemcpyDeviceToHost);
  show("synchronous copy", 0, own);

  begin();
  for (int i = 0; i < 5000; ++i) add<<<1, 1, 0, a>>>(managed, 1);
  cudaStreamSynchronize(a);
  show("many launches", 0, managed[0]);

  // The host polls memory without an API call.
  begin();
  set<<<1, 1, 0, a>>>(pinned, 3);
  first = pinned[0];
  while (*static_cast<volatile int*>(pinned) == 0) {
  }
  show("polled", first, pinned[0]);

  // A kernel waits for the host.
  begin();
  wait_for<<<1, 1, 0, a>>>(pinned, managed);
  pinned[0] = 4;
  cudaStreamSynchronize(a);
  show("waiting kernel", 0, managed[0]);

  (void)cudaGetLastError();  // clears the errors of early queries
  set<<<1, 32, 0, a>>>(device, 1);
  cudaFree(device);
  printf("last error: %s\n", cudaGetErrorName(cudaGetLastError()));
  fflush(stdout);
  say<<<1, 1, 0, a>>>(1);
  return 0;
}
