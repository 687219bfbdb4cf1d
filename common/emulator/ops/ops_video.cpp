// Video instructions: arithmetic on bytes, halves and words of 32-bit registers, in a wider type.
//
// idea    There is one op, and op::immediate encodes the instruction (video.hpp). These
//         instructions are rare, so speed does not matter. Not implemented: vmad, vavrg, merges,
//         minima and maxima as second operation, byte masks and selectors of the SIMD forms.
// source  PTX ISA 9.0, "Video Instructions". Tested by tests/opcodes/video.ptx.
#include <algorithm>

#include "common/emulator/machine/video.hpp"
#include "common/emulator/ops/ops.hpp"

namespace stepwise::emulator {
namespace {

using wide = __int128;

wide part(u32 v, unsigned bits, unsigned index, bool is_signed) {
  const u64 field = (static_cast<u64>(v) >> (bits * index)) & ((u64{1} << bits) - 1);
  const unsigned unused = 64 - bits;
  return is_signed ? wide{static_cast<s64>(field << unused) >> unused} : wide{field};
}

wide clamp(wide v, unsigned bits, bool is_signed) {
  const wide most = (wide{1} << (is_signed ? bits - 1 : bits)) - 1;
  return std::clamp(v, is_signed ? -most - 1 : wide{0}, most);
}

bool holds(video_relation r, wide a, wide b) {
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

wide compute(const video_form& f, wide a, wide b) {
  // A shift by 32 clears a word, or leaves its sign.
  const auto amount = [&] { return f.wraps ? b & 31 : std::min<wide>(b, 32); };
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
      return a * (wide{1} << amount());
    case video_operation::shr:
      return a >> amount();
    default:
      return holds(f.relation, a, b);
  }
}

u32 scalar(const video_form& f, u32 a, u32 b, u32 c) {
  wide value = compute(f, part(a, f.a.bits, f.a.index, f.a_signed),
                       part(b, f.b.bits, f.b.index, f.b_signed));
  if (f.saturates) value = clamp(value, 32, f.d_signed);
  return static_cast<u32>(value) + (f.second == video_second::add ? c : 0);
}

u32 simd(const video_form& f, u32 a, u32 b, u32 c) {
  const unsigned bits = 32 / f.lanes;
  u32 packed = 0, sum = c;
  for (unsigned n = 0; n < f.lanes; ++n) {
    wide value = compute(f, part(a, bits, n, f.a_signed), part(b, bits, n, f.b_signed));
    if (f.saturates) value = clamp(value, bits, f.d_signed);
    sum += static_cast<u32>(value);
    packed |= (static_cast<u32>(value) & ((1u << bits) - 1)) << (bits * n);
  }
  return f.second == video_second::add ? sum : packed;
}

const op* video(context& x, const op* i) {
  const video_form f = unpack_video(i->immediate);
  u32* d = x.vreg<u32>(i->d);
  const u32* a = x.vreg<u32>(i->a);
  const u32* b = x.vreg<u32>(i->b);
  const u32* c = x.vreg<u32>(i->c);
  for (u32 m = x.active; m != 0; m &= m - 1) {
    const int l = __builtin_ctz(m);
    d[l] = f.lanes == 1 ? scalar(f, a[l], b[l], c[l]) : simd(f, a[l], b[l], c[l]);
  }
  return i + 1;
}

}  // namespace

void video_ops(op_table& t) {
  using enum value_class;
  add_op(t, "<video>", &video, b32, b32, b32, b32);
}

}  // namespace stepwise::emulator
