// Single-precision functions within the error that CUDA states, against double.
#include "common/runtime/conformance/math_check.hpp"

namespace {

constexpr double pi = 3.14159265358979323846;

struct acos_function {
  static constexpr const char* name = "acos";
  static constexpr double ulps = 2;
  static constexpr float low = -1.0f, high = 1.0f;
  static __device__ float device(float x, float) { return acosf(x); }
  static double host(double x, double) { return std::acos(x); }
};

struct acosh_function {
  static constexpr const char* name = "acosh";
  static constexpr double ulps = 4;
  static constexpr float low = 1.0f, high = 50.0f;
  static __device__ float device(float x, float) { return acoshf(x); }
  static double host(double x, double) { return std::acosh(x); }
};

struct asin_function {
  static constexpr const char* name = "asin";
  static constexpr double ulps = 2;
  static constexpr float low = -1.0f, high = 1.0f;
  static __device__ float device(float x, float) { return asinf(x); }
  static double host(double x, double) { return std::asin(x); }
};

struct asinh_function {
  static constexpr const char* name = "asinh";
  static constexpr double ulps = 3;
  static constexpr float low = -30.0f, high = 30.0f;
  static __device__ float device(float x, float) { return asinhf(x); }
  static double host(double x, double) { return std::asinh(x); }
};

struct atan_function {
  static constexpr const char* name = "atan";
  static constexpr double ulps = 2;
  static constexpr float low = -20.0f, high = 20.0f;
  static __device__ float device(float x, float) { return atanf(x); }
  static double host(double x, double) { return std::atan(x); }
};

struct atanh_function {
  static constexpr const char* name = "atanh";
  static constexpr double ulps = 3;
  static constexpr float low = -0.999f, high = 0.999f;
  static __device__ float device(float x, float) { return atanhf(x); }
  static double host(double x, double) { return std::atanh(x); }
};

struct cbrt_function {
  static constexpr const char* name = "cbrt";
  static constexpr double ulps = 1;
  static constexpr float low = -100.0f, high = 100.0f;
  static __device__ float device(float x, float) { return cbrtf(x); }
  static double host(double x, double) { return std::cbrt(x); }
};

struct cos_function {
  static constexpr const char* name = "cos";
  static constexpr double ulps = 2;
  static constexpr float low = -1000.0f, high = 1000.0f;
  static __device__ float device(float x, float) { return cosf(x); }
  static double host(double x, double) { return std::cos(x); }
};

struct cosh_function {
  static constexpr const char* name = "cosh";
  static constexpr double ulps = 2;
  static constexpr float low = -20.0f, high = 20.0f;
  static __device__ float device(float x, float) { return coshf(x); }
  static double host(double x, double) { return std::cosh(x); }
};

struct erf_function {
  static constexpr const char* name = "erf";
  static constexpr double ulps = 2;
  static constexpr float low = -4.0f, high = 4.0f;
  static __device__ float device(float x, float) { return erff(x); }
  static double host(double x, double) { return std::erf(x); }
};

struct erfc_function {
  static constexpr const char* name = "erfc";
  static constexpr double ulps = 4;
  static constexpr float low = -3.0f, high = 8.0f;
  static __device__ float device(float x, float) { return erfcf(x); }
  static double host(double x, double) { return std::erfc(x); }
};

struct exp_function {
  static constexpr const char* name = "exp";
  static constexpr double ulps = 2;
  static constexpr float low = -80.0f, high = 80.0f;
  static __device__ float device(float x, float) { return expf(x); }
  static double host(double x, double) { return std::exp(x); }
};

struct exp2_function {
  static constexpr const char* name = "exp2";
  static constexpr double ulps = 2;
  static constexpr float low = -120.0f, high = 120.0f;
  static __device__ float device(float x, float) { return exp2f(x); }
  static double host(double x, double) { return std::exp2(x); }
};

struct expm1_function {
  static constexpr const char* name = "expm1";
  static constexpr double ulps = 1;
  static constexpr float low = -5.0f, high = 5.0f;
  static __device__ float device(float x, float) { return expm1f(x); }
  static double host(double x, double) { return std::expm1(x); }
};

struct lgamma_function {
  static constexpr const char* name = "lgamma";
  static constexpr double ulps = 6;
  static constexpr float low = 0.1f, high = 50.0f;
  static __device__ float device(float x, float) { return lgammaf(x); }
  static double host(double x, double) { return std::lgamma(x); }
};

struct log_function {
  static constexpr const char* name = "log";
  static constexpr double ulps = 1;
  static constexpr float low = 0.001f, high = 100.0f;
  static __device__ float device(float x, float) { return logf(x); }
  static double host(double x, double) { return std::log(x); }
};

struct log10_function {
  static constexpr const char* name = "log10";
  static constexpr double ulps = 2;
  static constexpr float low = 0.001f, high = 100.0f;
  static __device__ float device(float x, float) { return log10f(x); }
  static double host(double x, double) { return std::log10(x); }
};

struct log1p_function {
  static constexpr const char* name = "log1p";
  static constexpr double ulps = 1;
  static constexpr float low = -0.9f, high = 50.0f;
  static __device__ float device(float x, float) { return log1pf(x); }
  static double host(double x, double) { return std::log1p(x); }
};

struct log2_function {
  static constexpr const char* name = "log2";
  static constexpr double ulps = 1;
  static constexpr float low = 0.001f, high = 100.0f;
  static __device__ float device(float x, float) { return log2f(x); }
  static double host(double x, double) { return std::log2(x); }
};

struct sin_function {
  static constexpr const char* name = "sin";
  static constexpr double ulps = 2;
  static constexpr float low = -1000.0f, high = 1000.0f;
  static __device__ float device(float x, float) { return sinf(x); }
  static double host(double x, double) { return std::sin(x); }
};

struct sinh_function {
  static constexpr const char* name = "sinh";
  static constexpr double ulps = 3;
  static constexpr float low = -20.0f, high = 20.0f;
  static __device__ float device(float x, float) { return sinhf(x); }
  static double host(double x, double) { return std::sinh(x); }
};

struct tan_function {
  static constexpr const char* name = "tan";
  static constexpr double ulps = 4;
  static constexpr float low = -1000.0f, high = 1000.0f;
  static __device__ float device(float x, float) { return tanf(x); }
  static double host(double x, double) { return std::tan(x); }
};

struct tanh_function {
  static constexpr const char* name = "tanh";
  static constexpr double ulps = 2;
  static constexpr float low = -5.0f, high = 5.0f;
  static __device__ float device(float x, float) { return tanhf(x); }
  static double host(double x, double) { return std::tanh(x); }
};

struct tgamma_function {
  static constexpr const char* name = "tgamma";
  static constexpr double ulps = 5;
  static constexpr float low = 0.1f, high = 30.0f;
  static __device__ float device(float x, float) { return tgammaf(x); }
  static double host(double x, double) { return std::tgamma(x); }
};

struct exp10_function {
  static constexpr const char* name = "exp10";
  static constexpr double ulps = 2;
  static constexpr float low = -35.0f, high = 35.0f;
  static __device__ float device(float x, float) { return exp10f(x); }
  static double host(double x, double) { return std::pow(10.0, x); }
};

struct rsqrt_function {
  static constexpr const char* name = "rsqrt";
  static constexpr double ulps = 2;
  static constexpr float low = 0.001f, high = 1000.0f;
  static __device__ float device(float x, float) { return rsqrtf(x); }
  static double host(double x, double) { return 1 / std::sqrt(x); }
};

struct rcbrt_function {
  static constexpr const char* name = "rcbrt";
  static constexpr double ulps = 1;
  static constexpr float low = 0.001f, high = 1000.0f;
  static __device__ float device(float x, float) { return rcbrtf(x); }
  static double host(double x, double) { return 1 / std::cbrt(x); }
};

struct sinpi_function {
  static constexpr const char* name = "sinpi";
  static constexpr double ulps = 1;
  static constexpr float low = -10.0f, high = 10.0f;
  static __device__ float device(float x, float) { return sinpif(x); }
  static double host(double x, double) { return std::sin(pi * std::remainder(x, 2.0)); }
};

struct cospi_function {
  static constexpr const char* name = "cospi";
  static constexpr double ulps = 1;
  static constexpr float low = -10.0f, high = 10.0f;
  static __device__ float device(float x, float) { return cospif(x); }
  static double host(double x, double) { return std::cos(pi * std::remainder(x, 2.0)); }
};

struct normcdf_function {
  static constexpr const char* name = "normcdf";
  static constexpr double ulps = 5;
  static constexpr float low = -4.0f, high = 4.0f;
  static __device__ float device(float x, float) { return normcdff(x); }
  static double host(double x, double) { return 0.5 * std::erfc(-x * std::sqrt(0.5)); }
};

struct atan2_function {
  static constexpr const char* name = "atan2";
  static constexpr double ulps = 3;
  static constexpr float low = -10.0f, high = 10.0f;
  static __device__ float device(float x, float y) { return atan2f(x, y); }
  static double host(double x, double y) { return std::atan2(x, y); }
};

struct pow_function {
  static constexpr const char* name = "pow";
  static constexpr double ulps = 4;
  static constexpr float low = 0.1f, high = 20.0f;
  static __device__ float device(float x, float y) { return powf(x, y); }
  static double host(double x, double y) { return std::pow(x, y); }
};

struct hypot_function {
  static constexpr const char* name = "hypot";
  static constexpr double ulps = 3;
  static constexpr float low = -100.0f, high = 100.0f;
  static __device__ float device(float x, float y) { return hypotf(x, y); }
  static double host(double x, double y) { return std::hypot(x, y); }
};

struct fmod_function {
  static constexpr const char* name = "fmod";
  static constexpr double ulps = 0;
  static constexpr float low = -100.0f, high = 100.0f;
  static __device__ float device(float x, float y) { return fmodf(x, y); }
  static double host(double x, double y) { return std::fmod(x, y); }
};

struct remainder_function {
  static constexpr const char* name = "remainder";
  static constexpr double ulps = 0;
  static constexpr float low = -100.0f, high = 100.0f;
  static __device__ float device(float x, float y) { return remainderf(x, y); }
  static double host(double x, double y) { return std::remainder(x, y); }
};

struct fdim_function {
  static constexpr const char* name = "fdim";
  static constexpr double ulps = 0;
  static constexpr float low = -5.0f, high = 5.0f;
  static __device__ float device(float x, float y) { return fdimf(x, y); }
  static double host(double x, double y) { return x > y ? x - y : 0; }
};

struct norm3d_function {
  static constexpr const char* name = "norm3d";
  static constexpr double ulps = 3;
  static constexpr float low = -50.0f, high = 50.0f;
  static __device__ float device(float x, float y) { return norm3df(x, y, 3); }
  static double host(double x, double y) { return std::sqrt(x * x + y * y + 9); }
};

}  // namespace

int main() {
  return check_functions<
      float, acos_function, acosh_function, asin_function, asinh_function, atan_function,
      atanh_function, cbrt_function, cos_function, cosh_function, erf_function, erfc_function,
      exp_function, exp2_function, expm1_function, lgamma_function, log_function, log10_function,
      log1p_function, log2_function, sin_function, sinh_function, tan_function, tanh_function,
      tgamma_function, exp10_function, rsqrt_function, rcbrt_function, sinpi_function,
      cospi_function, normcdf_function, atan2_function, pow_function, hypot_function, fmod_function,
      remainder_function, fdim_function, norm3d_function>("single-precision functions");
}
