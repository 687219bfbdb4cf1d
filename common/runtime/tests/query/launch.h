// Part of query.cu: launches, and faults of kernels.
#pragma once

#include "common/runtime/tests/query/ask.h"

static void L(const char* what, cudaError_t direct) {
  int g = cudaGetLastError();
  int s = cudaDeviceSynchronize();
  printf("  launch %s -> %d get %d sync %d get %d\n", what, (int)direct, g, s,
         (int)cudaGetLastError());
  fflush(stdout);
}
static int* g_p;
static void LK(const char* what, const void* f, dim3 g, dim3 b, size_t sm) {
  int* p = g_p;
  int n = 1;
  mixed m{};
  void* args[] = {&p, &n, &n, &n, &m};
  L(what, cudaLaunchKernel(f, g, b, args, sm, 0));
}
static void launches() {
  cudaMalloc(&g_p, 1 << 22);
  empty<<<1, 1>>>();
  L("<<<1,1>>>", cudaSuccess);
  empty<<<0, 1>>>();
  L("<<<0,1>>>", cudaSuccess);
  empty<<<1, 0>>>();
  L("<<<1,0>>>", cudaSuccess);
  empty<<<1, 1025>>>();
  L("<<<1,1025>>>", cudaSuccess);
  empty<<<1, 1, 49153>>>();
  L("<<<1,1,49153>>>", cudaSuccess);
  bounded<<<1, 257>>>(g_p);
  L("bounded<<<1,257>>>", cudaSuccess);
  auto e = (const void*)empty;
  LK("grid 0,1,1", e, dim3(0, 1, 1), 1, 0);
  LK("grid 1,0,1", e, dim3(1, 0, 1), 1, 0);
  LK("grid 1,1,0", e, dim3(1, 1, 0), 1, 0);
  LK("block 0,1,1", e, 1, dim3(0, 1, 1), 0);
  LK("block 1,0,1", e, 1, dim3(1, 0, 1), 0);
  LK("block 1,1,0", e, 1, dim3(1, 1, 0), 0);
  LK("block 1025", e, 1, 1025, 0);
  LK("block 32,33", e, 1, dim3(32, 33), 0);
  LK("block 1,1,64", e, 1, dim3(1, 1, 64), 0);
  LK("block 1,1,65", e, 1, dim3(1, 1, 65), 0);
  LK("block 1,1025,1", e, 1, dim3(1, 1025, 1), 0);
  LK("block 65536,65536", e, 1, dim3(65536, 65536), 0);
  LK("grid 1,65535", e, dim3(1, 65535), 1, 0);
  LK("grid 1,65536", e, dim3(1, 65536), 1, 0);
  LK("grid 1,1,65536", e, dim3(1, 1, 65536), 1, 0);
  LK("grid 2^31", e, dim3(0x80000000u), 1, 0);
  LK("grid -1", e, dim3(0xffffffffu), 1, 0);
  LK("grid 2^31-1 x 65535", (const void*)nullptr, dim3(0x7fffffffu, 65535, 65535), 1, 0);
  LK("shared 49152", e, 1, 1, 49152);
  LK("shared 49153", e, 1, 1, 49153);
  LK("shared 232449", e, 1, 1, 232449);
  LK("static+45152", (const void*)both_shared, 1, 32, 45152);
  LK("static+45153", (const void*)both_shared, 1, 32, 45153);
  cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000);
  LK("optin 100000", (const void*)dynamic_shared, 1, 32, 100000);
  LK("optin 100001", (const void*)dynamic_shared, 1, 32, 100001);
  LK("bounded 256", (const void*)bounded, 1, 256, 0);
  LK("bounded 257", (const void*)bounded, 1, 257, 0);
  LK("bounded 1025", (const void*)bounded, 1, 1025, 0);
  LK("bounded_min 257", (const void*)bounded_min, 1, 257, 0);
  cudaFuncAttributes fa;
  cudaFuncGetAttributes(&fa, many_registers);
  N(fa.numRegs);
  N(fa.maxThreadsPerBlock);
  for (int t : {256, 384, 448, 480, 512, 1024, 1025}) {
    char b[64];
    sprintf(b, "many_registers %d", t);
    int n = 0;
    int* p = g_p;
    void* args[] = {&p, &n};
    L(b, cudaLaunchKernel((const void*)many_registers, 1, t, args, 0, 0));
  }
  LK("grid 0 and block 0", e, dim3(0), dim3(0), 0);
  LK("grid 0, shared 2^20", e, dim3(0), dim3(1), 1 << 20);
  LK("block 2000, shared 2^20", e, 1, 2000, 1 << 20);
  LK("bounded 257, shared 2^20", (const void*)bounded, 1, 257, 1 << 20);
  LK("null function", nullptr, 1, 1, 0);
  L("null args, no parameters", cudaLaunchKernel(e, 1, 1, nullptr, 0, 0));
  cudaLaunchConfig_t c = {};
  c.gridDim = 1;
  c.blockDim = 32;
  int* p = g_p;
  int v = 3;
  void* args[] = {&p, &v};
  L("ExC", cudaLaunchKernelExC(&c, (const void*)store, args));
  c.gridDim = 0;
  L("ExC grid 0", cudaLaunchKernelExC(&c, (const void*)store, args));
  cudaLaunchAttribute at[1] = {};
  at[0].id = cudaLaunchAttributeCooperative;
  at[0].val.cooperative = 1;
  c.attrs = at;
  c.numAttrs = 1;
  c.gridDim = 132;
  L("ExC coop 132", cudaLaunchKernelExC(&c, (const void*)store, args));
  c.gridDim = 1000000;
  L("ExC coop 1000000", cudaLaunchKernelExC(&c, (const void*)store, args));
  L("coop 4", cudaLaunchCooperativeKernel((const void*)store, 4, 32, args, 0, 0));
  L("coop 132*32", cudaLaunchCooperativeKernel((const void*)store, 132 * 32, 32, args, 0, 0));
  L("coop 132*32+1", cudaLaunchCooperativeKernel((const void*)store, 132 * 32 + 1, 32, args, 0, 0));
  L("coop grid 0", cudaLaunchCooperativeKernel((const void*)store, 0, 32, args, 0, 0));
  L("coop block 1025", cudaLaunchCooperativeKernel((const void*)store, 4, 1025, args, 0, 0));
  cudaKernel_t k;
  S(cudaGetKernel(&k, (const void*)store));
  S(cudaGetKernel(&k, (const void*)nullptr));
  GET();
  cudaFunction_t fn;
  S(cudaGetFuncBySymbol(&fn, (const void*)store));
  empty<<<0, 1>>>();
  PEEK();
  empty<<<1, 1>>>();
  PEEK();
  GET();
  GET();
  clustered<<<2, 32>>>();
  L("cluster 2", cudaSuccess);
  clustered<<<3, 32>>>();
  L("cluster, grid 3", cudaSuccess);
}
static void bad_args() {
  cudaMalloc(&g_p, 4096);
  L("null args", cudaLaunchKernel((const void*)store, 1, 1, nullptr, 0, 0));
}
static void all_calls(const char* when) {
  printf("  -- %s\n", when);
  int v;
  void* p;
  size_t n, n2;
  cudaDeviceProp pr;
  cudaFuncAttributes fa;
  cudaPointerAttributes pa2;
  int h = 0;
  cudaEvent_t ev;
  cudaStream_t st;
  const char* nm;
  S(cudaDriverGetVersion(&v));
  S(cudaRuntimeGetVersion(&v));
  S(cudaGetDeviceCount(&v));
  S(cudaGetDevice(&v));
  S(cudaSetDevice(0));
  S(cudaGetDeviceProperties(&pr, 0));
  S(cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, 0));
  S(cudaDeviceSynchronize());
  S(cudaMalloc(&p, 16));
  S(cudaFree(0));
  S(cudaFree((void*)0x1234));
  S(cudaMallocHost(&p, 16));
  S(cudaFreeHost(0));
  S(cudaMemGetInfo(&n, &n2));
  S(cudaMemcpy(&h, &h, 0, cudaMemcpyHostToHost));
  S(cudaMemcpy(&h, &v, 4, cudaMemcpyHostToHost));
  S(cudaMemset(g_p, 0, 4));
  S(cudaMemcpy(&h, g_p, 4, cudaMemcpyDeviceToHost));
  S(cudaMemcpy(&h, g_p, 4, (cudaMemcpyKind)9));
  S(cudaFuncGetAttributes(&fa, store));
  S(cudaFuncGetName(&nm, (const void*)store));
  S(cudaPointerGetAttributes(&pa2, &h));
  S(cudaGetSymbolAddress(&p, d_value));
  S(cudaGetSymbolSize(&n, d_value));
  S(cudaEventCreate(&ev));
  S(cudaStreamCreate(&st));
  S(cudaStreamSynchronize(0));
  S(cudaStreamQuery(0));
  S(cudaDeviceGetLimit(&n, cudaLimitStackSize));
  S(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&v, store, 32, 0));
  S(cudaLaunchKernel((const void*)empty, 1, 1, nullptr, 0, 0));
  S(cudaLaunchKernel((const void*)empty, 0, 1, nullptr, 0, 0));
  S(cudaMalloc(nullptr, 16));
  S(cudaSetDevice(99));
  empty<<<1, 1>>>();
  PEEK();
  GET();
  GET();
}
static void sticky() {
  cudaMalloc(&g_p, 1024);
  cudaEvent_t a, b;
  cudaEventCreate(&a);
  cudaEventCreate(&b);
  cudaEventRecord(a);
  store_at<<<1, 1>>>(g_p, 1LL << 40);
  printf("  after launch ");
  PEEK();
  cudaEventRecord(b);
  S(cudaEventSynchronize(b));
  float ms;
  S(cudaEventElapsedTime(&ms, a, b));
  S(cudaEventQuery(b));
  S(cudaEventDestroy(a));
  S(cudaDeviceSynchronize());
  PEEK();
  GET();
  GET();
  PEEK();
  all_calls("after an out-of-bounds write");
  std::thread([] {
    printf("  other thread:\n");
    PEEK();
    GET();
    S(cudaDeviceSynchronize());
    PEEK();
    GET();
  }).join();
  S(cudaDeviceReset());
  PEEK();
  GET();
  GET();
  all_calls("after reset");
}
static void sticky_reset_before_get() {
  cudaMalloc(&g_p, 1024);
  store_at<<<1, 1>>>(g_p, 1LL << 40);
  S(cudaDeviceReset());
  PEEK();
  GET();
  void* p;
  S(cudaMalloc(&p, 16));
  store<<<1, 1>>>((int*)p, 3);
  PEEK();
  S(cudaDeviceSynchronize());
  int v = 0;
  S(cudaMemcpy(&v, p, 4, cudaMemcpyDeviceToHost));
  N(v);
  v = 0;
  S(cudaMemcpyFromSymbol(&v, d_value, 4));
  N(v);
}
static void sticky_memcpy() {
  cudaMalloc(&g_p, 1024);
  store_at<<<1, 1>>>(g_p, 1LL << 40);
  int v;
  S(cudaMemcpy(&v, g_p, 4, cudaMemcpyDeviceToHost));
  PEEK();
  GET();
  GET();
  S(cudaFree(g_p));
}
static void sticky_free() {
  cudaMalloc(&g_p, 1024);
  store_at<<<1, 1>>>(g_p, 1LL << 40);
  S(cudaFree(g_p));
  PEEK();
  GET();
}
static void sticky_then_nonsticky() {
  cudaMalloc(&g_p, 1024);
  empty<<<0, 1>>>();
  store_at<<<1, 1>>>(g_p, 1LL << 40);
  PEEK();
  S(cudaDeviceSynchronize());
  PEEK();
  GET();
  GET();
}
#define FAULT(name, ...)        \
  static void name() {          \
    cudaMalloc(&g_p, 1024);     \
    __VA_ARGS__;                \
    S(cudaDeviceSynchronize()); \
    GET();                      \
    GET();                      \
    S(cudaMalloc(&g_p, 4));     \
  }
FAULT(f_trap, (trap_kernel<<<1, 1>>>()))
FAULT(f_misaligned, (misaligned<<<1, 1>>>((char*)g_p)))
FAULT(f_null, (store_at<<<1, 1>>>(nullptr, 0)))
FAULT(f_host, (store_at<<<1, 1>>>((int*)&g_p, 0)))
FAULT(f_near, (store_at<<<1, 1>>>(g_p, 300)))
FAULT(f_shared, (shared_oob<<<1, 32>>>(g_p, 1 << 20)))
FAULT(f_shared_near, (shared_oob<<<1, 32>>>(g_p, 4096)))
FAULT(f_shared_mis, (shared_oob<<<1, 32>>>(g_p, 2)))
FAULT(f_local, (local_oob<<<1, 32>>>(g_p, 1 << 24)))
