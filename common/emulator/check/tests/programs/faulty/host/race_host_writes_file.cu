// System calls access the memory themselves: one writes it to a file before the copy has ended,
// another reads a file into a buffer that a copy still reads.
#include <fcntl.h>
#include <unistd.h>

constexpr int bytes = 8192;

int main() {
  char *results, *input, *device;
  cudaMallocHost(&results, bytes);  // finding 1: allocated
  cudaMallocHost(&input, bytes);    // finding 2: allocated
  cudaMalloc(&device, bytes);
  cudaMemset(device, 1, bytes);
  for (int i = 0; i < bytes; ++i) input[i] = 1;
  const int out = open("/dev/null", O_WRONLY), in = open("/dev/zero", O_RDONLY);
  cudaMemcpyAsync(results, device, bytes, cudaMemcpyDeviceToHost);  // finding 1: unfinished
  const bool wrote = write(out, results, bytes) == bytes;  // finding 1: race called says=reads
  cudaDeviceSynchronize();
  cudaMemcpyAsync(device, input, bytes, cudaMemcpyHostToDevice);  // finding 2: unfinished
  const bool has_read = read(in, input, bytes) == bytes;  // finding 2: race called says=writes
  cudaDeviceSynchronize();
  close(out);
  close(in);
  cudaFreeHost(results);
  cudaFreeHost(input);
  cudaFree(device);
  return wrote && has_read ? 0 : 1;
}
