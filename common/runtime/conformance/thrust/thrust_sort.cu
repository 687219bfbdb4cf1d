// Thrust: sort with a comparison (merge sort), sort of pairs, unique.
#include <thrust/device_vector.h>
#include <thrust/sort.h>
#include <thrust/unique.h>

#include <algorithm>

#include "common/emulator/tests/programs/program.hpp"

struct by_last_digit {
  __host__ __device__ bool operator()(int a, int b) const {
    return a % 10 != b % 10 ? a % 10 < b % 10 : a < b;
  }
};

int main() {
  const int n = 5003;
  std::vector<int> values(n);
  for (int i = 0; i < n; ++i) values[i] = static_cast<int>((i * 2654435761u) >> 19);
  thrust::device_vector<int> d(values.begin(), values.end());
  thrust::sort(d.begin(), d.end(), by_last_digit{});
  std::vector<int> found(n);
  thrust::copy(d.begin(), d.end(), found.begin());
  std::sort(values.begin(), values.end(), by_last_digit{});
  int failed = compare("sorted", found, values);
  const auto end = thrust::unique(d.begin(), d.end());
  found.assign(end - d.begin(), 0);
  thrust::copy(d.begin(), end, found.begin());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  failed += compare("unique", found, values);
  return failed != 0;
}
