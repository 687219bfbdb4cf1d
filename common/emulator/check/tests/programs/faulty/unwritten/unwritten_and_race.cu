// One line races on some elements and reads others that are never written. The race explains only
// the former: the second warp writes the elements that the first warp reads too early.
__global__ void shift(int* out) {
  __shared__ int x[96];
  const int i = threadIdx.x;
  x[i] = i;  // finding: race writes object=x
  // finding: race reads; 2: unwritten_read reads object=x offset=256 count=32
  out[i] = x[i + 32];
}

// The same two faults between blocks, in global memory.
__global__ void shift_blocks(int* y, int* out) {
  y[blockIdx.x] = 1;  // finding 3: race writes bytes=12
  // finding 3: race reads; 4: unwritten_read reads bytes=12 offset=8 count=1
  out[blockIdx.x] = y[blockIdx.x + 1];
}

// A widely copied sum within a warp: for 8 threads, the second half of the array is unwritten.
__global__ void sum(float* out) {
  __shared__ volatile float d[32];
  const int t = threadIdx.x;
  d[t] = 1;
  __syncthreads();
  d[t] += d[t + 8];  // finding 5: unwritten_read reads object=d count=8; 6: race any object=d
  // finding 6: race any; 7: race any any object=d; 8: unwritten_read reads object=d count=4
  d[t] += d[t + 4];
  if (t == 0) *out = d[0];
}

int main() {
  int *out, *y;
  cudaMalloc(&out, 64 * sizeof(int));
  cudaMalloc(&y, 3 * sizeof(int));  // finding 3: allocated; 4: allocated
  shift<<<1, 64>>>(out);
  shift_blocks<<<2, 1>>>(y, out);
  sum<<<1, 8>>>(reinterpret_cast<float*>(out));
  cudaDeviceSynchronize();
  cudaFree(y);
  cudaFree(out);
}
