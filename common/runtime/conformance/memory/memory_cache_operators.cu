// Loads and stores with every cache operator (__ldcg, __stwt ...), of every type that has them.
#include <cuda_fp16.h>

#include <cstring>

#include "common/emulator/tests/programs/program.hpp"

constexpr int loads = 6, stores = 4, lanes = 32;

// Value i of `from` by load l and store s goes to place (4 l + s) 32 + i.
template <class T>
__global__ void copy(const T* from, T* to) {
  const int i = threadIdx.x;
  const T values[loads] = {__ldg(from + i),  __ldca(from + i), __ldcg(from + i),
                           __ldcs(from + i), __ldlu(from + i), __ldcv(from + i)};
  for (int l = 0; l < loads; ++l) {
    T* const place = to + l * stores * lanes + i;
    __stwb(place, values[l]);
    __stcg(place + lanes, values[l]);
    __stcs(place + 2 * lanes, values[l]);
    __stwt(place + 3 * lanes, values[l]);
  }
}

template <class T>
bool copies() {
  std::vector<unsigned char> bytes(lanes * sizeof(T));
  for (std::size_t k = 0; k < bytes.size(); ++k)
    bytes[k] = static_cast<unsigned char>(1 + 37 * k + k / 61);
  device_array<unsigned char> from(bytes), to(bytes.size() * loads * stores);
  copy<<<1, lanes>>>(reinterpret_cast<const T*>(from.get()), reinterpret_cast<T*>(to.get()));
  finish();
  const std::vector<unsigned char> found = to.values();
  for (int k = 0; k < loads * stores; ++k)
    if (std::memcmp(found.data() + k * bytes.size(), bytes.data(), bytes.size()) != 0) return false;
  return true;
}

template <class... T>
std::vector<int> all_copies() {
  return {(copies<T>() ? 1 : 0)...};
}

int main() {
  const std::vector<int> done =
      all_copies<char, signed char, unsigned char, short, unsigned short, int, unsigned, long,
                 long long, unsigned long long, float, double, char2, uchar2, char4, uchar4, short2,
                 ushort2, short4, ushort4, int2, int4, uint2, uint4, longlong2, ulonglong2, float2,
                 float4, double2, half, half2>();
  return compare("cache operators, by type", done, std::vector<int>(done.size(), 1));
}
