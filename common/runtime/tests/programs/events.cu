// Events and streams: what is recorded, what is not, and that order holds.
#include "check.h"

__global__ void step(unsigned* state, unsigned factor) { *state = *state * factor + 1; }

static void CUDART_CB note(void* data) { *static_cast<int*>(data) += 1; }

int main() {
  unsigned* state;
  SHOW(cudaMalloc(&state, sizeof *state));
  SHOW(cudaMemset(state, 0, sizeof *state));
  cudaEvent_t start, stop, untimed;
  SHOW(cudaEventCreate(&start));
  SHOW(cudaEventCreate(&stop));
  SHOW(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  float ms = -1;
  SHOW(cudaEventElapsedTime(&ms, start, stop));
  SHOW(cudaEventRecord(start));
  SHOW(cudaEventElapsedTime(&ms, start, stop));
  for (unsigned i = 0; i < 10; i++) step<<<1, 1>>>(state, 3);
  SHOW(cudaEventRecord(stop));
  SHOW(cudaEventRecord(untimed));
  SHOW(cudaEventSynchronize(stop));
  SHOW(cudaEventQuery(stop));
  SHOW(cudaEventElapsedTime(&ms, start, stop));
  PRINT(ms > 0);
  SHOW(cudaEventElapsedTime(&ms, start, start));
  PRINT(ms == 0);
  SHOW(cudaEventElapsedTime(&ms, start, untimed));
  cudaGetLastError();

  cudaStream_t one, two;
  SHOW(cudaStreamCreate(&one));
  SHOW(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
  step<<<1, 1, 0, one>>>(state, 5);
  SHOW(cudaEventRecord(untimed, one));
  SHOW(cudaStreamWaitEvent(two, untimed, 0));
  step<<<1, 1, 0, two>>>(state, 7);
  int noted = 0;
  SHOW(cudaLaunchHostFunc(two, note, &noted));
  SHOW(cudaStreamSynchronize(two));
  PRINT(noted);
  unsigned value = 0;
  SHOW(cudaMemcpyAsync(&value, state, sizeof value, cudaMemcpyDeviceToHost, two));
  SHOW(cudaStreamSynchronize(two));
  PRINT(value);
  SHOW(cudaStreamQuery(two));
  SHOW(cudaStreamDestroy(one));
  SHOW(cudaStreamDestroy(two));
  SHOW(cudaEventDestroy(start));
  SHOW(cudaEventDestroy(stop));
  SHOW(cudaEventDestroy(untimed));
}
