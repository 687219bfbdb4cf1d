// Two PTX modules for tests of linking. One calls a function of the other.
#pragma once

constexpr char caller[] = R"(
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 result) twice(.param .b32 value);
.visible .entry call_twice(.param .u64 out)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, 21;
  {
  .param .b32 value;
  st.param.b32 [value], %r1;
  .param .b32 result;
  call.uni (result), twice, (value);
  ld.param.b32 %r2, [result];
  }
  st.global.u32 [%rd1], %r2;
  ret;
}
)";
constexpr char callee[] = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .func (.param .b32 result) twice(.param .b32 value)
{
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [value];
  add.s32 %r2, %r1, %r1;
  st.param.b32 [result], %r2;
  ret;
}
)";
