// A thread that finds the value leaves the loop, and so misses the barrier inside it.
__global__ void search(const int* x, int* out) {
  const int i = threadIdx.x;
  for (int k = 0; k < 4; ++k) {
    if (x[64 * k + i] == 7) break;  // finding: leaves says=the_break_at_line_5
    __syncthreads();                // finding: exited_at_barrier waits
  }
  out[i] = i;
}

int main() {
  int host[256], *x, *out;
  for (int k = 0; k < 256; ++k) host[k] = k == 70 ? 7 : 0;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&out, 64 * sizeof(int));
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  search<<<1, 64>>>(x, out);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(out);
}
