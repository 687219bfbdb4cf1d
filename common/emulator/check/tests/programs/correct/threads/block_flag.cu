// One warp hands data to another through a volatile flag in shared memory, with fences.
__global__ void hand_over(int* out) {
  __shared__ int line[32];
  __shared__ volatile int ready;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  const int lane = threadIdx.x % 32;
  if (threadIdx.x >= 32) {
    line[lane] = 3 * lane;
    __syncwarp();
    if (lane == 0) {
      __threadfence_block();
      ready = 1;
    }
  } else {
    while (ready == 0) {
    }
    __threadfence_block();
    out[lane] = line[31 - lane];
  }
}

int main() {
  int host[32], *out;
  cudaMalloc(&out, sizeof host);
  hand_over<<<1, 64>>>(out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(out);
  return host[0] == 93 && host[31] == 0 ? 0 : 1;
}
