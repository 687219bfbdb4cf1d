// Tests how a function's result is used, on machine code that compilers emit after a call.
#include "common/runtime/host/result_use.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "common/runtime/host/eax_instruction.hpp"

using namespace stepwise::runtime;

namespace {

result_use use_in(std::vector<std::uint8_t> code) {
  return use_of_result(std::span<const std::uint8_t>(code), 0);
}

}  // namespace

TEST_CASE("a result that is overwritten before it is read is ignored") {
  // mov -8(%rbp),%rax; leave; ret
  CHECK(use_in({0x48, 0x8B, 0x45, 0xF8, 0xC9, 0xC3}) == result_use::ignored);
  // mov $0,%eax; leave; ret
  CHECK(use_in({0xB8, 0, 0, 0, 0, 0xC9, 0xC3}) == result_use::ignored);
  // xor %eax,%eax; ret
  CHECK(use_in({0x31, 0xC0, 0xC3}) == result_use::ignored);
  // lea -0x20(%rbp),%rdi; mov $5,%esi; mov $0,%eax; call
  CHECK(use_in({0x48, 0x8D, 0x7D, 0xE0, 0xBE, 5, 0, 0, 0, 0xB8, 0, 0, 0, 0, 0xE8}) ==
        result_use::ignored);
  // pop %rax; ret: the end of a function that clang aligned
  CHECK(use_in({0x58, 0xC3}) == result_use::ignored);
  // setle %al; movzbl %al,%eax; mov %eax,-4(%rbp)
  CHECK(use_in({0x0F, 0x9E, 0xC0, 0x0F, 0xB6, 0xC0, 0x89, 0x45, 0xFC}) == result_use::ignored);
  // nopl 0(%rax,%rax); xchg %ax,%ax; endbr64; mov $1,%eax
  CHECK(use_in({0x0F, 0x1F, 0x44, 0, 0, 0x66, 0x90, 0xF3, 0x0F, 0x1E, 0xFA, 0xB8, 1, 0, 0, 0}) ==
        result_use::ignored);
  // pxor %xmm0,%xmm0; cvtsi2sd %ecx,%xmm0; movsd %xmm0,8(%rsp); call *%rdx
  CHECK(use_in({0x66, 0x0F, 0xEF, 0xC0, 0xF2, 0x0F, 0x2A, 0xC1, 0xF2, 0x0F, 0x11, 0x44, 0x24, 8,
                0xFF, 0xD2}) == result_use::ignored);
  CHECK(use_in({0x0F, 0x0B}) == result_use::ignored);  // ud2
}

TEST_CASE("a result that an instruction reads is used") {
  CHECK(use_in({0x85, 0xC0}) == result_use::looked_at);              // test %eax,%eax
  CHECK(use_in({0x89, 0x45, 0xFC}) == result_use::looked_at);        // mov %eax,-4(%rbp)
  CHECK(use_in({0x89, 0xC7}) == result_use::looked_at);              // mov %eax,%edi
  CHECK(use_in({0x41, 0x89, 0xC4}) == result_use::looked_at);        // mov %eax,%r12d
  CHECK(use_in({0x83, 0xF8, 1}) == result_use::looked_at);           // cmp $1,%eax
  CHECK(use_in({0x3D, 0, 1, 0, 0}) == result_use::looked_at);        // cmp $256,%eax
  CHECK(use_in({0x09, 0xC3}) == result_use::looked_at);              // or %eax,%ebx
  CHECK(use_in({0x0F, 0x45, 0xD8}) == result_use::looked_at);        // cmovne %eax,%ebx
  CHECK(use_in({0x66, 0x0F, 0x6E, 0xC0}) == result_use::looked_at);  // movd %eax,%xmm0
  CHECK(use_in({0x8D, 0x50, 1}) == result_use::looked_at);           // lea 1(%rax),%edx
  CHECK(use_in({0x50}) == result_use::looked_at);                    // push %rax: an argument
  // mov %ebx,%edi; test %eax,%eax
  CHECK(use_in({0x89, 0xDF, 0x85, 0xC0}) == result_use::looked_at);
}

TEST_CASE("another register with the same number in its byte is not EAX") {
  // mov %r8d,-4(%rbp); test %r8d,%r8d; push %r8; mov (%r8),%ecx; mov $0,%eax
  CHECK(use_in({0x44, 0x89, 0x45, 0xFC, 0x45, 0x85, 0xC0, 0x41, 0x50, 0x41, 0x8B, 0x08, 0xB8, 0, 0,
                0, 0}) == result_use::ignored);
  // mov $0,%r8d; test %eax,%eax
  CHECK(use_in({0x41, 0xB8, 0, 0, 0, 0, 0x85, 0xC0}) == result_use::looked_at);
}

