// Compares the naive matrix product, n = 512, with the same triple loop in C++: the ratio of a
// launch's time to the loop's. Both are pinned to one core and alternate nine times, and their
// medians are compared.
//
// watch   --benchmark gives the largest allowed ratio. The program prints whether it is met. The
//         exit status is 1 only above 1 / 0.7 times this ratio, because a shared machine is noisy.
#include "common/emulator/tests/programs/matmul.hpp"
#include "common/emulator/tests/programs/measure.hpp"
#include "common/emulator/tests/programs/triple_loop.hpp"

constexpr int block = 16;
constexpr int rounds = 9;

__global__ void matmul(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n || col >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + col];
  c[row * n + col] = sum;
}

int main(int count, char** arguments) {
  const benchmark_request request(count, arguments);
  if (!request.wanted) {
    std::printf("usage: matmul_against_loop --benchmark LARGEST_RATIO\n");
    return 2;
  }
  pin_to_one_core();
  constexpr int n = 512;
  const std::vector<float> a = small_whole_numbers(n, 5), b = small_whole_numbers(n, 6);
  std::vector<float> c_of_loop(n * n);
  device_array<float> a_on_device(a), b_on_device(b), c(n * n);
  const auto launch = [&] {
    matmul<<<dim3(n / block, n / block), dim3(block, block)>>>(a_on_device.get(), b_on_device.get(),
                                                               c.get(), n);
  };
  launch();
  finish();
  std::vector<double> launch_ms, loop_ms;
  for (int round = 0; round < rounds; ++round) {
    launch_ms.push_back(time_ms(launch));
    loop_ms.push_back(time_ms([&] { triple_loop(a.data(), b.data(), c_of_loop.data(), n); }));
  }
  if (compare("matmul_against_loop", c.values(), c_of_loop) != 0) return 1;
  const double ratio = median(launch_ms) / median(loop_ms);
  std::printf(
      "matmul_against_loop: launch %.1f ms, C++ loop %.1f ms: %.2f times as long; "
      "required at most %.1f: %s\n",
      median(launch_ms), median(loop_ms), ratio, request.required,
      ratio <= request.required ? "met" : "missed");
  return ratio <= request.required / clear_margin ? 0 : 1;
}
