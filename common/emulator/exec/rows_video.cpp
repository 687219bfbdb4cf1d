// Video instructions: arithmetic on bytes, halves and words of 32-bit registers.
//
// idea    One row; what it does is in op::immediate (video.hpp). They are rare, so speed does not
//         matter. Not here: vavrg, byte masks and selectors of the SIMD forms.
// watch   For sm_90 ptxas makes the scalar ones of other instructions, in 64 bits, and these do
//         not always do what PTX says. What they do is right here: a comment that begins with
//         "Not as in PTX" marks each difference.
// source  PTX ISA 9.0, "Video Instructions"; the code of ptxas 13.0 for sm_90, run over random
//         operands in all forms. Tested by tests/opcodes/video.ptx and video_corners.ptx.
#include <algorithm>

#include "common/emulator/exec/rows.hpp"
#include "common/emulator/exec/video.hpp"

namespace stepwise::emulator {
namespace {

s64 part(u32 v, unsigned bits, unsigned index, bool is_signed) {
  const u64 field = (static_cast<u64>(v) >> (bits * index)) & ((u64{1} << bits) - 1);
  const unsigned unused = 64 - bits;
  return is_signed ? static_cast<s64>(field << unused) >> unused : static_cast<s64>(field);
}

s64 clamp(s64 v, unsigned bits, bool is_signed) {
  const s64 most = (s64{1} << (is_signed ? bits - 1 : bits)) - 1;
  return std::clamp(v, is_signed ? -most - 1 : s64{0}, most);
}

bool holds(video_relation r, s64 a, s64 b) {
  switch (r) {
    case video_relation::eq:
      return a == b;
    case video_relation::ne:
      return a != b;
    case video_relation::lt:
      return a < b;
    case video_relation::le:
      return a <= b;
    case video_relation::gt:
      return a > b;
    default:
      return a >= b;
  }
}

// Not as in PTX: a word of a, b or c is signed, whatever its type. Of unsigned operands the sum is
// unsigned only as it is scaled and saturated.
u32 multiply_add(const video_form& f, u32 a, u32 b, u32 c) {
  const s64 product = part(a, f.a.bits, f.a.index, f.a_signed || f.a.bits == 32) *
                      part(b, f.b.bits, f.b.index, f.b_signed || f.b.bits == 32);
  const s64 addend = part(c, 32, 0, true);
  const s64 sum = (f.negates_product ? -product : product) + (f.negates_c ? -addend : addend) +
                  (f.plus_one ? 1 : 0);
  const bool is_signed = f.a_signed || f.b_signed || f.negates_product || f.negates_c;
  const s64 scaled =
      is_signed ? sum >> f.scale : static_cast<s64>(static_cast<u64>(sum) >> f.scale);
  return static_cast<u32>(f.saturates ? clamp(scaled, 32, is_signed) : scaled);
}

s64 compute(const video_form& f, s64 a, s64 b) {
  // A shift by 32 clears a word, or leaves its sign.
  const auto amount = [&] { return f.wraps ? b & 31 : std::min<s64>(b, 32); };
  switch (f.operation) {
    case video_operation::add:
      return a + b;
    case video_operation::sub:
      return a - b;
    case video_operation::absdiff:
      return a < b ? b - a : a - b;
    case video_operation::min:
      return std::min(a, b);
    case video_operation::max:
      return std::max(a, b);
    case video_operation::shl:
      return static_cast<s64>(static_cast<u64>(a) << amount());
    case video_operation::shr:
      return a >> amount();
    default:
      return holds(f.relation, a, b);
  }
}

bool is_shift(video_operation o) { return o == video_operation::shl || o == video_operation::shr; }

s64 saturate(const video_form& f, s64 v) {
  // Not as in PTX: a shift keeps 34 bits, and a result for a part saturates as one for a word.
  if (is_shift(f.operation))
    return clamp(static_cast<s64>(static_cast<u64>(v) << 30) >> 30, 32, f.d_signed);
  if (f.d.bits != 32) {
    // Not as in PTX: a negative result becomes the largest, too.
    const s64 most = (s64{1} << (f.d_signed ? f.d.bits - 1 : f.d.bits)) - 1;
    return v < 0 ? most : std::min(v, most);
  }
  // Not as in PTX: an unsigned result that is too large is not changed.
  return f.d_signed ? clamp(v, 32, true) : std::max<s64>(v, 0);
}

u32 scalar(const video_form& f, u32 a, u32 b, u32 c) {
  if (f.operation == video_operation::mad) return multiply_add(f, a, b, c);
  s64 value = compute(f, part(a, f.a.bits, f.a.index, f.a_signed),
                      part(b, f.b.bits, f.b.index, f.b_signed));
  if (f.saturates) value = saturate(f, value);
  // Not as in PTX: some results are signed words from here on, so that, where the type is
  // unsigned, one of 2^31 or more is larger than any c.
  if (f.operation == video_operation::add || f.operation == video_operation::sub ||
      (is_shift(f.operation) && f.saturates))
    value = static_cast<s32>(value);
  const u32 word = static_cast<u32>(value);
  const s64 third = part(c, 32, 0, f.d_signed);
  const auto below = [&](s64 v, s64 w) {
    return f.d_signed ? v < w : static_cast<u64>(v) < static_cast<u64>(w);
  };
  switch (f.second) {
    case video_second::add:
      return word + c;
    case video_second::min:
      return below(value, third) ? word : c;
    case video_second::max:
      return below(third, value) ? word : c;
    case video_second::merge: {
      const unsigned place = f.d.bits * f.d.index;
      const u32 ones = static_cast<u32>((u64{1} << f.d.bits) - 1) << place;
      // Not as in PTX: the upper half comes from the result's upper half.
      const u32 moved = f.d.bits == 16 ? word : word << place;
      return (c & ~ones) | (moved & ones);
    }
    default:
      return word;
  }
}

u32 simd(const video_form& f, u32 a, u32 b, u32 c) {
  const unsigned bits = 32 / f.lanes;
  u32 packed = 0, sum = c;
  for (unsigned n = 0; n < f.lanes; ++n) {
    s64 value = compute(f, part(a, bits, n, f.a_signed), part(b, bits, n, f.b_signed));
    if (f.saturates) value = clamp(value, bits, f.d_signed);
    sum += static_cast<u32>(value);
    packed |= (static_cast<u32>(value) & ((1u << bits) - 1)) << (bits * n);
  }
  return f.second == video_second::add ? sum : packed;
}

const op* video(context& x, const op* i) {
  const video_form f = unpack_video(i->immediate);
  u32* d = x.row<u32>(i->d);
  const u32* a = x.row<u32>(i->a);
  const u32* b = x.row<u32>(i->b);
  const u32* c = x.row<u32>(i->c);
  for (u32 m = x.active; m != 0; m &= m - 1) {
    const int l = __builtin_ctz(m);
    d[l] = f.lanes == 1 ? scalar(f, a[l], b[l], c[l]) : simd(f, a[l], b[l], c[l]);
  }
  return i + 1;
}

}  // namespace

void video_rows(row_table& t) {
  using enum value_class;
  t.push_back({"<video>", &video, b32, b32, b32, b32});
}

}  // namespace stepwise::emulator
