// The host waits for a different stream, and for an event that was recorded too early.
__global__ void fill(int* x, int value) {
  x[threadIdx.x] = value;  // finding 1: writes; 2: writes
}

int main() {
  int *a, *b;
  cudaMallocManaged(&a, 128);  // finding 1: allocated
  cudaMallocManaged(&b, 128);  // finding 2: allocated
  cudaStream_t s, t;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
  cudaEvent_t early;
  cudaEventCreate(&early);
  fill<<<1, 32, 0, t>>>(b, 1);
  fill<<<1, 32, 0, s>>>(a, 7);  // finding 1: unfinished
  cudaStreamSynchronize(t);
  int sum = a[3];  // finding 1: race called
  cudaEventRecord(early, t);
  fill<<<1, 32, 0, t>>>(b, 2);  // finding 2: unfinished
  cudaEventSynchronize(early);
  sum += b[3];  // finding 2: race called
  cudaDeviceSynchronize();
  sum += a[3] + b[3];
  cudaEventDestroy(early);
  cudaStreamDestroy(s);
  cudaStreamDestroy(t);
  cudaFree(a);
  cudaFree(b);
  return sum == 0;
}
