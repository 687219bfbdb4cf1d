// The tiled matrix product with both barriers, at a size that is not a multiple of the tile.
constexpr int tile = 16;

__global__ void multiply(const float* a, const float* b, float* c, int n) {
  __shared__ float as[tile][tile], bs[tile][tile];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * tile + y, column = blockIdx.x * tile + x;
  float sum = 0;
  for (int t = 0; t < n; t += tile) {
    as[y][x] = row < n && t + x < n ? a[row * n + t + x] : 0;
    bs[y][x] = t + y < n && column < n ? b[(t + y) * n + column] : 0;
    __syncthreads();
    for (int k = 0; k < tile; ++k) sum += as[y][k] * bs[k][x];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}

int main() {
  const int n = 37;
  static float host[n * n];
  for (int i = 0; i < n * n; ++i) host[i] = 1;
  float *a, *b, *c;
  cudaMalloc(&a, sizeof host);
  cudaMalloc(&b, sizeof host);
  cudaMalloc(&c, sizeof host);
  cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemcpy(b, host, sizeof host, cudaMemcpyHostToDevice);
  multiply<<<dim3(3, 3), dim3(tile, tile)>>>(a, b, c, n);
  cudaMemcpy(host, c, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
  return host[0] == n && host[n * n - 1] == n ? 0 : 1;
}
