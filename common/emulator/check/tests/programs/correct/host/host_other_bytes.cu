// While work runs, the host uses other bytes of the same pages, reads bytes that the work also
// reads, and fills the next part of a buffer.
#include <cstring>

struct shared_state {
  int by_host;
  int by_kernel;
  char byte_of_host;
  char byte_of_kernel;
};

__global__ void work(shared_state* s, const int* input) {
  s->by_kernel += input[threadIdx.x];
  s->byte_of_kernel = 3;
}

__global__ void add(const int* part, int* total) { atomicAdd(total, part[threadIdx.x]); }

int main() {
  shared_state* s;
  int *input, *buffer, *device;
  cudaMallocManaged(&s, sizeof *s);
  cudaMallocHost(&input, 128);
  cudaMallocHost(&buffer, 8 * 32 * sizeof(int));
  cudaMalloc(&device, 128);
  std::memset(s, 0, sizeof *s);
  std::memset(input, 0, 128);
  int total = 0;
  work<<<1, 1>>>(s, input);
  s->by_host = 1;
  s->byte_of_host = 2;
  for (int i = 0; i < 32; ++i) total += input[i];
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaEvent_t copied;
  cudaEventCreate(&copied);
  for (int part = 0; part < 8; ++part) {
    int* const piece = buffer + 32 * part;
    for (int i = 0; i < 32; ++i) piece[i] = i;
    cudaMemcpyAsync(device, piece, 128, cudaMemcpyHostToDevice, stream);
    cudaEventRecord(copied, stream);
  }
  add<<<1, 32, 0, stream>>>(device, &s->by_host + 1);
  cudaEventSynchronize(copied);
  buffer[0] = buffer[255] = 5;
  cudaDeviceSynchronize();
  total += s->by_host + s->byte_of_host + s->byte_of_kernel;
  cudaEventDestroy(copied);
  cudaStreamDestroy(stream);
  cudaFree(s);
  cudaFree(device);
  cudaFreeHost(input);
  cudaFreeHost(buffer);
  return total == 6 ? 0 : 1;
}
