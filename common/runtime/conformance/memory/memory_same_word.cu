// Lanes of a warp that store to one word: any value may stay, and programs see the one that
// hardware keeps. On an H100 128 bytes of lanes are stored together, of which the lowest lane's
// value stays.
#include <algorithm>

#include "common/emulator/tests/programs/program.hpp"

constexpr int lanes = 32, most_words = 3;

template <class T>
__global__ void store(T* global, T* from_shared, unsigned active, int words) {
  __shared__ T shared[most_words];
  const int lane = threadIdx.x;
  T value = {};
  *reinterpret_cast<short*>(&value) = static_cast<short>(lane + 1);
  if (lane < words) shared[lane] = T{};
  __syncthreads();
  if ((active >> lane & 1) != 0) {
    global[lane % words] = value;
    shared[lane % words] = value;
  }
  __syncthreads();
  if (lane < words) from_shared[lane] = shared[lane];
}

template <class T>
void try_type(std::vector<int>& found, std::vector<int>& expected) {
  for (int words = 1; words <= most_words; ++words) {
    for (const unsigned active : {~0u, 0xf0u, 0x80010000u, 0x12345678u, 0xffffu, 0xff00ffu, 0x7u}) {
      const device_array<T> global(most_words), shared(most_words);
      store<<<1, lanes>>>(global.get(), shared.get(), active, words);
      finish();
      std::vector<int> stays(most_words);
      constexpr int together = std::min<int>(128 / sizeof(T), lanes);
      for (int first = 0; first < lanes; first += together)
        for (int lane = first + together - 1; lane >= first; --lane)
          if ((active >> lane & 1) != 0) stays[lane % words] = lane + 1;
      for (const std::vector<T>& values : {global.values(), shared.values()}) {
        for (const T& v : values) found.push_back(*reinterpret_cast<const short*>(&v));
        expected.insert(expected.end(), stays.begin(), stays.end());
      }
    }
  }
}

int main() {
  std::vector<int> found, expected;
  try_type<int>(found, expected);
  try_type<int2>(found, expected);
  try_type<int4>(found, expected);
  try_type<short2>(found, expected);
  try_type<double>(found, expected);
  return compare("stores to one word", found, expected);
}
