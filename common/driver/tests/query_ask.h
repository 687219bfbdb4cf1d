// Part of query.cpp: asks and prints the questions, and has the kernels that they are about.
#pragma once

#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "common/driver/tests/linked_modules.hpp"

#define S(expr) (std::printf("  %s -> %d\n", #expr, static_cast<int>(expr)), std::fflush(stdout))
#define N(expr) \
  (std::printf("  %s = %lld\n", #expr, static_cast<long long>(expr)), std::fflush(stdout))

namespace {

constexpr char ptx[] = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 counter = 7;
.visible .const .align 4 .b8 table[64];
.visible .entry add(.param .u64 out, .param .u32 value, .param .u32 count)
{
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [value];
  ld.param.u32 %r2, [count];
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %tid.x;
  mad.lo.s32 %r6, %r3, %r4, %r5;
  setp.ge.u32 %p1, %r6, %r2;
  @%p1 ret;
  cvta.to.global.u64 %rd2, %rd1;
  mul.wide.u32 %rd3, %r6, 4;
  add.s64 %rd4, %rd2, %rd3;
  ld.global.u32 %r7, [%rd4];
  add.s32 %r7, %r7, %r1;
  st.global.u32 [%rd4], %r7;
  ret;
}
.visible .entry store(.param .u64 out)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, 1;
  st.global.u32 [%rd1], %r1;
  ret;
}
.visible .entry nothing()
{
  ret;
}
)";

void section(const char* name, void (*body)()) {
  std::printf("== %s\n", name);
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    body();
    std::fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) std::printf("  !! killed by signal %d\n", WTERMSIG(status));
}

CUcontext start() {
  CUcontext context = nullptr;
  if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context)) {
    std::printf("  no device\n");
    std::fflush(stdout);
    _exit(1);
  }
  return context;
}

CUfunction kernel(CUmodule module, const char* name) {
  CUfunction function = nullptr;
  if (cuModuleGetFunction(&function, module, name)) std::printf("  no kernel %s\n", name);
  return function;
}

CUmodule load() {
  CUmodule module = nullptr;
  if (cuModuleLoadData(&module, ptx)) std::printf("  no module\n");
  return module;
}

}  // namespace
