// Floating-point arithmetic with rounding .rz, .rm and .rp, modifiers, and rsqrt.approx.f64.
//
// idea    The host rounds: its rounding mode is switched for one loop. The loop's operands and
//         results are hidden from the compiler, so that it neither computes at compile time nor
//         moves an operation across the switch. WebAssembly has no such mode (directed.hpp).
//         Lowering puts .ftz and .sat around these ops.
// source  PTX ISA 9.0, "Floating Point Instructions". Tested by tests/opcodes/*_float.ptx.
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>

#include "common/emulator/ops/narrow.hpp"
#include "common/emulator/ops/ops.hpp"
#include "common/emulator/ops/special_functions.hpp"

#if defined(__wasm__)
#include "common/emulator/ops/directed.hpp"
#elif defined(__FMA__)
#include <immintrin.h>
#endif

namespace stepwise::emulator::STEPWISE_SIMD {
namespace {

f32 canonical(f32 v) { return v == v ? v : std::bit_cast<f32>(0x7fffffffu); }
f64 canonical(f64 v) { return v; }

#if defined(__wasm__)
template <class Body, class T, rounding Mode>
void compute(const T* a, const T* b, const T* c, T* result) {
  using number = directed_number<T, Mode>;
  for (int l = 0; l < lanes; ++l)
    result[l] = Body{}(number{a[l]}, number{b[l]}, number{c[l]}).value;
}
#else
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

template <class Body, class T>
[[gnu::noinline]] void compute_in_mode(const T* a, const T* b, const T* c, T* result, int mode) {
  const host_rounding switched(mode);
  asm volatile("" : "+r"(a), "+r"(b), "+r"(c) : : "memory");
  for (int l = 0; l < lanes; ++l) result[l] = Body{}(a[l], b[l], c[l]);
  asm volatile("" : : "r"(result) : "memory");
}
template <class Body, class T, rounding Mode>
void compute(const T* a, const T* b, const T* c, T* result) {
  compute_in_mode<Body>(a, b, c, result,
                        Mode == rounding::zero   ? FE_TOWARDZERO
                        : Mode == rounding::down ? FE_DOWNWARD
                                                 : FE_UPWARD);
}
#endif

template <class Body, class T, rounding Mode>
const op* directed(context& x, const op* i) {
  T result[lanes];
  compute<Body, T, Mode>(x.vreg<T>(i->a), x.vreg<T>(i->b), x.vreg<T>(i->c), result);
  for_active(x.active, x.vreg<T>(i->d), [&](int l) { return canonical(result[l]); });
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
    in_mode(".rz.", &directed<Body, T, rounding::zero>);
    in_mode(".rm.", &directed<Body, T, rounding::down>);
    in_mode(".rp.", &directed<Body, T, rounding::up>);
  };
  const auto fused = [](auto a, auto b, auto c) {
    using std::fma;
    return fma(a, b, c);
  };
  const auto root = [](auto a, auto, auto) {
    using std::sqrt;
    return sqrt(a);
  };
  add(
      "add", [](auto a, auto b, auto) { return a + b; }, 2);
  add(
      "sub", [](auto a, auto b, auto) { return a - b; }, 2);
  add(
      "mul", [](auto a, auto b, auto) { return a * b; }, 2);
  add(
      "div", [](auto a, auto b, auto) { return a / b; }, 2);
  add("fma", fused, 3);
  add("mad", fused, 3);
  add(
      "rcp", [](auto a, auto, auto) { return decltype(a){1} / a; }, 1);
  add("sqrt", root, 1);
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
    directed_ops<T>(t);
    modifiers<T>(t);
  });
  add_op<f64, f64>(t, "rsqrt.approx.f64", [](f64 a) { return reciprocal_root(a); });
  add_op<f32, f32>(t, "<ftz>.f32", [](f32 a) {
    const u32 bits = std::bit_cast<u32>(a);
    return (bits & 0x7f800000u) == 0 ? std::bit_cast<f32>(bits & 0x80000000u) : a;
  });
}

}  // namespace stepwise::emulator::STEPWISE_SIMD
