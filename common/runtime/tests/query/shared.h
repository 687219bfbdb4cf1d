// Part of query.cu: managed and pinned memory, pools, boxes, batches, and queries about peers.
#pragma once

#include "common/runtime/tests/query/ask.h"

// Declarations of cuda_profiler_api.h, which does not come with the compiler from PyPI.
extern "C" cudaError_t cudaProfilerStart();
extern "C" cudaError_t cudaProfilerStop();

static const cudaMemLocation on_device = {cudaMemLocationTypeDevice, 0};
static const cudaMemLocation on_host = {cudaMemLocationTypeHost, 0};
static const cudaMemLocation nowhere = {cudaMemLocationTypeDevice, 99};

static void range(const char* n, const void* p, size_t bytes) {
  printf("  range %s ->", n);
  for (int a = 1; a <= 8; a++) {
    int v = -77;
    const int e = cudaMemRangeGetAttribute(&v, 4, (cudaMemRangeAttribute)a, p, bytes);
    printf(" %d:%d,%d", a, e, v);
  }
  printf("\n");
}
static void managed() {
  char *p, *q;
  void* h;
  int host = 0;
  S(cudaMallocManaged(&p, 0));
  GET();
  S(cudaMallocManaged(&p, 100, 0));
  GET();
  S(cudaMallocManaged(&p, 100, 3));
  GET();
  S(cudaMallocManaged((void**)nullptr, 100));
  GET();
  S(cudaMallocManaged(&p, 1 << 16));
  S(cudaMallocManaged(&q, 64, cudaMemAttachHost));
  cudaMallocHost(&h, 4096);
  range("fresh", p, 1 << 16);
  S(cudaMemAdvise(p, 1 << 16, cudaMemAdviseSetReadMostly, on_device));
  S(cudaMemAdvise(p, 1 << 16, cudaMemAdviseSetPreferredLocation, on_host));
  S(cudaMemAdvise(p, 1 << 16, cudaMemAdviseSetAccessedBy, on_device));
  S(cudaMemPrefetchAsync(p, 1 << 16, on_device, 0, 0));
  cudaDeviceSynchronize();
  range("advised", p, 1 << 16);
  S(cudaMemAdvise(p, 1 << 16, cudaMemAdviseSetPreferredLocation, nowhere));
  GET();
  S(cudaMemAdvise(p, 1 << 16, (cudaMemoryAdvise)99, on_device));
  GET();
  S(cudaMemAdvise(h, 4096, cudaMemAdviseSetReadMostly, on_device));
  GET();
  S(cudaMemAdvise(&host, 4, cudaMemAdviseSetReadMostly, on_device));
  GET();
  S(cudaMemPrefetchAsync(p, 0, on_device, 0, 0));
  GET();
  S(cudaMemPrefetchAsync(p, 100, nowhere, 0, 0));
  GET();
  S(cudaMemPrefetchAsync(p, 100, on_device, 1, 0));
  GET();
  S(cudaMemPrefetchAsync(&host, 4, on_device, 0, 0));
  GET();
  S(cudaStreamAttachMemAsync(0, p, 0, cudaMemAttachGlobal));
  GET();
  S(cudaStreamAttachMemAsync(0, p, 0, cudaMemAttachSingle));
  GET();
  S(cudaStreamAttachMemAsync(0, p + 4096, 0, cudaMemAttachGlobal));
  GET();
  S(cudaStreamAttachMemAsync(0, &host, 0, cudaMemAttachGlobal));
  GET();
  S(cudaMemcpy(p, q, 64, cudaMemcpyDeviceToDevice));
  S(cudaMemcpy(p, q, 64, cudaMemcpyHostToHost));
  S(cudaMemcpy(p, q, 64, cudaMemcpyHostToDevice));
  S(cudaMemcpy(&host, h, 4, cudaMemcpyDeviceToHost));
  S(cudaMemcpy(h, &host, 4, cudaMemcpyHostToDevice));
  S(cudaMemset(h, 1, 4096));
  GET();
  S(cudaHostGetDevicePointer(&h, p, 0));
  GET();
  S(cudaFreeHost(p));
  GET();
  S(cudaFree(p));
  S(cudaFree(p));
  GET();
  S(cudaFree(q));
}
static void pools() {
  cudaMemPool_t pool, standard;
  cudaMemPoolProps props = {};
  unsigned long long n = 0;
  int flag = -1;
  void *p, *q;
  S(cudaDeviceGetDefaultMemPool(&standard, 0));
  S(cudaDeviceGetDefaultMemPool(&standard, 99));
  GET();
  S(cudaMemPoolDestroy(standard));
  GET();
  S(cudaMemPoolCreate(&pool, &props));
  GET();
  props.allocType = cudaMemAllocationTypePinned;
  props.location = nowhere;
  S(cudaMemPoolCreate(&pool, &props));
  GET();
  props.location = on_device;
  S(cudaMemPoolCreate(&pool, &props));
  for (int a = 1; a <= 3; a++) {
    S(cudaMemPoolGetAttribute(pool, (cudaMemPoolAttr)a, &flag));
    N(flag);
  }
  for (int a = 4; a <= 8; a++) {
    S(cudaMemPoolGetAttribute(pool, (cudaMemPoolAttr)a, &n));
    N(n);
  }
  S(cudaMallocFromPoolAsync(&p, 100, pool, 0));
  S(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &n));
  N(n);
  S(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &n));
  N(n);
  S(cudaMallocFromPoolAsync(&q, 40 << 20, pool, 0));
  S(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &n));
  N(n);
  S(cudaFreeAsync(q, 0));
  S(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &n));
  N(n);
  S(cudaDeviceSynchronize());
  S(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &n));
  N(n);
  S(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemHigh, &n));
  N(n);
  n = 5;
  S(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &n));
  GET();
  S(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &n));
  GET();
  S(cudaMallocFromPoolAsync(&q, 0, pool, 0));
  GET();
  S(cudaMallocAsync(&q, 0, 0));
  GET();
  cudaMemAccessDesc access = {on_device, cudaMemAccessFlagsProtNone};
  S(cudaMemPoolSetAccess(pool, &access, 1));
  GET();
  cudaMemAccessFlags flags;
  S(cudaMemPoolGetAccess(&flags, pool, &access.location));
  N(flags);
  S(cudaMalloc(&q, 64));
  S(cudaFreeAsync(q, 0));
  GET();
  S(cudaMemPoolDestroy(pool));
}
static void boxes() {
  cudaPitchedPtr m;
  static char host[4096];
  S(cudaMalloc3D(&m, make_cudaExtent(100, 4, 3)));
  N(m.pitch);
  N(m.xsize);
  N(m.ysize);
  cudaMemcpy3DParms c = {};
  c.srcPtr = make_cudaPitchedPtr(host, 100, 100, 4);
  c.dstPtr = m;
  c.extent = make_cudaExtent(100, 4, 3);
  c.kind = cudaMemcpyHostToDevice;
  S(cudaMemcpy3D(&c));
  c.extent.depth = 0;
  S(cudaMemcpy3D(&c));
  c.extent = make_cudaExtent(101, 4, 3);
  S(cudaMemcpy3D(&c));
  GET();
  c.extent = make_cudaExtent(100, 5, 2);
  S(cudaMemcpy3D(&c));
  GET();
  c.extent = make_cudaExtent(100, 4, 1);
  c.srcPtr.ptr = nullptr;
  S(cudaMemcpy3D(&c));
  GET();
  c.srcPtr.ptr = host;
  c.kind = cudaMemcpyDeviceToHost;
  S(cudaMemcpy3D(&c));
  GET();
  S(cudaMemset3D(m, 1, make_cudaExtent(100, 4, 3)));
  S(cudaMemset3D(m, 1, make_cudaExtent(0, 4, 3)));
  S(cudaMemset3D(m, 1, make_cudaExtent(600, 4, 3)));
  GET();
  S(cudaMemset3D(m, 1, make_cudaExtent(100, 4, 100000)));
  GET();
  void* to[1] = {m.ptr};
  const void* from[1] = {host};
  size_t sizes[1] = {64}, starts[1] = {0};
  cudaMemcpyAttributes a = {};
  a.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  S(cudaMemcpyBatchAsync(to, from, sizes, 1, &a, starts, 1, 0));
  GET();
  cudaStream_t s;
  cudaStreamCreate(&s);
  S(cudaMemcpyBatchAsync(to, from, sizes, 1, &a, starts, 1, s));
  S(cudaMemcpyBatchAsync(to, from, sizes, 1, &a, starts, 0, s));
  GET();
  S(cudaMemcpyBatchAsync(to, from, sizes, 0, &a, starts, 1, s));
  GET();
}
static void peers() {
  int v = -1;
  S(cudaDeviceEnablePeerAccess(0, 0));
  GET();
  S(cudaDeviceEnablePeerAccess(99, 0));
  GET();
  S(cudaDeviceDisablePeerAccess(0));
  GET();
  S(cudaDeviceDisablePeerAccess(99));
  GET();
  S(cudaDeviceGetP2PAttribute(&v, cudaDevP2PAttrAccessSupported, 0, 0));
  GET();
  S(cudaDeviceGetByPCIBusId(&v, "nonsense"));
  GET();
  S(cudaDeviceGetByPCIBusId(&v, "ffff:ff:1f.0"));
  GET();
  S(cudaDeviceGetByPCIBusId(nullptr, "0000:01:00.0"));
  GET();
  S(cudaProfilerStart());
  S(cudaProfilerStop());
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaStreamAttrValue a = {};
  S(cudaStreamGetAttribute(s, cudaStreamAttributeSynchronizationPolicy, &a));
  N(a.syncPolicy);
  S(cudaStreamGetAttribute(s, cudaStreamAttributeMemSyncDomainMap, &a));
  N(a.memSyncDomainMap.default_);
  N(a.memSyncDomainMap.remote);
  S(cudaStreamGetAttribute(s, cudaLaunchAttributeCooperative, &a));
  GET();
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  S(cudaThreadExchangeStreamCaptureMode(&mode));
  N(mode);
  mode = (cudaStreamCaptureMode)9;
  S(cudaThreadExchangeStreamCaptureMode(&mode));
  GET();
}
static void libraries() {
  cudaLibrary_t l;
  cudaKernel_t k;
  void* p;
  S(cudaLibraryLoadData(&l, "rubbish", 0, 0, 0, 0, 0, 0));
  GET();
  S(cudaLibraryLoadData(&l, nullptr, 0, 0, 0, 0, 0, 0));
  GET();
  S(cudaLibraryLoadFromFile(&l, "/no/such/file", 0, 0, 0, 0, 0, 0));
  GET();
  static const char ptx[] =
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .global .u32 v;\n"
      ".visible .entry work() { ret; }\n";
  S(cudaLibraryLoadData(&l, ptx, 0, 0, 0, 0, 0, 0));
  S(cudaLibraryGetKernel(&k, l, "work"));
  S(cudaLibraryGetKernel(&k, l, "absent"));
  GET();
  S(cudaLibraryGetGlobal(&p, nullptr, l, "absent"));
  GET();
  S(cudaLibraryGetManaged(&p, nullptr, l, "v"));
  GET();
  S(cudaLibraryUnload(l));
}
