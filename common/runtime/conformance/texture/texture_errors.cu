// Invalid arrays, copies of arrays and textures: the errors of an H200.
#include "common/runtime/conformance/expect.hpp"

void arrays() {
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc real = cudaCreateChannelDesc<float>();
  const cudaChannelFormatDesc three = {32, 32, 32, 0, cudaChannelFormatKindFloat};
  const cudaChannelFormatDesc narrow = {8, 0, 0, 0, cudaChannelFormatKindFloat};
  const cudaChannelFormatDesc mixed = {8, 16, 0, 0, cudaChannelFormatKindUnsigned};
  for (const cudaChannelFormatDesc& format : {three, narrow, mixed})
    EXPECT(cudaMallocArray(&array, &format, 4, 4), cudaErrorInvalidChannelDescriptor);
  EXPECT(cudaMallocArray(nullptr, &real, 4, 4), cudaErrorInvalidValue);
  EXPECT(cudaMallocArray(&array, &real, 0, 4), cudaErrorInvalidValue);
  EXPECT(cudaMallocArray(&array, &real, 200000, 4), cudaErrorInvalidValue);
  EXPECT(cudaMalloc3DArray(&array, &real, {4, 3, 6}, cudaArrayCubemap), cudaErrorInvalidValue);
  EXPECT(cudaMalloc3DArray(&array, &real, {4, 4, 3000}, cudaArrayLayered), cudaErrorInvalidValue);
  EXPECT(cudaMallocArray(&array, &real, 8, 4), cudaSuccess);
  float host[40] = {};
  const auto copied = [&](cudaArray_t to, std::size_t x, std::size_t y, std::size_t pitch,
                          std::size_t width, cudaMemcpyKind kind) {
    return cudaMemcpy2DToArray(to, x, y, host, pitch, width, 4, kind);
  };
  EXPECT(copied(array, 0, 0, 32, 32, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT(copied(array, 4, 0, 32, 32, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT(copied(array, 0, 1, 32, 32, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT(copied(array, 0, 0, 16, 32, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
  EXPECT(copied(array, 0, 0, 32, 32, cudaMemcpyDeviceToHost), cudaErrorInvalidMemcpyDirection);
  EXPECT(copied(nullptr, 0, 0, 32, 32, cudaMemcpyHostToDevice), cudaErrorInvalidResourceHandle);
  cudaChannelFormatDesc format;
  cudaExtent extent;
  unsigned flags = 1;
  EXPECT(cudaArrayGetInfo(&format, &extent, &flags, array), cudaSuccess);
  EXPECT_TRUE(extent.width == 8 && extent.height == 4 && extent.depth == 0 && flags == 0);
  EXPECT_TRUE(format.x == 32 && format.y == 0 && format.f == cudaChannelFormatKindFloat);
  EXPECT(cudaGetChannelDesc(&format, nullptr), cudaErrorInvalidResourceHandle);
  EXPECT(cudaFreeArray(array), cudaSuccess);
  EXPECT(cudaFreeArray(nullptr), cudaSuccess);
}

void textures() {
  cudaResourceDesc resource = {};
  cudaTextureDesc how = {};
  cudaTextureObject_t object = 0;
  EXPECT(cudaCreateTextureObject(&object, &resource, &how, nullptr),
         cudaErrorInvalidResourceHandle);  // no array
  const cudaChannelFormatDesc whole = cudaCreateChannelDesc<int>();
  cudaArray_t array = nullptr;
  EXPECT(cudaMallocArray(&array, &whole, 8, 4), cudaSuccess);
  resource.res.array.array = array;
  EXPECT(cudaCreateTextureObject(nullptr, &resource, &how, nullptr), cudaErrorInvalidValue);
  EXPECT(cudaCreateTextureObject(&object, &resource, nullptr, nullptr),
         cudaErrorInvalidResourceHandle);
  how.filterMode = cudaFilterModeLinear;
  EXPECT(cudaCreateTextureObject(&object, &resource, &how, nullptr), cudaErrorInvalidFilterSetting);
  how = {};
  how.readMode = cudaReadModeNormalizedFloat;
  EXPECT(cudaCreateTextureObject(&object, &resource, &how, nullptr), cudaErrorInvalidNormSetting);
  how = {};
  how.addressMode[0] = static_cast<cudaTextureAddressMode>(9);
  EXPECT(cudaCreateTextureObject(&object, &resource, &how, nullptr), cudaErrorInvalidValue);
  how = {};
  EXPECT(cudaCreateTextureObject(&object, &resource, &how, nullptr), cudaSuccess);
  EXPECT(cudaDestroyTextureObject(object), cudaSuccess);
  EXPECT(cudaFreeArray(array), cudaSuccess);

  char* memory = nullptr;
  EXPECT(cudaMalloc(&memory, 4096), cudaSuccess);
  resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {memory + 4, whole, 1024};
  EXPECT(cudaCreateTextureObject(&object, &resource, &how, nullptr), cudaErrorInvalidValue);
  resource.res.linear.devPtr = nullptr;
  EXPECT(cudaCreateTextureObject(&object, &resource, &how, nullptr), cudaErrorInvalidValue);
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D = {memory, whole, 8, 4, 48};
  EXPECT(cudaCreateTextureObject(&object, &resource, &how, nullptr), cudaErrorInvalidValue);
  EXPECT(cudaFree(memory), cudaSuccess);
  EXPECT(cudaDestroyTextureObject(777), cudaSuccess);
  EXPECT(cudaGetTextureObjectTextureDesc(&how, 777), cudaErrorInvalidValue);
}

int main() {
  arrays();
  textures();
  cudaGetLastError();
  return outcome("errors of textures");
}
