// Part of query.cu: events, streams, threads, damaged fat binaries, the lifetime of the device.
#pragma once

#include "common/runtime/tests/query/ask.h"

static void events() {
  cudaEvent_t a, b, c;
  float ms = -1;
  S(cudaEventCreate(&a));
  S(cudaEventCreate(&b));
  S(cudaEventCreateWithFlags(&c, cudaEventDisableTiming));
  S(cudaEventQuery(a));
  S(cudaEventSynchronize(a));
  S(cudaEventElapsedTime(&ms, a, b));
  GET();
  S(cudaEventRecord(a));
  S(cudaEventElapsedTime(&ms, a, b));
  GET();
  S(cudaEventRecord(b));
  S(cudaEventSynchronize(b));
  S(cudaEventElapsedTime(&ms, a, b));
  N(ms >= 0);
  S(cudaEventElapsedTime(&ms, b, a));
  N(ms <= 0);
  S(cudaEventElapsedTime(&ms, a, a));
  N(ms == 0);
  S(cudaEventRecord(c));
  S(cudaEventSynchronize(c));
  S(cudaEventElapsedTime(&ms, a, c));
  GET();
  S(cudaEventElapsedTime(nullptr, a, b));
  GET();
  S(cudaEventElapsedTime(&ms, nullptr, b));
  GET();
  S(cudaEventCreate(nullptr));
  GET();
  S(cudaEventCreateWithFlags(&c, 0x80));
  GET();
  S(cudaEventRecord(nullptr));
  GET();
  S(cudaEventSynchronize(nullptr));
  GET();
  S(cudaEventQuery(nullptr));
  GET();
  S(cudaEventDestroy(nullptr));
  GET();
  spin<<<1, 1>>>(20000000LL);
  S(cudaEventRecord(b));
  S(cudaEventQuery(b));
  PEEK();
  S(cudaStreamQuery(0));
  PEEK();
  S(cudaEventElapsedTime(&ms, a, b));
  PEEK();
  GET();
  S(cudaEventDestroy(b));
  S(cudaDeviceSynchronize());
  S(cudaEventDestroy(a));
}
static void streams() {
  cudaStream_t s, t;
  unsigned f;
  int pr;
  S(cudaStreamCreate(&s));
  S(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  S(cudaStreamGetFlags(t, &f));
  N(f);
  S(cudaStreamGetPriority(t, &pr));
  N(pr);
  S(cudaStreamCreateWithFlags(&t, 0x99));
  GET();
  S(cudaStreamCreate(nullptr));
  GET();
  S(cudaStreamCreateWithPriority(&t, 0, -3));
  S(cudaStreamQuery(s));
  S(cudaStreamSynchronize(s));
  empty<<<1, 1, 0, s>>>();
  GET();
  S(cudaStreamSynchronize(s));
  cudaEvent_t e;
  cudaEventCreate(&e);
  S(cudaEventRecord(e, s));
  S(cudaStreamWaitEvent(t, e, 0));
  S(cudaStreamWaitEvent(t, nullptr, 0));
  GET();
  S(cudaStreamWaitEvent(t, e, 9));
  GET();
  S(cudaStreamGetFlags(0, &f));
  N(f);
  S(cudaStreamSynchronize(cudaStreamLegacy));
  S(cudaStreamSynchronize(cudaStreamPerThread));
  const cudaError_t called = cudaLaunchHostFunc(
      s, [](void* x) { *static_cast<int*>(x) = 5; }, &pr);
  printf("  cudaLaunchHostFunc(s, [](void* x) { *(int*)x = 5; }, &pr) -> %d\n", called);
  S(cudaStreamSynchronize(s));
  N(pr);
  cudaStreamCaptureStatus cs;
  S(cudaStreamIsCapturing(s, &cs));
  N(cs);
  unsigned long long id = 0;
  S(cudaStreamGetId(s, &id));
  int dev = -1;
  S(cudaStreamGetDevice(s, &dev));
  N(dev);
  S(cudaStreamDestroy(s));
  S(cudaStreamDestroy(nullptr));
  GET();
  S(cudaStreamDestroy(t));
}
static void threads() {
  void* p;
  S(cudaMalloc(&p, (size_t)1 << 60));
  std::thread([] {
    PEEK();
    void* q;
    S(cudaMalloc(&q, 0));
    PEEK();
    S(cudaSetDevice(99));
    PEEK();
  }).join();
  PEEK();
  GET();
}
// A fat binary wrapper like the compiler's, around malformed bytes.
extern "C" void** __cudaRegisterFatBinary(void*);
extern "C" void __cudaRegisterFatBinaryEnd(void**);
extern "C" void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*,
                                       dim3*, dim3*, int*);
extern "C" void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int);
struct wrapper {
  unsigned magic, version;
  const void* data;
  void* x;
};
static char fun1, var1;
static void corrupt(const void* data, unsigned magic, unsigned version) {
  static wrapper w;
  w = {magic, version, data, nullptr};
  void** h = __cudaRegisterFatBinary(&w);
  N(h != nullptr);
  __cudaRegisterFunction(h, &fun1, (char*)"nothing", "nothing", -1, 0, 0, 0, 0, 0);
  __cudaRegisterVar(h, &var1, (char*)"v", "v", 0, 4, 0, 0);
  __cudaRegisterFatBinaryEnd(h);
  PEEK();
  S(cudaFree(0));
  GET();
  LK("its function", &fun1, 1, 1, 0);
  LK("its function again", &fun1, 1, 1, 0);
  cudaFuncAttributes a;
  S(cudaFuncGetAttributes(&a, &fun1));
  GET();
  void* p;
  S(cudaGetSymbolAddress(&p, &var1));
  GET();
  LK("a good function", (const void*)empty, 1, 1, 0);
}
static unsigned long long zeros[8], entry0[2] = {0x00100001BA55ED50ull, 0};
static void corrupt_zero() { corrupt(zeros, 0x466243B1, 1); }
static void corrupt_empty() { corrupt(entry0, 0x466243B1, 1); }
static void corrupt_magic() { corrupt(entry0, 0x12345678, 1); }
static void corrupt_version() { corrupt(entry0, 0x466243B1, 9); }
static void corrupt_null() { corrupt(nullptr, 0x466243B1, 1); }
static void devices() {
  int v;
  cudaDeviceProp p = {};
  p.major = 3;
  S(cudaChooseDevice(&v, &p));
  N(v);
  S(cudaDeviceCanAccessPeer(&v, 0, 0));
  GET();
  N(v);
  S(cudaInitDevice(0, 0, 0));
  S(cudaSetDeviceFlags(cudaDeviceScheduleSpin));
  GET();
  unsigned fl;
  S(cudaGetDeviceFlags(&fl));
  N(fl);
  S(cudaSetDeviceFlags(0x8000));
  GET();
  S(cudaDeviceReset());
  GET();
  S(cudaDeviceReset());
  S(cudaDeviceSynchronize());
  int list[1] = {0};
  S(cudaSetValidDevices(list, 1));
  S(cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTargetCurrentDevice,
                                       cudaFlushGPUDirectRDMAWritesToOwner));
  GET();
  S(cudaCtxResetPersistingL2Cache());
  GET();
}
