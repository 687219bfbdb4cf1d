// Reductions of boxes into tensors, for each operation and element type that PTX has. Two blocks
// reduce the same box, which is clipped at two edges of the tensor.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "tma/tensor_shape.hpp"
#include "tma/tile_copies.hpp"

enum class reduction { add, min, max, inc, dec, bit_and, bit_or, bit_xor };

// Reduces a box with the operation `name`, in the instruction's form `form`.
#define REDUCE_BOX(name, form)                                             \
  if constexpr (Operation == reduction::name)                              \
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta." form \
                 ".bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),           \
                 "r"(x), "r"(y), "r"(from)                                 \
                 : "memory");

template <reduction Operation>
__device__ void reduce_box(const void* map, int x, int y, unsigned from) {
  REDUCE_BOX(add, "add.tile")
  REDUCE_BOX(min, "min.tile")
  REDUCE_BOX(max, "max")
  REDUCE_BOX(inc, "inc.tile")
  REDUCE_BOX(dec, "dec.tile")
  REDUCE_BOX(bit_and, "and.tile")
  REDUCE_BOX(bit_or, "or.tile")
  REDUCE_BOX(bit_xor, "xor.tile")
}

constexpr int width = 45, height = 21, box_width = 16, box_height = 9, blocks = 2;
constexpr int x_start = width - 5, y_start = height - 5;

template <reduction Operation, class T>
__global__ void reduce(const __grid_constant__ CUtensorMap map, const T* in) {
  __shared__ __align__(128) T box[box_width * box_height];
  for (int i = threadIdx.x; i < box_width * box_height; i += blockDim.x) box[i] = in[i];
  fence_proxy();
  __syncthreads();
  if (threadIdx.x != 0) return;
  reduce_box<Operation>(&map, x_start, y_start, shared_address(box));
  wait_for_stores();
}

template <class T>
T next(reduction operation, T old, T value) {
  switch (operation) {
    case reduction::add:
      if constexpr (sizeof(T) == 2)
        return T(static_cast<float>(old) + static_cast<float>(value));
      else
        return static_cast<T>(old + value);
    case reduction::min:
      return static_cast<float>(value) < static_cast<float>(old) ? value : old;
    case reduction::max:
      return static_cast<float>(old) < static_cast<float>(value) ? value : old;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    switch (operation) {
      case reduction::inc:
        return old >= value ? 0 : old + 1;
      case reduction::dec:
        return old == 0 || old > value ? value : old - 1;
      case reduction::bit_and:
        return old & value;
      case reduction::bit_or:
        return old | value;
      default:
        return old ^ value;
    }
  }
  return old;
}

// Small numbers, so that sums are exact in every type and comparisons as floats are right.
template <class T>
std::vector<T> numbers(int count, int factor) {
  std::vector<T> made;
  for (int i = 0; i < count; ++i) {
    const int value = i * factor % 41 - (std::is_unsigned_v<T> ? 0 : 20);
    made.push_back(static_cast<T>(static_cast<float>(value)));
  }
  return made;
}

template <reduction Operation, class T>
int wrong_in(const char* name, CUtensorMapDataType type) {
  const tensor_shape shape{type, sizeof(T), {width, height}, {box_width, box_height}};
  const std::size_t pitch = shape.stride(1) / sizeof(T);
  std::vector<T> expected = numbers<T>(static_cast<int>(pitch) * height, 7);
  const std::vector<T> box = numbers<T>(box_width * box_height, 5);
  const device_array<T> global(expected), in(box);
  reduce<Operation, T><<<blocks, 64>>>(shape.map_of(global.get()), in.get());
  finish();
  for (int block = 0; block < blocks; ++block) {
    const auto reduce_element = [&](std::int64_t to, std::uint64_t from) {
      if (to < 0) return;
      T& old = expected[to / sizeof(T)];
      old = next(Operation, old, box[from / sizeof(T)]);
    };
    shape.each_element({x_start, y_start}, reduce_element, true);
  }
  const std::vector<T> found = global.values();
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::memcmp(&found[i], &expected[i], sizeof(T)) == 0) continue;
    std::printf("%s: element %zu is %g, expected %g\n", name, i, static_cast<double>(found[i]),
                static_cast<double>(expected[i]));
    return 1;
  }
  return 0;
}

template <class T>
int wrong_in_numbers(const char* name, CUtensorMapDataType type) {
  return wrong_in<reduction::add, T>(name, type) | wrong_in<reduction::min, T>(name, type) |
         wrong_in<reduction::max, T>(name, type);
}
template <class T>
int wrong_in_bits(const char* name, CUtensorMapDataType type) {
  return wrong_in<reduction::bit_and, T>(name, type) | wrong_in<reduction::bit_or, T>(name, type) |
         wrong_in<reduction::bit_xor, T>(name, type);
}

int main() {
  using u32 = unsigned;
  using u64 = unsigned long long;
  using s64 = long long;
  int wrong = 0;
  wrong |= wrong_in_numbers<u32>("u32", CU_TENSOR_MAP_DATA_TYPE_UINT32);
  wrong |= wrong_in_bits<u32>("u32 bits", CU_TENSOR_MAP_DATA_TYPE_UINT32);
  wrong |= wrong_in<reduction::inc, u32>("inc", CU_TENSOR_MAP_DATA_TYPE_UINT32);
  wrong |= wrong_in<reduction::dec, u32>("dec", CU_TENSOR_MAP_DATA_TYPE_UINT32);
  wrong |= wrong_in_numbers<int>("s32", CU_TENSOR_MAP_DATA_TYPE_INT32);
  wrong |= wrong_in_bits<int>("s32 bits", CU_TENSOR_MAP_DATA_TYPE_INT32);
  wrong |= wrong_in_numbers<u64>("u64", CU_TENSOR_MAP_DATA_TYPE_UINT64);
  wrong |= wrong_in_bits<u64>("u64 bits", CU_TENSOR_MAP_DATA_TYPE_UINT64);
  wrong |= wrong_in<reduction::min, s64>("s64 min", CU_TENSOR_MAP_DATA_TYPE_INT64);
  wrong |= wrong_in<reduction::max, s64>("s64 max", CU_TENSOR_MAP_DATA_TYPE_INT64);
  wrong |= wrong_in<reduction::add, float>("f32", CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
  wrong |= wrong_in<reduction::add, double>("f64", CU_TENSOR_MAP_DATA_TYPE_FLOAT64);
  wrong |= wrong_in_numbers<__half>("f16", CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
  wrong |= wrong_in_numbers<__nv_bfloat16>("bf16", CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
  std::printf("reductions into tensors: %s\n", wrong == 0 ? "all right" : "wrong");
  return wrong;
}
