// Where a tensor map may be: in a kernel's parameters, in __constant__ memory, and in global
// memory. Maps in global memory are also edited by a kernel, there and by way of shared memory, and
// read by the next kernel and by the same kernel.
#include "tma/tensor_shape.hpp"
#include "tma/tile_copies.hpp"

constexpr int width = 24, height = 10, box_width = 16, box_height = 4;
constexpr int box_elements = box_width * box_height, threads = 32;

__device__ void load_to(int* out, const void* map, int x, int y, unsigned bytes) {
  __shared__ __align__(128) int box[box_elements];
  __shared__ __align__(8) unsigned long long barrier;
  if (threadIdx.x == 0) {
    init_barrier(shared_address(&barrier));
    fence_proxy();
    expect_bytes(shared_address(&barrier), bytes);
    load_box<2>(shared_address(box), map, {{x, y}}, shared_address(&barrier));
  }
  __syncthreads();
  wait_for_phase(shared_address(&barrier), 0);
  for (int i = threadIdx.x; i < bytes / 4; i += threads) out[i] = box[i];
}

__constant__ CUtensorMap constant_map;

__global__ void load_by_parameter(const __grid_constant__ CUtensorMap map, int* out) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
  asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(&map),
               "r"(-4), "r"(2)
               : "memory");
  load_to(out, &map, -4, 2, box_elements * 4);
}
__global__ void load_by_constant(int* out) { load_to(out, &constant_map, -4, 2, box_elements * 4); }
__global__ void load_by_address(const CUtensorMap* map, int* out, unsigned bytes) {
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
  load_to(out, map, -4, 2, bytes);
}

// Changes the map to describe another tensor, with other sizes, box and element stride.
template <bool InShared>
__device__ void edit(void* map, const void* address, int new_width, int new_height) {
  if constexpr (InShared) {
    const unsigned at = shared_address(map);
    asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(at),
                 "l"(address)
                 : "memory");
    asm volatile("tensormap.replace.tile.rank.shared::cta.b1024.b32 [%0], %1;" ::"r"(at), "r"(1)
                 : "memory");
    asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 0, %1;" ::"r"(at),
                 "r"(new_width)
                 : "memory");
    asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %1;" ::"r"(at),
                 "r"(new_height)
                 : "memory");
    asm volatile(
        "tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], 0, %1;" ::"r"(at),
        "l"(new_width * 4ll)
        : "memory");
    asm volatile("tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 1, %1;" ::"r"(at),
                 "r"(6)
                 : "memory");
    asm volatile(
        "tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%0], 1, %1;" ::"r"(at), "r"(2)
        : "memory");
    asm volatile("tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%0], 3;" ::"r"(at)
                 : "memory");
    asm volatile("tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%0], 0;" ::"r"(at)
                 : "memory");
    asm volatile("tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%0], 0;" ::"r"(at)
                 : "memory");
    asm volatile("tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%0], 0;" ::"r"(at)
                 : "memory");
  } else {
    asm volatile("tensormap.replace.tile.global_address.global.b1024.b64 [%0], %1;" ::"l"(map),
                 "l"(address)
                 : "memory");
    asm volatile("tensormap.replace.tile.global_dim.global.b1024.b32 [%0], 0, %1;" ::"l"(map),
                 "r"(new_width)
                 : "memory");
    asm volatile("tensormap.replace.tile.global_dim.global.b1024.b32 [%0], 1, %1;" ::"l"(map),
                 "r"(new_height)
                 : "memory");
    asm volatile("tensormap.replace.tile.global_stride.global.b1024.b64 [%0], 0, %1;" ::"l"(map),
                 "l"(new_width * 4ll)
                 : "memory");
    asm volatile("tensormap.replace.tile.box_dim.global.b1024.b32 [%0], 1, %1;" ::"l"(map), "r"(6)
                 : "memory");
    asm volatile("tensormap.replace.tile.element_stride.global.b1024.b32 [%0], 1, %1;" ::"l"(map),
                 "r"(2)
                 : "memory");
  }
}

