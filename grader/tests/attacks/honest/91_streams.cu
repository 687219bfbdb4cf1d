// honest reduction: SLOW or PASS, at least 40 points
// adds up halves of the input on two streams, joins them by an event, and adds the two sums
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

__global__ void add_up(const int* in, int* out, int n) {
  __shared__ int partial[256];
  int sum = 0;
  for (int i = threadIdx.x; i < n; i += 256) sum += in[i];
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = partial[0];
}

void reduce(const int* in, int* out, int* scratch, int n) {
  cudaStream_t other;
  cudaEvent_t begun, done;
  check(cudaStreamCreate(&other));
  check(cudaEventCreateWithFlags(&begun, cudaEventDisableTiming));
  check(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
  check(cudaEventRecord(begun));
  check(cudaStreamWaitEvent(other, begun));
  const int half = n / 2;
  add_up<<<1, 256>>>(in, scratch, half);
  check(cudaGetLastError());
  add_up<<<1, 256, 0, other>>>(in + half, scratch + 1, n - half);
  check(cudaGetLastError());
  check(cudaEventRecord(done, other));
  check(cudaStreamWaitEvent(nullptr, done));
  add_up<<<1, 256>>>(scratch, out, 2);
  check(cudaGetLastError());
  check(cudaEventDestroy(begun));
  check(cudaEventDestroy(done));
  check(cudaStreamDestroy(other));
}
