// Questions about the device: properties agree with attributes, versions, PCI address, peers, and
// the number of a device that is not there.
#include <cstring>

#include "expect.hpp"

static int attribute(cudaDeviceAttr which) {
  int value = -1;
  check(cudaDeviceGetAttribute(&value, which, 0));
  return value;
}

int main() {
  int count = 0, device = -1, driver = 0, runtime = 0;
  EXPECT(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_TRUE(count >= 1);
  EXPECT(cudaSetDevice(0), cudaSuccess);
  EXPECT(cudaGetDevice(&device), cudaSuccess);
  EXPECT_TRUE(device == 0);
  EXPECT(cudaSetDevice(count), cudaErrorInvalidDevice);
  EXPECT(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT(cudaRuntimeGetVersion(&runtime), cudaSuccess);
  EXPECT_TRUE(runtime / 1000 == CUDART_VERSION / 1000);
  EXPECT(cudaDriverGetVersion(&driver), cudaSuccess);
  EXPECT_TRUE(driver >= 13000);

  cudaDeviceProp p;
  EXPECT(cudaGetDeviceProperties(&p, 0), cudaSuccess);
  EXPECT_TRUE(p.name[0] != '\0' && std::strlen(p.name) < sizeof p.name);
  EXPECT_TRUE(p.warpSize == 32 && attribute(cudaDevAttrWarpSize) == 32);
  EXPECT_TRUE(p.major == attribute(cudaDevAttrComputeCapabilityMajor));
  EXPECT_TRUE(p.multiProcessorCount == attribute(cudaDevAttrMultiProcessorCount));
  EXPECT_TRUE(p.maxThreadsPerBlock == attribute(cudaDevAttrMaxThreadsPerBlock));
  EXPECT_TRUE(p.maxGridSize[1] == attribute(cudaDevAttrMaxGridDimY));
  EXPECT_TRUE(p.sharedMemPerBlockOptin ==
              std::size_t(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)));
  EXPECT_TRUE(p.managedMemory == 1 && p.unifiedAddressing == 1 && p.memoryPoolsSupported == 1);
  std::size_t free_bytes = 0, total_bytes = 0;
  EXPECT(cudaMemGetInfo(&free_bytes, &total_bytes), cudaSuccess);
  EXPECT_TRUE(free_bytes > 0 && free_bytes <= total_bytes);
  EXPECT_TRUE(total_bytes <= p.totalGlobalMem);

  char id[32] = "";
  EXPECT(cudaDeviceGetPCIBusId(id, sizeof id, 0), cudaSuccess);
  device = -1;
  EXPECT(cudaDeviceGetByPCIBusId(&device, id), cudaSuccess);
  EXPECT_TRUE(device == 0);
  int can = -1, value = 0;
  EXPECT(cudaDeviceCanAccessPeer(&can, 0, 0), cudaSuccess);
  EXPECT_TRUE(can == 0);
  EXPECT(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessUnsupported);
  EXPECT(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0),
         cudaErrorInvalidDevice);
  EXPECT(cudaGetLastError(), cudaErrorInvalidDevice);
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusActive;
  EXPECT(cudaStreamIsCapturing(nullptr, &capture), cudaSuccess);
  EXPECT_TRUE(capture == cudaStreamCaptureStatusNone);
  EXPECT(cudaDeviceReset(), cudaSuccess);
  return outcome("questions about the device");
}
