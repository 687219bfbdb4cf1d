// Part of query.cu: versions, attributes, properties, kernels, occupancy, limits.
#pragma once

#include "common/runtime/tests/query/ask.h"

static void versions() {
  int v = -1;
  S(cudaDriverGetVersion(&v));
  N(v);
  S(cudaRuntimeGetVersion(&v));
  N(v);
  S(cudaGetDeviceCount(&v));
  N(v);
  S(cudaGetDevice(&v));
  N(v);
  unsigned fl = 99;
  S(cudaGetDeviceFlags(&fl));
  N(fl);
  int lo, hi;
  S(cudaDeviceGetStreamPriorityRange(&lo, &hi));
  N(lo);
  N(hi);
  cudaFuncCache cc;
  S(cudaDeviceGetCacheConfig(&cc));
  N(cc);
  S(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared));
  S(cudaFuncSetCacheConfig(store, cudaFuncCachePreferL1));
  char bus[64];
  S(cudaDeviceGetPCIBusId(bus, 64, 0));
}
static void attributes() {
  int v;
  for (int i = 0; i < 160; i++) {
    v = -12345;
    cudaError_t e = cudaDeviceGetAttribute(&v, (cudaDeviceAttr)i, 0);
    if (i % 10 == 0) printf("  attr %d to %d (error/value):", i, i + 9);
    printf(" %d/%d", (int)e, v);
    if (i % 10 == 9) printf("\n");
  }
  GET();
  GET();
  S(cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, 99));
  GET();
  S(cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, -1));
  GET();
  S(cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0));
  GET();
}
#define F(x) printf("  prop " #x " %lld\n", (long long)p.x)
#define A(x)                             \
  {                                      \
    printf("  prop " #x);                \
    for (auto q : p.x) printf(" %d", q); \
    printf("\n");                        \
  }
static void properties() {
  cudaDeviceProp p;
  memset(&p, 0xAB, sizeof p);
  S(cudaGetDeviceProperties(&p, 0));
  N(sizeof p);
  printf("  prop name %s\n", p.name);
  F(luidDeviceNodeMask);
  F(totalGlobalMem);
  F(sharedMemPerBlock);
  F(regsPerBlock);
  F(warpSize);
  F(memPitch);
  F(maxThreadsPerBlock);
  A(maxThreadsDim);
  A(maxGridSize);
  F(totalConstMem);
  F(major);
  F(minor);
  F(textureAlignment);
  F(texturePitchAlignment);
  F(multiProcessorCount);
  F(integrated);
  F(canMapHostMemory);
  F(maxTexture1D);
  F(maxTexture1DMipmap);
  A(maxTexture2D);
  A(maxTexture2DMipmap);
  A(maxTexture2DLinear);
  A(maxTexture2DGather);
  A(maxTexture3D);
  A(maxTexture3DAlt);
  F(maxTextureCubemap);
  A(maxTexture1DLayered);
  A(maxTexture2DLayered);
  A(maxTextureCubemapLayered);
  F(maxSurface1D);
  A(maxSurface2D);
  A(maxSurface3D);
  A(maxSurface1DLayered);
  A(maxSurface2DLayered);
  F(maxSurfaceCubemap);
  A(maxSurfaceCubemapLayered);
  F(surfaceAlignment);
  F(concurrentKernels);
  F(ECCEnabled);
  F(tccDriver);
  F(asyncEngineCount);
  F(unifiedAddressing);
  F(memoryBusWidth);
  F(l2CacheSize);
  F(persistingL2CacheMaxSize);
  F(maxThreadsPerMultiProcessor);
  F(streamPrioritiesSupported);
  F(globalL1CacheSupported);
  F(localL1CacheSupported);
  F(sharedMemPerMultiprocessor);
  F(regsPerMultiprocessor);
  F(managedMemory);
  F(isMultiGpuBoard);
  F(multiGpuBoardGroupID);
  F(hostNativeAtomicSupported);
  F(pageableMemoryAccess);
  F(concurrentManagedAccess);
  F(computePreemptionSupported);
  F(canUseHostPointerForRegisteredMem);
  F(cooperativeLaunch);
  F(sharedMemPerBlockOptin);
  F(pageableMemoryAccessUsesHostPageTables);
  F(directManagedMemAccessFromHost);
  F(maxBlocksPerMultiProcessor);
  F(accessPolicyMaxWindowSize);
  F(reservedSharedMemPerBlock);
  F(hostRegisterSupported);
  F(sparseCudaArraySupported);
  F(hostRegisterReadOnlySupported);
  F(timelineSemaphoreInteropSupported);
  F(memoryPoolsSupported);
  F(gpuDirectRDMASupported);
  F(gpuDirectRDMAFlushWritesOptions);
  F(gpuDirectRDMAWritesOrdering);
  F(memoryPoolSupportedHandleTypes);
  F(deferredMappingCudaArraySupported);
  F(ipcEventSupported);
  F(clusterLaunch);
  F(unifiedFunctionPointers);
  F(deviceNumaConfig);
  F(deviceNumaId);
  F(mpsEnabled);
  F(hostNumaId);
  F(gpuPciDeviceID);
  F(gpuPciSubsystemID);
  F(hostNumaMultinodeIpcSupported);
  S(cudaGetDeviceProperties(&p, 99));
  GET();
  S(cudaGetDeviceProperties(nullptr, 0));
  GET();
}
static void fattr(const char* n, const void* f) {
  cudaFuncAttributes a;
  memset(&a, 0, sizeof a);
  int e = cudaFuncGetAttributes(&a, f);
  printf(
      "  func %s -> %d regs %d shared %zu const %zu local %zu maxthreads %d ptx %d bin %d cacheca "
      "%d maxdyn %d "
      "carve %d clusterset %d %d %d %d policy %d nonport %d\n",
      n, e, a.numRegs, a.sharedSizeBytes, a.constSizeBytes, a.localSizeBytes, a.maxThreadsPerBlock,
      a.ptxVersion, a.binaryVersion, a.cacheModeCA, a.maxDynamicSharedSizeBytes,
      a.preferredShmemCarveout, a.clusterDimMustBeSet, a.requiredClusterWidth,
      a.requiredClusterHeight, a.requiredClusterDepth, a.clusterSchedulingPolicyPreference,
      a.nonPortableClusterSizeAllowed);
  const char* name = nullptr;
  e = cudaFuncGetName(&name, f);
  printf("    name -> %d %s\n", e, name ? name : "(null)");
}
#define FA(x) fattr(#x, (const void*)(x))
static void functions() {
  FA(empty);
  FA(store);
  FA(bounded);
  FA(bounded_min);
  FA(static_shared);
  FA(dynamic_shared);
  FA(both_shared);
  FA(many_registers);
  FA(local_array);
  FA(uses_constant);
  FA(trap_kernel);
  FA(parameters<int>);
  FA(clustered);
  for (int i = 0; i < 7; i++) {
    size_t off = 9999, sz = 9999;
    int e = cudaFuncGetParamInfo((const void*)parameters<int>, i, &off, &sz);
    printf("  param %d -> %d off %zu size %zu\n", i, e, off, sz);
  }
  GET();
  GET();
  cudaFuncAttributes a;
  S(cudaFuncGetAttributes(&a, (const void*)nullptr));
  GET();
  auto A8 = cudaFuncAttributeMaxDynamicSharedMemorySize;
  S(cudaFuncSetAttribute(dynamic_shared, A8, 232448));
  S(cudaFuncSetAttribute(dynamic_shared, A8, 232449));
  GET();
  S(cudaFuncSetAttribute(dynamic_shared, A8, -1));
  GET();
  S(cudaFuncSetAttribute(dynamic_shared, A8, 0));
  FA(dynamic_shared);
  S(cudaFuncSetAttribute(both_shared, A8, 232448));
  GET();
  S(cudaFuncSetAttribute(both_shared, A8, 232448 - 4000));
  GET();
  S(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
  GET();
  S(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributePreferredSharedMemoryCarveout, 101));
  GET();
  S(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributePreferredSharedMemoryCarveout, -1));
  GET();
  S(cudaFuncSetAttribute(dynamic_shared, (cudaFuncAttribute)3, 1));
  GET();
  S(cudaFuncSetAttribute(dynamic_shared, (cudaFuncAttribute)77, 1));
  GET();
}
static void occ(const char* n, const void* f, int bs, size_t sm) {
  int b = -1;
  int e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&b, f, bs, sm);
  int b2 = -1;
  int e2 = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      &b2, f, bs, sm, cudaOccupancyDisableCachingOverride);
  printf("  occ %s %d %zu -> %d %d  flags %d %d\n", n, bs, sm, e, b, e2, b2);
}
static void occupancy() {
  for (int bs : {-1, 0, 1, 32, 33, 96, 128, 256, 512, 1000, 1024, 1025}) {
    occ("empty", (const void*)empty, bs, 0);
    occ("bounded", (const void*)bounded, bs, 0);
    occ("static_shared", (const void*)static_shared, bs, 0);
    occ("many_registers", (const void*)many_registers, bs, 0);
  }
  for (size_t sm : {0, 1, 1024, 10000, 48000, 49152, 49153, 100000, 232448, 232449})
    occ("dynamic_shared", (const void*)dynamic_shared, 256, sm);
  for (size_t sm : {0, 10000, 45151, 45152, 45153, 49152})
    occ("both_shared", (const void*)both_shared, 256, sm);
  cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 200000);
  for (size_t sm : {49153, 100000, 200000, 200001, 232448})
    occ("dynamic_shared200k", (const void*)dynamic_shared, 256, sm);
  GET();
  GET();
  int b;
  S(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&b, (const void*)empty, 32, 0, 99));
  GET();
  size_t av = 0;
  S(cudaOccupancyAvailableDynamicSMemPerBlock(&av, (const void*)dynamic_shared, 2, 256));
  N(av);
  int g = 0, t = 0;
  S(cudaOccupancyMaxPotentialBlockSize(&g, &t, many_registers));
  N(g);
  N(t);
}
static void limits() {
  for (int i = 0; i < 10; i++) {
    size_t v = 0;
    int e = cudaDeviceGetLimit(&v, (cudaLimit)i);
    printf("  limit %d -> %d %zu\n", i, e, v);
  }
  GET();
  GET();
  S(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
  S(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 24));
  S(cudaDeviceSetLimit((cudaLimit)77, 1));
  GET();
  size_t kept = 0;
  S(cudaDeviceGetLimit(&kept, cudaLimitStackSize));
  N(kept);
  S(cudaDeviceGetLimit(&kept, cudaLimitMallocHeapSize));
  N(kept);
  S(cudaDeviceSetLimit(cudaLimitStackSize, 1000));
  S(cudaDeviceGetLimit(&kept, cudaLimitStackSize));
  N(kept);
  S(cudaDeviceSetLimit(cudaLimitStackSize, 1 << 20));
  GET();
  S(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 20));
  S(cudaDeviceGetLimit(&kept, cudaLimitPrintfFifoSize));
  N(kept);
  S(cudaDeviceSetLimit(cudaLimitMallocHeapSize, (size_t)1 << 50));
  GET();
}
