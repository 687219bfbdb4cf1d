// Textures of arrays: points and linear filtering, normalised coordinates, every address mode, 1 to
// 3 dimensions, layers, formats; the weights are those of an H200, of 8 fractional bits.
#include <cmath>
#include <cstring>

#include "common/emulator/tests/programs/program.hpp"

struct reading {
  cudaTextureFilterMode filter = cudaFilterModePoint;
  cudaTextureAddressMode address = cudaAddressModeClamp;
  bool normalized = false, as_float = false;
};

// An array with these texels, and an object that reads it.
template <class T>
class texture_of {
 public:
  texture_of(const std::vector<T>& texels, cudaExtent extent, const reading& how,
             unsigned flags = 0) {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
    check(cudaMalloc3DArray(&array_, &format, extent, flags));
    cudaMemcpy3DParms copy = {};
    const std::size_t rows = extent.height ? extent.height : 1;
    copy.srcPtr = make_cudaPitchedPtr(const_cast<T*>(texels.data()), extent.width * sizeof(T),
                                      extent.width, rows);
    copy.dstArray = array_;
    copy.extent = make_cudaExtent(extent.width, rows, extent.depth ? extent.depth : 1);
    copy.kind = cudaMemcpyHostToDevice;
    check(cudaMemcpy3D(&copy));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array_;
    cudaTextureDesc texture = {};
    for (auto& mode : texture.addressMode) mode = how.address;
    texture.filterMode = how.filter;
    texture.normalizedCoords = how.normalized;
    texture.readMode = how.as_float ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    check(cudaCreateTextureObject(&object_, &resource, &texture, nullptr));
  }
  ~texture_of() {
    cudaDestroyTextureObject(object_);
    cudaFreeArray(array_);
  }
  texture_of(const texture_of&) = delete;
  texture_of& operator=(const texture_of&) = delete;
  cudaTextureObject_t get() const { return object_; }

 private:
  cudaArray_t array_ = nullptr;
  cudaTextureObject_t object_ = 0;
};

// Reads at (x, y, z) of each coordinate, by the number of dimensions, or in layer w.
enum class shape { line, plane, box, layers, gather, integers };
__global__ void read(cudaTextureObject_t t, shape s, int count, const float4* at, float* out) {
  const int i = threadIdx.x;
  if (i >= count) return;
  const float4 c = at[i];
  const int layer = static_cast<int>(c.w);
  out[i] = s == shape::line     ? tex1D<float>(t, c.x)
           : s == shape::plane  ? tex2D<float>(t, c.x, c.y)
           : s == shape::box    ? tex3D<float>(t, c.x, c.y, c.z)
           : s == shape::layers ? tex2DLayered<float>(t, c.x, c.y, layer)
           : s == shape::gather ? tex2Dgather<float4>(t, c.x, c.y, 0).z
                                : static_cast<float>(tex2D<uchar4>(t, c.x, c.y).z);
}

template <class T>
std::vector<float> values(const texture_of<T>& t, shape s, const std::vector<float4>& at) {
  const device_array<float4> coordinates(at);
  device_array<float> out(at.size());
  read<<<1, 512>>>(t.get(), s, static_cast<int>(at.size()), coordinates.get(), out.get());
  finish();
  return out.values();
}

