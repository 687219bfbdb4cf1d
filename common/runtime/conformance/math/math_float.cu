// Single-precision functions within the error that CUDA states, against double.
#include "common/runtime/conformance/math_check.hpp"

namespace {

using value = float;
using wide = double;
constexpr double pi = 3.14159265358979323846;

FUNCTION(acos, 2, -1.0f, 1.0f, acosf(x), std::acos(x));
FUNCTION(acosh, 4, 1.0f, 50.0f, acoshf(x), std::acosh(x));
FUNCTION(asin, 2, -1.0f, 1.0f, asinf(x), std::asin(x));
FUNCTION(asinh, 3, -30.0f, 30.0f, asinhf(x), std::asinh(x));
FUNCTION(atan, 2, -20.0f, 20.0f, atanf(x), std::atan(x));
FUNCTION(atanh, 3, -0.999f, 0.999f, atanhf(x), std::atanh(x));
FUNCTION(cbrt, 1, -100.0f, 100.0f, cbrtf(x), std::cbrt(x));
FUNCTION(cos, 2, -1000.0f, 1000.0f, cosf(x), std::cos(x));
FUNCTION(cosh, 2, -20.0f, 20.0f, coshf(x), std::cosh(x));
FUNCTION(erf, 2, -4.0f, 4.0f, erff(x), std::erf(x));
FUNCTION(erfc, 4, -3.0f, 8.0f, erfcf(x), std::erfc(x));
FUNCTION(exp, 2, -80.0f, 80.0f, expf(x), std::exp(x));
FUNCTION(exp2, 2, -120.0f, 120.0f, exp2f(x), std::exp2(x));
FUNCTION(expm1, 1, -5.0f, 5.0f, expm1f(x), std::expm1(x));
FUNCTION(lgamma, 6, 0.1f, 50.0f, lgammaf(x), std::lgamma(x));
FUNCTION(log, 1, 0.001f, 100.0f, logf(x), std::log(x));
FUNCTION(log10, 2, 0.001f, 100.0f, log10f(x), std::log10(x));
FUNCTION(log1p, 1, -0.9f, 50.0f, log1pf(x), std::log1p(x));
FUNCTION(log2, 1, 0.001f, 100.0f, log2f(x), std::log2(x));
FUNCTION(sin, 2, -1000.0f, 1000.0f, sinf(x), std::sin(x));
FUNCTION(sinh, 3, -20.0f, 20.0f, sinhf(x), std::sinh(x));
FUNCTION(tan, 4, -1000.0f, 1000.0f, tanf(x), std::tan(x));
FUNCTION(tanh, 2, -5.0f, 5.0f, tanhf(x), std::tanh(x));
FUNCTION(tgamma, 5, 0.1f, 30.0f, tgammaf(x), std::tgamma(x));
FUNCTION(exp10, 2, -35.0f, 35.0f, exp10f(x), std::pow(10.0, x));
FUNCTION(rsqrt, 2, 0.001f, 1000.0f, rsqrtf(x), 1 / std::sqrt(x));
FUNCTION(rcbrt, 1, 0.001f, 1000.0f, rcbrtf(x), 1 / std::cbrt(x));
FUNCTION(sinpi, 1, -10.0f, 10.0f, sinpif(x), std::sin(std::remainder(x, 2.0) * pi));
FUNCTION(cospi, 1, -10.0f, 10.0f, cospif(x), std::cos(std::remainder(x, 2.0) * pi));
FUNCTION(normcdf, 5, -4.0f, 4.0f, normcdff(x), 0.5 * std::erfc(-x * std::sqrt(0.5)));
FUNCTION(atan2, 3, -10.0f, 10.0f, atan2f(x, y), std::atan2(x, y));
FUNCTION(pow, 4, 0.1f, 20.0f, powf(x, y), std::pow(x, y));
FUNCTION(hypot, 3, -100.0f, 100.0f, hypotf(x, y), std::hypot(x, y));
FUNCTION(fmod, 0, -100.0f, 100.0f, fmodf(x, y), std::fmod(x, y));
FUNCTION(remainder, 0, -100.0f, 100.0f, remainderf(x, y), std::remainder(x, y));
FUNCTION(fdim, 0, -5.0f, 5.0f, fdimf(x, y), x > y ? x - y : 0);
FUNCTION(norm3d, 3, -50.0f, 50.0f, norm3df(x, y, 3), std::sqrt(9 + x * x + y * y));

}  // namespace

int main() {
  return check_functions<
      value, acos_function, acosh_function, asin_function, asinh_function, atan_function,
      atanh_function, cbrt_function, cos_function, cosh_function, erf_function, erfc_function,
      exp_function, exp2_function, expm1_function, lgamma_function, log_function, log10_function,
      log1p_function, log2_function, sin_function, sinh_function, tan_function, tanh_function,
      tgamma_function, exp10_function, rsqrt_function, rcbrt_function, sinpi_function,
      cospi_function, normcdf_function, atan2_function, pow_function, hypot_function, fmod_function,
      remainder_function, fdim_function, norm3d_function>("single-precision functions");
}
