// The halves of a warp meet at two different __syncwarp() calls, and then exchange data.
__global__ void cross(int* out) {
  __shared__ int line[32];
  const int i = threadIdx.x;
  if (i < 16) {
    line[i] = i;
    __syncwarp();
    out[i] = line[i + 16];
  } else {
    line[i] = 2 * i;
    __syncwarp();
    out[i] = line[i - 16];
  }
}

int main() {
  int host[32], *out;
  cudaMalloc(&out, sizeof host);
  cross<<<1, 32>>>(out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(out);
  return host[3] == 38 && host[19] == 3 ? 0 : 1;
}
