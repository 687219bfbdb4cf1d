// Floating-point arithmetic that does not round to nearest: .rz, .rm and .rp; approximations of
// doubles.
//
// idea    The host rounds: its rounding mode is switched for one loop. Operands and results are
//         volatile there, so that the compiler can neither compute at compile time nor move an
//         operation across the switch. .ftz and .sat are put around these rows by lowering.
// source  PTX ISA 9.0, "Floating Point Instructions". Tested by tests/opcodes/*_float.ptx.
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>

#include "common/emulator/rows/rows.hpp"
#include "common/emulator/rows/special_functions.hpp"

namespace stepwise::emulator {
namespace {

class host_rounding {
 public:
  explicit host_rounding(int mode) : before_(std::fegetround()) { std::fesetround(mode); }
  ~host_rounding() { std::fesetround(before_); }
  host_rounding(const host_rounding&) = delete;
  host_rounding& operator=(const host_rounding&) = delete;

 private:
  int before_;
};

f32 canonical(f32 v) { return v == v ? v : std::bit_cast<f32>(0x7fffffffu); }
f64 canonical(f64 v) { return v; }

template <class Body, class T, int Mode>
const op* directed(context& x, const op* i) {
  const host_rounding mode(Mode);
  T* d = x.row<T>(i->d);
  const T* a = x.row<T>(i->a);
  const T* b = x.row<T>(i->b);
  const T* c = x.row<T>(i->c);
  for (u32 m = x.active; m != 0; m &= m - 1) {
    const int l = __builtin_ctz(m);
    const volatile T first = a[l], second = b[l], third = c[l];
    const volatile T result = Body{}(first, second, third);
    d[l] = canonical(result);
  }
  return i + 1;
}

template <class T, int Mode>
void mode_rows(row_table& t, const row_name& mode) {
  const row_name type = "." + mode + "." + type_name<T>();
  constexpr value_class k = class_of<T>(), none = value_class::none;
  const auto row = [&]<class Body>(const char* name, Body, int operands) {
    add_row(t, name + type, &directed<Body, T, Mode>, k, k, operands > 1 ? k : none,
            operands > 2 ? k : none);
  };
  row(
      "add", [](T a, T b, T) { return a + b; }, 2);
  row(
      "sub", [](T a, T b, T) { return a - b; }, 2);
  row(
      "mul", [](T a, T b, T) { return a * b; }, 2);
  row(
      "div", [](T a, T b, T) { return a / b; }, 2);
  row(
      "fma", [](T a, T b, T c) { return std::fma(a, b, c); }, 3);
  row(
      "mad", [](T a, T b, T c) { return std::fma(a, b, c); }, 3);
  row(
      "rcp", [](T a, T, T) { return T{1} / a; }, 1);
  row(
      "sqrt", [](T a, T, T) { return std::sqrt(a); }, 1);
}

// Modifiers that lowering puts around rows that do not know them.
template <class T>
void modifiers(row_table& t) {
  const row_name type = ">." + type_name<T>();
  add_row<T, T>(t, "<sat" + type, [](T a) { return a > 0 ? (a < 1 ? a : T{1}) : T{0}; });
  add_row<T, T>(t, "<relu" + type, [](T a) { return a <= 0 ? T{0} : canonical(a); });
}

// rsqrt.approx.f64: the upper word of the root, and one step of an iteration of third order, which
// ptxas puts there.
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

void rounding_rows(row_table& t) {
  for_types<f32, f64>([&]<class T>() {
#if defined(FE_UPWARD)  // not on WebAssembly, whose machine only rounds to nearest
    mode_rows<T, FE_TOWARDZERO>(t, "rz");
    mode_rows<T, FE_DOWNWARD>(t, "rm");
    mode_rows<T, FE_UPWARD>(t, "rp");
#endif
    modifiers<T>(t);
  });
  add_row<f64, f64>(t, "rsqrt.approx.f64", [](f64 a) { return reciprocal_root(a); });
  add_row<f32, f32>(t, "<ftz>.f32", [](f32 a) {
    const u32 bits = std::bit_cast<u32>(a);
    return (bits & 0x7f800000u) == 0 ? std::bit_cast<f32>(bits & 0x80000000u) : a;
  });
}

}  // namespace stepwise::emulator
