// Tests the traits of instructions: kind, pipe, memory accesses and waiting.
#include "common/ptx/traits.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace stepwise;
using ptx::instruction_kind;
using ptx::pipe;

namespace {

// The traits of an instruction given by its text, such as "ld.global.f32", and its operand count.
ptx::traits traits_from(const std::string& text, std::size_t operands = 2) {
  static std::string kept;
  kept = text;
  ptx::instruction i;
  std::string_view rest = kept;
  i.opcode = rest.substr(0, rest.find('.'));
  while (rest.find('.') != std::string_view::npos) {
    rest.remove_prefix(rest.find('.') + 1);
    i.modifiers.push_back(rest.substr(0, rest.find('.')));
  }
  i.operands.resize(operands);
  return ptx::traits_of(i);
}

TEST_CASE("arithmetic is executed by the pipe of its type") {
  CHECK(traits_from("add.f32").pipe == pipe::fp32);
  CHECK(traits_from("fma.rn.f64").pipe == pipe::fp64);
  CHECK(traits_from("fma.rn.f16x2").pipe == pipe::half);
  CHECK(traits_from("mad.wide.s32").pipe == pipe::integer);
  CHECK(traits_from("setp.lt.f32").pipe == pipe::fp32);
  CHECK(traits_from("add.f32").kind == instruction_kind::arithmetic);
}

TEST_CASE(
    "a division uses the special pipe for f32 and the fp64 pipe for f64; for integers it is "
    "arithmetic") {
  CHECK(traits_from("div.rn.f32").pipe == pipe::special);
  CHECK(traits_from("div.rn.f64").pipe == pipe::fp64);
  CHECK(traits_from("div.rn.f64").kind == instruction_kind::special);
  CHECK(traits_from("div.u32").pipe == pipe::integer);
  CHECK(traits_from("div.u32").kind == instruction_kind::arithmetic);
}

TEST_CASE("accesses to parameters do not use the load/store pipe") {
  CHECK(traits_from("ld.global.f32").pipe == pipe::load_store);
  CHECK(traits_from("ld.global.f32").touches_memory);
  CHECK(traits_from("ld.param.u64").pipe == pipe::other);
  CHECK(traits_from("st.param::func.b32").pipe == pipe::other);
}

TEST_CASE("matrix instructions either compute, or load and store") {
  CHECK(traits_from("wmma.mma.sync").pipe == pipe::tensor);
  CHECK_FALSE(traits_from("wmma.mma.sync").touches_memory);
  CHECK(traits_from("wmma.load.a").pipe == pipe::load_store);
  CHECK(traits_from("wmma.load.a").touches_memory);
}

TEST_CASE("asynchronous copies touch memory, and waits for them do not") {
  CHECK(traits_from("cp.async.ca.shared.global", 3).touches_memory);
  CHECK_FALSE(traits_from("cp.async.wait_group", 1).touches_memory);
}

TEST_CASE("instructions that only produce a result are distinguished from others") {
  for (const char* const text :
       {"add.f32", "addc.cc.u32", "cvt.rn.f32.s32", "div.rn.f32", "mov.u32", "vadd2.s32.s32.s32"})
    CHECK(traits_from(text).is_pure);
  for (const char* const text : {"ld.global.f32", "bar.sync", "activemask.b32", "alloca.u64",
                                 "discard.global.L2", "mma.sync", "bra.uni"})
    CHECK_FALSE(traits_from(text).is_pure);
}

TEST_CASE("an instruction that the lanes execute together waits for them") {
  for (const char* const text : {"bar.sync", "shfl.sync.down.b32", "mma.sync", "call.uni"})
    CHECK(traits_from(text).waits);
  for (const char* const text : {"ld.global.f32", "bra.uni", "activemask.b32", "add.f32"})
    CHECK_FALSE(traits_from(text).waits);
}

}  // namespace