// For the next kernel.
__global__ void edit_in_place(CUtensorMap* map, const int* address, int new_width, int new_height) {
  edit<false>(map, address, new_width, new_height);
}

// For the same kernel, as PTX describes it: a copy in shared memory is edited and published.
__global__ void edit_and_load(const __grid_constant__ CUtensorMap before, CUtensorMap* map,
                              const int* address, int new_width, int new_height, int* out,
                              unsigned bytes) {
  __shared__ __align__(128) CUtensorMap copy;
  if (threadIdx.x < CU_TENSOR_MAP_NUM_QWORDS) copy.opaque[threadIdx.x] = before.opaque[threadIdx.x];
  __syncwarp();
  if (threadIdx.x == 0) edit<true>(&copy, address, new_width, new_height);
  __syncwarp();
  asm volatile(
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
      "[%0], [%1], 128;" ::"l"(map),
      "r"(shared_address(&copy))
      : "memory");
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
  load_to(out, map, -4, 2, bytes);
}

std::vector<int> tile_of(const tensor_shape& shape, const std::vector<int>& tensor) {
  std::vector<int> tile(shape.moved_elements());
  shape.each_element({-4, 2}, [&](std::int64_t from, std::uint64_t to) {
    tile[to / 4] = from < 0 ? 0 : tensor[from / 4];
  });
  return tile;
}

int main() {
  constexpr auto s32 = CU_TENSOR_MAP_DATA_TYPE_INT32;
  const tensor_shape shape{s32, 4, {width, height}, {box_width, box_height}};
  const tensor_shape edited{s32, 4, {12, 7}, {box_width, 6}, {1, 2, 1, 1, 1}};
  std::vector<int> tensor(width * height), other(12 * 7);
  for (int i = 0; i < width * height; ++i) tensor[i] = 100 + i;
  for (int i = 0; i < 12 * 7; ++i) other[i] = 5000 + i;
  const std::vector<int> tile = tile_of(shape, tensor), edited_tile = tile_of(edited, other);
  const device_array<int> global(tensor), other_global(other);
  const CUtensorMap map = shape.map_of(global.get());

  const device_array<int> by_parameter(box_elements), by_constant(box_elements);
  const device_array<int> by_address(box_elements), by_edited(edited_tile.size());
  const device_array<int> by_replaced(box_elements), by_published(edited_tile.size());
  load_by_parameter<<<1, threads>>>(map, by_parameter.get());
  check(cudaMemcpyToSymbol(constant_map, &map, sizeof map));
  load_by_constant<<<1, threads>>>(by_constant.get());
  CUtensorMap* in_memory = nullptr;
  check(cudaMalloc(&in_memory, 2 * sizeof map));
  check(cudaMemcpy(in_memory, &map, sizeof map, cudaMemcpyHostToDevice));
  load_by_address<<<1, threads>>>(in_memory, by_address.get(), shape.moved_bytes());
  edit_in_place<<<1, 1>>>(in_memory, other_global.get(), 12, 7);
  load_by_address<<<1, threads>>>(in_memory, by_edited.get(), edited.moved_bytes());
  edit_and_load<<<1, threads>>>(map, in_memory + 1, other_global.get(), 12, 7, by_published.get(),
                                edited.moved_bytes());
  CUtensorMap moved = shape.map_of(global.get() + 4);
  const auto replace_address =
      driver_function<decltype(&cuTensorMapReplaceAddress)>("cuTensorMapReplaceAddress");
  int wrong = replace_address(&moved, global.get()) != CUDA_SUCCESS;
  load_by_parameter<<<1, threads>>>(moved, by_replaced.get());
  finish();
  wrong |= compare("a map in the parameters", by_parameter.values(), tile);
  wrong |= compare("a map in constant memory", by_constant.values(), tile);
  wrong |= compare("a map in global memory", by_address.values(), tile);
  wrong |= compare("a map edited in global memory", by_edited.values(), edited_tile);
  wrong |= compare("a map edited in shared memory", by_published.values(), edited_tile);
  wrong |= compare("a map with another address", by_replaced.values(), tile);
  check(cudaFree(in_memory));
  return wrong;
}
