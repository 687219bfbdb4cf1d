// CUDA arrays (memory for textures and surfaces), and their one- and two-dimensional copies.
#include <algorithm>

#include "common/runtime/api/allocation.hpp"
#include "common/runtime/api/arrays.hpp"
#include "common/runtime/api/capturing.hpp"

using namespace stepwise;
using namespace stepwise::runtime;

namespace {

constexpr std::size_t row_alignment = 32;

status unknown_array(const char* function) {
  return {error::invalid_resource_handle,
          std::string(function) + ": there is no such array; it may have been freed"};
}

// Turns the requested dimensions into rows and layers. invalid_value.
status shape(array_record& a) {
  const cudaExtent& e = a.extent;
  const bool layered = (a.flags & cudaArrayLayered) != 0, cube = (a.flags & cudaArrayCubemap) != 0;
  // The limits that an H200 reports (cudaDevAttrMaxTexture...).
  const bool solid = e.depth != 0 && !layered && !cube;
  const cudaExtent most = solid             ? cudaExtent{16384, 16384, 16384}
                          : layered || cube ? cudaExtent{32768, 32768, 2048}
                                            : cudaExtent{131072, 65536, 0};
  if (e.width == 0 || e.width > most.width || e.height > most.height || e.depth > most.depth)
    return invalid_value("the array has no width, or is too large");
  if (cube && (e.height != e.width || (layered ? e.depth == 0 || e.depth % 6 != 0 : e.depth != 6)))
    return invalid_value(
        "a cubemap array must have square faces and a depth of 6, or a multiple of 6 with layers");
  if (!cube && (layered ? e.depth == 0 : e.depth != 0 && e.height == 0))
    return invalid_value("the array has no layers, or has slices without rows");
  if ((a.flags & cudaArrayTextureGather) != 0 && (e.height == 0 || (e.depth != 0 && !layered)))
    return invalid_value("cudaArrayTextureGather needs a two-dimensional array");
  texture_record& t = a.texels;
  t.layered = layered ? 1 : 0;
  t.cube = cube ? 1 : 0;
  t.width = static_cast<std::uint32_t>(e.width);
  t.height = static_cast<std::uint32_t>(std::max<std::size_t>(e.height, 1));
  t.depth = static_cast<std::uint32_t>(std::max<std::size_t>(e.depth, 1));
  t.row_bytes = (t.width * std::uint64_t{t.texel_bytes()} + row_alignment - 1) / row_alignment *
                row_alignment;
  t.layer_bytes = t.row_bytes * t.height;
  return {};
}

status make_array(state& s, const char* function, cudaArray_t* array,
                  const cudaChannelFormatDesc* format, const cudaExtent& extent, unsigned flags,
                  unsigned known_flags) {
  if (!array || !format) return invalid_value(std::string(function) + ": a null pointer");
  *array = nullptr;
  if (status here = has_textures(s, function); !here.ok()) return here;
  if ((flags & (cudaArraySparse | cudaArrayDeferredMapping)) != 0) {
    announce(std::string(function) + ": sparse and deferred arrays are not supported");
    return {error::not_supported, "sparse and deferred arrays"};
  }
  if ((flags & ~known_flags) != 0) return invalid_value(std::string(function) + ": unknown flags");
  array_record made;
  made.format = *format;
  made.extent = extent;
  made.flags = flags;
  status outcome = set_format(made.texels, *format);
  if (outcome.ok()) outcome = shape(made);
  std::uint64_t bytes = 0;
  if (outcome.ok() &&
      __builtin_mul_overflow(made.texels.layer_bytes, std::uint64_t{made.texels.depth}, &bytes))
    outcome = {error::memory_allocation, "more bytes than are available"};
  if (!outcome.ok()) return {outcome.code, std::string(function) + ": " + outcome.message};
  if (status safe = safe_now(s); !safe.ok()) return safe;
  note_place(s);
  const auto found = s.current->allocate(bytes);
  if (!found.ok()) return refused(found.failure());
  made.texels.first = *found;
  auto* const kept = new array_record(made);
  s.textures.arrays.insert(kept);
  note_asked(s, asked::kind::allocate, nullptr);
  *array = reinterpret_cast<cudaArray_t>(kept);
  return {};
}

// The start of a box in an array; `x` is in bytes. invalid_value if the box does not fit.
result<char*> place_in(const array_record& a, std::size_t x, std::size_t y, std::size_t width,
                       std::size_t rows) {
  const texture_record& t = a.texels;
  const std::size_t row = std::size_t{t.width} * t.texel_bytes();
  if (x > row || width > row - x || y > t.height || rows > t.height - y)
    return {error::invalid_value, "a box beyond the array of " + std::to_string(t.height) +
                                      " rows of " + std::to_string(row) + " bytes"};
  return static_cast<char*>(pointer_of(t.first)) + y * t.row_bytes + x;
}

// One side of a copy: an array from (x, y), or pitched memory.
struct copy_side {
  cudaArray_const_t array = nullptr;
  std::size_t x = 0, y = 0;
  const void* memory = nullptr;
  std::size_t pitch = 0;
  bool is_array = true;
};

cudaError_t copy_2d(const char* function, const copy_side& to, const copy_side& from,
                    std::size_t width, std::size_t rows, int kind,
                    std::optional<cudaStream_t> stream,
                    std::source_location at = std::source_location::current()) {
  return call(
      [&](state& s) {
        copy_request r;
        const auto resolve = [&](const copy_side& side, char*& first, std::size_t& pitch) {
          if (!side.is_array) {
            first = static_cast<char*>(const_cast<void*>(side.memory));
            pitch = side.pitch;
            return status{};
          }
          const array_record* const a = find_array(s, side.array);
          if (a == nullptr) return unknown_array(function);
          const auto place = place_in(*a, side.x, side.y, width, rows);
          if (!place.ok()) return place.failure();
          first = *place;
          pitch = a->texels.row_bytes;
          return status{};
        };
        char *first = nullptr, *source = nullptr;
        for (const copy_side* side : {&to, &from})
          if (!side->is_array && side->pitch < width)
            return status{error::invalid_pitch_value,
                          std::string(function) + ": rows of " + std::to_string(width) + " bytes"};
        const int away = !to.is_array     ? cudaMemcpyHostToDevice
                         : !from.is_array ? cudaMemcpyDeviceToHost
                                          : cudaMemcpyHostToHost;
        if (kind == away || kind == cudaMemcpyHostToHost)
          return status{error::invalid_memcpy_direction,
                        std::string(function) + ": an array is device memory"};
        status outcome = resolve(to, first, r.to_pitch);
        if (outcome.ok()) outcome = resolve(from, source, r.from_pitch);
        if (outcome.ok() && stream) outcome = check_stream(s, *stream);
        if (!outcome.ok() || width == 0 || rows == 0) return outcome;
        r.to = first;
        r.from = source;
        r.width = width;
        r.rows = rows;
        r.kind = kind;
        if (stream) r = in_stream(r, *stream);
        outcome = check_copy(r);
        return outcome.ok() ? copy(s, r) : outcome;
      },
      at);
}

// Copies `count` contiguous bytes. In an array, the bytes continue in the next row.
cudaError_t copy_in_rows(const char* function, copy_side to, copy_side from, std::size_t count,
                         int kind, std::optional<cudaStream_t> stream) {
  return call([&](state& s) {
    status outcome = stream ? check_stream(s, *stream) : status{};
    while (outcome.ok() && count != 0) {
      std::size_t part = count;
      char* first[2] = {};
      copy_side* const sides[] = {&to, &from};
      for (int n = 0; n < 2; ++n) {
        copy_side& side = *sides[n];
        if (!side.is_array) {
          first[n] = static_cast<char*>(const_cast<void*>(side.memory));
          continue;
        }
        const array_record* const a = find_array(s, side.array);
        if (a == nullptr) return unknown_array(function);
        const std::size_t row = std::size_t{a->texels.width} * a->texels.texel_bytes();
        if (side.x >= row) side = {side.array, side.x - row, side.y + 1};
        part = std::min(part, row - std::min(row, side.x));
        const auto place = place_in(*a, side.x, side.y, 0, 1);
        if (!place.ok() || part == 0) return invalid_value(std::string(function) + ": too long");
        first[n] = *place;
      }
      copy_request r = linear_copy(first[0], first[1], part, kind);
      if (stream) r = in_stream(r, *stream);
      outcome = check_copy(r);
      if (outcome.ok()) outcome = copy(s, r);
      count -= part;
      for (copy_side* side : sides) {
        side->x += part;
        if (!side->is_array) side->memory = static_cast<const char*>(side->memory) + part;
      }
    }
    return outcome;
  });
}

copy_side memory_at(const void* memory, std::size_t pitch = 0) {
  return {nullptr, 0, 0, memory, pitch, false};
}

}  // namespace

