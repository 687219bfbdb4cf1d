// blur baseline: NVIDIA's image library. One call per stage: grey by the contract's weights, the
// library's 7 x 7 Gaussian filter, and the length of the gradient by Sobel's filters.
//
// watch   A yardstick: NPP's 7 x 7 weights differ, it rounds in its own way, and it repeats the
//         picture's border where the contract has 0. It stores lengths as 16 bits, in scratch.
//         Converting them to bytes would take one more kernel, which is omitted in its favour.
// source  NPP's documentation and headers, CUDA 13: only functions with a stream context are left.
#include <nppcore.h>
#include <nppi_color_conversion.h>
#include <nppi_filtering_functions.h>

#include <stdexcept>
#include <string>

#include "common/lab/check.hpp"
#include "labs/blur/blur.hpp"

namespace {

// Throws for errors. Warnings are positive, and are ignored.
void check_library(NppStatus status, const char* what) {
  if (status >= NPP_NO_ERROR) return;
  throw std::runtime_error(std::string(what) + " returned NppStatus " + std::to_string(status));
}

// The default stream of this process's device.
NppStreamContext default_stream() {
  NppStreamContext context{};
  int device = 0;
  check(cudaGetDevice(&device));
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device));
  context.nCudaDeviceId = device;
  context.nMultiProcessorCount = properties.multiProcessorCount;
  context.nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor;
  context.nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
  context.nSharedMemPerBlock = properties.sharedMemPerBlock;
  context.nCudaDevAttrComputeCapabilityMajor = properties.major;
  context.nCudaDevAttrComputeCapabilityMinor = properties.minor;
  check(cudaStreamGetFlags(context.hStream, &context.nStreamFlags));
  return context;
}

}  // namespace

void edges(const uchar4* rgba, unsigned char* out, unsigned char* scratch, int width, int height) {
  static const NppStreamContext stream = default_stream();
  const Npp32f weights[3] = {0.298839f, 0.586811f, 0.114350f};
  const NppiSize size = {width, height};
  const NppiPoint start = {0, 0};
  unsigned char* const grey = scratch;
  unsigned char* const blurred = out;
  Npp16s* const length = reinterpret_cast<Npp16s*>(scratch);  // 2 bytes per pixel: both pictures
  check_library(nppiColorToGray_8u_AC4C1R_Ctx(reinterpret_cast<const Npp8u*>(rgba), 4 * width, grey,
                                              width, size, weights, stream),
                "nppiColorToGray");
  check_library(nppiFilterGaussBorder_8u_C1R_Ctx(grey, width, size, start, blurred, width, size,
                                                 NPP_MASK_SIZE_7_X_7, NPP_BORDER_REPLICATE, stream),
                "nppiFilterGaussBorder");
  check_library(nppiGradientVectorSobelBorder_8u16s_C1R_Ctx(
                    blurred, width, size, start, nullptr, 0, nullptr, 0, length, 2 * width, nullptr,
                    0, size, NPP_MASK_SIZE_3_X_3, nppiNormL2, NPP_BORDER_REPLICATE, stream),
                "nppiGradientVectorSobelBorder");
}
