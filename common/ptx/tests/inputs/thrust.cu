// Thrust's sorts and scans.
#include <thrust/device_ptr.h>
#include <thrust/scan.h>
#include <thrust/sort.h>

void sort_and_scan(float* floats, int* ints, int n) {
  const thrust::device_ptr<float> f(floats);
  const thrust::device_ptr<int> i(ints);
  thrust::sort(f, f + n);
  thrust::sort_by_key(i, i + n, f);
  thrust::stable_sort(i, i + n, thrust::greater<int>());
  thrust::inclusive_scan(f, f + n, f);
}
