// Virtual memory management: addresses reserved, pieces of memory made, mapped, used by kernels and
// copies, mapped elsewhere, and misuse. Built with -lcuda.
#include <vector>

#include "driver/expect_result.hpp"

__global__ void number(int* out, int first) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = first + i;
}

static std::size_t step = 0;

static CUmemAllocationProp properties() {
  CUmemAllocationProp p{};
  p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  p.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  return p;
}

static CUmemGenericAllocationHandle piece_of(std::size_t bytes) {
  const CUmemAllocationProp p = properties();
  CUmemGenericAllocationHandle made = 0;
  need(cuMemCreate(&made, bytes, &p, 0));
  return made;
}

static CUdeviceptr range_of(std::size_t bytes) {
  CUdeviceptr made = 0;
  need(cuMemAddressReserve(&made, bytes, 0, 0, 0));
  return made;
}

static CUresult allow(CUdeviceptr at, std::size_t bytes,
                      CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
  const CUmemAccessDesc d{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, flags};
  return cuMemSetAccess(at, bytes, &d, 1);
}

static int* ints_at(CUdeviceptr at) { return reinterpret_cast<int*>(at); }

// Two pieces one after the other are one array to kernels, copies and fills.
static void neighbours() {
  const CUdeviceptr at = range_of(3 * step);
  EXPECT_TRUE(at % step == 0);
  const auto first = piece_of(step), second = piece_of(2 * step);
  EXPECT_CU(cuMemMap(at, step, 0, first, 0), CUDA_SUCCESS);
  EXPECT_CU(cuMemMap(at + step, 2 * step, 0, second, 0), CUDA_SUCCESS);
  EXPECT_CU(allow(at, 3 * step), CUDA_SUCCESS);
  const int count = static_cast<int>(3 * step / sizeof(int));
  number<<<count / 1024, 1024>>>(ints_at(at), 5);
  std::vector<int> back(count);
  EXPECT_CU(cuMemcpyDtoH(back.data(), at, 3 * step), CUDA_SUCCESS);
  bool right = true;
  for (int i = 0; i < count; ++i) right = right && back[i] == 5 + i;
  EXPECT_TRUE(right);
  const std::size_t before = step - 8;  // across the border
  EXPECT_CU(cuMemsetD32(at + before, 77, 4), CUDA_SUCCESS);
  EXPECT_TRUE(value_at(at + step - 4) == 77 && value_at(at + step + 4) == 77);
  EXPECT_TRUE(value_at(at + step + 8) == 5 + static_cast<int>(step / 4) + 2);

  unsigned long long flags = 0;
  const CUmemLocation here{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  EXPECT_CU(cuMemGetAccess(&flags, &here, at + step + 4), CUDA_SUCCESS);
  EXPECT_TRUE(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);

  // The handles may go: the memory stays as long as it is mapped.
  EXPECT_CU(cuMemRelease(first), CUDA_SUCCESS);
  EXPECT_CU(cuMemRelease(second), CUDA_SUCCESS);
  EXPECT_TRUE(value_at(at) == 5);
  EXPECT_CU(cuMemUnmap(at, 3 * step), CUDA_SUCCESS);
  EXPECT_CU(cuMemAddressFree(at, 3 * step), CUDA_SUCCESS);
}

// The same piece at two addresses, and at another one later.
static void aliases() {
  const CUdeviceptr a = range_of(step), b = range_of(step);
  EXPECT_TRUE(a != b);
  CUmemGenericAllocationHandle piece = piece_of(step);
  need(cuMemMap(a, step, 0, piece, 0));
  need(cuMemMap(b, step, 0, piece, 0));
  need(allow(a, step));
  need(allow(b, step));
  number<<<1, 32>>>(ints_at(a), 100);
  EXPECT_CU(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_TRUE(value_at(b + 31 * 4) == 131);
  EXPECT_CU(cuMemsetD32(b, 9, 1), CUDA_SUCCESS);
  EXPECT_TRUE(value_at(a) == 9);

  CUmemGenericAllocationHandle again = 0;
  EXPECT_CU(cuMemRetainAllocationHandle(&again, ints_at(a) + 3), CUDA_SUCCESS);
  EXPECT_TRUE(again == piece);
  EXPECT_CU(cuMemRelease(again), CUDA_SUCCESS);
  EXPECT_CU(cuMemUnmap(a, step), CUDA_SUCCESS);
  EXPECT_CU(cuMemUnmap(b, step), CUDA_SUCCESS);
  // Its contents stay.
  EXPECT_CU(cuMemMap(b, step, 0, piece, 0), CUDA_SUCCESS);
  EXPECT_CU(allow(b, step), CUDA_SUCCESS);
  EXPECT_TRUE(value_at(b) == 9 && value_at(b + 4) == 101);
  CUmemAllocationProp p{};
  EXPECT_CU(cuMemGetAllocationPropertiesFromHandle(&p, piece), CUDA_SUCCESS);
  EXPECT_TRUE(p.type == CU_MEM_ALLOCATION_TYPE_PINNED &&
              p.location.type == CU_MEM_LOCATION_TYPE_DEVICE && p.location.id == 0);
  need(cuMemRelease(piece));
  need(cuMemUnmap(b, step));
  for (const CUdeviceptr r : {a, b}) need(cuMemAddressFree(r, step));
}

// An array that grows: the next addresses are asked for, and used if they are given.
static void growth() {
  CUdeviceptr whole = range_of(4 * step);
  EXPECT_CU(cuMemAddressFree(whole, 4 * step), CUDA_SUCCESS);
  CUdeviceptr first = 0, next = 0;
  EXPECT_CU(cuMemAddressReserve(&first, 2 * step, 0, whole, 0), CUDA_SUCCESS);
  EXPECT_CU(cuMemAddressReserve(&next, 2 * step, 0, first + 2 * step, 0), CUDA_SUCCESS);
  EXPECT_TRUE(first != next);
  EXPECT_CU(cuMemAddressFree(first, 2 * step), CUDA_SUCCESS);
  EXPECT_CU(cuMemAddressFree(next, 2 * step), CUDA_SUCCESS);
  EXPECT_CU(cuMemAddressReserve(&first, step, 8 * step, 0, 0), CUDA_SUCCESS);
  EXPECT_TRUE(first % (8 * step) == 0);
  EXPECT_CU(cuMemAddressFree(first, step), CUDA_SUCCESS);
}

static void accounts() {
  std::size_t before = 0, with = 0, after = 0, total = 0;
  need(cuMemGetInfo(&before, &total));
  const auto piece = piece_of(64 * step);
  need(cuMemGetInfo(&with, &total));
  EXPECT_TRUE(before - with >= 64 * step);
  need(cuMemRelease(piece));
  need(cuMemGetInfo(&after, &total));
  EXPECT_TRUE(after - with >= 64 * step);
  const CUmemAllocationProp p = properties();
  CUmemGenericAllocationHandle none = 0;
  EXPECT_CU(cuMemCreate(&none, (total / step + 1) * step, &p, 0), CUDA_ERROR_OUT_OF_MEMORY);
}

static void misuse() {
  CUmemAllocationProp p = properties();
  std::size_t bytes = 0;
  CUmemGenericAllocationHandle piece = 0;
  CUdeviceptr at = 0;
  EXPECT_CU(cuMemGetAllocationGranularity(nullptr, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
            CUDA_ERROR_INVALID_VALUE);
  p.type = CU_MEM_ALLOCATION_TYPE_INVALID;
  EXPECT_CU(cuMemGetAllocationGranularity(&bytes, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
            CUDA_SUCCESS);
  EXPECT_CU(cuMemCreate(&piece, step, &p, 0), CUDA_ERROR_INVALID_VALUE);
  p = properties();
  p.location.id = 77;
  EXPECT_CU(cuMemCreate(&piece, step, &p, 0), CUDA_ERROR_INVALID_DEVICE);
  p = properties();
  EXPECT_CU(cuMemCreate(&piece, 0, &p, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemCreate(&piece, step + 4096, &p, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemCreate(&piece, step, &p, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemCreate(nullptr, step, &p, 0), CUDA_ERROR_INVALID_VALUE);

  EXPECT_CU(cuMemAddressReserve(&at, 0, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemAddressReserve(&at, step, 3, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemAddressReserve(nullptr, step, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);

  at = range_of(2 * step);
  piece = piece_of(step);
  EXPECT_CU(cuMemMap(at, step + 4096, 0, piece, 0), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_CU(cuMemMap(at + 4096, step, 0, piece, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemMap(at, 2 * step, 0, piece, 0), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_CU(allow(at, step), CUDA_ERROR_INVALID_VALUE);  // nothing is mapped
  EXPECT_CU(cuMemUnmap(at, step), CUDA_SUCCESS);
  EXPECT_CU(cuMemMap(at, step, 0, piece, 0), CUDA_SUCCESS);
  EXPECT_CU(cuMemMap(at, step, 0, piece, 0), CUDA_ERROR_INVALID_VALUE);  // something is
  EXPECT_CU(allow(at, 2 * step), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemAddressFree(at, 2 * step), CUDA_ERROR_INVALID_VALUE);
  CUmemAccessDesc far{{CU_MEM_LOCATION_TYPE_DEVICE, 77}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  EXPECT_CU(cuMemSetAccess(at, step, &far, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemSetAccess(at, step, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(allow(at, step), CUDA_SUCCESS);
  EXPECT_CU(cuMemsetD32(at, 3, 1), CUDA_SUCCESS);
  EXPECT_CU(cuMemUnmap(at, step), CUDA_SUCCESS);
  EXPECT_CU(cuMemAddressFree(at, step), CUDA_ERROR_INVALID_VALUE);  // a part of a range
  EXPECT_CU(cuMemAddressFree(at, 2 * step), CUDA_SUCCESS);
  EXPECT_CU(cuMemAddressFree(at, 2 * step), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemRelease(piece), CUDA_SUCCESS);
  EXPECT_CU(cuMemRetainAllocationHandle(&piece, nullptr), CUDA_ERROR_INVALID_VALUE);
}

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // what was said stays said, should a call crash
  step = std::size_t{2} << 20;
  need(cuInit(0));
  int possible = 0;
  need(cuDeviceGetAttribute(&possible, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
  EXPECT_TRUE(possible == 1);
  CUcontext context;
  need(cuDevicePrimaryCtxRetain(&context, 0));
  need(cuCtxSetCurrent(context));
  const CUmemAllocationProp p = properties();
  std::size_t least = 0, best = 0;
  EXPECT_CU(cuMemGetAllocationGranularity(&least, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
            CUDA_SUCCESS);
  EXPECT_CU(cuMemGetAllocationGranularity(&best, &p, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
            CUDA_SUCCESS);
  EXPECT_TRUE(least == step && best % least == 0);
  neighbours();
  aliases();
  growth();
  accounts();
  misuse();
  return outcome("virtual memory management");
}
