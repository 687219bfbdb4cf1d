// Floating-point arithmetic with rounding .rz, .rm and .rp, modifiers, and rsqrt.approx.f64.
//
// idea    The host rounds: its rounding mode is switched for one loop. The loop's operands and
//         results are hidden from the compiler, so that it neither computes at compile time nor
//         moves an operation across the switch. Lowering puts .ftz and .sat around these ops.
// source  PTX ISA 9.0, "Floating Point Instructions". Tested by tests/opcodes/*_float.ptx.
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>

#include "common/emulator/ops/ops.hpp"
#include "common/emulator/ops/special_functions.hpp"

#if defined(__FMA__)
#include <immintrin.h>
#endif

namespace stepwise::emulator::STEPWISE_SIMD {
namespace {

class host_rounding {
 public:
#if defined(__FMA__)
  // Sets the mode of SSE and AVX only, because nothing here uses the x87. fesetround is many times
  // slower.
  explicit host_rounding(int mode) : before_(_mm_getcsr()) {
    constexpr int from_x87 = 3;  // MXCSR has the mode bits 3 places further left
    _mm_setcsr((before_ & ~static_cast<u32>(_MM_ROUND_MASK)) | static_cast<u32>(mode) << from_x87);
  }
  ~host_rounding() { _mm_setcsr(before_); }
#else
  // libm computes fma, and reads the mode that fesetround sets.
  explicit host_rounding(int mode) : before_(static_cast<u32>(std::fegetround())) {
    std::fesetround(mode);
  }
  ~host_rounding() { std::fesetround(static_cast<int>(before_)); }
#endif
  host_rounding(const host_rounding&) = delete;
  host_rounding& operator=(const host_rounding&) = delete;

 private:
  u32 before_;
};

f32 canonical(f32 v) { return v == v ? v : std::bit_cast<f32>(0x7fffffffu); }
f64 canonical(f64 v) { return v; }

template <class Body, class T>
[[gnu::noinline]] void compute_rounding(context& x, const op* i, int mode) {
  T a[lanes], b[lanes], c[lanes], result[lanes];
  std::memcpy(a, x.vreg<T>(i->a), sizeof(a));
  std::memcpy(b, x.vreg<T>(i->b), sizeof(b));
  std::memcpy(c, x.vreg<T>(i->c), sizeof(c));
  {
    const host_rounding switched(mode);
    asm volatile("" : "+m"(a), "+m"(b), "+m"(c));
    for (int l = 0; l < lanes; ++l) result[l] = Body{}(a[l], b[l], c[l]);
    asm volatile("" : "+m"(result));
  }
  for_active(x.active, x.vreg<T>(i->d), [&](int l) { return canonical(result[l]); });
}

template <class Body, class T, int Mode>
const op* directed(context& x, const op* i) {
  compute_rounding<Body, T>(x, i, Mode);
  return i + 1;
}

template <class T>
void directed_ops(op_table& t) {
  const auto add = [&]<class Body>(const char* name, Body, int operands) {
    constexpr value_class k = class_of<T>(), none = value_class::none;
    const auto in_mode = [&](const char* mode, auto handler) {
      add_op(t, op_name(name) + mode + type_name<T>(), handler, k, k, operands > 1 ? k : none,
             operands > 2 ? k : none);
    };
    in_mode(".rz.", &directed<Body, T, FE_TOWARDZERO>);
    in_mode(".rm.", &directed<Body, T, FE_DOWNWARD>);
    in_mode(".rp.", &directed<Body, T, FE_UPWARD>);
  };
  const auto fma = [](T a, T b, T c) { return std::fma(a, b, c); };
  add(
      "add", [](T a, T b, T) { return a + b; }, 2);
  add(
      "sub", [](T a, T b, T) { return a - b; }, 2);
  add(
      "mul", [](T a, T b, T) { return a * b; }, 2);
  add(
      "div", [](T a, T b, T) { return a / b; }, 2);
  add("fma", fma, 3);
  add("mad", fma, 3);
  add(
      "rcp", [](T a, T, T) { return T{1} / a; }, 1);
  add(
      "sqrt", [](T a, T, T) { return std::sqrt(a); }, 1);
}

// Modifiers that lowering puts around ops that do not have them.
template <class T>
void modifiers(op_table& t) {
  const op_name type = ">." + type_name<T>();
  add_op<T, T>(t, "<sat" + type, [](T a) { return a > 0 ? (a < 1 ? a : T{1}) : T{0}; });
  add_op<T, T>(t, "<relu" + type, [](T a) { return a <= 0 ? T{0} : canonical(a); });
}

// rsqrt.approx.f64: the upper word of the root, refined by one step of a third-order iteration, as
// in ptxas's code.
f64 reciprocal_root(f64 a) {
  const auto refined = [](f64 v) {
    const u32 upper = static_cast<u32>(std::bit_cast<u64>(v) >> 32);
    const f64 first =
        std::bit_cast<f64>(u64{unit::compute<unit::upper_reciprocal_root>(upper)} << 32);
    const f64 error = std::fma(v, -(first * first), 1.0);
    return std::fma(std::fma(error, 0.375, 0.5), first * error, first);
  };
  if (a == 0) return std::copysign(std::numeric_limits<f64>::infinity(), a);
  if (a != a) return a + a;
  if (a < 0) return std::bit_cast<f64>(u64{0xfff80000u} << 32);
  if (std::isinf(a)) return 0;
  return a < 0x1p-1022 ? refined(a * 0x1p54) * 0x1p27 : refined(a);
}

}  // namespace

void rounding_ops(op_table& t) {
  for_types<f32, f64>([&]<class T>() {
#if defined(FE_UPWARD)  // not on WebAssembly, whose machine only rounds to nearest
    directed_ops<T>(t);
#endif
    modifiers<T>(t);
  });
  add_op<f64, f64>(t, "rsqrt.approx.f64", [](f64 a) { return reciprocal_root(a); });
  add_op<f32, f32>(t, "<ftz>.f32", [](f32 a) {
    const u32 bits = std::bit_cast<u32>(a);
    return (bits & 0x7f800000u) == 0 ? std::bit_cast<f32>(bits & 0x80000000u) : a;
  });
}

}  // namespace stepwise::emulator::STEPWISE_SIMD
