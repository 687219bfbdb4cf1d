// Intrinsics and a build with -use_fast_math: within the errors that CUDA states for __sinf and its
// like, subnormal numbers flushed.
#include "common/runtime/conformance/math_check.hpp"

namespace {

constexpr int count = 4096, functions = 9;
const char* const names[functions] = {"sin",  "cos",   "exp",     "exp10", "log",
                                      "log2", "log10", "x / 3.7", "pow"};

__global__ void apply(const float* x, float* out, float* flushed) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float v = x[i];
  out[i] = sinf(v);
  out[count + i] = cosf(v);
  out[2 * count + i] = expf(v);
  out[3 * count + i] = __exp10f(v);
  out[4 * count + i] = logf(v + 4);
  out[5 * count + i] = __log2f(v + 4);
  out[6 * count + i] = log10f(v + 4);
  out[7 * count + i] = v / 3.7f;
  out[8 * count + i] = powf(v + 4, 1.5f);
  if (i == 0) flushed[0] = 1.1754944e-38f * (x[count] * 0.5f);  // a subnormal product
}

// The stated bounds: absolute for sin, cos and the logarithms, relative for the others.
bool near(int function, float found, double x, double& wanted) {
  switch (function) {
    case 0:
      wanted = std::sin(x);
      return std::fabs(found - wanted) <= std::ldexp(1.0, -20);
    case 1:
      wanted = std::cos(x);
      return std::fabs(found - wanted) <= std::ldexp(1.0, -20);
    case 2:
      wanted = std::exp(x);
      break;
    case 3:
      wanted = std::pow(10.0, x);
      break;
    case 4:
      wanted = std::log(x + 4);
      return std::fabs(found - wanted) <= 5e-7;
    case 5:
      wanted = std::log2(x + 4);
      return std::fabs(found - wanted) <= 5e-7;
    case 6:
      wanted = std::log10(x + 4);
      return std::fabs(found - wanted) <= 4e-7;
    case 7:
      wanted = x / 3.7f;
      break;
    default:
      wanted = std::pow(x + 4, 1.5);
      break;
  }
  return std::fabs(found - wanted) <= 32 * std::ldexp(1.0, -24) * (std::fabs(wanted) + 1e-37);
}

}  // namespace

int main() {
  std::vector<float> x(count + 1);
  for (int i = 0; i < count; ++i) x[i] = -3.0f + 6.0f * i / count;
  x[count] = 1;
  device_array<float> dx(x), out(functions * count), flushed(1);
  apply<<<count / 128, 128>>>(dx.get(), out.get(), flushed.get());
  finish();
  const auto found = out.values();
  for (int f = 0; f < functions; ++f) {
    for (int i = 0; i < count; ++i) {
      double wanted;
      if (near(f, found[f * count + i], f >= 4 && f <= 6 ? x[i] + 4.0f - 4.0 : x[i], wanted))
        continue;
      std::printf("%s of %g is %.9g, expected %.9g\n", names[f], x[i], found[f * count + i],
                  wanted);
      return 1;
    }
  }
  return compare("fast functions; a subnormal product", flushed.values(), {0.0f});
}
