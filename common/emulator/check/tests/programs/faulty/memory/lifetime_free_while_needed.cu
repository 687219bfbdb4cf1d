// Memory is freed in the order of a stream, and used later in the same stream.
__global__ void fill(int* x) {
  x[threadIdx.x] = 1;  // finding: use_after_free writes count=32
}

int main() {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  int* x;
  cudaMallocAsync(&x, 32 * sizeof(int), stream);  // finding: allocated
  cudaFreeAsync(x, stream);                       // finding: freed
  fill<<<1, 32, 0, stream>>>(x);
  cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
}
