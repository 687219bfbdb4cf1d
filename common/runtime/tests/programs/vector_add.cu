// The first CUDA program of every course: memory, copies, a launch, and a check of the result.
#include <vector>

#include "check.h"

__global__ void vector_add(const float* x, const float* y, float* z, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = x[i] + y[i];
}

int main() {
  constexpr int n = 100'003, threads = 256;
  std::vector<float> x(n), y(n), z(n, -1.0f);
  for (int i = 0; i < n; i++) x[i] = static_cast<float>(i), y[i] = 2.0f * i + 0.5f;

  float *device_x, *device_y, *device_z;
  SHOW(cudaMalloc(&device_x, n * sizeof(float)));
  SHOW(cudaMalloc(&device_y, n * sizeof(float)));
  SHOW(cudaMalloc(&device_z, n * sizeof(float)));
  SHOW(cudaMemcpy(device_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(device_y, y.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  SHOW(cudaMemset(device_z, 0xFF, n * sizeof(float)));
  vector_add<<<(n + threads - 1) / threads, threads>>>(device_x, device_y, device_z, n);
  SHOW(cudaGetLastError());
  SHOW(cudaMemcpy(z.data(), device_z, n * sizeof(float), cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int i = 0; i < n; i++) wrong += z[i] != x[i] + y[i];
  PRINT(wrong);
  PRINT(z[n - 1]);

  // The same launch through a function call, with another number of threads.
  int size = n;
  void* arguments[] = {&device_x, &device_y, &device_z, &size};
  SHOW(cudaMemset(device_z, 0xFF, n * sizeof(float)));
  SHOW(cudaLaunchKernel(vector_add, dim3(n / 96 + 1), dim3(96), arguments, 0, nullptr));
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaMemcpy(z.data(), device_z, n * sizeof(float), cudaMemcpyDeviceToHost));
  wrong = 0;
  for (int i = 0; i < n; i++) wrong += z[i] != x[i] + y[i];
  PRINT(wrong);
  SHOW(cudaFree(device_x));
  SHOW(cudaFree(device_y));
  SHOW(cudaFree(device_z));
}
