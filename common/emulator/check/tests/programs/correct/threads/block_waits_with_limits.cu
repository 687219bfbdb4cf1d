// Threads wait for a flag that is never set, and give up: after a number of polls, after a time on
// either clock, and after many waits of a fixed length. On a GPU this takes twelve minutes.
#include <cstdint>

__device__ std::uint64_t timer() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void give_up(int* out) {
  __shared__ volatile int ready;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  int polls = 0;
  while (ready == 0 && polls < 100000) ++polls;
  const long long cycle = clock64();
  while (ready == 0 && clock64() - cycle < 4'000'000'000) {
  }
  const std::uint64_t began = timer();
  while (ready == 0 && timer() - began < 60'000'000'000) __nanosleep(100);
  int waits = 0;
  for (; waits < 20 && ready == 0; ++waits)
    for (const std::uint64_t since = timer(); ready == 0 && timer() - since < 1'000'000'000;)
      __nanosleep(1000);
  out[threadIdx.x] = polls + waits;
}

__global__ void give_up_by_timer(int* out) {
  __shared__ volatile int ready;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  const std::uint64_t began = timer();
  int waits = 0;
  for (; waits < 20 && ready == 0; ++waits)
    for (const std::uint64_t since = timer(); ready == 0 && timer() - since < 1'000'000'000;)
      __nanosleep(1000);
  while (ready == 0 && timer() - began < 600'000'000'000) __nanosleep(100);
  out[threadIdx.x] = waits;
}

int main() {
  int host[2][64], *out;
  cudaMalloc(&out, sizeof host);
  give_up<<<1, 64>>>(out);
  give_up_by_timer<<<1, 64>>>(out + 64);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(out);
  return host[0][63] == 100020 && host[1][63] == 20 ? 0 : 1;
}
