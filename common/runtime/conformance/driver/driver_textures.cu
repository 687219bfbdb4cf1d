// Arrays, textures and surfaces of the driver API: what is copied to and from arrays, what a kernel
// reads and writes, what is known of each, and misuse. Built with -lcuda.
#include <vector>

#include "driver/expect_result.hpp"

// Texel (x, y) of a plane, in unnormalised coordinates.
__global__ void read_plane(cudaTextureObject_t t, int width, float* out) {
  const int x = threadIdx.x, y = threadIdx.y;
  out[y * width + x] = tex2D<float>(t, x + 0.5f, y + 0.5f);
}
__global__ void read_between(cudaTextureObject_t t, float* out) { *out = tex2D<float>(t, 1, 0.5f); }
__global__ void read_line(cudaTextureObject_t t, int* out) {
  out[threadIdx.x] = tex1Dfetch<int>(t, threadIdx.x);
}
__global__ void read_box(cudaTextureObject_t t, float* out) {
  *out = tex3D<float>(t, 1.5f, 1.5f, 2.5f);
}
__global__ void write_plane(cudaSurfaceObject_t s) {
  surf2Dwrite(10 * threadIdx.y + threadIdx.x, s, static_cast<int>(threadIdx.x * sizeof(int)),
              threadIdx.y);
}

static CUarray plane_of(std::size_t width, std::size_t height, CUarray_format format,
                        unsigned channels = 1) {
  const CUDA_ARRAY_DESCRIPTOR d{width, height, format, channels};
  CUarray made = nullptr;
  need(cuArrayCreate(&made, &d));
  return made;
}

static CUDA_RESOURCE_DESC resource_of(CUarray array) {
  CUDA_RESOURCE_DESC r{};
  r.resType = CU_RESOURCE_TYPE_ARRAY;
  r.res.array.hArray = array;
  return r;
}

static CUtexObject texture_of(const CUDA_RESOURCE_DESC& r, unsigned flags, CUfilter_mode filter) {
  CUDA_TEXTURE_DESC t{};
  for (auto& mode : t.addressMode) mode = CU_TR_ADDRESS_MODE_CLAMP;
  t.filterMode = filter;
  t.flags = flags;
  CUtexObject made = 0;
  need(cuTexObjectCreate(&made, &r, &t, nullptr));
  return made;
}

static std::vector<float> floats_at(CUdeviceptr from, std::size_t count) {
  std::vector<float> all(count);
  need(cuMemcpyDtoH(all.data(), from, count * sizeof(float)));
  return all;
}

static void descriptors() {
  const CUarray line = plane_of(100, 0, CU_AD_FORMAT_SIGNED_INT16, 2);
  CUDA_ARRAY_DESCRIPTOR d{};
  EXPECT_CU(cuArrayGetDescriptor(&d, line), CUDA_SUCCESS);
  EXPECT_TRUE(d.Width == 100 && d.Height == 0);
  EXPECT_TRUE(d.Format == CU_AD_FORMAT_SIGNED_INT16 && d.NumChannels == 2);
  need(cuArrayDestroy(line));

  const CUDA_ARRAY3D_DESCRIPTOR asked{4, 3, 2, CU_AD_FORMAT_HALF, 4, CUDA_ARRAY3D_LAYERED};
  CUarray layers = nullptr;
  EXPECT_CU(cuArray3DCreate(&layers, &asked), CUDA_SUCCESS);
  CUDA_ARRAY3D_DESCRIPTOR found{};
  EXPECT_CU(cuArray3DGetDescriptor(&found, layers), CUDA_SUCCESS);
  EXPECT_TRUE(found.Width == 4 && found.Height == 3 && found.Depth == 2);
  EXPECT_TRUE(found.Format == CU_AD_FORMAT_HALF && found.NumChannels == 4);
  EXPECT_TRUE(found.Flags == CUDA_ARRAY3D_LAYERED);
  need(cuArrayDestroy(layers));
}

