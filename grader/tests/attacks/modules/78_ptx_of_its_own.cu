// attack reduction: CRASH or CHECK, at most 0 points
// loads a kernel from PTX text, which has no machine code to read counters from
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

namespace {

const char* const text = R"(.version 8.0
.target sm_75
.address_size 64
.visible .entry add_up(.param .u64 in, .param .u64 out, .param .u32 n) {
  .reg .pred p;
  .reg .b32 i, end, sum, value;
  .reg .b64 from, to;
  ld.param.u64 from, [in];
  ld.param.u64 to, [out];
  ld.param.u32 end, [n];
  mov.u32 i, 0;
  mov.u32 sum, 0;
next:
  ld.global.u32 value, [from];
  add.u32 sum, sum, value;
  add.u64 from, from, 4;
  add.u32 i, i, 1;
  setp.lt.u32 p, i, end;
  @p bra next;
  st.global.u32 [to], sum;
  ret;
}
)";

}  // namespace

void reduce(const int* in, int* out, int*, int n) {
  static cudaLibrary_t library = nullptr;
  static cudaKernel_t add_up = nullptr;
  if (library == nullptr) {
    check(cudaLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0));
    check(cudaLibraryGetKernel(&add_up, library, "add_up"));
  }
  void* arguments[] = {&in, &out, &n};
  check(cudaLaunchKernel(reinterpret_cast<const void*>(add_up), 1, 1, arguments, 0, nullptr));
}
