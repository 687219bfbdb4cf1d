// One warp produces and one consumes, through two buffers with two named barriers each.
constexpr int rounds = 6;

__device__ void sync(int id) { asm volatile("bar.sync %0, 64;" ::"r"(id) : "memory"); }
__device__ void arrive(int id) { asm volatile("bar.arrive %0, 64;" ::"r"(id) : "memory"); }

__global__ void stream(const int* x, int* out) {
  __shared__ int buffer[2][32];
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    for (int r = 0; r < rounds; ++r) {
      sync(1 + r % 2);  // the buffer is empty
      buffer[r % 2][lane] = x[32 * r + lane];
      arrive(3 + r % 2);  // the buffer is full
    }
  } else {
    int sum = 0;
    arrive(1);
    arrive(2);
    for (int r = 0; r < rounds; ++r) {
      sync(3 + r % 2);
      sum += buffer[r % 2][31 - lane];
      if (r + 2 < rounds) arrive(1 + r % 2);
    }
    out[lane] = sum;
  }
}

int main() {
  int host[32 * rounds], *x, *out;
  for (int i = 0; i < 32 * rounds; ++i) host[i] = i;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&out, 32 * sizeof(int));
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  stream<<<1, 64>>>(x, out);
  cudaMemcpy(host, out, 32 * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(out);
  return host[31] == 480 && host[0] == 480 + 6 * 31 ? 0 : 1;
}
