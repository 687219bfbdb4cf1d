// Rows and columns are swapped: a matrix of 8 rows and 32 columns is read as 32 by 32.
__global__ void copy(const float* in, float* out, int columns) {
  const int row = threadIdx.y, column = threadIdx.x;
  // finding: out_of_bounds reads bytes=1024 count=192
  out[row * 32 + column] = in[column * columns + row];
}

int main() {
  float *in, *out;
  cudaMalloc(&out, 8 * 32 * sizeof(float));
  cudaMalloc(&in, 8 * 32 * sizeof(float));  // finding: allocated
  cudaMemset(in, 0, 8 * 32 * sizeof(float));
  copy<<<1, dim3(32, 8)>>>(in, out, 32);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
