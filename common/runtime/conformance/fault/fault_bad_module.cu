// Bad modules (malformed PTX, an instruction that does not exist, a damaged fat binary) are
// refused, and the program's own kernels continue to work.
#include <string>

#include "expect.hpp"

__global__ void store(int* place, int value) { *place = value; }

static const std::string header = ".version 8.0\n.target sm_80\n.address_size 64\n";

// The first error of loading a module, finding its kernel and launching it.
static cudaError_t use(const void* code) {
  cudaLibrary_t library;
  cudaError_t code_of =
      cudaLibraryLoadData(&library, code, nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (code_of != cudaSuccess) return code_of;
  cudaKernel_t kernel;
  code_of = cudaLibraryGetKernel(&kernel, library, "work");
  if (code_of != cudaSuccess) return code_of;
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(1), nullptr, 0,
                          nullptr);
}

int main() {
  device_array<int> place(1);
  int round = 0;
  const auto still_works = [&] {
    cudaGetLastError();
    store<<<1, 1>>>(place.get(), ++round);
    finish();
    EXPECT_TRUE(place.values()[0] == round);
  };
  const std::string good = header + ".visible .entry work() { ret; }\n";
  EXPECT(use(good.c_str()), cudaSuccess);
  still_works();
  const std::string unknown =
      header + ".visible .entry work() { .reg .u32 %r<3>; frobnicate.u32 %r1, %r2; ret; }\n";
  EXPECT(use(unknown.c_str()), cudaErrorInvalidPtx);
  still_works();
  const std::string unfinished = header + ".visible .entry work() { ret;\n";
  EXPECT(use(unfinished.c_str()), cudaErrorInvalidPtx);
  still_works();
  const unsigned long long empty_container[2] = {0x00100001BA55ED50ull, 0};
  EXPECT_TRUE(use(empty_container) != cudaSuccess);
  still_works();
  return outcome("bad modules");
}
