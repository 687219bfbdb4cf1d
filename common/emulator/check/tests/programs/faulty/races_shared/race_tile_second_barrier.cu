// Tiled matrix product: the next tile is loaded while slower warps still use this one.
constexpr int tile = 16;

__global__ void multiply(const float* a, const float* b, float* c, int n) {
  __shared__ float as[tile][tile], bs[tile][tile];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * tile + y, column = blockIdx.x * tile + x;
  float sum = 0;
  for (int t = 0; t < n; t += tile) {
    as[y][x] = a[row * n + t + x];       // finding 1: race writes object=as
    bs[y][x] = b[(t + y) * n + column];  // finding 2: race writes object=bs
    __syncthreads();
    for (int k = 0; k < tile; ++k)
      sum += as[y][k] * bs[k][x];  // finding 1: race reads; 2: race reads
  }
  c[row * n + column] = sum;
}

int main() {
  const int n = 32;
  float *a, *b, *c;
  cudaMalloc(&a, n * n * sizeof(float));
  cudaMalloc(&b, n * n * sizeof(float));
  cudaMalloc(&c, n * n * sizeof(float));
  cudaMemset(a, 0, n * n * sizeof(float));
  cudaMemset(b, 0, n * n * sizeof(float));
  multiply<<<dim3(2, 2), dim3(tile, tile)>>>(a, b, c, n);
  cudaDeviceSynchronize();
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
}
