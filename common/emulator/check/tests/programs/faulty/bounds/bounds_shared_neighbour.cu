// One shared array overruns into the next: no fault on hardware, but wrong numbers.
__global__ void tails(int* out) {
  __shared__ int first[32], second[32];
  const int i = threadIdx.x;
  second[i] = 2;
  __syncthreads();
  first[i + 1] = 1;  // finding: out_of_bounds writes object=first bytes=128 offset=128 count=1
  __syncthreads();
  out[i] = second[31 - i] + first[i > 0 ? i : 1];
}

int main() {
  int* out;
  cudaMalloc(&out, 32 * sizeof(int));
  tails<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
