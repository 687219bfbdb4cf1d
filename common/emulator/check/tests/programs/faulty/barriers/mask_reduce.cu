// All lanes of a warp execute an addition whose mask names only the even lanes.
__global__ void add(int* x) {
  const int i = threadIdx.x;
  x[i] = __reduce_add_sync(0x55555555, i);  // finding: bad_mask count=16
}

int main() {
  int* x;
  cudaMalloc(&x, 32 * sizeof(int));
  add<<<1, 32>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
