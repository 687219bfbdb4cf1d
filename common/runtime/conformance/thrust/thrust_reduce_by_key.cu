// Thrust: reduce_by_key, transform_reduce over a zip of iterators, inclusive scan, gather.
#include <thrust/device_vector.h>
#include <thrust/gather.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/transform_reduce.h>

#include "common/emulator/tests/programs/program.hpp"

struct square {
  __host__ __device__ long long operator()(int v) const { return 1LL * v * v; }
};

int main() {
  const int n = 6000;
  std::vector<int> keys(n), values(n), want_keys, want_sums;
  for (int i = 0; i < n; ++i) {
    keys[i] = i * i / 90000;
    values[i] = static_cast<int>((i * 2654435761u) >> 24);
    if (want_keys.empty() || want_keys.back() != keys[i]) {
      want_keys.push_back(keys[i]);
      want_sums.push_back(0);
    }
    want_sums.back() += values[i];
  }
  thrust::device_vector<int> k(keys.begin(), keys.end()), v(values.begin(), values.end());
  thrust::device_vector<int> out_keys(n), out_sums(n);
  const auto ends =
      thrust::reduce_by_key(k.begin(), k.end(), v.begin(), out_keys.begin(), out_sums.begin());
  std::vector<int> found_keys(ends.first - out_keys.begin()), found_sums(found_keys.size());
  thrust::copy(out_keys.begin(), ends.first, found_keys.begin());
  thrust::copy(out_sums.begin(), ends.second, found_sums.begin());
  int failed = compare("keys", found_keys, want_keys) + compare("sums", found_sums, want_sums);

  const auto from = thrust::counting_iterator<int>(0);
  const long long squares =
      thrust::transform_reduce(from, from + 3001, square{}, 0LL, thrust::plus<long long>());
  failed += compare("sum of squares", std::vector<long long>{squares},
                    std::vector<long long>{3000LL * 3001 * 6001 / 6});

  thrust::inclusive_scan(v.begin(), v.end(), out_sums.begin());
  std::vector<int> found(n), want(n);
  thrust::copy(out_sums.begin(), out_sums.end(), found.begin());
  for (int i = 0, sum = 0; i < n; ++i) want[i] = sum += values[i];
  return failed + compare("scan", found, want) ? 1 : 0;
}
