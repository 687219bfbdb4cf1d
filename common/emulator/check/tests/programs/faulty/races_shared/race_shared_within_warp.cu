// Two lanes of one warp write different values to one element with one instruction.
__global__ void pairs(int* x) {
  __shared__ int line[16];
  const int i = threadIdx.x;
  line[i / 2] = i;  // finding: race writes writes object=line
  __syncwarp();
  x[i] = line[i / 2];
}

int main() {
  int* x;
  cudaMalloc(&x, 32 * sizeof(int));
  pairs<<<1, 32>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