namespace stepwise::runtime {

array_record* find_array(state& s, cudaArray_const_t array) {
  auto* const record = reinterpret_cast<array_record*>(const_cast<cudaArray_t>(array));
  return s.textures.arrays.contains(record) ? record : nullptr;
}

status set_format(texture_record& record, const cudaChannelFormatDesc& f) {
  const int bits[] = {f.x, f.y, f.z, f.w};
  unsigned channels = 0;
  while (channels < 4 && bits[channels] != 0) ++channels;
  const bool equal = std::all_of(bits, bits + channels, [&](int b) { return b == f.x; }) &&
                     std::all_of(bits + channels, bits + 4, [](int b) { return b == 0; });
  const int kind = number_of(f.f);
  const bool width = f.x == 8 || f.x == 16 || f.x == 32;
  if (!equal || !width || channels == 3 || kind < 0 || kind > cudaChannelFormatKindFloat ||
      (kind == cudaChannelFormatKindFloat && f.x == 8)) {
    if (kind > cudaChannelFormatKindNone &&
        kind <= cudaChannelFormatKindUnsignedNormalized1010102) {
      announce("compressed, planar and normalised channel formats of textures are not supported");
      return {error::not_supported, "this channel format"};
    }
    return {static_cast<error>(cudaErrorInvalidChannelDescriptor),
            "use 1, 2 or 4 channels of 8, 16 or 32 bits (floats: 16 or 32 bits)"};
  }
  record.channels = static_cast<std::uint8_t>(channels);
  record.channel_bits = static_cast<std::uint8_t>(f.x);
  record.format = kind == cudaChannelFormatKindSigned     ? texel_format::signed_integer
                  : kind == cudaChannelFormatKindUnsigned ? texel_format::unsigned_integer
                                                          : texel_format::floating;
  return {};
}

status has_textures(const state& s, const char* function) {
  if (!s.current->is_remote()) return {};
  const std::string why = std::string(function) +
                          ": textures and surfaces are not supported on a device in another "
                          "process (a graded call)";
  announce(why);
  return {error::not_supported, why};
}

}  // namespace stepwise::runtime

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                            std::size_t width, std::size_t height, unsigned flags) {
  return call([&](state& s) {
    return make_array(s, "cudaMallocArray", array, format, {width, height, 0}, flags,
                      cudaArraySurfaceLoadStore | cudaArrayTextureGather);
  });
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                              cudaExtent extent, unsigned flags) {
  return call([&](state& s) {
    return make_array(
        s, "cudaMalloc3DArray", array, format, extent, flags,
        cudaArrayLayered | cudaArrayCubemap | cudaArraySurfaceLoadStore | cudaArrayTextureGather);
  });
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  return call([&](state& s) {
    if (!array) return status{};
    s.wait_for_all();
    array_record* const found = find_array(s, array);
    if (found == nullptr) return unknown_array("cudaFreeArray");
    host_waited_for_all(s);
    status outcome = release(s, pointer_of(found->texels.first));
    if (!outcome.ok()) return outcome;
    s.textures.arrays.erase(found);
    delete found;
    return outcome;
  });
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags,
                             cudaArray_t array) {
  return call([&](state& s) {
    const array_record* const found = find_array(s, array);
    if (found == nullptr) return unknown_array("cudaArrayGetInfo");
    if (format) *format = found->format;
    if (extent) *extent = found->extent;
    if (flags) *flags = found->flags;
    return status{};
  });
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
  return call([&](state& s) {
    if (!format) return invalid_value("cudaGetChannelDesc: a null pointer");
    const array_record* const found = find_array(s, array);
    if (found == nullptr) return unknown_array("cudaGetChannelDesc");
    *format = found->format;
    return status{};
  });
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                std::size_t pitch, std::size_t width, std::size_t rows,
                                cudaMemcpyKind kind) {
  return copy_2d("cudaMemcpy2DToArray", {to, x, y}, memory_at(from, pitch), width, rows,
                 number_of(kind), std::nullopt);
}
STEPWISE_OWN_STREAM(cudaMemcpy2DToArray_ptds, cudaMemcpy2DToArray,
                    (cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                     std::size_t pitch, std::size_t width, std::size_t rows, cudaMemcpyKind kind),
                    to, x, y, from, pitch, width, rows, kind)

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                     std::size_t pitch, std::size_t width, std::size_t rows,
                                     cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_2d("cudaMemcpy2DToArrayAsync", {to, x, y}, memory_at(from, pitch), width, rows,
                 number_of(kind), stream);
}
STEPWISE_OWN_STREAM(cudaMemcpy2DToArrayAsync_ptsz, cudaMemcpy2DToArrayAsync,
                    (cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                     std::size_t pitch, std::size_t width, std::size_t rows, cudaMemcpyKind kind,
                     cudaStream_t stream),
                    to, x, y, from, pitch, width, rows, kind, stream)

cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t pitch, cudaArray_const_t from,
                                  std::size_t x, std::size_t y, std::size_t width, std::size_t rows,
                                  cudaMemcpyKind kind) {
  return copy_2d("cudaMemcpy2DFromArray", memory_at(to, pitch), {from, x, y}, width, rows,
                 number_of(kind), std::nullopt);
}
STEPWISE_OWN_STREAM(cudaMemcpy2DFromArray_ptds, cudaMemcpy2DFromArray,
                    (void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x,
                     std::size_t y, std::size_t width, std::size_t rows, cudaMemcpyKind kind),
                    to, pitch, from, x, y, width, rows, kind)

cudaError_t cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, cudaArray_const_t from,
                                       std::size_t x, std::size_t y, std::size_t width,
                                       std::size_t rows, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_2d("cudaMemcpy2DFromArrayAsync", memory_at(to, pitch), {from, x, y}, width, rows,
                 number_of(kind), stream);
}
STEPWISE_OWN_STREAM(cudaMemcpy2DFromArrayAsync_ptsz, cudaMemcpy2DFromArrayAsync,
                    (void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x,
                     std::size_t y, std::size_t width, std::size_t rows, cudaMemcpyKind kind,
                     cudaStream_t stream),
                    to, pitch, from, x, y, width, rows, kind, stream)

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, std::size_t to_x, std::size_t to_y,
                                     cudaArray_const_t from, std::size_t from_x, std::size_t from_y,
                                     std::size_t width, std::size_t rows, cudaMemcpyKind kind) {
  return copy_2d("cudaMemcpy2DArrayToArray", {to, to_x, to_y}, {from, from_x, from_y}, width, rows,
                 number_of(kind), std::nullopt);
}
STEPWISE_ALIAS(cudaMemcpy2DArrayToArray_ptds, cudaMemcpy2DArrayToArray);

cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                              std::size_t count, cudaMemcpyKind kind) {
  return copy_in_rows("cudaMemcpyToArray", {to, x, y}, memory_at(from), count, number_of(kind),
                      std::nullopt);
}
STEPWISE_ALIAS(cudaMemcpyToArray_ptds, cudaMemcpyToArray);

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                   std::size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_in_rows("cudaMemcpyToArrayAsync", {to, x, y}, memory_at(from), count, number_of(kind),
                      stream);
}
STEPWISE_ALIAS(cudaMemcpyToArrayAsync_ptsz, cudaMemcpyToArrayAsync);

cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                std::size_t count, cudaMemcpyKind kind) {
  return copy_in_rows("cudaMemcpyFromArray", memory_at(to), {from, x, y}, count, number_of(kind),
                      std::nullopt);
}
STEPWISE_ALIAS(cudaMemcpyFromArray_ptds, cudaMemcpyFromArray);

cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                     std::size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_in_rows("cudaMemcpyFromArrayAsync", memory_at(to), {from, x, y}, count,
                      number_of(kind), stream);
}
STEPWISE_ALIAS(cudaMemcpyFromArrayAsync_ptsz, cudaMemcpyFromArrayAsync);

cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, std::size_t to_x, std::size_t to_y,
                                   cudaArray_const_t from, std::size_t from_x, std::size_t from_y,
                                   std::size_t count, cudaMemcpyKind kind) {
  return copy_in_rows("cudaMemcpyArrayToArray", {to, to_x, to_y}, {from, from_x, from_y}, count,
                      number_of(kind), std::nullopt);
}
STEPWISE_ALIAS(cudaMemcpyArrayToArray_ptds, cudaMemcpyArrayToArray);
