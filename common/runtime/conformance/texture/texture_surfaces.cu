// Surfaces: what one kernel writes the next one reads, filters, and the host copies; and accesses
// out of range.
#include "common/emulator/tests/programs/program.hpp"

constexpr int width = 40, height = 20;

__global__ void paint(cudaSurfaceObject_t to) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  surf2Dwrite<float>(static_cast<float>(x + 100 * y), to, x * 4, y, cudaBoundaryModeZero);
}

__global__ void half_way(cudaTextureObject_t from, cudaSurfaceObject_t to) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height)
    surf2Dwrite<float>(tex2D<float>(from, x + 1.0f, y + 1.0f), to, x * 4, y);
}

__global__ void edges(cudaSurfaceObject_t from, float* out) {
  out[0] = surf2Dread<float>(from, width * 4, 0, cudaBoundaryModeZero);
  out[1] = surf2Dread<float>(from, 4, height, cudaBoundaryModeZero);
  out[2] = surf2Dread<float>(from, 4, height, cudaBoundaryModeClamp);
  out[3] = surf2Dread<float>(from, width * 4 + 400, 0, cudaBoundaryModeClamp);
  const float2 pair = surf2Dread<float2>(from, 8, 1);
  out[4] = pair.x;
  out[5] = pair.y;
}

struct image {
  image() {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    check(cudaMallocArray(&array, &format, width, height, cudaArraySurfaceLoadStore));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    check(cudaCreateSurfaceObject(&surface, &resource));
    cudaTextureDesc how = {};
    for (auto& mode : how.addressMode) mode = cudaAddressModeClamp;
    how.filterMode = cudaFilterModeLinear;
    check(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  }
  ~image() {
    cudaDestroyTextureObject(texture);
    cudaDestroySurfaceObject(surface);
    cudaFreeArray(array);
  }
  image(const image&) = delete;
  image& operator=(const image&) = delete;

  cudaArray_t array = nullptr;
  cudaSurfaceObject_t surface = 0;
  cudaTextureObject_t texture = 0;
};

int main() {
  const image a, b;
  const dim3 threads(16, 16), blocks((width + 15) / 16, (height + 15) / 16);
  paint<<<blocks, threads>>>(a.surface);
  half_way<<<blocks, threads>>>(a.texture, b.surface);
  finish();
  std::vector<float> found(width * height), expected;
  check(cudaMemcpy2DFromArray(found.data(), width * 4, b.array, 0, 0, width * 4, height,
                              cudaMemcpyDeviceToHost));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      expected.push_back((x + 1 < width ? x + 0.5f : x) + 100 * (y + 1 < height ? y + 0.5f : y));
  device_array<float> out(6);
  edges<<<1, 1>>>(a.surface, out.get());
  finish();
  for (const float value : out.values()) found.push_back(value);
  for (const float value : {0.0f, 0.0f, 1.0f + 100 * (height - 1), width - 1.0f, 102.0f, 103.0f})
    expected.push_back(value);
  return compare("surfaces", found, expected);
}