int main() {
  constexpr auto point = cudaFilterModePoint, linear = cudaFilterModeLinear;
  std::vector<float> found, expected;
  const auto add = [&](const std::vector<float>& some, const std::vector<float>& wanted) {
    found.insert(found.end(), some.begin(), some.end());
    expected.insert(expected.end(), wanted.begin(), wanted.end());
  };
  // Weights: 256ths, exactly.
  std::vector<float4> at;
  std::vector<float> wanted;
  for (int k = 0; k <= 256; ++k) {
    at.push_back({0.5f + k / 256.0f, 0, 0, 0});
    wanted.push_back(k / 256.0f);
  }
  add(values(texture_of<float>({0, 1, 5}, {3, 0, 0}, {linear}), shape::line, at), wanted);

  // With four texels, the product of two weights is also rounded to 256ths. Bytes are filtered as
  // 16-bit numbers.
  std::vector<float> dot(16);
  dot[5] = 1;
  add(values(texture_of<float>(dot, {4, 4, 0}, {linear}), shape::plane,
             {{1.5f + 15 / 256.0f, 1.5f + 15 / 256.0f, 0, 0}}),
      {227 / 256.0f});
  add(values(texture_of<unsigned char>({0, 255}, {2, 0, 0},
                                       {linear, cudaAddressModeClamp, false, true}),
             shape::line, {{0.5f + 4 / 256.0f, 0, 0, 0}}),
      {1024 / 65535.0f});

  // Address modes: of five texels, those at -2.5, -0.5, 0.5, 4.5, 5.5 and 7.5 texels.
  at.clear();
  for (const float x : {-2.5f, -0.5f, 0.5f, 4.5f, 5.5f, 7.5f}) at.push_back({x / 5, 0, 0, 0});
  const std::vector<float> line = {1, 2, 4, 8, 16};
  const auto mode = [&](cudaTextureAddressMode m) {
    return values(texture_of<float>(line, {5, 0, 0}, {point, m, true}), shape::line, at);
  };
  add(mode(cudaAddressModeWrap), {4, 16, 1, 16, 1, 4});
  add(mode(cudaAddressModeClamp), {1, 1, 1, 16, 16, 16});
  add(mode(cudaAddressModeMirror), {4, 1, 1, 16, 16, 4});
  add(mode(cudaAddressModeBorder), {0, 0, 1, 16, 0, 0});

  // Normalised coordinates, of which hardware takes 21 to 23 binary digits, by the size: what an
  // H100 reads from texels 1, 2, 3 ... where a digit more or less would give another weight. The
  // last of the long line lie between two floats.
  struct precise {
    int size;
    cudaTextureAddressMode mode;
    float at, value;
  };
  constexpr auto wrap = cudaAddressModeWrap, clamp = cudaAddressModeClamp,
                 mirror = cudaAddressModeMirror, border = cudaAddressModeBorder;
  for (const precise& p : std::initializer_list<precise>{
           {5, wrap, -1.00117183f, 3.03125f},
           {5, mirror, -1.71210933f, 1.9375f},
           {480, wrap, -0.70105386f, 143.9921875f},
           {480, wrap, -0.0646929666f, 449.44921875f},
           {480, clamp, 0.0772422403f, 37.57421875f},
           {480, clamp, 0.263871789f, 127.16015625f},
           {480, mirror, -1.51930726f, 231.23046875f},
           {480, mirror, -0.22352235f, 107.7890625f},
           {8193, wrap, 0.870203435f, 7130.07421875f},
           {8193, wrap, -0.162274078f, 6863.98828125f},
           {8193, clamp, 0.923774898f, 7568.984375f},
           {8193, clamp, 0.184503928f, 1512.140625f},
           {8193, mirror, 1.44077909f, 4582.19921875f},
           {8193, mirror, -0.557673633f, 4569.51953125f},
           {100001, wrap, -0.719764054f, 28024.3671875f},
           {100001, clamp, 0.069112003f, 6911.76171875f},
           {100001, mirror, 0.128557190f, 12856.3359375f},
           {100001, clamp, 0.786058426f, 78607.1328125f},
           {100001, clamp, 0.698431492f, 69844.3515625f},
           // A line has a row, which is read at 0: at a border half of it.
           {5, border, 0.104046471f, 0.51171875f}}) {
    std::vector<float> texels(static_cast<std::size_t>(p.size));
    for (std::size_t k = 0; k < texels.size(); ++k) texels[k] = static_cast<float>(k + 1);
    const texture_of<float> steps(texels, {texels.size(), 0, 0}, {linear, p.mode, true});
    add(values(steps, shape::line, {{p.at, 0, 0, 0}}), {p.value});
  }

  // The weight of one corner of a volume, where halves of 256ths are rounded up or down; in the
  // last case both planes are the first one, since z lies beyond the edge.
  const auto corner = [&](int which, float4 weights) {
    std::vector<float> cube(8);
    cube[static_cast<std::size_t>(which)] = 1;
    return values(texture_of<float>(cube, {2, 2, 2}, {linear}), shape::box,
                  {{0.5f + weights.x / 256, 0.5f + weights.y / 256, 0.5f + weights.z / 256, 0}});
  };
  add(corner(6, {151, 168, 116, 0}), {31 / 256.0f});
  add(corner(4, {151, 168, 116, 0}), {17 / 256.0f});
  add(corner(3, {57, 102, 128, 0}), {12 / 256.0f});
  add(corner(3, {252, 29, -64, 0}), {29 / 256.0f});

  // Four binary digits more than those of the largest value count.
  add(values(texture_of<float>({1, -0x1p-25f - 0x1p-29f}, {2, 1, 0}, {linear}), shape::plane,
             {{1, 0.5f, 0, 0}}),
      {0.5f});

  // Two and three dimensions, layers, and a gather.
  std::vector<float> box(3 * 4 * 2);
  for (std::size_t k = 0; k < box.size(); ++k) box[k] = static_cast<float>(k);
  const std::vector<float4> inside = {{1.25f, 2.5f, 1, 1}, {2.5f, 1.75f, 0.5f, 0}, {9, -9, 9, 9}};
  const texture_of<float> solid(box, {3, 4, 2}, {linear});
  add(values(solid, shape::box, inside), {6.75f + 6, 5.75f, 14});
  const texture_of<float> layers(box, {3, 4, 2}, {linear}, cudaArrayLayered);
  add(values(layers, shape::layers, inside), {6.75f + 12, 5.75f, 14});
  const texture_of<float> plane({0, 1, 2, 3, 4, 5}, {3, 2, 0}, {point, cudaAddressModeClamp},
                                cudaArrayTextureGather);
  add(values(plane, shape::gather, {{1, 1, 0, 0}, {2, 1, 0, 0}}), {1, 2});

  // Formats: bytes as they are, and as numbers from 0 to 1.
  const std::vector<uchar4> colours = {{1, 2, 3, 4}, {5, 6, 255, 8}};
  const texture_of<uchar4> bytes(colours, {2, 1, 0}, {point});
  add(values(bytes, shape::integers, {{0.5f, 0.5f, 0, 0}, {1.5f, 0.5f, 0, 0}}), {3, 255});
  const texture_of<unsigned char> grey({51, 255}, {2, 1, 0},
                                       {point, cudaAddressModeClamp, false, true});
  add(values(grey, shape::plane, {{0.5f, 0.5f, 0, 0}, {1.5f, 0.5f, 0, 0}}), {51 / 255.0f, 1});
  return compare("textures", found, expected);
}
