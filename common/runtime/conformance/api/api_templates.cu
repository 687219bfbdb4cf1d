// The same template instantiated in two files, and kernels and variables of one name with internal
// linkage.
#include "api_templates.hpp"
#include "common/emulator/tests/programs/program.hpp"

static __device__ int own = 1000;
static __global__ void add_own(int* place) { *place += own; }

int main() {
  const int n = 100;
  std::vector<float> values(n), expected;
  for (int i = 0; i < n; ++i) values[i] = static_cast<float>(i);
  device_array<float> data(values);
  device_array<double> wide(std::vector<double>(n, 0.5));
  device_array<int> marks(2);
  scale<float><<<4, 32>>>(data.get(), n, 2.0f);
  scale_elsewhere(data.get(), n, 3.0f);
  scale<double><<<4, 32>>>(wide.get(), n, 4.0);
  mark<<<1, 1>>>(marks.get(), 11);
  add_own<<<1, 1>>>(marks.get());
  mark_elsewhere(marks.get() + 1);
  finish();
  std::vector<float> found = data.values();
  for (int i = 0; i < n; ++i) expected.push_back((2.0f * i + 1) * 3 + 1);
  for (const double w : wide.values()) found.push_back(static_cast<float>(w));
  expected.insert(expected.end(), n, 3.0f);
  for (const int m : marks.values()) found.push_back(static_cast<float>(m));
  expected.push_back(1011);
  expected.push_back(2022);
  cudaFuncAttributes attributes;
  check(cudaFuncGetAttributes(&attributes, scale_of_elsewhere()));
  found.push_back(static_cast<float>(attributes.maxThreadsPerBlock));
  expected.push_back(1024);
  return compare("templates of several files", found, expected);
}
