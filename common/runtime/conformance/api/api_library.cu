// PTX text that a program loads by itself: its kernels and variables by name.
#include "expect.hpp"

static const char ptx[] = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 step = 3;
.visible .entry advance(.param .u64 data) {
  .reg .u32 %r<4>;
  .reg .u64 %d<4>;
  ld.param.u64 %d1, [data];
  cvta.to.global.u64 %d2, %d1;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d3, %r1, 4;
  add.s64 %d2, %d2, %d3;
  ld.global.u32 %r2, [step];
  ld.global.u32 %r3, [%d2];
  add.u32 %r3, %r3, %r2;
  st.global.u32 [%d2], %r3;
  ret;
}
)";

int main() {
  cudaLibrary_t library;
  cudaKernel_t kernel;
  EXPECT(cudaLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0), cudaSuccess);
  EXPECT(cudaLibraryGetKernel(&kernel, library, "advance"), cudaSuccess);
  void* step = nullptr;
  std::size_t bytes = 0;
  EXPECT(cudaLibraryGetGlobal(&step, &bytes, library, "step"), cudaSuccess);
  EXPECT_TRUE(bytes == 4);
  std::vector<int> values(32), expected(32);
  for (int i = 0; i < 32; ++i) {
    values[i] = i;
    expected[i] = i + 3 + 40;
  }
  device_array<int> data(values);
  int* place = data.get();
  void* arguments[] = {&place};
  const void* const function = reinterpret_cast<const void*>(kernel);
  EXPECT(cudaLaunchKernel(function, dim3(1), dim3(32), arguments, 0, nullptr), cudaSuccess);
  const int forty = 40;
  EXPECT(cudaMemcpy(step, &forty, sizeof forty, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT(cudaLaunchKernel(function, dim3(1), dim3(32), arguments, 0, nullptr), cudaSuccess);
  EXPECT_TRUE(data.values() == expected);
  EXPECT(cudaLibraryGetKernel(&kernel, library, "absent"), cudaErrorSymbolNotFound);
  EXPECT(cudaGetLastError(), cudaErrorSymbolNotFound);
  EXPECT(cudaLibraryUnload(library), cudaSuccess);
  return outcome("libraries");
}
