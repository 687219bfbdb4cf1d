// A pipeline of chunks over several streams: copy in, kernel, copy out, all asynchronous.
#include "common/emulator/tests/programs/program.hpp"

__global__ void square(float* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= data[i];
}

int main() {
  constexpr int chunks = 8, chunk = 3000, streams = 3, n = chunks * chunk;
  float *in = nullptr, *out = nullptr, *device = nullptr;
  check(cudaMallocHost(&in, n * sizeof(float)));
  check(cudaMallocHost(&out, n * sizeof(float)));
  check(cudaMalloc(&device, n * sizeof(float)));
  cudaStream_t stream[streams];
  for (cudaStream_t& s : stream) check(cudaStreamCreate(&s));
  std::vector<float> expected;
  for (int i = 0; i < n; ++i) {
    in[i] = static_cast<float>(i % 1000);
    expected.push_back(in[i] * in[i]);
  }
  check(cudaMemsetAsync(device, 0xff, n * sizeof(float), stream[0]));
  check(cudaStreamSynchronize(stream[0]));
  for (int c = 0; c < chunks; ++c) {
    const cudaStream_t s = stream[c % streams];
    float* const part = device + c * chunk;
    check(cudaMemcpyAsync(part, in + c * chunk, chunk * sizeof(float), cudaMemcpyHostToDevice, s));
    square<<<(chunk + 255) / 256, 256, 0, s>>>(part, chunk);
    check(cudaMemcpyAsync(out + c * chunk, part, chunk * sizeof(float), cudaMemcpyDeviceToHost, s));
  }
  for (const cudaStream_t s : stream) check(cudaStreamSynchronize(s));
  const std::vector<float> found(out, out + n);
  for (const cudaStream_t s : stream) check(cudaStreamDestroy(s));
  check(cudaFreeHost(in));
  check(cudaFreeHost(out));
  check(cudaFree(device));
  return compare("asynchronous copies", found, expected);
}
