// A shared-memory offset, as shared instructions take it, is used as a pointer.
__global__ void confuse(int* out) {
  __shared__ int line[32];
  line[threadIdx.x] = threadIdx.x;
  __syncthreads();
  const size_t offset = __cvta_generic_to_shared(line);
  const int* const wrong = reinterpret_cast<const int*>(offset);
  out[threadIdx.x] = wrong[threadIdx.x];  // finding: out_of_bounds reads count=32
}

int main() {
  int* out;
  cudaMalloc(&out, 32 * sizeof(int));
  confuse<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
