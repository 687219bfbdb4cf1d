// Double-precision functions within the error that CUDA states, against long double.
#include "common/runtime/conformance/math_check.hpp"

namespace {

constexpr long double pi = 3.14159265358979323846264338327950288L;

struct acos_function {
  static constexpr const char* name = "acos";
  static constexpr double ulps = 2;
  static constexpr double low = -1.0, high = 1.0;
  static __device__ double device(double x, double) { return acos(x); }
  static long double host(long double x, long double) { return std::acos(x); }
};

struct acosh_function {
  static constexpr const char* name = "acosh";
  static constexpr double ulps = 3;
  static constexpr double low = 1.0, high = 50.0;
  static __device__ double device(double x, double) { return acosh(x); }
  static long double host(long double x, long double) { return std::acosh(x); }
};

struct asin_function {
  static constexpr const char* name = "asin";
  static constexpr double ulps = 2;
  static constexpr double low = -1.0, high = 1.0;
  static __device__ double device(double x, double) { return asin(x); }
  static long double host(long double x, long double) { return std::asin(x); }
};

struct asinh_function {
  static constexpr const char* name = "asinh";
  static constexpr double ulps = 3;
  static constexpr double low = -30.0, high = 30.0;
  static __device__ double device(double x, double) { return asinh(x); }
  static long double host(long double x, long double) { return std::asinh(x); }
};

struct atan_function {
  static constexpr const char* name = "atan";
  static constexpr double ulps = 2;
  static constexpr double low = -20.0, high = 20.0;
  static __device__ double device(double x, double) { return atan(x); }
  static long double host(long double x, long double) { return std::atan(x); }
};

struct atanh_function {
  static constexpr const char* name = "atanh";
  static constexpr double ulps = 2;
  static constexpr double low = -0.999, high = 0.999;
  static __device__ double device(double x, double) { return atanh(x); }
  static long double host(long double x, long double) { return std::atanh(x); }
};

struct cbrt_function {
  static constexpr const char* name = "cbrt";
  static constexpr double ulps = 1;
  static constexpr double low = -100.0, high = 100.0;
  static __device__ double device(double x, double) { return cbrt(x); }
  static long double host(long double x, long double) { return std::cbrt(x); }
};

struct cos_function {
  static constexpr const char* name = "cos";
  static constexpr double ulps = 2;
  static constexpr double low = -1000.0, high = 1000.0;
  static __device__ double device(double x, double) { return cos(x); }
  static long double host(long double x, long double) { return std::cos(x); }
};

struct cosh_function {
  static constexpr const char* name = "cosh";
  static constexpr double ulps = 1;
  static constexpr double low = -20.0, high = 20.0;
  static __device__ double device(double x, double) { return cosh(x); }
  static long double host(long double x, long double) { return std::cosh(x); }
};

struct erf_function {
  static constexpr const char* name = "erf";
  static constexpr double ulps = 2;
  static constexpr double low = -4.0, high = 4.0;
  static __device__ double device(double x, double) { return erf(x); }
  static long double host(long double x, long double) { return std::erf(x); }
};

struct erfc_function {
  static constexpr const char* name = "erfc";
  static constexpr double ulps = 5;
  static constexpr double low = -3.0, high = 8.0;
  static __device__ double device(double x, double) { return erfc(x); }
  static long double host(long double x, long double) { return std::erfc(x); }
};

struct exp_function {
  static constexpr const char* name = "exp";
  static constexpr double ulps = 1;
  static constexpr double low = -700.0, high = 700.0;
  static __device__ double device(double x, double) { return exp(x); }
  static long double host(long double x, long double) { return std::exp(x); }
};

struct exp2_function {
  static constexpr const char* name = "exp2";
  static constexpr double ulps = 1;
  static constexpr double low = -1000.0, high = 1000.0;
  static __device__ double device(double x, double) { return exp2(x); }
  static long double host(long double x, long double) { return std::exp2(x); }
};

struct expm1_function {
  static constexpr const char* name = "expm1";
  static constexpr double ulps = 1;
  static constexpr double low = -5.0, high = 5.0;
  static __device__ double device(double x, double) { return expm1(x); }
  static long double host(long double x, long double) { return std::expm1(x); }
};

struct lgamma_function {
  static constexpr const char* name = "lgamma";
  static constexpr double ulps = 4;
  static constexpr double low = 3.0, high = 50.0;
  static __device__ double device(double x, double) { return lgamma(x); }
  static long double host(long double x, long double) { return std::lgamma(x); }
};

struct log_function {
  static constexpr const char* name = "log";
  static constexpr double ulps = 1;
  static constexpr double low = 0.001, high = 100.0;
  static __device__ double device(double x, double) { return log(x); }
  static long double host(long double x, long double) { return std::log(x); }
};

struct log10_function {
  static constexpr const char* name = "log10";
  static constexpr double ulps = 1;
  static constexpr double low = 0.001, high = 100.0;
  static __device__ double device(double x, double) { return log10(x); }
  static long double host(long double x, long double) { return std::log10(x); }
};

struct log1p_function {
  static constexpr const char* name = "log1p";
  static constexpr double ulps = 1;
  static constexpr double low = -0.9, high = 50.0;
  static __device__ double device(double x, double) { return log1p(x); }
  static long double host(long double x, long double) { return std::log1p(x); }
};

struct log2_function {
  static constexpr const char* name = "log2";
  static constexpr double ulps = 1;
  static constexpr double low = 0.001, high = 100.0;
  static __device__ double device(double x, double) { return log2(x); }
  static long double host(long double x, long double) { return std::log2(x); }
};

struct sin_function {
  static constexpr const char* name = "sin";
  static constexpr double ulps = 2;
  static constexpr double low = -1000.0, high = 1000.0;
  static __device__ double device(double x, double) { return sin(x); }
  static long double host(long double x, long double) { return std::sin(x); }
};

struct sinh_function {
  static constexpr const char* name = "sinh";
  static constexpr double ulps = 2;
  static constexpr double low = -20.0, high = 20.0;
  static __device__ double device(double x, double) { return sinh(x); }
  static long double host(long double x, long double) { return std::sinh(x); }
};

struct tan_function {
  static constexpr const char* name = "tan";
  static constexpr double ulps = 2;
  static constexpr double low = -1000.0, high = 1000.0;
  static __device__ double device(double x, double) { return tan(x); }
  static long double host(long double x, long double) { return std::tan(x); }
};

struct tanh_function {
  static constexpr const char* name = "tanh";
  static constexpr double ulps = 1;
  static constexpr double low = -5.0, high = 5.0;
  static __device__ double device(double x, double) { return tanh(x); }
  static long double host(long double x, long double) { return std::tanh(x); }
};

struct tgamma_function {
  static constexpr const char* name = "tgamma";
  static constexpr double ulps = 10;
  static constexpr double low = 0.1, high = 30.0;
  static __device__ double device(double x, double) { return tgamma(x); }
  static long double host(long double x, long double) { return std::tgamma(x); }
};

struct exp10_function {
  static constexpr const char* name = "exp10";
  static constexpr double ulps = 1;
  static constexpr double low = -300.0, high = 300.0;
  static __device__ double device(double x, double) { return exp10(x); }
  static long double host(long double x, long double) { return std::pow(10.0L, x); }
};

struct rsqrt_function {
  static constexpr const char* name = "rsqrt";
  static constexpr double ulps = 1;
  static constexpr double low = 0.001, high = 1000.0;
  static __device__ double device(double x, double) { return rsqrt(x); }
  static long double host(long double x, long double) { return 1 / std::sqrt(x); }
};

struct rcbrt_function {
  static constexpr const char* name = "rcbrt";
  static constexpr double ulps = 1;
  static constexpr double low = 0.001, high = 1000.0;
  static __device__ double device(double x, double) { return rcbrt(x); }
  static long double host(long double x, long double) { return 1 / std::cbrt(x); }
};

struct sinpi_function {
  static constexpr const char* name = "sinpi";
  static constexpr double ulps = 2;
  static constexpr double low = -10.0, high = 10.0;
  static __device__ double device(double x, double) { return sinpi(x); }
  static long double host(long double x, long double) {
    return std::sin(pi * std::remainder(x, 2.0L));
  }
};

struct atan2_function {
  static constexpr const char* name = "atan2";
  static constexpr double ulps = 2;
  static constexpr double low = -10.0, high = 10.0;
  static __device__ double device(double x, double y) { return atan2(x, y); }
  static long double host(long double x, long double y) { return std::atan2(x, y); }
};

struct pow_function {
  static constexpr const char* name = "pow";
  static constexpr double ulps = 2;
  static constexpr double low = 0.1, high = 20.0;
  static __device__ double device(double x, double y) { return pow(x, y); }
  static long double host(long double x, long double y) { return std::pow(x, y); }
};

struct hypot_function {
  static constexpr const char* name = "hypot";
  static constexpr double ulps = 2;
  static constexpr double low = -100.0, high = 100.0;
  static __device__ double device(double x, double y) { return hypot(x, y); }
  static long double host(long double x, long double y) { return std::hypot(x, y); }
};

struct fmod_function {
  static constexpr const char* name = "fmod";
  static constexpr double ulps = 0;
  static constexpr double low = -100.0, high = 100.0;
  static __device__ double device(double x, double y) { return fmod(x, y); }
  static long double host(long double x, long double y) { return std::fmod(x, y); }
};

struct remainder_function {
  static constexpr const char* name = "remainder";
  static constexpr double ulps = 0;
  static constexpr double low = -100.0, high = 100.0;
  static __device__ double device(double x, double y) { return remainder(x, y); }
  static long double host(long double x, long double y) { return std::remainder(x, y); }
};

struct sqrt_function {
  static constexpr const char* name = "sqrt";
  static constexpr double ulps = 0;
  static constexpr double low = 0.0, high = 1000.0;
  static __device__ double device(double x, double) { return sqrt(x); }
  static long double host(long double x, long double) { return std::sqrt(x); }
};

struct division_function {
  static constexpr const char* name = "division";
  static constexpr double ulps = 0;
  static constexpr double low = 1.0, high = 50.0;
  static __device__ double device(double x, double y) { return x / y; }
  static long double host(long double x, long double y) { return x / y; }
};

struct normcdf_function {
  static constexpr const char* name = "normcdf";
  static constexpr double ulps = 5;
  static constexpr double low = -4.0, high = 4.0;
  static __device__ double device(double x, double) { return normcdf(x); }
  static long double host(long double x, long double) {
    return 0.5L * std::erfc(-x * std::sqrt(0.5L));
  }
};

}  // namespace

int main() {
  return check_functions<
      double, acos_function, acosh_function, asin_function, asinh_function, atan_function,
      atanh_function, cbrt_function, cos_function, cosh_function, erf_function, erfc_function,
      exp_function, exp2_function, expm1_function, lgamma_function, log_function, log10_function,
      log1p_function, log2_function, sin_function, sinh_function, tan_function, tanh_function,
      tgamma_function, exp10_function, rsqrt_function, rcbrt_function, sinpi_function,
      atan2_function, pow_function, hypot_function, fmod_function, remainder_function,
      sqrt_function, division_function, normcdf_function>("double-precision functions");
}
