// A block stores a shared address. A later launch uses it, and reads its own unwritten memory.
__device__ int* shared_of_block_0;

__global__ void use(int* out, bool publish) {
  __shared__ int line[32];
  const int i = threadIdx.x;
  if (publish) {
    line[i] = i;
    if (i == 0) shared_of_block_0 = line;
  } else {
    // finding: unwritten_read reads object=line count=32
    out[i] = shared_of_block_0[i];
  }
}

int main() {
  int* out;
  cudaMalloc(&out, 32 * sizeof(int));
  use<<<1, 32>>>(out, true);
  use<<<1, 32>>>(out, false);
  cudaDeviceSynchronize();
  cudaFree(out);
}