TEST_CASE("both paths of a branch are followed, and loops end") {
  // je +2; test %eax,%eax; mov $0,%eax
  CHECK(use_in({0x74, 2, 0x85, 0xC0, 0xB8, 0, 0, 0, 0}) == result_use::looked_at);
  // je +2; test %ecx,%ecx; mov $0,%eax
  CHECK(use_in({0x74, 2, 0x85, 0xC9, 0xB8, 0, 0, 0, 0}) == result_use::ignored);
  // jmp +2; test %eax,%eax; ret
  CHECK(use_in({0xEB, 2, 0x85, 0xC0, 0xC3}) == result_use::returned);
  // again: dec %ecx; jne again; ret
  CHECK(use_in({0xFF, 0xC9, 0x75, 0xFC, 0xC3}) == result_use::returned);
  // jmp to itself
  CHECK(use_in({0xEB, 0xFE}) == result_use::ignored);
}

TEST_CASE("a result that is returned may be used by the caller") {
  CHECK(use_in({0xC9, 0xC3}) == result_use::returned);                    // leave; ret
  CHECK(use_in({0x48, 0x83, 0xC4, 8, 0xC3}) == result_use::returned);     // add $8,%rsp; ret
  CHECK(use_in({0x5B, 0x41, 0x5C, 0x5D, 0xC3}) == result_use::returned);  // pop others; ret
}

TEST_CASE("a function that is called in between may leave EAX unchanged") {
  // call +2; test %eax,%eax; mov %edi,%ecx; ret
  CHECK(use_in({0xE8, 2, 0, 0, 0, 0x85, 0xC0, 0x89, 0xF9, 0xC3}) == result_use::looked_at);
  // call +2; test %eax,%eax; mov $1,%eax; ret
  CHECK(use_in({0xE8, 2, 0, 0, 0, 0x85, 0xC0, 0xB8, 1, 0, 0, 0, 0xC3}) == result_use::ignored);
  // call +2; test %eax,%eax; push %rax; mov $1,%eax: aligns its stack
  CHECK(use_in({0xE8, 2, 0, 0, 0, 0x85, 0xC0, 0x50, 0xB8, 1, 0, 0, 0}) == result_use::ignored);
  // call +2; test %eax,%eax; endbr64; jmp *0(%rip): the linker's jump to another library
  CHECK(use_in({0xE8, 2, 0, 0, 0, 0x85, 0xC0, 0xF3, 0x0F, 0x1E, 0xFA, 0xFF, 0x25, 0, 0, 0, 0}) ==
        result_use::ignored);
  // two calls of a function that leaves EAX unchanged: call +7; call +2; test %eax,%eax; ret
  CHECK(use_in({0xE8, 7, 0, 0, 0, 0xE8, 2, 0, 0, 0, 0x85, 0xC0, 0xC3}) == result_use::unknown);
}

TEST_CASE("the use is unknown if the code cannot be decoded or followed") {
  CHECK(use_in({0xC5, 0xF8, 0x77, 0xB8, 0, 0, 0, 0}) == result_use::unknown);  // vzeroupper
  CHECK(use_in({0xFF, 0xE1}) == result_use::unknown);                          // jmp *%rcx
  CHECK(use_in({0xB8, 0, 0}) == result_use::unknown);                          // truncated
  CHECK(use_in({0x89, 0xDF}) == result_use::unknown);                          // ends
  CHECK(use_in({0xEB, 0x80}) == result_use::unknown);                          // jumps out
  CHECK(use_in({}) == result_use::unknown);
  CHECK(follow_result(std::vector<std::uintptr_t>{0x10}).use == result_use::unknown);
}

TEST_CASE("the decoded lengths are those of the encoding") {
  const auto length = [](std::vector<std::uint8_t> code) {
    code.resize(16, 0x90);
    return decode_eax_instruction(code).length;
  };
  CHECK(length({0x48, 0xB8, 1, 2, 3, 4, 5, 6, 7, 8}) == 10);  // movabs
  CHECK(length({0x66, 0xB8, 1, 2}) == 4);
  CHECK(length({0x48, 0xC7, 0x84, 0x24, 1, 0, 0, 0, 2, 0, 0, 0}) == 12);
  CHECK(length({0x66, 0x81, 0x3D, 1, 0, 0, 0, 2, 0}) == 9);
  CHECK(length({0x64, 0x48, 0x8B, 0x04, 0x25, 0x28, 0, 0, 0}) == 9);
  CHECK(length({0xF6, 0x45, 0xFC, 1}) == 4);
  CHECK(length({0xF7, 0xD8}) == 2);
  CHECK(length({0x69, 0xC0, 1, 0, 0, 0}) == 6);
  CHECK(length({0x66, 0x0F, 0x70, 0xC0, 0xE8}) == 5);
  CHECK(length({0x66, 0x66, 0x2E, 0x0F, 0x1F, 0x84, 0, 0, 0, 0, 0}) == 11);
  CHECK(length({0xF3, 0x48, 0xAB}) == 3);
}
