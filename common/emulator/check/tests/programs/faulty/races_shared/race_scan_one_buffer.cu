// A scan in place: within a level, a thread overwrites an element that another has yet to read.
__global__ void scan(int* x) {
  __shared__ int line[128];
  const int i = threadIdx.x;
  line[i] = x[i];
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    if (i >= d) line[i] += line[i - d];  // finding: race any any object=line
    __syncthreads();
  }
  x[i] = line[i];
}

int main() {
  int* x;
  cudaMalloc(&x, 128 * sizeof(int));
  cudaMemset(x, 0, 128 * sizeof(int));
  scan<<<1, 128>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
