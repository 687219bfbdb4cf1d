// The kernels of the conformance tests.
#pragma once

#include <string_view>

namespace stepwise::conformance {

inline constexpr std::string_view ptx = R"(
.version 8.0
.target sm_80
.address_size 64

.visible .global .align 4 .u32 counter = 7;
.visible .global .align 8 .b8 table[400];
.visible .const .align 4 .u32 factors[2] = {3, 5};

// data[i] = data[i] * factors[1] + value + wide.low, for i < n
.visible .entry work(
  .param .u64 data,
  .param .u8 value,
  .param .align 8 .b8 wide[16],
  .param .u32 n
)
{
  .reg .pred %p<2>;
  .reg .b16 %h<2>;
  .reg .b32 %r<10>;
  .reg .b64 %d<6>;
  ld.param.u64 %d1, [data];
  ld.param.u8 %h1, [value];
  ld.param.u64 %d2, [wide];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mad.lo.s32 %r5, %r3, %r4, %r2;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra DONE;
  cvta.to.global.u64 %d3, %d1;
  mul.wide.u32 %d4, %r5, 4;
  add.s64 %d5, %d3, %d4;
  ld.global.u32 %r6, [%d5];
  ld.const.u32 %r7, [factors+4];
  cvt.u32.u16 %r8, %h1;
  cvt.u32.u64 %r9, %d2;
  mad.lo.u32 %r6, %r6, %r7, %r8;
  add.u32 %r6, %r6, %r9;
  st.global.u32 [%d5], %r6;
DONE:
  ret;
}

.visible .entry count()
{
  .reg .b32 %r<2>;
  atom.global.add.u32 %r1, [counter], 1;
  ret;
}

.visible .entry bounded() .maxntid 64, 1, 1
{
  ret;
}

.visible .entry poke(.param .u64 address)
{
  .reg .b32 %r<2>;
  .reg .b64 %d<2>;
  ld.param.u64 %d1, [address];
  mov.u32 %r1, 1;
  st.global.u32 [%d1], %r1;
  ret;
}

.extern .shared .align 4 .b8 dynamic[];
.visible .entry uses_shared(.param .u64 out)
{
  .shared .align 4 .b8 fixed[128];
  .reg .b32 %r<4>;
  .reg .b64 %d<3>;
  ld.param.u64 %d1, [out];
  cvta.to.global.u64 %d2, %d1;
  mov.u32 %r1, 11;
  st.shared.u32 [fixed+4], %r1;
  st.shared.u32 [dynamic], %r1;
  ld.shared.u32 %r2, [fixed+4];
  ld.shared.u32 %r3, [dynamic];
  add.u32 %r2, %r2, %r3;
  st.global.u32 [%d2], %r2;
  ret;
}
)";

// Copies a box of 4 x 4 integers to `out`, by a tensor map. For compute capability 9.0 and newer.
inline constexpr std::string_view tensor_ptx = R"(
.version 8.0
.target sm_90
.address_size 64

.visible .entry copy_box(
  .param .align 64 .b8 map[128],
  .param .u64 out,
  .param .u32 x,
  .param .u32 y
)
{
  .shared .align 128 .b8 box[64];
  .shared .align 8 .b64 barrier;
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .b64 %d<8>;
  mov.u32 %r1, box;
  mov.u32 %r2, barrier;
  ld.param.u32 %r3, [x];
  ld.param.u32 %r4, [y];
  mov.b64 %d1, map;
  cvta.param.u64 %d2, %d1;
  mbarrier.init.shared.b64 [%r2], 1;
  fence.proxy.async;
  mbarrier.arrive.expect_tx.shared.b64 %d3, [%r2], 64;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%d2, {%r3, %r4}], [%r2];
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0;
  @!%p1 bra WAIT;
  ld.param.u64 %d4, [out];
  cvta.to.global.u64 %d5, %d4;
  mov.u32 %r5, 0;
NEXT:
  add.u32 %r6, %r1, %r5;
  ld.shared.u32 %r7, [%r6];
  cvt.u64.u32 %d6, %r5;
  add.u64 %d7, %d5, %d6;
  st.global.u32 [%d7], %r7;
  add.u32 %r5, %r5, 4;
  setp.lt.u32 %p1, %r5, 64;
  @%p1 bra NEXT;
  ret;
}
)";

}  // namespace stepwise::conformance
