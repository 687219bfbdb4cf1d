// A program for waits_test.py. It uses only the driver API, and does not wait for its endless
// kernel.
#include <cuda.h>

#include <cstdio>

namespace {

constexpr char endless[] = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry endless()
{
  .reg .b32 %r<2>;
again:
  add.u32 %r1, %r1, 1;
  bra again;
}
)";

void need(CUresult code) {
  if (code != CUDA_SUCCESS) std::printf("error %d\n", static_cast<int>(code));
}

}  // namespace

int main() {
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  need(cuInit(0));
  need(cuDevicePrimaryCtxRetain(&context, 0));
  need(cuCtxSetCurrent(context));
  need(cuModuleLoadData(&module, endless));
  need(cuModuleGetFunction(&kernel, module, "endless"));
  need(cuLaunchKernel(kernel, 40, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr));
  std::printf("launched\n");
  return 0;
}
