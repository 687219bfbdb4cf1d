// Rounding intrinsics: __fadd_rz, __fma_ru, __drcp_rd ... answer as the host does in that rounding
// mode, bit for bit.
#include <cfenv>
#include <cstring>

#include "common/runtime/conformance/math_check.hpp"

namespace {

constexpr int count = 4096, operations = 6;

template <int Mode>  // 0 nearest, 1 zero, 2 down, 3 up
__global__ void apply_single(const float* a, const float* b, const float* c, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float x = a[i], y = b[i], z = c[i], p = fabsf(x);
#define BY_MODE(name, ...)              \
  (Mode == 0   ? name##_rn(__VA_ARGS__) \
   : Mode == 1 ? name##_rz(__VA_ARGS__) \
   : Mode == 2 ? name##_rd(__VA_ARGS__) \
               : name##_ru(__VA_ARGS__))
  const float r[operations] = {BY_MODE(__fadd, x, y),    BY_MODE(__fmul, x, y),
                               BY_MODE(__fmaf, x, y, z), BY_MODE(__fdiv, x, y),
                               BY_MODE(__fsqrt, p),      BY_MODE(__frcp, x)};
  for (int k = 0; k < operations; ++k) out[k * count + i] = r[k];
}

template <int Mode>
__global__ void apply_double(const double* a, const double* b, const double* c, double* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const double x = a[i], y = b[i], z = c[i], p = fabs(x);
  const double r[operations] = {BY_MODE(__dadd, x, y),   BY_MODE(__dmul, x, y),
                                BY_MODE(__fma, x, y, z), BY_MODE(__ddiv, x, y),
                                BY_MODE(__dsqrt, p),     BY_MODE(__drcp, x)};
#undef BY_MODE
  for (int k = 0; k < operations; ++k) out[k * count + i] = r[k];
}

template <class T>
T host(int operation, T a, T b, T c) {
  const volatile T x = a, y = b, z = c;
  switch (operation) {
    case 0:
      return x + y;
    case 1:
      return x * y;
    case 2:
      return std::fma(x, y, z);
    case 3:
      return x / y;
    case 4:
      return std::sqrt(std::fabs(x));
    default:
      return T{1} / x;
  }
}

template <class T, class Launch>
bool check_mode(const char* name, int mode, Launch launch) {
  std::vector<T> a(count), b(count), c(count);
  std::uint64_t state = 99;
  const auto random = [&] {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    const T v = static_cast<T>(static_cast<std::int64_t>(state)) * static_cast<T>(0x1p-63);
    return std::ldexp(v, static_cast<int>((state >> 20) % 60) - 30);
  };
  const T special[] = {0,
                       -0.0,
                       1,
                       -1,
                       std::numeric_limits<T>::max(),
                       std::numeric_limits<T>::min(),
                       std::numeric_limits<T>::denorm_min(),
                       std::numeric_limits<T>::infinity()};
  for (int i = 0; i < count; ++i) {
    a[i] = i < 64 ? special[i / 8] : random();
    b[i] = i < 64 ? special[i % 8] : i % 2 ? random() : a[i] * (1 + random() * T{1e-5});
    c[i] = i < 64 ? special[(i * 3) % 8]
                  : -a[i] * b[i] * (1 + (i % 3) * std::numeric_limits<T>::epsilon());
  }
  device_array<T> da(a), db(b), dc(c), out(operations * count);
  launch(da.get(), db.get(), dc.get(), out.get());
  finish();
  const std::vector<T> found = out.values();
  static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  for (int i = 0; i < operations * count; ++i) {
    std::fesetround(modes[mode]);
    const volatile T wanted = host(i / count, a[i % count], b[i % count], c[i % count]);
    std::fesetround(FE_TONEAREST);
    const T copy = wanted;
    if (copy != copy ? found[i] != found[i] : std::memcmp(&copy, &found[i], sizeof(T)) == 0)
      continue;
    std::printf("%s, mode %d, operation %d of %.17g, %.17g, %.17g: %.17g, expected %.17g\n", name,
                mode, i / count, double(a[i % count]), double(b[i % count]), double(c[i % count]),
                double(found[i]), double(copy));
    return false;
  }
  return true;
}

template <int Mode>
bool check_rounding() {
  return check_mode<float>("single", Mode,
                           [](const float* a, const float* b, const float* c, float* out) {
                             apply_single<Mode><<<count / 128, 128>>>(a, b, c, out);
                           }) &&
         check_mode<double>("double", Mode,
                            [](const double* a, const double* b, const double* c, double* out) {
                              apply_double<Mode><<<count / 128, 128>>>(a, b, c, out);
                            });
}

}  // namespace

int main() {
  if (!check_rounding<0>() || !check_rounding<1>() || !check_rounding<2>() || !check_rounding<3>())
    return 1;
  std::printf("rounding intrinsics, all right\n");
  return 0;
}
