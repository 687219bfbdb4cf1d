// The grid is far too large: blockIdx.x * blockDim.x does not fit in an int. The index becomes
// negative, so it passes the comparison with n.
__global__ void set(float* x, int n, int first_block) {
  const int i = (blockIdx.x + first_block) * blockDim.x + threadIdx.x;
  // finding: out_of_bounds writes count=256 says=overflowed_at_line_4
  if (i < n) x[i] = 1;
}

int main() {
  float* x;
  cudaMalloc(&x, 1000 * sizeof(float));
  set<<<1, 256>>>(x, 1000, 8388608);
  cudaDeviceSynchronize();
  cudaFree(x);
}