static void copies() {
  constexpr std::size_t width = 5, height = 3;
  float host[height][8], back[height][8] = {};
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t x = 0; x < 8; ++x) host[y][x] = static_cast<float>(10 * y + x);
  const CUarray array = plane_of(width, height, CU_AD_FORMAT_FLOAT);
  CUDA_MEMCPY2D c{};
  c.srcMemoryType = CU_MEMORYTYPE_HOST;
  c.srcHost = host;
  c.srcPitch = sizeof host[0];
  c.srcXInBytes = sizeof(float);
  c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  c.dstArray = array;
  c.WidthInBytes = width * sizeof(float);
  c.Height = height;
  EXPECT_CU(cuMemcpy2D(&c), CUDA_SUCCESS);

  CUDA_MEMCPY2D out{};  // a part of it, to another place
  out.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  out.srcArray = array;
  out.srcXInBytes = 2 * sizeof(float);
  out.srcY = 1;
  out.dstMemoryType = CU_MEMORYTYPE_HOST;
  out.dstHost = back;
  out.dstPitch = sizeof back[0];
  out.dstXInBytes = sizeof(float);
  out.WidthInBytes = 3 * sizeof(float);
  out.Height = 2;
  EXPECT_CU(cuMemcpy2D(&out), CUDA_SUCCESS);
  EXPECT_TRUE(back[0][1] == 13 && back[0][3] == 15 && back[1][1] == 23 && back[1][3] == 25);
  EXPECT_TRUE(back[0][0] == 0 && back[0][4] == 0 && back[2][1] == 0);

  const CUDA_ARRAY3D_DESCRIPTOR d{width, height, 2, CU_AD_FORMAT_FLOAT, 1, 0};
  CUarray box = nullptr;
  need(cuArray3DCreate(&box, &d));
  const CUstream stream = stream_of(CU_STREAM_NON_BLOCKING);
  CUDA_MEMCPY3D in{};  // its second slice, from the array
  in.srcMemoryType = in.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  in.srcArray = array;
  in.dstArray = box;
  in.dstZ = 1;
  in.WidthInBytes = width * sizeof(float);
  in.Height = height;
  in.Depth = 1;
  EXPECT_CU(cuMemcpy3DAsync(&in, stream), CUDA_SUCCESS);
  const CUdeviceptr memory = allocate(width * height * sizeof(float));
  CUDA_MEMCPY3D from{};
  from.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  from.srcArray = box;
  from.srcZ = 1;
  from.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  from.dstDevice = memory;
  from.dstPitch = width * sizeof(float);
  from.dstHeight = height;
  from.WidthInBytes = width * sizeof(float);
  from.Height = height;
  from.Depth = 1;
  EXPECT_CU(cuMemcpy3DAsync(&from, stream), CUDA_SUCCESS);
  EXPECT_CU(cuStreamSynchronize(stream), CUDA_SUCCESS);
  const std::vector<float> all = floats_at(memory, width * height);
  EXPECT_TRUE(all[0] == 1 && all[4] == 5 && all[5] == 11 && all[14] == 25);

  const CUarray line = plane_of(16, 0, CU_AD_FORMAT_FLOAT), other = plane_of(16, 0, d.Format);
  EXPECT_CU(cuMemcpyHtoA(line, 0, host[1], 8 * sizeof(float)), CUDA_SUCCESS);
  EXPECT_CU(cuMemcpyDtoA(line, 8 * sizeof(float), memory, 2 * sizeof(float)), CUDA_SUCCESS);
  EXPECT_CU(cuMemcpyAtoA(other, 4 * sizeof(float), line, 6 * sizeof(float), 4 * sizeof(float)),
            CUDA_SUCCESS);
  EXPECT_CU(cuMemcpyAtoD(memory, other, 4 * sizeof(float), 3 * sizeof(float)), CUDA_SUCCESS);
  float home[2] = {};
  EXPECT_CU(cuMemcpyAtoH(home, other, 6 * sizeof(float), sizeof home), CUDA_SUCCESS);
  EXPECT_TRUE(home[0] == 1 && home[1] == 2);
  EXPECT_TRUE(floats_at(memory, 3) == std::vector<float>({16, 17, 1}));
  float later[2] = {};
  EXPECT_CU(cuMemcpyHtoAAsync(other, 0, host[2], sizeof later, stream), CUDA_SUCCESS);
  EXPECT_CU(cuMemcpyAtoHAsync(later, other, 0, sizeof later, stream), CUDA_SUCCESS);
  EXPECT_CU(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_TRUE(later[0] == 20 && later[1] == 21);

  // A box beyond the array, no known type of memory, no array at all.
  out.Height = 3;
  EXPECT_CU(cuMemcpy2D(&out), CUDA_ERROR_INVALID_VALUE);
  out.Height = 2;
  out.WidthInBytes = 4 * sizeof(float);
  EXPECT_CU(cuMemcpy2D(&out), CUDA_ERROR_INVALID_VALUE);
  out.WidthInBytes = sizeof(float);
  out.dstMemoryType = static_cast<CUmemorytype>(9);
  EXPECT_CU(cuMemcpy2D(&out), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemcpyHtoA(line, 15 * sizeof(float), host, 8), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemcpy2D(nullptr), CUDA_ERROR_INVALID_VALUE);

  for (const CUarray a : {array, box, line, other}) need(cuArrayDestroy(a));
  need(cuStreamDestroy(stream));
  need(cuMemFree(memory));
}

