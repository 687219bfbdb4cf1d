// Asks a CUDA runtime everything that ours must answer alike. Each section is a child process.
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#define S(expr) (printf("  %s -> %d\n", #expr, (int)(expr)), fflush(stdout))
#define N(expr) (printf("  %s = %lld\n", #expr, (long long)(expr)), fflush(stdout))
#define PEEK() (printf("    peek %d\n", (int)cudaPeekAtLastError()), fflush(stdout))
#define GET() (printf("    get %d\n", (int)cudaGetLastError()), fflush(stdout))

__device__ int d_value = 7;
__constant__ float c_table[16];
__device__ int d_array[1000];
__global__ void empty() {}
__global__ void store(int* p, int v) { p[blockIdx.x * blockDim.x + threadIdx.x] = v; }
__global__ void store_at(int* p, long long i) { p[i] = 1; }
__global__ void __launch_bounds__(256) bounded(int* p) { p[threadIdx.x] = 1; }
__global__ void __launch_bounds__(256, 4) bounded_min(int* p) { p[threadIdx.x] = 1; }
__global__ void static_shared(int* p) {
  __shared__ int s[1000];
  s[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = s[(threadIdx.x + 1) % 1000];
}
extern __shared__ int dyn[];
__global__ void dynamic_shared(int* p) {
  dyn[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = dyn[0];
}
__global__ void both_shared(int* p) {
  __shared__ int s[1000];
  s[threadIdx.x % 1000] = p[threadIdx.x];
  dyn[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = dyn[0] + s[5];
}
// Over 64 registers per thread, so that 1024 threads do not fit.
__global__ void many_registers(float* p, int n) {
  float a[120];
#pragma unroll
  for (int i = 0; i < 120; i++) a[i] = p[i * 32 + threadIdx.x];
  for (int k = 0; k < n; k++) {
#pragma unroll
    for (int i = 0; i < 120; i++) a[i] = a[i] * a[(i + 1) % 120] + p[k];
  }
#pragma unroll
  for (int i = 0; i < 120; i++) p[i * 32 + threadIdx.x] = a[i];
}
__global__ void local_array(int* p, int n) {
  int a[64];
  for (int i = 0; i < 64; i++) a[i] = p[i];
  for (int i = 0; i < n; i++) a[a[i & 63] & 63] += i;
  for (int i = 0; i < 64; i++) p[i] = a[i];
}
__global__ void uses_constant(float* p) { p[threadIdx.x] = c_table[threadIdx.x & 15] + d_value; }
__global__ void trap_kernel() { asm volatile("trap;"); }
__global__ void shared_oob(int* p, int i) {
  __shared__ int s[32];
  s[threadIdx.x] = 1;
  __syncthreads();
  asm volatile("st.shared.u32 [%0], 1;" ::"r"(i));
  p[0] = s[0];
}
__global__ void misaligned(char* p) { *(int*)(p + 1) = 3; }
__global__ void local_oob(int* p, int n) { int a[4] = {1, 2, 3, 4}; a[n] = 5; p[0] = a[1] + a[p[1]]; }
__global__ void spin(long long cycles) { long long t = clock64(); while (clock64() - t < cycles) {} }
struct mixed { float f; double d; char c; };
template <class T> __global__ void parameters(float a, T* b, int* c, int d, mixed e) {}
__global__ void __cluster_dims__(2, 1, 1) clustered() {}

static void section(const char* name, void (*f)()) {
  printf("== %s\n", name);
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) { alarm(20); f(); fflush(stdout); _exit(0); }
  int st = 0;
  waitpid(pid, &st, 0);
  if (WIFSIGNALED(st)) printf("  !! killed by signal %d\n", WTERMSIG(st));
  fflush(stdout);
}

static void versions() {
  int v = -1;
  S(cudaDriverGetVersion(&v)); N(v);
  S(cudaRuntimeGetVersion(&v)); N(v);
  S(cudaGetDeviceCount(&v)); N(v);
  S(cudaGetDevice(&v)); N(v);
  unsigned fl = 99; S(cudaGetDeviceFlags(&fl)); N(fl);
  int lo, hi; S(cudaDeviceGetStreamPriorityRange(&lo, &hi)); N(lo); N(hi);
  cudaFuncCache cc; S(cudaDeviceGetCacheConfig(&cc)); N(cc);
  S(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared));
  S(cudaFuncSetCacheConfig(store, cudaFuncCachePreferL1));
  char bus[64]; S(cudaDeviceGetPCIBusId(bus, 64, 0));
}
static void attributes() {
  for (int i = 0; i <= 160; i++) {
    int v = -12345;
    cudaError_t e = cudaDeviceGetAttribute(&v, (cudaDeviceAttr)i, 0);
    printf("  attr %d -> %d value %d\n", i, (int)e, v);
  }
  int v;
  GET(); GET();
  S(cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, 99)); GET();
  S(cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, -1)); GET();
  S(cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0)); GET();
}
#define F(x) printf("  prop " #x " %lld\n", (long long)p.x)
#define A(x) { printf("  prop " #x); for (auto q : p.x) printf(" %d", q); printf("\n"); }
static void properties() {
  cudaDeviceProp p;
  memset(&p, 0xAB, sizeof p);
  S(cudaGetDeviceProperties(&p, 0));
  N(sizeof p);
  printf("  prop name %s\n", p.name);
  F(luidDeviceNodeMask); F(totalGlobalMem); F(sharedMemPerBlock); F(regsPerBlock); F(warpSize); F(memPitch);
  F(maxThreadsPerBlock); A(maxThreadsDim); A(maxGridSize); F(totalConstMem); F(major); F(minor);
  F(textureAlignment); F(texturePitchAlignment); F(multiProcessorCount); F(integrated); F(canMapHostMemory);
  F(maxTexture1D); F(maxTexture1DMipmap); A(maxTexture2D); A(maxTexture2DMipmap); A(maxTexture2DLinear);
  A(maxTexture2DGather); A(maxTexture3D); A(maxTexture3DAlt); F(maxTextureCubemap); A(maxTexture1DLayered);
  A(maxTexture2DLayered); A(maxTextureCubemapLayered); F(maxSurface1D); A(maxSurface2D); A(maxSurface3D);
  A(maxSurface1DLayered); A(maxSurface2DLayered); F(maxSurfaceCubemap); A(maxSurfaceCubemapLayered);
  F(surfaceAlignment); F(concurrentKernels); F(ECCEnabled); F(tccDriver);
  F(asyncEngineCount); F(unifiedAddressing); F(memoryBusWidth); F(l2CacheSize); F(persistingL2CacheMaxSize);
  F(maxThreadsPerMultiProcessor); F(streamPrioritiesSupported); F(globalL1CacheSupported);
  F(localL1CacheSupported); F(sharedMemPerMultiprocessor); F(regsPerMultiprocessor); F(managedMemory);
  F(isMultiGpuBoard); F(multiGpuBoardGroupID); F(hostNativeAtomicSupported); F(pageableMemoryAccess);
  F(concurrentManagedAccess); F(computePreemptionSupported); F(canUseHostPointerForRegisteredMem);
  F(cooperativeLaunch); F(sharedMemPerBlockOptin); F(pageableMemoryAccessUsesHostPageTables);
  F(directManagedMemAccessFromHost); F(maxBlocksPerMultiProcessor); F(accessPolicyMaxWindowSize);
  F(reservedSharedMemPerBlock); F(hostRegisterSupported); F(sparseCudaArraySupported);
  F(hostRegisterReadOnlySupported); F(timelineSemaphoreInteropSupported); F(memoryPoolsSupported);
  F(gpuDirectRDMASupported); F(gpuDirectRDMAFlushWritesOptions); F(gpuDirectRDMAWritesOrdering);
  F(memoryPoolSupportedHandleTypes); F(deferredMappingCudaArraySupported); F(ipcEventSupported);
  F(clusterLaunch); F(unifiedFunctionPointers); F(deviceNumaConfig); F(deviceNumaId); F(mpsEnabled);
  F(hostNumaId); F(gpuPciDeviceID); F(gpuPciSubsystemID); F(hostNumaMultinodeIpcSupported);
  S(cudaGetDeviceProperties(&p, 99)); GET();
  S(cudaGetDeviceProperties(nullptr, 0)); GET();
}
static void fattr(const char* n, const void* f) {
  cudaFuncAttributes a;
  memset(&a, 0, sizeof a);
  int e = cudaFuncGetAttributes(&a, f);
  printf("  func %s -> %d regs %d shared %zu const %zu local %zu maxthreads %d ptx %d bin %d cacheca %d maxdyn %d "
         "carve %d clusterset %d %d %d %d policy %d nonport %d\n",
         n, e, a.numRegs, a.sharedSizeBytes, a.constSizeBytes, a.localSizeBytes, a.maxThreadsPerBlock,
         a.ptxVersion, a.binaryVersion, a.cacheModeCA, a.maxDynamicSharedSizeBytes, a.preferredShmemCarveout,
         a.clusterDimMustBeSet, a.requiredClusterWidth, a.requiredClusterHeight, a.requiredClusterDepth,
         a.clusterSchedulingPolicyPreference, a.nonPortableClusterSizeAllowed);
  const char* name = nullptr;
  e = cudaFuncGetName(&name, f);
  printf("    name -> %d %s\n", e, name ? name : "(null)");
}
#define FA(x) fattr(#x, (const void*)(x))
static void functions() {
  FA(empty); FA(store); FA(bounded); FA(bounded_min); FA(static_shared); FA(dynamic_shared); FA(both_shared);
  FA(many_registers); FA(local_array); FA(uses_constant); FA(trap_kernel); FA(parameters<int>); FA(clustered);
  for (int i = 0; i < 7; i++) {
    size_t off = 9999, sz = 9999;
    int e = cudaFuncGetParamInfo((const void*)parameters<int>, i, &off, &sz);
    printf("  param %d -> %d off %zu size %zu\n", i, e, off, sz);
  }
  GET(); GET();
  cudaFuncAttributes a;
  S(cudaFuncGetAttributes(&a, (const void*)nullptr)); GET();
  auto A8 = cudaFuncAttributeMaxDynamicSharedMemorySize;
  S(cudaFuncSetAttribute(dynamic_shared, A8, 232448));
  S(cudaFuncSetAttribute(dynamic_shared, A8, 232449)); GET();
  S(cudaFuncSetAttribute(dynamic_shared, A8, -1)); GET();
  S(cudaFuncSetAttribute(dynamic_shared, A8, 0));
  FA(dynamic_shared);
  S(cudaFuncSetAttribute(both_shared, A8, 232448)); GET();
  S(cudaFuncSetAttribute(both_shared, A8, 232448 - 4000)); GET();
  S(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributePreferredSharedMemoryCarveout, 50)); GET();
  S(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributePreferredSharedMemoryCarveout, 101)); GET();
  S(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributePreferredSharedMemoryCarveout, -1)); GET();
  S(cudaFuncSetAttribute(dynamic_shared, (cudaFuncAttribute)3, 1)); GET();
  S(cudaFuncSetAttribute(dynamic_shared, (cudaFuncAttribute)77, 1)); GET();
}
static void occ(const char* n, const void* f, int bs, size_t sm) {
  int b = -1;
  int e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&b, f, bs, sm);
  int b2 = -1;
  int e2 = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&b2, f, bs, sm, cudaOccupancyDisableCachingOverride);
  printf("  occ %s %d %zu -> %d %d  flags %d %d\n", n, bs, sm, e, b, e2, b2);
}
static void occupancy() {
  for (int bs : {-1, 0, 1, 32, 33, 96, 128, 256, 512, 1000, 1024, 1025}) {
    occ("empty", (const void*)empty, bs, 0);
    occ("bounded", (const void*)bounded, bs, 0);
    occ("static_shared", (const void*)static_shared, bs, 0);
    occ("many_registers", (const void*)many_registers, bs, 0);
  }
  for (size_t sm : {0, 1, 1024, 10000, 48000, 49152, 49153, 100000, 232448, 232449}) occ("dynamic_shared", (const void*)dynamic_shared, 256, sm);
  for (size_t sm : {0, 10000, 45151, 45152, 45153, 49152}) occ("both_shared", (const void*)both_shared, 256, sm);
  cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 200000);
  for (size_t sm : {49153, 100000, 200000, 200001, 232448}) occ("dynamic_shared200k", (const void*)dynamic_shared, 256, sm);
  GET(); GET();
  int b;
  S(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&b, (const void*)empty, 32, 0, 99)); GET();
  size_t av = 0;
  S(cudaOccupancyAvailableDynamicSMemPerBlock(&av, (const void*)dynamic_shared, 2, 256)); N(av);
  int g, t; S(cudaOccupancyMaxPotentialBlockSize(&g, &t, many_registers)); N(g); N(t);
}
static void strings() {
  for (int i = -1; i <= 1001; i++) {
    const char* n = cudaGetErrorName((cudaError_t)i);
    const char* s = cudaGetErrorString((cudaError_t)i);
    if (n && strcmp(n, "unrecognized error code") == 0 && s && strcmp(s, "unrecognized error code") == 0) continue;
    printf("  error %d|%s|%s\n", i, n ? n : "(null)", s ? s : "(null)");
  }
  const char* n = cudaGetErrorName((cudaError_t)4711);
  printf("  unknown code: %s|%s\n", n ? n : "(null)", cudaGetErrorString((cudaError_t)4711));
}
static void limits() {
  for (int i = 0; i < 10; i++) {
    size_t v = 0;
    int e = cudaDeviceGetLimit(&v, (cudaLimit)i);
    printf("  limit %d -> %d %zu\n", i, e, v);
  }
  GET(); GET();
  S(cudaDeviceSetLimit(cudaLimitStackSize, 4096)); S(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 24));
  S(cudaDeviceSetLimit((cudaLimit)77, 1)); GET();
}
static void nonsticky() {
  PEEK(); GET();
  void* p;
  S(cudaMalloc(&p, (size_t)1 << 60)); PEEK(); PEEK(); GET(); GET();
  S(cudaMalloc(&p, (size_t)1 << 60)); S(cudaFree(0)); PEEK();
  S(cudaSetDevice(99)); PEEK(); GET(); GET();
  S(cudaSetDevice(-1)); GET();
  int d = -7; S(cudaGetDevice(&d)); N(d); S(cudaGetDevice(nullptr)); GET();
  S(cudaGetDeviceCount(nullptr)); GET();
  S(cudaMalloc(nullptr, 4)); GET();
  p = (void*)1; S(cudaMalloc(&p, 0)); N(p); GET();
  S(cudaMalloc(&p, (size_t)-1)); GET();
  S(cudaMalloc(&p, ((size_t)1 << 40))); GET(); N(p == nullptr);
  S(cudaMalloc(&p, 1000)); N((size_t)p % 256); N((size_t)p % 512);
  void* q; S(cudaMalloc(&q, 1));
  S(cudaFree((char*)p + 4)); GET();
  S(cudaFree(p)); S(cudaFree(p)); GET();
  int host = 0;
  S(cudaFree(&host)); GET();
  S(cudaFree((void*)0x1234)); GET();
  S(cudaFree(nullptr)); GET();
  S(cudaFreeHost(nullptr)); GET();
  S(cudaFreeHost(&host)); GET();
  S(cudaFreeHost(q)); GET();
  void* h; S(cudaMallocHost(&h, 100)); S(cudaFree(h)); GET(); S(cudaFreeHost(h)); S(cudaFreeHost(h)); GET();
  h = (void*)1; S(cudaMallocHost(&h, 0)); N(h); GET(); S(cudaMallocHost((void**)nullptr, 4)); GET();
  S(cudaHostAlloc(&h, 100, 0x80)); GET(); S(cudaHostAlloc(&h, 100, cudaHostAllocMapped));
  void* dp; S(cudaHostGetDevicePointer(&dp, h, 0)); N(dp == h); unsigned hf; S(cudaHostGetFlags(&hf, h)); N(hf);
  S(cudaHostGetFlags(&hf, &host)); GET();
  size_t f, t; S(cudaMemGetInfo(&f, &t)); N(t); S(cudaMemGetInfo(nullptr, &t)); GET();
  size_t pitch; S(cudaMallocPitch(&p, &pitch, 100, 10)); N(pitch); S(cudaMallocPitch(&p, &pitch, 513, 10)); N(pitch);
  S(cudaMallocPitch(&p, &pitch, 0, 10)); N(p); N(pitch); GET();
  S(cudaMallocManaged(&p, 100)); S(cudaFree(p));
  S(cudaMallocAsync(&p, 100, 0)); S(cudaFreeAsync(p, 0)); S(cudaFreeAsync(nullptr, 0)); GET();
}
static void copies() {
  char* p; char host[4096]; char host2[4096]; memset(host, 1, sizeof host);
  cudaMalloc(&p, 1024);
  S(cudaMemcpy(p, host, 1024, cudaMemcpyHostToDevice));
  S(cudaMemcpy(p, host, 0, cudaMemcpyHostToDevice));
  S(cudaMemcpy(nullptr, host, 0, cudaMemcpyHostToDevice)); GET();
  S(cudaMemcpy(nullptr, host, 4, cudaMemcpyHostToDevice)); GET();
  S(cudaMemcpy(p, nullptr, 4, cudaMemcpyHostToDevice)); GET();
  S(cudaMemcpy(nullptr, p, 4, cudaMemcpyDeviceToHost)); GET();
  S(cudaMemcpy(p, host, 4, (cudaMemcpyKind)7)); GET();
  S(cudaMemcpy(p, host, 0, (cudaMemcpyKind)7)); GET();
  S(cudaMemcpy(host2, host, 100, cudaMemcpyHostToDevice)); GET();
  S(cudaMemcpy(host2, host, 100, cudaMemcpyDeviceToHost)); GET();
  S(cudaMemcpy(host2, host, 100, cudaMemcpyDeviceToDevice)); GET();
  S(cudaMemcpy(host2, host, 100, cudaMemcpyDefault)); GET();
  S(cudaMemcpy(host2, host, 100, cudaMemcpyHostToHost)); GET();
  S(cudaMemcpy(p, p + 512, 100, cudaMemcpyHostToHost)); GET();
  S(cudaMemcpy(p, host, 100, cudaMemcpyDeviceToHost)); GET();
  S(cudaMemcpy(host, p, 100, cudaMemcpyHostToDevice)); GET();
  S(cudaMemcpy(p, host, 100, cudaMemcpyDefault)); GET();
  S(cudaMemcpy(host, p, 100, cudaMemcpyDefault)); GET();
  S(cudaMemcpy(p, p + 512, 512, cudaMemcpyDeviceToDevice)); GET();
  S(cudaMemcpy(p, p + 4, 512, cudaMemcpyDeviceToDevice)); GET();
  S(cudaMemcpy(p, p, 512, cudaMemcpyDeviceToDevice)); GET();
  S(cudaMemcpy(p, host, 1025, cudaMemcpyHostToDevice)); GET();
  S(cudaMemcpy(host, p + 1000, 100, cudaMemcpyDeviceToHost)); GET();
  static char big[4 << 20];
  S(cudaMemcpy(p, big, 4 << 20, cudaMemcpyHostToDevice)); GET();
  S(cudaMemcpy(big, p, 4 << 20, cudaMemcpyDeviceToHost)); GET();
  S(cudaMemcpy((void*)0x1234, host, 4, cudaMemcpyHostToDevice)); GET();
  S(cudaMemcpyAsync(p, host, 100, cudaMemcpyHostToDevice, 0)); GET();
  S(cudaMemcpyAsync(host2, host, 100, cudaMemcpyHostToDevice, 0)); GET();
  S(cudaMemset(p, 1, 1024)); S(cudaMemset(p, 1, 1025)); GET();
  S(cudaMemset(p, 1, 4 << 20)); GET();
  S(cudaMemset(nullptr, 0, 0)); GET(); S(cudaMemset(nullptr, 0, 4)); GET();
  S(cudaMemset(host, 0, 4)); GET(); S(cudaMemset(p, 0x1FF, 4)); 
  S(cudaMemcpy(host, p, 4, cudaMemcpyDeviceToHost)); N((unsigned char)host[3]);
  S(cudaMemset2D(p, 64, 3, 10, 4)); S(cudaMemset2D(p, 4, 3, 10, 4)); GET();
  S(cudaMemcpy2D(p, 64, host, 32, 32, 4, cudaMemcpyHostToDevice));
  S(cudaMemcpy2D(p, 16, host, 32, 32, 4, cudaMemcpyHostToDevice)); GET();
  S(cudaMemcpy2D(p, 64, host, 16, 32, 4, cudaMemcpyHostToDevice)); GET();
  S(cudaMemcpy2D(p, 64, host, 64, 32, 0, cudaMemcpyHostToDevice)); GET();
  S(cudaMemcpy2D(p, 64, host, 64, 0, 4, cudaMemcpyHostToDevice)); GET();
  S(cudaMemcpy2D(p, 64, host, 64, 32, 4, (cudaMemcpyKind)9)); GET();
  S(cudaMemcpy2D(nullptr, 64, host, 64, 32, 4, cudaMemcpyHostToDevice)); GET();
  S(cudaMemcpy2D(p, (size_t)1 << 40, host, 64, 32, 4, cudaMemcpyHostToDevice)); GET();
}
static void pa(const char* n, const void* p) {
  cudaPointerAttributes a;
  memset(&a, 0xAB, sizeof a);
  int e = cudaPointerGetAttributes(&a, p);
  printf("  pointer %s -> %d type %d device %d dev==p %d host==p %d dev0 %d host0 %d\n", n, e, (int)a.type, a.device,
         a.devicePointer == p, a.hostPointer == p, a.devicePointer == nullptr, a.hostPointer == nullptr);
}
static void pointers() {
  char* p; char host[16]; void* h; void* m;
  pa("host, before init", host);
  cudaMalloc(&p, 1024); cudaMallocHost(&h, 64); cudaMallocManaged(&m, 64);
  pa("device", p); pa("device+4", p + 4); pa("past", p + 1024); pa("pinned", h); pa("pinned+4", (char*)h + 4); pa("managed", m);
  pa("host", host); pa("null", nullptr); pa("0x1234", (void*)0x1234);
  cudaFree(p); pa("freed", p);
  void* s; cudaGetSymbolAddress(&s, d_value); pa("symbol", s); pa("symbol shadow", &d_value);
  GET();
  S(cudaPointerGetAttributes(nullptr, host)); GET();
}
static void symbols() {
  int v = 0; size_t n = 0; void* a = nullptr; static int notsym; float f[32] = {};
  S(cudaMemcpyFromSymbol(&v, d_value, 4)); N(v);
  v = 9; S(cudaMemcpyToSymbol(d_value, &v, 4));
  v = 0; S(cudaMemcpyFromSymbol(&v, d_value, 4)); N(v);
  S(cudaMemcpyToSymbol(d_value, &v, 5)); GET();
  S(cudaMemcpyToSymbol(d_value, &v, 4, 1)); GET();
  S(cudaMemcpyToSymbol(d_value, &v, 2, 2)); GET();
  S(cudaMemcpyToSymbol(d_value, &v, 0)); GET();
  S(cudaMemcpyToSymbol(d_value, &v, 4, 0, cudaMemcpyDeviceToHost)); GET();
  S(cudaMemcpyToSymbol(d_value, &v, 4, 0, cudaMemcpyDefault)); GET();
  S(cudaMemcpyToSymbol(d_value, nullptr, 4)); GET();
  S(cudaMemcpyToSymbol((const void*)&notsym, &v, 4)); GET();
  S(cudaMemcpyToSymbol((const void*)nullptr, &v, 4)); GET();
  S(cudaMemcpyToSymbol(c_table, f, 64)); S(cudaMemcpyToSymbol(c_table, f, 65)); GET();
  S(cudaMemcpyFromSymbol(f, c_table, 64));
  S(cudaMemcpyFromSymbol(f, c_table, 64, 0, cudaMemcpyHostToDevice)); GET();
  S(cudaGetSymbolSize(&n, d_array)); N(n); S(cudaGetSymbolAddress(&a, d_array)); N(a != nullptr);
  S(cudaGetSymbolSize(&n, (const void*)&notsym)); GET(); S(cudaGetSymbolAddress(&a, (const void*)&notsym)); GET();
  S(cudaGetSymbolSize(&n, (const void*)((char*)&d_array + 4))); GET();
  S(cudaGetSymbolAddress(&a, (const void*)nullptr)); GET();
}
static void L(const char* what, cudaError_t direct) {
  int g = cudaGetLastError();
  int s = cudaDeviceSynchronize();
  printf("  launch %s -> %d get %d sync %d get %d\n", what, (int)direct, g, s, (int)cudaGetLastError());
  fflush(stdout);
}
static int* g_p;
static void LK(const char* what, const void* f, dim3 g, dim3 b, size_t sm) {
  int* p = g_p; float* q = (float*)g_p; int n = 1; mixed m{};
  void* args[] = {&p, &n, &n, &n, &m}; (void)q;
  L(what, cudaLaunchKernel(f, g, b, args, sm, 0));
}
static void launches() {
  cudaMalloc(&g_p, 1 << 22);
  empty<<<1, 1>>>(); L("<<<1,1>>>", cudaSuccess);
  empty<<<0, 1>>>(); L("<<<0,1>>>", cudaSuccess);
  empty<<<1, 0>>>(); L("<<<1,0>>>", cudaSuccess);
  empty<<<1, 1025>>>(); L("<<<1,1025>>>", cudaSuccess);
  empty<<<1, 1, 49153>>>(); L("<<<1,1,49153>>>", cudaSuccess);
  bounded<<<1, 257>>>(g_p); L("bounded<<<1,257>>>", cudaSuccess);
  auto e = (const void*)empty;
  LK("grid 0,1,1", e, dim3(0, 1, 1), 1, 0); LK("grid 1,0,1", e, dim3(1, 0, 1), 1, 0); LK("grid 1,1,0", e, dim3(1, 1, 0), 1, 0);
  LK("block 0,1,1", e, 1, dim3(0, 1, 1), 0); LK("block 1,0,1", e, 1, dim3(1, 0, 1), 0); LK("block 1,1,0", e, 1, dim3(1, 1, 0), 0);
  LK("block 1025", e, 1, 1025, 0); LK("block 32,33", e, 1, dim3(32, 33), 0); LK("block 1,1,64", e, 1, dim3(1, 1, 64), 0);
  LK("block 1,1,65", e, 1, dim3(1, 1, 65), 0); LK("block 1,1025,1", e, 1, dim3(1, 1025, 1), 0);
  LK("block 65536,65536", e, 1, dim3(65536, 65536), 0);
  LK("grid 1,65535", e, dim3(1, 65535), 1, 0); LK("grid 1,65536", e, dim3(1, 65536), 1, 0); LK("grid 1,1,65536", e, dim3(1, 1, 65536), 1, 0);
  LK("grid 2^31", e, dim3(0x80000000u), 1, 0); LK("grid -1", e, dim3(0xffffffffu), 1, 0);
  LK("grid 2^31-1 x 65535", (const void*)nullptr, dim3(0x7fffffffu, 65535, 65535), 1, 0);
  LK("shared 49152", e, 1, 1, 49152); LK("shared 49153", e, 1, 1, 49153); LK("shared 232449", e, 1, 1, 232449); 
  LK("static+45152", (const void*)both_shared, 1, 32, 45152); LK("static+45153", (const void*)both_shared, 1, 32, 45153);
  cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000);
  LK("optin 100000", (const void*)dynamic_shared, 1, 32, 100000); LK("optin 100001", (const void*)dynamic_shared, 1, 32, 100001);
  LK("bounded 256", (const void*)bounded, 1, 256, 0); LK("bounded 257", (const void*)bounded, 1, 257, 0); LK("bounded 1025", (const void*)bounded, 1, 1025, 0);
  LK("bounded_min 257", (const void*)bounded_min, 1, 257, 0);
  cudaFuncAttributes fa; cudaFuncGetAttributes(&fa, many_registers); N(fa.numRegs); N(fa.maxThreadsPerBlock);
  for (int t : {256, 384, 448, 480, 512, 1024, 1025}) { char b[64]; sprintf(b, "many_registers %d", t);
    int n = 0; int* p = g_p; void* args[] = {&p, &n}; L(b, cudaLaunchKernel((const void*)many_registers, 1, t, args, 0, 0)); }
  LK("grid 0 and block 0", e, dim3(0), dim3(0), 0); LK("grid 0, shared 2^20", e, dim3(0), dim3(1), 1 << 20); LK("block 2000, shared 2^20", e, 1, 2000, 1 << 20);
  LK("bounded 257, shared 2^20", (const void*)bounded, 1, 257, 1 << 20);
  LK("null function", nullptr, 1, 1, 0); 
  L("null args, no parameters", cudaLaunchKernel(e, 1, 1, nullptr, 0, 0));
  cudaLaunchConfig_t c = {}; c.gridDim = 1; c.blockDim = 32; int* p = g_p; int v = 3; void* args[] = {&p, &v};
  L("ExC", cudaLaunchKernelExC(&c, (const void*)store, args));
  c.gridDim = 0; L("ExC grid 0", cudaLaunchKernelExC(&c, (const void*)store, args));
  cudaLaunchAttribute at[1] = {}; at[0].id = cudaLaunchAttributeCooperative; at[0].val.cooperative = 1; c.attrs = at; c.numAttrs = 1;
  c.gridDim = 132; L("ExC coop 132", cudaLaunchKernelExC(&c, (const void*)store, args));
  c.gridDim = 1000000; L("ExC coop 1000000", cudaLaunchKernelExC(&c, (const void*)store, args));
  L("coop 4", cudaLaunchCooperativeKernel((const void*)store, 4, 32, args, 0, 0));
  L("coop 132*32", cudaLaunchCooperativeKernel((const void*)store, 132 * 32, 32, args, 0, 0));
  L("coop 132*32+1", cudaLaunchCooperativeKernel((const void*)store, 132 * 32 + 1, 32, args, 0, 0));
  L("coop grid 0", cudaLaunchCooperativeKernel((const void*)store, 0, 32, args, 0, 0));
  L("coop block 1025", cudaLaunchCooperativeKernel((const void*)store, 4, 1025, args, 0, 0));
  cudaKernel_t k; S(cudaGetKernel(&k, (const void*)store)); S(cudaGetKernel(&k, (const void*)nullptr)); GET();
  cudaFunction_t fn; S(cudaGetFuncBySymbol(&fn, (const void*)store));
  empty<<<0, 1>>>(); PEEK(); empty<<<1, 1>>>(); PEEK(); GET(); GET();
  clustered<<<2, 32>>>(); L("cluster 2", cudaSuccess); clustered<<<3, 32>>>(); L("cluster, grid 3", cudaSuccess);
}
static void bad_args() { cudaMalloc(&g_p, 4096); L("null args", cudaLaunchKernel((const void*)store, 1, 1, nullptr, 0, 0)); }
static void all_calls(const char* when) {
  printf("  -- %s\n", when);
  int v; void* p; size_t n, n2; cudaDeviceProp pr; cudaFuncAttributes fa; cudaPointerAttributes pa2; int h = 0;
  cudaEvent_t ev; cudaStream_t st; const char* nm;
  S(cudaDriverGetVersion(&v)); S(cudaRuntimeGetVersion(&v)); S(cudaGetDeviceCount(&v)); S(cudaGetDevice(&v)); S(cudaSetDevice(0));
  S(cudaGetDeviceProperties(&pr, 0)); S(cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, 0)); S(cudaDeviceSynchronize());
  S(cudaMalloc(&p, 16)); S(cudaFree(0)); S(cudaFree((void*)0x1234)); S(cudaMallocHost(&p, 16)); S(cudaFreeHost(0)); S(cudaMemGetInfo(&n, &n2));
  S(cudaMemcpy(&h, &h, 0, cudaMemcpyHostToHost)); S(cudaMemcpy(&h, &v, 4, cudaMemcpyHostToHost)); S(cudaMemset(g_p, 0, 4));
  S(cudaMemcpy(&h, g_p, 4, cudaMemcpyDeviceToHost)); S(cudaMemcpy(&h, g_p, 4, (cudaMemcpyKind)9));
  S(cudaFuncGetAttributes(&fa, store)); S(cudaFuncGetName(&nm, (const void*)store)); S(cudaPointerGetAttributes(&pa2, &h));
  S(cudaGetSymbolAddress(&p, d_value)); S(cudaGetSymbolSize(&n, d_value)); S(cudaEventCreate(&ev)); S(cudaStreamCreate(&st));
  S(cudaStreamSynchronize(0)); S(cudaStreamQuery(0)); S(cudaDeviceGetLimit(&n, cudaLimitStackSize));
  S(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&v, store, 32, 0)); S(cudaLaunchKernel((const void*)empty, 1, 1, nullptr, 0, 0));
  S(cudaLaunchKernel((const void*)empty, 0, 1, nullptr, 0, 0));
  S(cudaMalloc(nullptr, 16)); S(cudaSetDevice(99));
  empty<<<1, 1>>>(); PEEK(); GET(); GET();
}
static void sticky() {
  cudaMalloc(&g_p, 1024);
  cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b); cudaEventRecord(a);
  store_at<<<1, 1>>>(g_p, 1LL << 40);
  printf("  after launch "); PEEK();
  cudaEventRecord(b);
  S(cudaEventSynchronize(b)); float ms; S(cudaEventElapsedTime(&ms, a, b)); S(cudaEventQuery(b)); S(cudaEventDestroy(a));
  S(cudaDeviceSynchronize()); PEEK(); GET(); GET(); PEEK();
  all_calls("after an out-of-bounds write");
  std::thread([] { printf("  other thread:\n"); PEEK(); GET(); S(cudaDeviceSynchronize()); PEEK(); GET(); }).join();
  S(cudaDeviceReset()); PEEK(); GET(); GET();
  all_calls("after reset");
}
static void sticky_reset_before_get() { cudaMalloc(&g_p, 1024); store_at<<<1, 1>>>(g_p, 1LL << 40); S(cudaDeviceReset()); PEEK(); GET(); void* p; S(cudaMalloc(&p, 16)); store<<<1, 1>>>((int*)p, 3); PEEK(); S(cudaDeviceSynchronize()); int v = 0; S(cudaMemcpy(&v, p, 4, cudaMemcpyDeviceToHost)); N(v); v = 0; S(cudaMemcpyFromSymbol(&v, d_value, 4)); N(v); }
static void sticky_memcpy() { cudaMalloc(&g_p, 1024); store_at<<<1, 1>>>(g_p, 1LL << 40); int v; S(cudaMemcpy(&v, g_p, 4, cudaMemcpyDeviceToHost)); PEEK(); GET(); GET(); S(cudaFree(g_p)); }
static void sticky_free() { cudaMalloc(&g_p, 1024); store_at<<<1, 1>>>(g_p, 1LL << 40); S(cudaFree(g_p)); PEEK(); GET(); }
static void sticky_then_nonsticky() { cudaMalloc(&g_p, 1024); empty<<<0, 1>>>(); store_at<<<1, 1>>>(g_p, 1LL << 40); PEEK(); S(cudaDeviceSynchronize()); PEEK(); GET(); GET(); }
#define FAULT(name, ...) static void name() { cudaMalloc(&g_p, 1024); __VA_ARGS__; S(cudaDeviceSynchronize()); GET(); GET(); S(cudaMalloc(&g_p, 4)); }
FAULT(f_trap, (trap_kernel<<<1, 1>>>()))
FAULT(f_misaligned, (misaligned<<<1, 1>>>((char*)g_p)))
FAULT(f_null, (store_at<<<1, 1>>>(nullptr, 0)))
FAULT(f_host, (store_at<<<1, 1>>>((int*)&g_p, 0)))
FAULT(f_near, (store_at<<<1, 1>>>(g_p, 300)))
FAULT(f_shared, (shared_oob<<<1, 32>>>(g_p, 1 << 20)))
FAULT(f_shared_near, (shared_oob<<<1, 32>>>(g_p, 4096)))
FAULT(f_shared_mis, (shared_oob<<<1, 32>>>(g_p, 2)))
FAULT(f_local, (local_oob<<<1, 32>>>(g_p, 1 << 24)))
static void events() {
  cudaEvent_t a, b, c; float ms = -1;
  S(cudaEventCreate(&a)); S(cudaEventCreate(&b)); S(cudaEventCreateWithFlags(&c, cudaEventDisableTiming)); 
  S(cudaEventQuery(a)); S(cudaEventSynchronize(a)); S(cudaEventElapsedTime(&ms, a, b)); GET();
  S(cudaEventRecord(a)); S(cudaEventElapsedTime(&ms, a, b)); GET();
  S(cudaEventRecord(b)); S(cudaEventSynchronize(b)); S(cudaEventElapsedTime(&ms, a, b)); N(ms >= 0);
  S(cudaEventElapsedTime(&ms, b, a)); N(ms <= 0); S(cudaEventElapsedTime(&ms, a, a)); N(ms == 0);
  S(cudaEventRecord(c)); S(cudaEventSynchronize(c)); S(cudaEventElapsedTime(&ms, a, c)); GET();
  S(cudaEventElapsedTime(nullptr, a, b)); GET(); S(cudaEventElapsedTime(&ms, nullptr, b)); GET();
  S(cudaEventCreate(nullptr)); GET(); S(cudaEventCreateWithFlags(&c, 0x80)); GET();
  S(cudaEventRecord(nullptr)); GET(); S(cudaEventSynchronize(nullptr)); GET(); S(cudaEventQuery(nullptr)); GET(); S(cudaEventDestroy(nullptr)); GET();
  spin<<<1, 1>>>(20000000LL); S(cudaEventRecord(b)); S(cudaEventQuery(b)); PEEK(); S(cudaStreamQuery(0)); PEEK(); S(cudaEventElapsedTime(&ms, a, b)); PEEK(); GET();
  S(cudaEventDestroy(b)); S(cudaDeviceSynchronize());
  S(cudaEventDestroy(a)); 
}
static void streams() {
  cudaStream_t s, t; unsigned f; int pr;
  S(cudaStreamCreate(&s)); S(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking)); S(cudaStreamGetFlags(t, &f)); N(f); S(cudaStreamGetPriority(t, &pr)); N(pr);
  S(cudaStreamCreateWithFlags(&t, 0x99)); GET(); S(cudaStreamCreate(nullptr)); GET(); S(cudaStreamCreateWithPriority(&t, 0, -3)); 
  S(cudaStreamQuery(s)); S(cudaStreamSynchronize(s)); empty<<<1, 1, 0, s>>>(); GET(); S(cudaStreamSynchronize(s));
  cudaEvent_t e; cudaEventCreate(&e); S(cudaEventRecord(e, s)); S(cudaStreamWaitEvent(t, e, 0)); S(cudaStreamWaitEvent(t, nullptr, 0)); GET(); S(cudaStreamWaitEvent(t, e, 9)); GET();
  S(cudaStreamGetFlags(0, &f)); N(f); S(cudaStreamSynchronize(cudaStreamLegacy)); S(cudaStreamSynchronize(cudaStreamPerThread));
  S(cudaLaunchHostFunc(s, [](void* x) { *(int*)x = 5; }, &pr)); S(cudaStreamSynchronize(s)); N(pr);
  cudaStreamCaptureStatus cs; S(cudaStreamIsCapturing(s, &cs)); N(cs); unsigned long long id = 0; S(cudaStreamGetId(s, &id)); int dev = -1; S(cudaStreamGetDevice(s, &dev)); N(dev);
  S(cudaStreamDestroy(s)); S(cudaStreamDestroy(nullptr)); GET(); S(cudaStreamDestroy(t)); 
}
static void threads() {
  void* p; S(cudaMalloc(&p, (size_t)1 << 60)); std::thread([] { PEEK(); void* q; S(cudaMalloc(&q, 0)); PEEK(); S(cudaSetDevice(99)); PEEK(); }).join(); PEEK(); GET();
}
// A fat binary wrapper as the compiler's, around bytes that are none.
extern "C" void** __cudaRegisterFatBinary(void*); extern "C" void __cudaRegisterFatBinaryEnd(void**);
extern "C" void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*, dim3*, int*);
extern "C" void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int);
struct wrapper { unsigned magic, version; const void* data; void* x; };
static char fun1, fun2, var1;
static void corrupt(const void* data, unsigned magic, unsigned version) {
  static wrapper w; w = {magic, version, data, nullptr};
  void** h = __cudaRegisterFatBinary(&w); N(h != nullptr);
  __cudaRegisterFunction(h, &fun1, (char*)"nothing", "nothing", -1, 0, 0, 0, 0, 0);
  __cudaRegisterVar(h, &var1, (char*)"v", "v", 0, 4, 0, 0);
  __cudaRegisterFatBinaryEnd(h); PEEK();
  S(cudaFree(0)); GET();
  LK("its function", &fun1, 1, 1, 0); LK("its function again", &fun1, 1, 1, 0); cudaFuncAttributes a; S(cudaFuncGetAttributes(&a, &fun1)); GET();
  void* p; S(cudaGetSymbolAddress(&p, &var1)); GET(); LK("a good function", (const void*)empty, 1, 1, 0);
}
static unsigned long long zeros[8], entry0[2] = {0x00100001BA55ED50ull, 0};
static void corrupt_zero() { corrupt(zeros, 0x466243B1, 1); }
static void corrupt_empty() { corrupt(entry0, 0x466243B1, 1); }
static void corrupt_magic() { corrupt(entry0, 0x12345678, 1); }
static void corrupt_version() { corrupt(entry0, 0x466243B1, 9); }
static void corrupt_null() { corrupt(nullptr, 0x466243B1, 1); }
static void devices() {
  int v; cudaDeviceProp p = {}; p.major = 3; S(cudaChooseDevice(&v, &p)); N(v); S(cudaDeviceCanAccessPeer(&v, 0, 0)); GET(); N(v);
  S(cudaInitDevice(0, 0, 0)); S(cudaSetDeviceFlags(cudaDeviceScheduleSpin)); GET(); unsigned fl; S(cudaGetDeviceFlags(&fl)); N(fl); S(cudaSetDeviceFlags(0x8000)); GET();
  S(cudaDeviceReset()); GET(); S(cudaDeviceReset()); S(cudaDeviceSynchronize());
  int list[1] = {0}; S(cudaSetValidDevices(list, 1)); S(cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTargetCurrentDevice, cudaFlushGPUDirectRDMAWritesToOwner)); GET();
  S(cudaCtxResetPersistingL2Cache()); GET();
}

int main(int argc, char** argv) {
  const char* only = argc > 1 ? argv[1] : nullptr;
#define R(f) if (!only || strcmp(only, #f) == 0) section(#f, f)
  R(versions); R(attributes); R(properties); R(functions); R(occupancy); R(strings); R(limits); R(nonsticky); R(copies);
  R(pointers); R(symbols); R(launches); R(bad_args); R(sticky); R(sticky_reset_before_get); R(sticky_memcpy);
  R(sticky_free); R(sticky_then_nonsticky); R(f_trap); R(f_misaligned); R(f_null); R(f_host); R(f_near);
  R(f_shared); R(f_shared_near); R(f_shared_mis); R(f_local); R(events); R(streams);
  R(threads); R(corrupt_zero); R(corrupt_empty); R(corrupt_magic); R(corrupt_version); R(corrupt_null);
  R(devices);
}
