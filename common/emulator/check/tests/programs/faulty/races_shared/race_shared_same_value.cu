// Each thread that finds a negative value sets a flag. All of them write the same value, but it is
// still a race.
__global__ void any_negative(const int* x, int* out) {
  __shared__ int found;
  const int i = threadIdx.x;
  if (i == 0) found = 0;
  __syncthreads();
  if (x[i] < 0) found = 1;  // finding: race writes writes object=found says=value_is_the_same
  __syncthreads();
  if (i == 0) *out = found;
}

int main() {
  int *x, *out;
  cudaMalloc(&x, 64 * sizeof(int));
  cudaMalloc(&out, sizeof(int));
  cudaMemset(x, 0xff, 64 * sizeof(int));
  any_negative<<<1, 64>>>(x, out);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(out);
}
