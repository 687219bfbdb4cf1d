// Both sides of a branch use shared memory and synchronise with the mask of their own lanes.
__global__ void arms(int* out) {
  __shared__ int line[32];
  const int i = threadIdx.x;
  line[i] = i;
  __syncwarp();
  int other;
  if (i < 12) {
    other = line[11 - i];
    __syncwarp(0xfff);
    line[i] = 2 * other;
    __syncwarp(0xfff);
    other = line[11 - i];
  } else {
    other = line[43 - i];
    __syncwarp(~0xfffu);
    line[i] = 3 * other;
    __syncwarp(~0xfffu);
    other = line[43 - i];
  }
  out[i] = other;
}

int main() {
  int host[32], *out;
  cudaMalloc(&out, sizeof host);
  arms<<<1, 32>>>(out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(out);
  return host[5] == 10 && host[20] == 60 ? 0 : 1;
}