static void textures() {
  constexpr int width = 4, height = 2;
  const unsigned char bytes[height][width] = {{0, 51, 102, 255}, {10, 20, 30, 40}};
  const CUarray array = plane_of(width, height, CU_AD_FORMAT_UNSIGNED_INT8);
  CUDA_MEMCPY2D c{};
  c.srcMemoryType = CU_MEMORYTYPE_HOST;
  c.srcHost = bytes;
  c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  c.dstArray = array;
  c.WidthInBytes = width;
  c.Height = height;
  need(cuMemcpy2D(&c));
  const CUdeviceptr memory = allocate(width * height * sizeof(float));
  auto* const out = reinterpret_cast<float*>(memory);

  // Without a flag bytes are read as floats from 0 to 1.
  CUtexObject t = texture_of(resource_of(array), 0, CU_TR_FILTER_MODE_POINT);
  read_plane<<<1, dim3(width, height)>>>(t, width, out);
  EXPECT_CU(cuCtxSynchronize(), CUDA_SUCCESS);
  std::vector<float> found = floats_at(memory, width * height);
  EXPECT_TRUE(found[0] == 0 && found[1] == 0.2f && found[3] == 1 && found[7] == 40 / 255.0f);
  CUDA_TEXTURE_DESC reading{};
  EXPECT_CU(cuTexObjectGetTextureDesc(&reading, t), CUDA_SUCCESS);
  EXPECT_TRUE(reading.flags == 0 && reading.filterMode == CU_TR_FILTER_MODE_POINT);
  EXPECT_TRUE(reading.addressMode[1] == CU_TR_ADDRESS_MODE_CLAMP);
  CUDA_RESOURCE_DESC resource{};
  EXPECT_CU(cuTexObjectGetResourceDesc(&resource, t), CUDA_SUCCESS);
  EXPECT_TRUE(resource.resType == CU_RESOURCE_TYPE_ARRAY && resource.res.array.hArray == array);
  EXPECT_CU(cuTexObjectDestroy(t), CUDA_SUCCESS);

  t = texture_of(resource_of(array), 0, CU_TR_FILTER_MODE_LINEAR);
  read_between<<<1, 1>>>(t, out);
  EXPECT_CU(cuCtxSynchronize(), CUDA_SUCCESS);
  const float mean = floats_at(memory, 1)[0];
  EXPECT_TRUE(mean > 0.0999f && mean < 0.1001f);
  need(cuTexObjectDestroy(t));

  // Linear memory of integers; pitched memory.
  const int numbers[4] = {7, -8, 9, 1 << 30};
  const CUdeviceptr line = allocate(512);
  need(cuMemcpyHtoD(line, numbers, sizeof numbers));
  CUDA_RESOURCE_DESC r{};
  r.resType = CU_RESOURCE_TYPE_LINEAR;
  r.res.linear.devPtr = line;
  r.res.linear.format = CU_AD_FORMAT_SIGNED_INT32;
  r.res.linear.numChannels = 1;
  r.res.linear.sizeInBytes = sizeof numbers;
  t = texture_of(r, CU_TRSF_READ_AS_INTEGER, CU_TR_FILTER_MODE_POINT);
  read_line<<<1, 4>>>(t, reinterpret_cast<int*>(memory));
  EXPECT_CU(cuCtxSynchronize(), CUDA_SUCCESS);
  int same[4] = {};
  need(cuMemcpyDtoH(same, memory, sizeof same));
  EXPECT_TRUE(std::memcmp(same, numbers, sizeof same) == 0);
  EXPECT_CU(cuTexObjectGetResourceDesc(&resource, t), CUDA_SUCCESS);
  EXPECT_TRUE(resource.resType == CU_RESOURCE_TYPE_LINEAR && resource.res.linear.devPtr == line &&
              resource.res.linear.format == CU_AD_FORMAT_SIGNED_INT32 &&
              resource.res.linear.numChannels == 1 &&
              resource.res.linear.sizeInBytes == sizeof numbers);
  EXPECT_CU(cuTexObjectGetTextureDesc(&reading, t), CUDA_SUCCESS);
  EXPECT_TRUE(reading.flags == CU_TRSF_READ_AS_INTEGER);
  need(cuTexObjectDestroy(t));

  CUdeviceptr rows = 0;
  std::size_t pitch = 0;
  need(cuMemAllocPitch(&rows, &pitch, width * sizeof(float), height, 4));
  for (int y = 0; y < height; ++y) need(cuMemsetD32(rows + y * pitch, 0x3f800000, width));
  r = {};
  r.resType = CU_RESOURCE_TYPE_PITCH2D;
  r.res.pitch2D.devPtr = rows;
  r.res.pitch2D.format = CU_AD_FORMAT_FLOAT;
  r.res.pitch2D.numChannels = 1;
  r.res.pitch2D.width = width;
  r.res.pitch2D.height = height;
  r.res.pitch2D.pitchInBytes = pitch;
  t = texture_of(r, 0, CU_TR_FILTER_MODE_POINT);
  read_plane<<<1, dim3(width, height)>>>(t, width, out);
  EXPECT_CU(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_TRUE(floats_at(memory, width * height) == std::vector<float>(width * height, 1));
  EXPECT_CU(cuTexObjectGetResourceDesc(&resource, t), CUDA_SUCCESS);
  EXPECT_TRUE(resource.res.pitch2D.pitchInBytes == pitch && resource.res.pitch2D.height == height);
  need(cuTexObjectDestroy(t));

  // Three dimensions.
  const CUDA_ARRAY3D_DESCRIPTOR d{2, 2, 3, CU_AD_FORMAT_FLOAT, 1, 0};
  CUarray box = nullptr;
  need(cuArray3DCreate(&box, &d));
  float texels[3][2][2];
  for (int n = 0; n < 12; ++n) (&texels[0][0][0])[n] = static_cast<float>(n);
  CUDA_MEMCPY3D in{};
  in.srcMemoryType = CU_MEMORYTYPE_HOST;
  in.srcHost = texels;
  in.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  in.dstArray = box;
  in.WidthInBytes = 2 * sizeof(float);
  in.Height = 2;
  in.Depth = 3;
  EXPECT_CU(cuMemcpy3D(&in), CUDA_SUCCESS);
  t = texture_of(resource_of(box), 0, CU_TR_FILTER_MODE_POINT);
  read_box<<<1, 1>>>(t, out);
  EXPECT_CU(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_TRUE(floats_at(memory, 1)[0] == 11);
  need(cuTexObjectDestroy(t));

  for (const CUarray a : {array, box}) need(cuArrayDestroy(a));
  for (const CUdeviceptr m : {memory, line, rows}) need(cuMemFree(m));
}

static void surfaces() {
  const CUDA_ARRAY3D_DESCRIPTOR d{4, 3, 0, CU_AD_FORMAT_SIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST};
  CUarray array = nullptr;
  need(cuArray3DCreate(&array, &d));
  const CUDA_RESOURCE_DESC r = resource_of(array);
  CUsurfObject s = 0;
  EXPECT_CU(cuSurfObjectCreate(&s, &r), CUDA_SUCCESS);
  CUDA_RESOURCE_DESC found{};
  EXPECT_CU(cuSurfObjectGetResourceDesc(&found, s), CUDA_SUCCESS);
  EXPECT_TRUE(found.resType == CU_RESOURCE_TYPE_ARRAY && found.res.array.hArray == array);
  write_plane<<<1, dim3(4, 3)>>>(s);
  EXPECT_CU(cuCtxSynchronize(), CUDA_SUCCESS);
  int back[3][4] = {};
  CUDA_MEMCPY2D out{};
  out.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  out.srcArray = array;
  out.dstMemoryType = CU_MEMORYTYPE_HOST;
  out.dstHost = back;
  out.WidthInBytes = sizeof back[0];
  out.Height = 3;
  EXPECT_CU(cuMemcpy2D(&out), CUDA_SUCCESS);
  EXPECT_TRUE(back[0][3] == 3 && back[1][0] == 10 && back[2][3] == 23);
  EXPECT_CU(cuSurfObjectDestroy(s), CUDA_SUCCESS);
  need(cuArrayDestroy(array));
}

static void misuse() {
  CUarray array = nullptr;
  CUDA_ARRAY_DESCRIPTOR d{0, 4, CU_AD_FORMAT_FLOAT, 1};
  EXPECT_CU(cuArrayCreate(&array, &d), CUDA_ERROR_INVALID_VALUE);
  d = {4, 4, CU_AD_FORMAT_FLOAT, 3};
  EXPECT_CU(cuArrayCreate(&array, &d), CUDA_ERROR_INVALID_VALUE);
  d = {4, 4, static_cast<CUarray_format>(0x77), 1};
  EXPECT_CU(cuArrayCreate(&array, &d), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuArrayCreate(&array, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuArrayCreate(nullptr, &d), CUDA_ERROR_INVALID_VALUE);
  const CUDA_ARRAY3D_DESCRIPTOR cube{4, 4, 5, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP};
  EXPECT_CU(cuArray3DCreate(&array, &cube), CUDA_ERROR_INVALID_VALUE);

  array = plane_of(4, 4, CU_AD_FORMAT_FLOAT);
  CUDA_RESOURCE_DESC r = resource_of(array);
  CUDA_TEXTURE_DESC t{};
  CUtexObject object = 0;
  CUsurfObject surface = 0;
  EXPECT_CU(cuTexObjectCreate(&object, nullptr, &t, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuTexObjectCreate(nullptr, &r, &t, nullptr), CUDA_ERROR_INVALID_VALUE);
  t.filterMode = static_cast<CUfilter_mode>(7);
  EXPECT_CU(cuTexObjectCreate(&object, &r, &t, nullptr), CUDA_ERROR_INVALID_VALUE);
  t = {};
  t.addressMode[0] = static_cast<CUaddress_mode>(7);
  EXPECT_CU(cuTexObjectCreate(&object, &r, &t, nullptr), CUDA_ERROR_INVALID_VALUE);
  t = {};
  r.resType = static_cast<CUresourcetype>(9);
  EXPECT_CU(cuTexObjectCreate(&object, &r, &t, nullptr), CUDA_ERROR_INVALID_VALUE);
  r = {};
  r.resType = CU_RESOURCE_TYPE_LINEAR;
  EXPECT_CU(cuSurfObjectCreate(&surface, &r), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuArrayDestroy(array), CUDA_SUCCESS);
}

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // what was said stays said, should a call crash
  need(cuInit(0));
  CUcontext context;
  need(cuDevicePrimaryCtxRetain(&context, 0));
  need(cuCtxSetCurrent(context));
  descriptors();
  copies();
  textures();
  surfaces();
  misuse();
  return outcome("arrays and textures by the driver API");
}
