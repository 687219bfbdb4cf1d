// Lanes that should meet each other name different masks, so they wait forever.
__global__ void exchange(int* x) {
  const int i = threadIdx.x;
  const unsigned mask = i % 2 == 0 ? 0xffffffff : 0xaaaaaaaa;
  if (i % 2 == 0) {
    x[i] = __shfl_xor_sync(mask, i, 1);  // finding: deadlock wait
  } else {
    x[i] = __shfl_xor_sync(mask, i, 2);
    __syncwarp(0xfffffffe);  // finding: deadlock wait
  }
}

int main() {
  int* x;
  cudaMalloc(&x, 32 * sizeof(int));
  exchange<<<1, 32>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
