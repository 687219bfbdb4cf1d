// Boxes in pitched memory of three dimensions: cudaMalloc3D, copies with positions, fills.
#include "common/emulator/tests/programs/program.hpp"

__global__ void double_all(cudaPitchedPtr memory, int width, int height) {
  char* const layer =
      static_cast<char*>(memory.ptr) + blockIdx.x * memory.pitch * static_cast<size_t>(height);
  for (int y = 0; y < height; ++y) {
    float* const row = reinterpret_cast<float*>(layer + y * memory.pitch);
    for (int x = threadIdx.x; x < width; x += blockDim.x) row[x] *= 2;
  }
}

int main() {
  constexpr int width = 33, height = 7, depth = 5;
  std::vector<float> host(width * height * depth);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i);
  cudaPitchedPtr memory;
  const cudaExtent whole = make_cudaExtent(width * sizeof(float), height, depth);
  check(cudaMalloc3D(&memory, whole));
  cudaMemcpy3DParms in = {};
  in.srcPtr = make_cudaPitchedPtr(host.data(), width * sizeof(float), width, height);
  in.dstPtr = memory;
  in.extent = whole;
  in.kind = cudaMemcpyHostToDevice;
  check(cudaMemcpy3D(&in));
  double_all<<<depth, 32>>>(memory, width, height);
  // Zero into the first two rows of the first 4 columns of each layer.
  check(cudaMemset3D(memory, 0, make_cudaExtent(4 * sizeof(float), 2, depth)));

  std::vector<float> found(host.size(), -1), expected(host.size(), -1);
  cudaMemcpy3DParms out = {};
  out.srcPtr = memory;
  out.srcPos = make_cudaPos(2 * sizeof(float), 1, 1);
  out.dstPtr = make_cudaPitchedPtr(found.data(), width * sizeof(float), width, height);
  out.dstPos = make_cudaPos(3 * sizeof(float), 0, 2);
  out.extent = make_cudaExtent(20 * sizeof(float), 5, 3);
  out.kind = cudaMemcpyDeviceToHost;
  check(cudaMemcpy3DAsync(&out, nullptr));
  finish();
  for (int z = 0; z < 3; ++z) {
    for (int y = 0; y < 5; ++y) {
      for (int x = 0; x < 20; ++x) {
        const int from = ((z + 1) * height + y + 1) * width + x + 2;
        const bool zero = x + 2 < 4 && y + 1 < 2;
        expected[((z + 2) * height + y) * width + x + 3] = zero ? 0 : 2 * host[from];
      }
    }
  }
  check(cudaFree(memory.ptr));
  return compare("boxes of pitched memory", found, expected);
}
