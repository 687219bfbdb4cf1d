// cub::DeviceReduce: sum, maximum and its place, at sizes around the limits of one tile.
#include <cub/device/device_reduce.cuh>

#include "common/runtime/conformance/cub_buffer.hpp"

int main() {
  int failed = 0;
  for (const int n : {1, 31, 1000, 100003}) {
    std::vector<int> in(n);
    long long sum = 0;
    for (int i = 0; i < n; ++i) sum += in[i] = static_cast<int>((i * 2654435761u) >> 20) - 2000;
    device_array<int> d_in(in);
    device_array<long long> d_sum(1);
    device_array<int> most(1);
    with_temporary_memory([&](void* memory, std::size_t& bytes) {
      return cub::DeviceReduce::Reduce(
          memory, bytes, d_in.get(), d_sum.get(), n,
          [] __host__ __device__(long long a, long long b) { return a + b; }, 0LL);
    });
    with_temporary_memory([&](void* memory, std::size_t& bytes) {
      return cub::DeviceReduce::Max(memory, bytes, d_in.get(), most.get(), n);
    });
    failed += compare("sum", d_sum.values(), std::vector<long long>{sum});
    failed += compare("maximum", most.values(),
                      std::vector<int>{*std::max_element(in.begin(), in.end())});
  }
  return failed != 0;
}
