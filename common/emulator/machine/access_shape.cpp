// Computes addresses and compares their differences, by AVX-512 if possible. Finds runs of lanes.
#include "common/emulator/machine/access_shape.hpp"

#include <algorithm>
#include <bit>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace stepwise::emulator {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// address[l] = values[l] + immediate, wrapping as type A does. Not 0 if the distance from lane
// `first` to a lane of `active` differs from `offset`.
template <class A>
u64 add_in_loops(const A* values, A immediate, u64* address, const u64* offset, u32 first,
                 u32 active) {
  const u64 from = static_cast<A>(values[first] + immediate);
  u64 differ = 0;
  for (u32 l = 0; l < 32; ++l) {
    address[l] = static_cast<A>(values[l] + immediate);
    differ |= ((address[l] - from) ^ offset[l]) & (u64{0} - ((active >> l) & 1));
  }
  return differ;
}

#if defined(__x86_64__)
#define STEPWISE_AVX512 __attribute__((target("avx512f")))

STEPWISE_AVX512 inline __m512i added(const u64* values, u64 immediate) {
  return _mm512_add_epi64(_mm512_loadu_si512(values),
                          _mm512_set1_epi64(static_cast<long long>(immediate)));
}
STEPWISE_AVX512 inline __m512i added(const u32* values, u32 immediate) {
  const __m256i sum = _mm256_add_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(values)),
                                       _mm256_set1_epi32(static_cast<int>(immediate)));
  return _mm512_maskz_cvtepu32_epi64(0xff, sum);
}

template <class A>
STEPWISE_AVX512 u64 add_avx512(const A* values, A immediate, u64* address, const u64* offset,
                               u32 first, u32 active) {
  const auto from = static_cast<A>(values[first] + immediate);
  const __m512i start = _mm512_set1_epi64(static_cast<long long>(u64{from}));
  u32 differ = 0;
  for (u32 l = 0; l < 32; l += 8) {
    const __m512i at = added(values + l, immediate);
    _mm512_storeu_si512(address + l, at);
    differ |=
        _mm512_mask_cmpneq_epu64_mask(static_cast<__mmask8>(active >> l),
                                      _mm512_sub_epi64(at, start), _mm512_loadu_si512(offset + l));
  }
  return differ;
}
#undef STEPWISE_AVX512
#else
template <class A>
u64 add_avx512(const A* values, A immediate, u64* address, const u64* offset, u32 first,
               u32 active) {
  return add_in_loops(values, immediate, address, offset, first, active);
}
#endif

bool has_avx512() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f");
#else
  return false;
#endif
}

}  // namespace

access_shape::adder<u32>* const access_shape::add_u32 =
    has_avx512() ? &add_avx512<u32> : &add_in_loops<u32>;
access_shape::adder<u64>* const access_shape::add_u64 =
    has_avx512() ? &add_avx512<u64> : &add_in_loops<u64>;

void access_shape::describe(const u64* address, u32 now, unsigned bytes) {
  ++serial;
  active = now;
  lanes = static_cast<u32>(std::popcount(now));
  first = static_cast<u32>(std::countr_zero(now));
  u64 odd = 0;
  std::int64_t lowest = 0, highest = 0;
  for (unsigned l = 0; l < 32; ++l) {
    offset[l] = (address[l] - address[first]) & (u64{0} - ((now >> l) & 1));
    odd |= offset[l];
    lowest = std::min(lowest, static_cast<std::int64_t>(offset[l]));
    highest = std::max(highest, static_cast<std::int64_t>(offset[l]));
  }
  aligned = (odd & (bytes - 1)) == 0;
  low = static_cast<u64>(lowest);
  span = static_cast<u64>(highest) - low + bytes;

  find_runs(bytes);
  falling_runs = 0;
  if (runs == 0) find_falling_runs(bytes);
}

void access_shape::find_runs(unsigned bytes) {
  runs = 0;
  for (u32 left = active; left != 0;) {
    // Lanes at one place, or at consecutive ones.
    const auto begin = static_cast<unsigned>(std::countr_zero(left));
    unsigned end = begin + 1;
    const auto continues = [&](u64 step) {
      return end < 32 && ((left >> end) & 1) != 0 && offset[end] - offset[end - 1] == step;
    };
    const bool one_place = continues(0);
    while (continues(one_place ? 0 : bytes)) ++end;
    const u32 found = (~u32{0} >> (32 - (end - begin))) << begin;
    left &= ~found;
    const u32 count = one_place ? 1 : end - begin, at_first = one_place ? found : u32{1} << begin;
    // Earlier lanes may have had the same places.
    lane_run* const end_of_runs = run + runs;
    lane_run* const known = std::find_if(run, end_of_runs, [&](const lane_run& r) {
      return r.offset == offset[begin] && r.count == count;
    });
    if (known != end_of_runs) {
      known->lanes |= found;
      known->first_lanes |= at_first;
    } else if (runs == most_runs) {
      runs = 0;
      return;
    } else {
      run[runs++] = {offset[begin], found, at_first, count};
    }
  }
}

void access_shape::find_falling_runs(unsigned bytes) {
  for (u32 left = active; left != 0;) {
    const auto begin = static_cast<unsigned>(std::countr_zero(left));
    unsigned end = begin + 1;
    while (end < 32 && ((left >> end) & 1) != 0 && offset[end - 1] - offset[end] == bytes) ++end;
    if (falling_runs == most_runs) {
      falling_runs = 0;
      return;
    }
    const u32 found = (~u32{0} >> (32 - (end - begin))) << begin;
    left &= ~found;
    falling[falling_runs++] = {offset[end - 1], found, u32{1} << (end - 1), end - begin};
  }
}

}  // namespace stepwise::emulator
