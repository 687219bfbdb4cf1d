// cub::DeviceHistogram, with its temporary storage.
#include <cub/device/device_histogram.cuh>

int main() {
  unsigned char host[1000], *x;
  int bins[16], *out;
  for (int i = 0; i < 1000; ++i) host[i] = i % 16;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&out, sizeof bins);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  void* storage = nullptr;
  size_t bytes = 0;
  cub::DeviceHistogram::HistogramEven(storage, bytes, x, out, 17, 0, 16, 1000);
  cudaMalloc(&storage, bytes);
  cub::DeviceHistogram::HistogramEven(storage, bytes, x, out, 17, 0, 16, 1000);
  cudaMemcpy(bins, out, sizeof bins, cudaMemcpyDeviceToHost);
  cudaFree(storage);
  cudaFree(x);
  cudaFree(out);
  return bins[0] == 63 && bins[15] == 62 ? 0 : 1;
}
