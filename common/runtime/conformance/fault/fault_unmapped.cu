// A kernel that uses memory which is not mapped any more, or without access rights yet: the device
// is lost. Built with -lcuda.
#include "driver/expect_result.hpp"

__global__ void touch(int* at) { *at = 1; }

static constexpr std::size_t bytes = std::size_t{2} << 20;

static CUdeviceptr mapped() {
  need(cuInit(0));
  CUcontext context;
  need(cuDevicePrimaryCtxRetain(&context, 0));
  need(cuCtxSetCurrent(context));
  CUmemAllocationProp p{};
  p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  p.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemGenericAllocationHandle piece = 0;
  CUdeviceptr at = 0;
  need(cuMemCreate(&piece, bytes, &p, 0));
  need(cuMemAddressReserve(&at, bytes, 0, 0, 0));
  need(cuMemMap(at, bytes, 0, piece, 0));
  return at;
}

static void allow(CUdeviceptr at, CUmemAccess_flags flags) {
  const CUmemAccessDesc d{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, flags};
  EXPECT_CU(cuMemSetAccess(at, bytes, &d, 1), CUDA_SUCCESS);
}

static void touch_at(CUdeviceptr at, CUresult wanted) {
  touch<<<1, 1>>>(reinterpret_cast<int*>(at));
  EXPECT_CU(cuCtxSynchronize(), wanted);
}

static void unmapped() {
  const CUdeviceptr at = mapped();
  allow(at, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  touch_at(at, CUDA_SUCCESS);
  touch_at(at + bytes - sizeof(int), CUDA_SUCCESS);
  EXPECT_CU(cuMemUnmap(at, bytes), CUDA_SUCCESS);
  touch_at(at, CUDA_ERROR_ILLEGAL_ADDRESS);
}

static void not_allowed() { touch_at(mapped(), CUDA_ERROR_ILLEGAL_ADDRESS); }

static void not_allowed_any_more() {
  const CUdeviceptr at = mapped();
  allow(at, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  touch_at(at, CUDA_SUCCESS);
  allow(at, CU_MEM_ACCESS_FLAGS_PROT_NONE);
  touch_at(at, CUDA_ERROR_ILLEGAL_ADDRESS);
}

int main() {
  in_child("unmapped", unmapped);
  in_child("not allowed", not_allowed);
  in_child("not allowed any more", not_allowed_any_more);
  return outcome("memory that is not mapped");
}
