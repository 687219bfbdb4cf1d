// cub::DeviceRadixSort: pairs of keys and values, a size for one block and one for the passes over
// the whole array.
#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <numeric>

#include "common/runtime/conformance/cub_buffer.hpp"

int main() {
  int failed = 0;
  for (const int n : {300, 50000}) {
    std::vector<unsigned> keys(n);
    std::vector<int> values(n), order(n);
    for (int i = 0; i < n; ++i) keys[i] = (i * 2654435761u) >> 8 ^ (i * 40503u);
    std::iota(values.begin(), values.end(), 0);
    device_array<unsigned> k(keys), k_sorted(n);
    device_array<int> v(values), v_sorted(n);
    with_temporary_memory([&](void* memory, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortPairs(memory, bytes, k.get(), k_sorted.get(), v.get(),
                                             v_sorted.get(), n);
    });
    order = values;
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[a] < keys[b]; });
    std::vector<unsigned> want(n);
    for (int i = 0; i < n; ++i) want[i] = keys[order[i]];
    failed += compare("keys", k_sorted.values(), want);
    failed += compare("values", v_sorted.values(), order);
  }
  return failed != 0;
}
