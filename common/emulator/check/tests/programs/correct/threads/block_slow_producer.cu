// A warp waits a long time for another warp, which computes and repeatedly takes a lock.
__global__ void hand_over(int* out) {
  __shared__ volatile int ready;
  __shared__ int lock, entries;
  if (threadIdx.x == 0) ready = lock = entries = 0;
  __syncthreads();
  if (threadIdx.x >= 32) {
    if (threadIdx.x == 32) {
      unsigned sum = 0;
      for (int n = 0; n < 3000000; ++n) sum = sum * 1664525 + 1013904223;
      for (int n = 0; n < 20000; ++n) {
        while (atomicCAS(&lock, 0, 1) != 0) {
        }
        __threadfence_block();
        entries = entries + 1;
        __threadfence_block();
        atomicExch(&lock, 0);
      }
      out[1] = static_cast<int>(sum | 1);
      __threadfence_block();
      ready = 1;
    }
  } else {
    while (ready == 0) {
    }
    __threadfence_block();
    if (threadIdx.x == 0) out[0] = entries;
  }
}

int main() {
  int host[2], *out;
  cudaMalloc(&out, sizeof host);
  hand_over<<<1, 64>>>(out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(out);
  return host[0] == 20000 && host[1] != 0 ? 0 : 1;
}
