// Groups of cells by AVX-512: of what is remembered, only what matters is read.
#include "common/emulator/check/cell_groups.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#define STEPWISE_AVX512 __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq")))

namespace stepwise::emulator {
namespace {

using u32 = std::uint32_t;
static_assert(cell_group::size == 16);

STEPWISE_AVX512 inline __m512i all(u32 value) { return _mm512_set1_epi32(static_cast<int>(value)); }
STEPWISE_AVX512 inline __m512i get(const cell_group::field& f) { return _mm512_loadu_si512(f); }

// Shifts of 32-bit fields, without the intrinsics of which GCC 12 says that they use what nobody
// set (its bug 105593).
STEPWISE_AVX512 inline __m512i left(__m512i v, __m512i by) {
  return reinterpret_cast<__m512i>(reinterpret_cast<__v16su>(v) << reinterpret_cast<__v16su>(by));
}
STEPWISE_AVX512 inline __m512i right(__m512i v, u32 by) {
  return reinterpret_cast<__m512i>(reinterpret_cast<__v16su>(v) >> by);
}

// Each cell's place in the row.
STEPWISE_AVX512 inline __m512i places_of(const row_part& p) {
  const __m512i in_order = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return right(_mm512_add_epi32(in_order, all(p.before)), p.shift);
}

// Of the cells `which`: whose access at a time t, by `warp`, is not ordered before the accessor.
STEPWISE_AVX512 inline __mmask16 unsettled(__mmask16 which, __m512i t, __m512i warp,
                                           const accessor& a) {
  const __mmask16 late = _mm512_mask_cmpge_epu32_mask(which, t, all(a.settled));
  if (late == 0) return 0;
  const __mmask16 before_barrier = _mm512_mask_cmplt_epu32_mask(late, t, all(a.block_settled));
  const __mmask16 of_launch = _mm512_mask_cmpge_epu32_mask(before_barrier, t, all(a.launch));
  const __mmask16 in_block = _mm512_mask_cmplt_epu32_mask(
      of_launch, _mm512_sub_epi32(warp, all(a.first_warp)), all(a.block_warps));
  return static_cast<__mmask16>(late & ~in_block);
}

STEPWISE_AVX512 bool load_is_open(const cell_group& g, const row_part& p, const accessor& a) {
  const __m512i time = get(g.write_time);
  const __mmask16 late =
      _mm512_mask_cmpge_epu32_mask(static_cast<__mmask16>(p.inside), time, all(a.settled));
  if (late == 0) return false;
  const __m512i writer = get(g.writer);
  const __mmask16 open = unsettled(late, time, right(writer, 5), a);
  if (open == 0) return false;
  if (p.thread == row_part::nobody) return true;
  const __m512i threads = _mm512_add_epi32(all(p.thread), places_of(p));
  const __mmask16 own = _mm512_mask_cmpeq_epu32_mask(open, writer, threads);
  return (open & ~_mm512_mask_cmpge_epu32_mask(own, time, all(a.launch))) != 0;
}

STEPWISE_AVX512 void note_load_of(cell_group& g, const row_part& p, const accessor& a) {
  const auto inside = static_cast<__mmask16>(p.inside);
  const __m512i time = get(g.read_time), reader = get(g.reader);
  const __mmask16 own = _mm512_mask_cmpeq_epu32_mask(inside, reader, all(a.warp));
  const __mmask16 others = unsettled(static_cast<__mmask16>(inside & ~own), time, reader, a);
  if (others != 0) {
    const __m512i older = get(g.older_reader);
    const __mmask16 tells = unsettled(others, get(g.older_time), older, a) &
                            static_cast<__mmask16>(~_mm512_cmpeq_epu32_mask(older, all(a.warp)));
    if (const auto back = static_cast<__mmask16>(others & ~tells); back != 0) {
      _mm512_mask_storeu_epi32(g.older_time, back, time);
      _mm512_mask_storeu_epi32(g.older_reader, back, reader);
      _mm512_mask_storeu_epi32(g.older_lanes, back, get(g.read_lanes));
      _mm512_mask_storeu_epi32(g.older_site, back, get(g.read_site));
    }
  }
  __m512i lanes = left(all(p.first_lanes), _mm512_and_epi32(places_of(p), all(31)));
  if (const __mmask16 again = _mm512_mask_cmpeq_epu32_mask(own, time, all(a.now)); again != 0)
    lanes = _mm512_mask_or_epi32(lanes, again, lanes, get(g.read_lanes));
  _mm512_mask_storeu_epi32(g.read_lanes, inside, lanes);
  _mm512_mask_storeu_epi32(g.read_time, inside, all(a.now));
  _mm512_mask_storeu_epi32(g.reader, inside, all(a.warp));
  _mm512_mask_storeu_epi32(g.read_site, inside, all(a.site));
}

STEPWISE_AVX512 bool store_is_open(const cell_group& g, const row_part& p, const accessor& a) {
  if (load_is_open(g, p, a)) return true;
  const auto inside = static_cast<__mmask16>(p.inside);
  const __m512i time = get(g.read_time), reader = get(g.reader);
  if (const __mmask16 open = unsettled(inside, time, reader, a); open != 0) {
    const __m512i lanes = left(all(p.first_lanes), _mm512_and_epi32(places_of(p), all(31)));
    const __mmask16 own = _mm512_mask_cmpeq_epu32_mask(
        _mm512_mask_cmpeq_epu32_mask(open, reader, all(a.warp)), get(g.read_lanes), lanes);
    if ((open & ~_mm512_mask_cmpge_epu32_mask(own, time, all(a.launch))) != 0) return true;
  }
  return unsettled(inside, get(g.older_time), get(g.older_reader), a) != 0;
}

STEPWISE_AVX512 void note_store_of(cell_group& g, const row_part& p, const accessor& a) {
  const auto inside = static_cast<__mmask16>(p.inside);
  _mm512_mask_storeu_epi32(g.write_time, inside, all(a.now));
  _mm512_mask_storeu_epi32(g.writer, inside, _mm512_add_epi32(all(p.thread), places_of(p)));
  _mm512_mask_storeu_epi32(g.write_site, inside, all(a.site));
}

}  // namespace

const group_functions* groups_by_avx512() {
  static constexpr group_functions wide{&load_is_open, &note_load_of, &store_is_open,
                                        &note_store_of};
  __builtin_cpu_init();
  const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                   __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
  return has ? &wide : nullptr;
}

}  // namespace stepwise::emulator

#else

namespace stepwise::emulator {

const group_functions* groups_by_avx512() { return nullptr; }

}  // namespace stepwise::emulator

#endif
