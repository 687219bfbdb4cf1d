// Transposition in 32 x 32 tiles with a padding column, which no thread writes or reads.
__global__ void transpose(const float* in, float* out, int rows, int columns) {
  __shared__ float tile[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32;
  for (int r = threadIdx.y; r < 32; r += 8)
    if (y + r < rows && x < columns) tile[r][threadIdx.x] = in[(y + r) * columns + x];
  __syncthreads();
  const int left = blockIdx.y * 32 + threadIdx.x, top = blockIdx.x * 32;
  for (int r = threadIdx.y; r < 32; r += 8)
    if (top + r < columns && left < rows) out[(top + r) * rows + left] = tile[threadIdx.x][r];
}

int main() {
  const int rows = 45, columns = 70;
  static float host[rows * columns], back[rows * columns];
  for (int i = 0; i < rows * columns; ++i) host[i] = i;
  float *in, *out;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  transpose<<<dim3(3, 2), dim3(32, 8)>>>(in, out, rows, columns);
  cudaMemcpy(back, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  return back[69 * rows + 44] == host[44 * columns + 69] && back[1] == columns ? 0 : 1;
}
