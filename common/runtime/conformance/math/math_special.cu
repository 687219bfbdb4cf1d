// Results of the C library's functions for infinities, NaN, signed zeros and the edges of their
// domains; nextafter, frexp, ldexp, rounding to integers.
#include "common/runtime/conformance/math_check.hpp"

namespace {

constexpr int functions = 20;

#define ALL_OF(x)                                                                           \
  {                                                                                         \
    exp(x), log(x), sqrt(x), sin(x) * 0 + 1, tanh(x), atan(x), pow(x, T(0)), pow(x, T(-1)), \
        pow(T(1), x), pow(x, T(3)), fmod(x, T(2)), nextafter(x, T(1)), floor(x), ceil(x),   \
        trunc(x), rint(x), round(x), ldexp(x, -3), fmax(x, T(1)), copysign(T(2), x)         \
  }

template <class T>
__global__ void apply(const T* x, T* out) {
  const T v = x[threadIdx.x];
  const T r[functions] = ALL_OF(v);
  for (int k = 0; k < functions; ++k) out[functions * threadIdx.x + k] = r[k];
}

template <class T>
__global__ void split(const T* x, T* fraction, int* exponent) {
  fraction[threadIdx.x] = frexp(x[threadIdx.x], exponent + threadIdx.x);
}

template <class T>
bool check_special(const char* name) {
  using limits = std::numeric_limits<T>;
  using std::ceil, std::copysign, std::exp, std::floor, std::fmax, std::fmod, std::ldexp, std::log,
      std::nextafter, std::pow, std::rint, std::round, std::sin, std::sqrt, std::tanh, std::trunc,
      std::atan;
  const T special[] = {0,
                       T(-0.0),
                       1,
                       -1,
                       T(0.5),
                       T(-0.5),
                       T(1.5),
                       T(2.5),
                       T(-2.5),
                       T(1e-5),
                       T(-7.25),
                       limits::infinity(),
                       -limits::infinity(),
                       limits::quiet_NaN(),
                       limits::max(),
                       -limits::max(),
                       limits::min(),
                       limits::denorm_min(),
                       -limits::denorm_min()};
  std::vector<T> x(std::begin(special), std::end(special));
  const int n = static_cast<int>(x.size());
  device_array<T> dx(x), out(functions * n), fraction(n);
  device_array<int> exponent(n);
  apply<<<1, n>>>(dx.get(), out.get());
  split<<<1, n>>>(dx.get(), fraction.get(), exponent.get());
  finish();
  const auto found = out.values(), parts = fraction.values();
  const auto powers = exponent.values();
  for (int i = 0; i < n; ++i) {
    const T v = x[i];
    const T wanted[functions] = ALL_OF(v);
    for (int k = 0; k < functions; ++k) {
      const T f = found[functions * i + k], w = wanted[k];
      const double off = distance_in_ulps<T, long double>(f, w);
      if (off <= 4 && (w != w || std::signbit(f) == std::signbit(w))) continue;
      std::printf("%s: function %d of %g is %.17g, expected %.17g\n", name, k, double(v), double(f),
                  double(w));
      return false;
    }
    int power = 0;
    const T part = std::frexp(v, &power);
    if (part == part && (parts[i] != part || (std::isfinite(v) && powers[i] != power))) {
      std::printf("%s: frexp(%g) is %g, %d, expected %g, %d\n", name, double(v), double(parts[i]),
                  powers[i], double(part), power);
      return false;
    }
  }
  return true;
}

}  // namespace

int main() {
  if (!check_special<float>("single") || !check_special<double>("double")) return 1;
  std::printf("special values, all right\n");
  return 0;
}
