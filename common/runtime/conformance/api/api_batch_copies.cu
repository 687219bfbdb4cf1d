// Many copies in one call, of all directions.
#include "common/emulator/tests/programs/program.hpp"

int main() {
  constexpr int count = 20, n = 300;
  std::vector<int> host(count * n), back(count * n);
  for (int i = 0; i < count * n; ++i) host[i] = 5 * i;
  int *first = nullptr, *second = nullptr;
  check(cudaMalloc(&first, count * n * sizeof(int)));
  check(cudaMalloc(&second, count * n * sizeof(int)));
  cudaStream_t stream;
  check(cudaStreamCreate(&stream));
  cudaMemcpyAttributes attributes[2] = {};
  attributes[0].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  attributes[1].srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
  // Piece k of a goes to piece count - 1 - k of b, if `reverse`.
  const auto copy_all = [&](int* to, const int* from, bool reverse) {
    std::vector<void*> destinations;
    std::vector<const void*> sources;
    std::vector<std::size_t> sizes(count, n * sizeof(int));
    for (int k = 0; k < count; ++k) {
      destinations.push_back(to + (reverse ? count - 1 - k : k) * n);
      sources.push_back(from + k * n);
    }
    std::size_t starts[] = {0, count / 2};
    check(cudaMemcpyBatchAsync(destinations.data(), sources.data(), sizes.data(), count, attributes,
                               starts, 2, stream));
    check(cudaStreamSynchronize(stream));
  };
  copy_all(first, host.data(), false);
  copy_all(second, first, true);
  copy_all(back.data(), second, false);
  std::vector<int> expected;
  for (int k = count - 1; k >= 0; --k) {
    expected.insert(expected.end(), host.begin() + k * n, host.begin() + (k + 1) * n);
  }
  check(cudaStreamDestroy(stream));
  check(cudaFree(first));
  check(cudaFree(second));
  return compare("batches of copies", back, expected);
}
