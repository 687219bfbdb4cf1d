// cub::DeviceSelect and DeviceRunLengthEncode: what is kept stays in order.
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_select.cuh>

#include "common/runtime/conformance/cub_buffer.hpp"

struct is_odd {
  __host__ __device__ bool operator()(int v) const { return v & 1; }
};

int main() {
  const int n = 20011;
  std::vector<int> in(n), odd, runs, lengths;
  for (int i = 0; i < n; ++i) {
    in[i] = static_cast<int>((i / 7 * 2654435761u) >> 29);
    if (in[i] & 1) odd.push_back(in[i]);
    if (runs.empty() || runs.back() != in[i]) {
      runs.push_back(in[i]);
      lengths.push_back(0);
    }
    ++lengths.back();
  }
  device_array<int> d_in(in), out(n), counts(n), number(1);
  with_temporary_memory([&](void* memory, std::size_t& bytes) {
    return cub::DeviceSelect::If(memory, bytes, d_in.get(), out.get(), number.get(), n, is_odd{});
  });
  int failed = compare("number", number.values(), std::vector<int>{static_cast<int>(odd.size())});
  std::vector<int> found = out.values();
  found.resize(odd.size());
  failed += compare("selected", found, odd);
  with_temporary_memory([&](void* memory, std::size_t& bytes) {
    return cub::DeviceRunLengthEncode::Encode(memory, bytes, d_in.get(), out.get(), counts.get(),
                                              number.get(), n);
  });
  failed += compare("runs", number.values(), std::vector<int>{static_cast<int>(runs.size())});
  found = out.values();
  found.resize(runs.size());
  failed += compare("values of runs", found, runs);
  found = counts.values();
  found.resize(runs.size());
  return failed + compare("lengths", found, lengths) ? 1 : 0;
}
