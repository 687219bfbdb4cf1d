// Double-precision functions within the error that CUDA states, against long double.
#include "common/runtime/conformance/math_check.hpp"

namespace {

using value = double;
using wide = long double;
constexpr long double pi = 3.14159265358979323846264338327950288L;

FUNCTION(acos, 2, -1.0, 1.0, acos(x), std::acos(x));
FUNCTION(acosh, 3, 1.0, 50.0, acosh(x), std::acosh(x));
FUNCTION(asin, 2, -1.0, 1.0, asin(x), std::asin(x));
FUNCTION(asinh, 3, -30.0, 30.0, asinh(x), std::asinh(x));
FUNCTION(atan, 2, -20.0, 20.0, atan(x), std::atan(x));
FUNCTION(atanh, 2, -0.999, 0.999, atanh(x), std::atanh(x));
FUNCTION(cbrt, 1, -100.0, 100.0, cbrt(x), std::cbrt(x));
FUNCTION(cos, 2, -1000.0, 1000.0, cos(x), std::cos(x));
FUNCTION(cosh, 1, -20.0, 20.0, cosh(x), std::cosh(x));
FUNCTION(erf, 2, -4.0, 4.0, erf(x), std::erf(x));
FUNCTION(erfc, 5, -3.0, 8.0, erfc(x), std::erfc(x));
FUNCTION(exp, 1, -700.0, 700.0, exp(x), std::exp(x));
FUNCTION(exp2, 1, -1000.0, 1000.0, exp2(x), std::exp2(x));
FUNCTION(expm1, 1, -5.0, 5.0, expm1(x), std::expm1(x));
FUNCTION(lgamma, 4, 3.0, 50.0, lgamma(x), std::lgamma(x));
FUNCTION(log, 1, 0.001, 100.0, log(x), std::log(x));
FUNCTION(log10, 1, 0.001, 100.0, log10(x), std::log10(x));
FUNCTION(log1p, 1, -0.9, 50.0, log1p(x), std::log1p(x));
FUNCTION(log2, 1, 0.001, 100.0, log2(x), std::log2(x));
FUNCTION(sin, 2, -1000.0, 1000.0, sin(x), std::sin(x));
FUNCTION(sinh, 2, -20.0, 20.0, sinh(x), std::sinh(x));
FUNCTION(tan, 2, -1000.0, 1000.0, tan(x), std::tan(x));
FUNCTION(tanh, 1, -5.0, 5.0, tanh(x), std::tanh(x));
FUNCTION(tgamma, 10, 0.1, 30.0, tgamma(x), std::tgamma(x));
FUNCTION(exp10, 1, -300.0, 300.0, exp10(x), std::pow(10.0L, x));
FUNCTION(rsqrt, 1, 0.001, 1000.0, rsqrt(x), 1 / std::sqrt(x));
FUNCTION(rcbrt, 1, 0.001, 1000.0, rcbrt(x), 1 / std::cbrt(x));
FUNCTION(sinpi, 2, -10.0, 10.0, sinpi(x), std::sin(std::remainder(x, 2.0L) * pi));
FUNCTION(atan2, 2, -10.0, 10.0, atan2(x, y), std::atan2(x, y));
FUNCTION(pow, 2, 0.1, 20.0, pow(x, y), std::pow(x, y));
FUNCTION(hypot, 2, -100.0, 100.0, hypot(x, y), std::hypot(x, y));
FUNCTION(fmod, 0, -100.0, 100.0, fmod(x, y), std::fmod(x, y));
FUNCTION(remainder, 0, -100.0, 100.0, remainder(x, y), std::remainder(x, y));
FUNCTION(sqrt, 0, 0.0, 1000.0, sqrt(x), std::sqrt(x));
FUNCTION(division, 0, 1.0, 50.0, x / y, x / y);
FUNCTION(normcdf, 5, -4.0, 4.0, normcdf(x), 0.5L * std::erfc(-x * std::sqrt(0.5L)));

}  // namespace

int main() {
  return check_functions<
      value, acos_function, acosh_function, asin_function, asinh_function, atan_function,
      atanh_function, cbrt_function, cos_function, cosh_function, erf_function, erfc_function,
      exp_function, exp2_function, expm1_function, lgamma_function, log_function, log10_function,
      log1p_function, log2_function, sin_function, sinh_function, tan_function, tanh_function,
      tgamma_function, exp10_function, rsqrt_function, rcbrt_function, sinpi_function,
      atan2_function, pow_function, hypot_function, fmod_function, remainder_function,
      sqrt_function, division_function, normcdf_function>("double-precision functions");
}
