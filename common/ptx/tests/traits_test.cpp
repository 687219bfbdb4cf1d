// Tests the traits of instructions: their kind, the pipe that executes them, memory, waiting.
#include "common/ptx/traits.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace stepwise;
using ptx::instruction_kind;
using ptx::pipe;

namespace {

// The traits of an instruction given by its text, such as "ld.global.f32", and its operand count.
ptx::traits of(const std::string& text, std::size_t operands = 2) {
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
  CHECK(of("add.f32").pipe == pipe::fp32);
  CHECK(of("fma.rn.f64").pipe == pipe::fp64);
  CHECK(of("fma.rn.f16x2").pipe == pipe::half);
  CHECK(of("mad.wide.s32").pipe == pipe::integer);
  CHECK(of("setp.lt.f32").pipe == pipe::fp32);
  CHECK(of("add.f32").kind == instruction_kind::arithmetic);
}

TEST_CASE("a division is special in f32, of a pipe of its own, and arithmetic of integers") {
  CHECK(of("div.rn.f32").pipe == pipe::special);
  CHECK(of("div.rn.f64").pipe == pipe::fp64);
  CHECK(of("div.rn.f64").kind == instruction_kind::special);
  CHECK(of("div.u32").pipe == pipe::integer);
  CHECK(of("div.u32").kind == instruction_kind::arithmetic);
}

TEST_CASE("parameters are no access of the hardware's") {
  CHECK(of("ld.global.f32").pipe == pipe::load_store);
  CHECK(of("ld.global.f32").touches_memory);
  CHECK(of("ld.param.u64").pipe == pipe::other);
  CHECK(of("st.param::func.b32").pipe == pipe::other);
}

TEST_CASE("matrix instructions compute, or load and store") {
  CHECK(of("wmma.mma.sync").pipe == pipe::tensor);
  CHECK_FALSE(of("wmma.mma.sync").touches_memory);
  CHECK(of("wmma.load.a").pipe == pipe::load_store);
  CHECK(of("wmma.load.a").touches_memory);
}

TEST_CASE("of asynchronous copies the waits touch no memory") {
  CHECK(of("cp.async.ca.shared.global", 3).touches_memory);
  CHECK_FALSE(of("cp.async.wait_group", 1).touches_memory);
}

TEST_CASE("instructions that only produce a result are distinguished from others") {
  for (const char* const text :
       {"add.f32", "addc.cc.u32", "cvt.rn.f32.s32", "div.rn.f32", "mov.u32", "vadd2.s32.s32.s32"})
    CHECK(of(text).is_pure);
  for (const char* const text : {"ld.global.f32", "bar.sync", "activemask.b32", "alloca.u64",
                                 "discard.global.L2", "mma.sync", "bra.uni"})
    CHECK_FALSE(of(text).is_pure);
}

TEST_CASE("what is executed by the lanes together waits for them") {
  for (const char* const text : {"bar.sync", "shfl.sync.down.b32", "mma.sync", "call.uni"})
    CHECK(of(text).waits);
  for (const char* const text : {"ld.global.f32", "bra.uni", "activemask.b32", "add.f32"})
    CHECK_FALSE(of(text).waits);
}

}  // namespace
