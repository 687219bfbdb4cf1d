// How a kernel ends that copies a tile with a misaligned address or start, or with a map that
// promises more than the allocation has.
#include "expect.hpp"
#include "tma/tensor_shape.hpp"
#include "tma/tile_copies.hpp"

constexpr int width = 64, box_width = 16, box_height = 4;

__global__ void load(const CUtensorMap* map, unsigned map_shift, unsigned box_shift, int x, int y) {
  __shared__ __align__(1024) unsigned char window[2048];
  __shared__ __align__(8) unsigned long long barrier;
  if (threadIdx.x != 0) return;
  init_barrier(shared_address(&barrier));
  fence_proxy();
  expect_bytes(shared_address(&barrier), box_width * box_height * sizeof(int));
  load_box<2>(shared_address(window + box_shift), reinterpret_cast<const char*>(map) + map_shift,
              {{x, y}}, shared_address(&barrier));
  wait_for_phase(shared_address(&barrier), 0);
}

void ends_with(unsigned map_shift, unsigned box_shift, int x, int y, cudaError_t expected) {
  constexpr std::uint64_t promised = 1 << 30;  // rows, of which 64 are there
  const tensor_shape shape{
      CU_TENSOR_MAP_DATA_TYPE_INT32, 4, {width, promised}, {box_width, box_height}};
  void* memory = nullptr;
  check(cudaMalloc(&memory, width * 64 * sizeof(int)));
  const CUtensorMap map = shape.map_of(memory);
  CUtensorMap* in_memory = nullptr;
  check(cudaMalloc(&in_memory, 2 * sizeof map));
  for (int n = 0; n < 2; ++n)
    check(cudaMemcpy(in_memory + n, &map, sizeof map, cudaMemcpyHostToDevice));
  load<<<1, 32>>>(in_memory, map_shift, box_shift, x, y);
  EXPECT(cudaDeviceSynchronize(), expected);
}

int main() {
  in_child("a right copy", [] { ends_with(0, 128, 4, 60, cudaSuccess); });
  in_child("a misaligned box", [] { ends_with(0, 16, 0, 0, cudaErrorMisalignedAddress); });
  in_child("a misaligned map", [] { ends_with(16, 0, 0, 0, cudaErrorMisalignedAddress); });
  in_child("rows that are not allocated",
           [] { ends_with(0, 0, 0, 900'000'000, cudaErrorIllegalAddress); });
  in_child("a start in the middle of 16 bytes",
           [] { ends_with(0, 0, 3, 0, cudaErrorIllegalInstruction); });
  return outcome("copies of tiles that fail");
}
