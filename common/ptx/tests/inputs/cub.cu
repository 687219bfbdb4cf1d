// Block and device algorithms of CUB: a large module of deeply inlined templates.
#include <cub/cub.cuh>

__global__ void scan_block(const int* in, int* out) {
  using block_scan = cub::BlockScan<int, 256>;
  __shared__ typename block_scan::TempStorage storage;
  int value;
  block_scan(storage).ExclusiveSum(in[threadIdx.x], value);
  out[threadIdx.x] = value;
}

void device_algorithms(int* ints, float* floats, size_t n) {
  size_t bytes = 0;
  cub::DeviceReduce::Sum(nullptr, bytes, ints, ints, n);
  cub::DeviceReduce::Max(nullptr, bytes, floats, floats, n);
  cub::DeviceScan::InclusiveSum(nullptr, bytes, ints, ints, n);
  cub::DeviceHistogram::HistogramEven(nullptr, bytes, floats, ints, 17, 0.0f, 1.0f,
                                      static_cast<int>(n));
  cub::DeviceRadixSort::SortKeys(nullptr, bytes, floats, floats, n);
}
