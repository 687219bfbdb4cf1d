// Checks device functions of one or two arguments against a more precise reference on the host.
//
// idea    FUNCTION describes each function: its name, the error in units in the last place that the
//         CUDA Programming Guide allows (13.0, "Mathematical Functions"), the range of its
//         arguments x and y, the device function and the reference.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "common/emulator/tests/programs/program.hpp"

// The structure NAME_function. Its file defines `value`, the type of the arguments, and `wide`,
// the type of the reference.
#define FUNCTION(id, allowed, from, to, on_device, on_host)                \
  struct id##_function {                                                   \
    static constexpr const char* name = #id;                               \
    static constexpr double ulps = allowed;                                \
    static constexpr value low = from, high = to;                          \
    static __device__ value device(value x, value y) { return on_device; } \
    static wide host(wide x, [[maybe_unused]] wide y) { return on_host; }  \
  }

template <class F, class T>
__global__ void apply_function(const T* x, const T* y, T* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = F::device(x[i], y[i]);
}

// |found - wanted| in units in the last place of T at `wanted`.
template <class T, class Wide>
double distance_in_ulps(T found, Wide wanted) {
  if (wanted != wanted) return found != found ? 0 : HUGE_VAL;
  const T nearest = static_cast<T>(wanted);
  if (found == nearest) return 0;
  if (found != found || std::isinf(nearest)) return HUGE_VAL;
  using limits = std::numeric_limits<T>;
  int exponent = nearest == 0 ? limits::min_exponent - 1 : std::ilogb(nearest);
  if (exponent < limits::min_exponent - 1) exponent = limits::min_exponent - 1;
  const Wide ulp = std::ldexp(static_cast<Wide>(1), exponent - limits::digits + 1);
  return static_cast<double>(std::fabs(static_cast<Wide>(found) - wanted) / ulp);
}

// Checks arguments that are spread evenly over [low, high], the second argument in another order.
// Prints a line and returns false if any error exceeds the allowed error by more than half a unit,
// for rounding.
template <class F, class T>
bool check_function(int n = 2048) {
  std::vector<T> x(n), y(n);
  for (int i = 0; i < n; ++i) {
    const T t = static_cast<T>(i + 0.37) / n, u = static_cast<T>((i * 773) % n + 0.61) / n;
    x[i] = F::low + (F::high - F::low) * t;
    y[i] = F::low + (F::high - F::low) * u;
  }
  device_array<T> dx(x), dy(y), out(n);
  apply_function<F, T><<<(n + 127) / 128, 128>>>(dx.get(), dy.get(), out.get(), n);
  finish();
  const std::vector<T> found = out.values();
  for (int i = 0; i < n; ++i) {
    const auto wanted = F::host(x[i], y[i]);
    const double off = distance_in_ulps(found[i], wanted);
    if (off <= F::ulps + 0.5) continue;
    std::printf("%s(%.17g, %.17g) is %.17g, expected %.17g: %g ulp off, allowed %g\n", F::name,
                static_cast<double>(x[i]), static_cast<double>(y[i]), static_cast<double>(found[i]),
                static_cast<double>(wanted), off, static_cast<double>(F::ulps));
    return false;
  }
  return true;
}

template <class T, class... F>
int check_functions(const char* what) {
  const bool right = (check_function<F, T>() && ...);
  if (right) std::printf("%s: %zu functions, all right\n", what, sizeof...(F));
  return right ? 0 : 1;
}
