// Operations on groups of cells and on scattered cells, by AVX-512. They read only those fields of
// the cells that matter.
#include "common/emulator/check/cells.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#define STEPWISE_AVX512 __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq")))

namespace stepwise::emulator {
namespace {

using u32 = std::uint32_t;
static_assert(cell_group::size == 16);

STEPWISE_AVX512 inline __m512i all(u32 value) { return _mm512_set1_epi32(static_cast<int>(value)); }
STEPWISE_AVX512 inline __m512i get(const cell_group::field& f) { return _mm512_loadu_si512(f); }

// Shifts of 32-bit fields. They avoid intrinsics for which GCC 12 reports uninitialised values (GCC
// bug 105593).
STEPWISE_AVX512 inline __m512i left(__m512i v, __m512i by) {
  return reinterpret_cast<__m512i>(reinterpret_cast<__v16su>(v) << reinterpret_cast<__v16su>(by));
}
STEPWISE_AVX512 inline __m512i rotated_left(__m512i v, __m512i by) {
  return _mm512_maskz_rolv_epi32(0xffff, v, by);
}
STEPWISE_AVX512 inline __m512i right(__m512i v, u32 by) {
  return reinterpret_cast<__m512i>(reinterpret_cast<__v16su>(v) >> by);
}

// Each cell's place in the row, negated if the row's lanes fall.
STEPWISE_AVX512 inline __m512i places_of(const row_part& p) {
  const __m512i in_order = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m512i places = right(_mm512_add_epi32(in_order, all(p.before)), p.shift);
  return p.step == 1 ? places : _mm512_sub_epi32(all(0), places);
}

// The cells in `which` whose access, at a time t by `warp`, is not ordered before the accessor.
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

// Selects accesses by the accessor's warp: those by the same thread or lanes, and those made before
// the warp's lanes last met.
STEPWISE_AVX512 inline __mmask16 of_own_or_met(__mmask16 in_warp, __m512i time, __m512i who,
                                               __m512i own, const accessor& a) {
  return static_cast<__mmask16>(_mm512_mask_cmpeq_epu32_mask(in_warp, who, own) |
                                _mm512_mask_cmplt_epu32_mask(in_warp, time, all(a.met)));
}

// The cells in `late` whose last write is neither ordered before the accessor nor by its own
// thread, or may not have finished. `late`: the last write is not before writes_settled.
STEPWISE_AVX512 inline __mmask16 open_writes(__mmask16 late, __m512i time, __m512i writer,
                                             __m512i threads, const accessor& a) {
  const __mmask16 open = unsettled(late, time, right(writer, 5), a) |
                         _mm512_mask_cmpge_epu32_mask(late, time, all(a.copies_known));
  const __mmask16 in_warp = _mm512_mask_cmpeq_epu32_mask(open, right(writer, 5), all(a.warp));
  const __mmask16 own = _mm512_mask_cmplt_epu32_mask(
      of_own_or_met(in_warp, time, writer, threads, a), time, all(a.own_copies_known));
  return static_cast<__mmask16>(open & ~_mm512_mask_cmpge_epu32_mask(own, time, all(a.launch)));
}

STEPWISE_AVX512 bool load_is_open(const cell_group& g, const row_part& p, const accessor& a) {
  const __m512i time = get(g.write_time);
  const __mmask16 late =
      _mm512_mask_cmpge_epu32_mask(static_cast<__mmask16>(p.inside), time, all(a.writes_settled()));
  if (late == 0) return false;
  const __m512i threads = p.thread == row_part::no_thread
                              ? all(row_part::no_thread)
                              : _mm512_add_epi32(all(p.thread), places_of(p));
  return open_writes(late, time, get(g.writer), threads, a) != 0;
}

STEPWISE_AVX512 void note_load_of(cell_group& g, const row_part& p, const accessor& a) {
  const auto inside = static_cast<__mmask16>(p.inside);
  const __m512i time = get(g.read_time), reader = get(g.reader);
  const __mmask16 own = _mm512_mask_cmpeq_epu32_mask(inside, reader, all(a.warp));
  const __mmask16 others = unsettled(static_cast<__mmask16>(inside & ~own), time, reader, a);
  if (others != 0) {
    const __m512i older = get(g.older_reader);
    const __mmask16 known = unsettled(others, get(g.older_time), older, a) &
                            static_cast<__mmask16>(~_mm512_cmpeq_epu32_mask(older, all(a.warp)));
    if (const auto back = static_cast<__mmask16>(others & ~known); back != 0) {
      _mm512_mask_storeu_epi32(g.older_time, back, time);
      _mm512_mask_storeu_epi32(g.older_reader, back, reader);
      _mm512_mask_storeu_epi32(g.older_lanes, back, get(g.read_lanes));
      _mm512_mask_storeu_epi32(g.older_site, back, get(g.read_site));
    }
  }
  __m512i lanes = rotated_left(all(p.first_lanes), places_of(p));
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
    const __m512i lanes = rotated_left(all(p.first_lanes), places_of(p));
    const __mmask16 own = of_own_or_met(_mm512_mask_cmpeq_epu32_mask(open, reader, all(a.warp)),
                                        time, get(g.read_lanes), lanes, a);
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

// --- scattered cells ---------------------------------------------------------------------------

// The cells of sixteen lanes, of which those in `on` count. `low` and `high` are their distances
// from the first group, in 32-bit words.
struct apart {
  __mmask16 on;
  __m512i low, high;
};

STEPWISE_AVX512 inline __m512i word_of(const std::uint64_t* cell_numbers) {
  static_assert(sizeof(cell_group) == (16 + 128 + 32) * sizeof(u32));
  const auto number = reinterpret_cast<__v8du>(_mm512_loadu_si512(cell_numbers));
  const __v8du group = number >> 4;
  return reinterpret_cast<__m512i>(number + (group << 7) + (group << 5));
}

// Gathers a field of those cells, without the intrinsics that GCC warns about.
STEPWISE_AVX512 inline __m512i gather(const u32* field, __mmask16 on, const apart& p) {
  const __m256i none = _mm256_setzero_si256();
  const __m256i low = _mm512_mask_i64gather_epi32(none, static_cast<__mmask8>(on), p.low, field, 4);
  const __m256i high =
      _mm512_mask_i64gather_epi32(none, static_cast<__mmask8>(on >> 8), p.high, field, 4);
  return _mm512_maskz_inserti64x4(0xff, _mm512_castsi256_si512(low), high, 1);
}

STEPWISE_AVX512 inline void scatter(u32* field, __mmask16 on, const apart& p, __m512i values) {
  _mm512_mask_i64scatter_epi32(field, static_cast<__mmask8>(on), p.low,
                               _mm512_maskz_extracti64x4_epi64(0xf, values, 0), 4);
  _mm512_mask_i64scatter_epi32(field, static_cast<__mmask8>(on >> 8), p.high,
                               _mm512_maskz_extracti64x4_epi64(0xf, values, 1), 4);
}

STEPWISE_AVX512 inline __m512i lanes_from(u32 first) {
  const __m512i in_order = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return _mm512_add_epi32(all(first), in_order);
}

// The cells of lanes `first` to `first` + 15. Their groups are stored in full from now on.
STEPWISE_AVX512 inline apart apart_of(const cells& c, const std::uint64_t* at, u32 lanes,
                                      u32 first) {
  const auto on = static_cast<__mmask16>(lanes >> first);
  for (u32 m = on; m != 0; m &= m - 1) {
    const std::size_t group = at[first + static_cast<u32>(__builtin_ctz(m))] / cell_group::size;
    if (c.summaries[group].is_spread == 0) c.spread(group);
  }
  return {on, word_of(at + first), word_of(at + first + 8)};
}

STEPWISE_AVX512 inline __mmask16 open_stores_before(const cell_group& g, u32 k, const apart& p,
                                                    u32 first, const accessor& a) {
  const __m512i time = gather(g.write_time + k, p.on, p);
  const __mmask16 late = _mm512_mask_cmpge_epu32_mask(p.on, time, all(a.writes_settled()));
  if (late == 0) return 0;
  return open_writes(late, time, gather(g.writer + k, late, p), lanes_from(a.warp * 32 + first), a);
}

STEPWISE_AVX512 inline __mmask16 open_loads_before(const cell_group& g, u32 k, const apart& p,
                                                   u32 first, const accessor& a) {
  const __m512i older = gather(g.older_time + k, p.on, p);
  __mmask16 open = _mm512_mask_cmpge_epu32_mask(p.on, older, all(a.settled));
  if (open != 0) open = unsettled(open, older, gather(g.older_reader + k, open, p), a);
  const __m512i time = gather(g.read_time + k, p.on, p);
  __mmask16 late = _mm512_mask_cmpge_epu32_mask(p.on, time, all(a.settled));
  if (late == 0) return open;
  const __m512i reader = gather(g.reader + k, late, p);
  late = unsettled(late, time, reader, a);
  if (late == 0) return open;
  const __m512i bits = left(all(1), lanes_from(first));
  const __mmask16 own = of_own_or_met(_mm512_mask_cmpeq_epu32_mask(late, reader, all(a.warp)), time,
                                      gather(g.read_lanes + k, late, p), bits, a);
  return static_cast<__mmask16>(open |
                                (late & ~_mm512_mask_cmpge_epu32_mask(own, time, all(a.launch))));
}

STEPWISE_AVX512 inline void note_loads(cell_group& g, u32 k, const apart& p, __mmask16 on,
                                       u32 first, const accessor& a) {
  const __m512i time = gather(g.read_time + k, on, p), reader = gather(g.reader + k, on, p);
  const __mmask16 own = _mm512_mask_cmpeq_epu32_mask(on, reader, all(a.warp));
  const __mmask16 others = unsettled(static_cast<__mmask16>(on & ~own), time, reader, a);
  if (others != 0) {
    const __m512i older = gather(g.older_reader + k, others, p);
    const __mmask16 known = unsettled(others, gather(g.older_time + k, others, p), older, a) &
                            static_cast<__mmask16>(~_mm512_cmpeq_epu32_mask(older, all(a.warp)));
    if (const auto back = static_cast<__mmask16>(others & ~known); back != 0) {
      scatter(g.older_time + k, back, p, time);
      scatter(g.older_reader + k, back, p, reader);
      scatter(g.older_lanes + k, back, p, gather(g.read_lanes + k, back, p));
      scatter(g.older_site + k, back, p, gather(g.read_site + k, back, p));
    }
  }
  const __m512i bits = left(all(1), lanes_from(first));
  const __mmask16 again = _mm512_mask_cmpeq_epu32_mask(own, time, all(a.now));
  __m512i lanes = bits;
  if (again != 0)
    lanes = _mm512_mask_or_epi32(lanes, again, lanes, gather(g.read_lanes + k, again, p));
  scatter(g.read_lanes + k, on, p, lanes);
  if (again != on) {
    scatter(g.read_time + k, on, p, all(a.now));
    scatter(g.reader + k, on, p, all(a.warp));
  }
  scatter(g.read_site + k, on, p, all(a.site));
  // If several lanes load one cell, only the last lane's bit was noted.
  const __m512i noted = gather(g.read_lanes + k, on, p);
  for (u32 m = _mm512_mask_testn_epi32_mask(on, noted, bits); m != 0; m &= m - 1) {
    const auto lane = static_cast<u32>(__builtin_ctz(m));
    alignas(64) std::uint64_t words[16];
    _mm512_store_si512(words, p.low);
    _mm512_store_si512(words + 8, p.high);
    (g.read_lanes + k)[words[lane]] |= 1u << (first + lane);
  }
}

STEPWISE_AVX512 u32 load_lanes_of(const cells& c, const std::uint64_t* at, unsigned per_lane,
                                  u32 lanes, const accessor& given) {
  const accessor a = given;
  cell_group& g = *c.groups;
  u32 rest = 0;
  for (u32 first = 0; first < 32; first += 16) {
    const apart p = apart_of(c, at, lanes, first);
    if (p.on == 0) continue;
    __mmask16 open = 0;
    for (u32 k = 0; k < per_lane; ++k) open |= open_stores_before(g, k, p, first, a);
    rest |= u32{open} << first;
    const auto on = static_cast<__mmask16>(p.on & ~open);
    for (u32 k = 0; k < per_lane; ++k) note_loads(g, k, p, on, first, a);
  }
  return rest;
}

STEPWISE_AVX512 u32 store_lanes_of(const cells& c, const std::uint64_t* at, unsigned per_lane,
                                   u32 lanes, const accessor& given) {
  const accessor a = given;
  cell_group& g = *c.groups;
  u32 rest = 0;
  for (u32 first = 0; first < 32; first += 16) {
    const apart p = apart_of(c, at, lanes, first);
    if (p.on == 0) continue;
    __mmask16 open = 0;
    for (u32 k = 0; k < per_lane; ++k)
      open |= open_stores_before(g, k, p, first, a) | open_loads_before(g, k, p, first, a);
    const auto on = static_cast<__mmask16>(p.on & ~open);
    const __m512i threads = lanes_from(a.warp * 32 + first);
    for (u32 k = 0; k < per_lane; ++k) {
      scatter(g.write_time + k, on, p, all(a.now));
      scatter(g.writer + k, on, p, threads);
      scatter(g.write_site + k, on, p, all(a.site));
    }
    // If several lanes store to one cell, the first lane is recorded, and the others are open.
    const __mmask16 lost = _mm512_mask_cmpneq_epu32_mask(on, gather(g.writer, on, p), threads);
    if (lost != 0) {
      for (u32 lane = first + 16; lane-- > first;)
        for (unsigned k = 0; k < per_lane && ((on >> (lane - first)) & 1) != 0; ++k)
          c[at[lane] + k].writer() = a.warp * 32 + lane;
      open |= _mm512_mask_cmpneq_epu32_mask(on, gather(g.writer, on, p), threads);
    }
    rest |= u32{open} << first;
  }
  return rest;
}

bool has_avx512() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
}

}  // namespace

const group_functions* groups_by_avx512() {
  static constexpr group_functions wide{&load_is_open, &note_load_of, &store_is_open,
                                        &note_store_of};
  return has_avx512() ? &wide : nullptr;
}

const lane_functions* lanes_by_avx512() {
  static constexpr lane_functions wide{&load_lanes_of, &store_lanes_of};
  return has_avx512() ? &wide : nullptr;
}

}  // namespace stepwise::emulator

#else

namespace stepwise::emulator {

const group_functions* groups_by_avx512() { return nullptr; }
const lane_functions* lanes_by_avx512() { return nullptr; }

}  // namespace stepwise::emulator

#endif
