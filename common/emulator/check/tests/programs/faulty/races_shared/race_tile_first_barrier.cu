// Transposition in tiles, without the barrier between writing the tile and reading it.
__global__ void transpose(const float* in, float* out) {
  __shared__ float tile[32][33];
  for (int r = threadIdx.y; r < 32; r += 8)
    tile[r][threadIdx.x] = in[r * 32 + threadIdx.x];  // finding: race writes object=tile
  for (int r = threadIdx.y; r < 32; r += 8)
    out[r * 32 + threadIdx.x] = tile[threadIdx.x][r];  // finding: race reads
}

int main() {
  float *in, *out;
  cudaMalloc(&in, 32 * 32 * sizeof(float));
  cudaMalloc(&out, 32 * 32 * sizeof(float));
  cudaMemset(in, 0, 32 * 32 * sizeof(float));
  transpose<<<1, dim3(32, 8)>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
