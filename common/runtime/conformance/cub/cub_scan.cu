// cub::DeviceScan, whose blocks look back at what earlier blocks have summed: sums, and a maximum.
#include <cub/device/device_scan.cuh>

#include "common/runtime/conformance/cub_buffer.hpp"

int main() {
  int failed = 0;
  for (const int n : {1, 257, 60001}) {
    std::vector<int> in(n), want_sum(n), want_most(n);
    int sum = 0, most = -5000;
    for (int i = 0; i < n; ++i) {
      in[i] = static_cast<int>((i * 2654435761u) >> 20) - 2000;
      want_sum[i] = sum;
      sum += in[i];
      want_most[i] = most = std::max(most, in[i]);
    }
    device_array<int> d_in(in), out(n);
    with_temporary_memory([&](void* memory, std::size_t& bytes) {
      return cub::DeviceScan::ExclusiveSum(memory, bytes, d_in.get(), out.get(), n);
    });
    failed += compare("exclusive sum", out.values(), want_sum);
    with_temporary_memory([&](void* memory, std::size_t& bytes) {
      return cub::DeviceScan::InclusiveScan(memory, bytes, d_in.get(), out.get(), cuda::maximum<>{},
                                            n);
    });
    failed += compare("inclusive maximum", out.values(), want_most);
  }
  return failed != 0;
}
