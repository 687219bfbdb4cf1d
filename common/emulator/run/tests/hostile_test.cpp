// Modules that no compiler produced. Loading and lowering them must end in an error that explains
// the reason, in time and memory bounded by the text's length. Cases that ../../fuzz finds are kept
// here.
#include <doctest/doctest.h>

#include <chrono>
#include <functional>

#include "common/device/device.hpp"
#include "common/emulator/lower/lower.hpp"
#include "common/emulator/machine/modules.hpp"

using namespace stepwise;

namespace hostile_test {
namespace {

const std::string head = ".version 9.0\n.target sm_90\n.address_size 64\n";

std::string kernel_text(const std::string& body) {
  return ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<4>;\n.reg .b16 %h<4>;\n"
         ".reg .b32 %r<4>;\n.reg .b64 %d<4>;\n" +
         body + "\nret;\n}\n";
}

std::string repeated(const std::string& what, std::size_t times) {
  std::string out;
  while (times-- > 0) out += what;
  return out;
}

// The error message of loading a module and lowering its kernel k; empty if both succeed.
std::string problem_of(const std::string& text) {
  static const gpu model = *find_gpu("h200");
  emulator::global_memory memory(model.memory_bytes);
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  const auto loaded = emulator::load_parts({&bytes, 1}, model, memory);
  if (!loaded.ok()) return loaded.failure().message;
  const emulator::linked_function* const kernel = (*loaded)->unit.find_kernel("k");
  if (kernel == nullptr) return "no kernel k";
  emulator::attributes_of(**loaded, *kernel, model);
  const auto lowered = emulator::lower((*loaded)->unit, *kernel, emulator::watched_by::none);
  return lowered.ok() ? "" : lowered.failure().message;
}

std::string problem_of_body(const std::string& body) {
  return problem_of(head + kernel_text(body));
}

bool refuses(const std::string& body, const std::string& words) {
  const std::string problem = problem_of_body(body);
  INFO(body, ": ", problem);
  return problem.find(words) != std::string::npos;
}

bool is_quick(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::steady_clock::now() - start < std::chrono::seconds(10);
}

}  // namespace

TEST_CASE("instructions that lack a mandatory part") {
  CHECK(refuses("ld %r1, [%d1];", "without a type"));
  CHECK(refuses("st [%d1], %r1;", "without a type"));
  CHECK(refuses("mov %r1, %r2;", "does not implement the instruction mov"));
  CHECK(refuses("and %r1, %r2, %r3;", "does not implement the instruction and"));
  CHECK(refuses("mov.b32 %r1, {};", "does not implement"));
  CHECK(refuses("mov.b32 {}, %r1;", "does not implement"));
  CHECK(refuses("cvt %r1, %r2;", "too few operands"));
  CHECK(refuses("add.u32 %r1;", "too few operands"));
}

TEST_CASE("a sum that cannot be fused because of its operands is reported with its line") {
  CHECK(
      refuses(".reg .pred %q<2>;\nmul.f32 %r1, %r2, %r3;\nadd.f32 %q1, %r1, %r2;\n"
              "@%q1 st.global.b32 [%d1], %r2;",
              "(PTX line 12)"));
}

TEST_CASE("instructions without operands or modifiers, after a product that may be fused") {
  CHECK(refuses("mul.f32 %r1, %r2, %r3;\nl;", "line 11"));
  CHECK(
      refuses("mul.f32 %r1, %r2, %r3;\nset %r2, %r1, %r3;\nst.global.b32 [%d1], %r2;", "line 11"));
}

TEST_CASE("a message is one line, however the instruction is written") {
  CHECK(refuses("frob\n/* a\n comment */ .s32 %r1;", "PTX has no instruction frob.s32"));
  CHECK(refuses("add\n.frob %r1, %r1, %r1;", "the instruction add.frob"));
  CHECK(refuses("add\n.s32 %r1 %r2;", "after an operand of 'add.s32'"));
  CHECK(problem_of_body("add" + repeated(".frob", 100000) + " %r1;").size() < 300);
}

TEST_CASE("a parameter is read only where it is") {
  CHECK(problem_of_body("ld.param.u64 %d1, [p];") == "");
  CHECK(problem_of_body("ld.param.u32 %r1, [p+4];") == "");
  for (const char* at : {"p+8", "p+5", "p-2", "p-4", "p+4294967296", "p+9223372036854775807"})
    CHECK(
        refuses("ld.param.u32 %r1, [" + std::string(at) + "];", "outside the kernel's parameters"));
  CHECK(refuses("ld.param.v2.u32 {%r1, %r2}, [p+4];", "outside the kernel's parameters"));
  CHECK(problem_of(head + ".entry k(.param .b8 p[40000]) { ret; }")
            .find("40000 bytes of parameters") != std::string::npos);
}

TEST_CASE("a call must match the function's parameters") {
  const std::string f = ".func (.param .b32 r) f(.param .b64 x) { ret; }\n";
  const auto call = [&](const std::string& variables, const std::string& form) {
    const std::string problem =
        problem_of(head + f + kernel_text("{" + variables + "call.uni " + form + ";}"));
    INFO(problem);
    CHECK(problem.size() < 200);
    return problem;
  };
  CHECK(call(".param .b64 a; .param .b32 r;", "(r), f, (a)") == "");
  const std::string other = "a call of f that does not match its parameters or results";
  CHECK(call(".param .b64 a; .param .b32 r;", "(r), f, (a, a)").find(other) != std::string::npos);
  CHECK(call(".param .b32 r;", "(r), f").find(other) != std::string::npos);
  CHECK(call(".param .b8 a[4096]; .param .b32 r;", "(r), f, (a)").find(other) != std::string::npos);
  CHECK(call(".param .b64 a;", "f, (a)").find(other) != std::string::npos);
  CHECK(refuses("{.param .b8 a; .param .b64 r; call.uni (r), malloc, (a);}", "of this form"));
}

TEST_CASE("aliases that form a cycle through kernels") {
  CHECK(problem_of(head + kernel_text("call.uni a;") +
                   ".entry a() {ret;} .entry b() {ret;} .entry c() {ret;}\n"
                   ".alias a, b; .alias b, c; .alias c, a;") != "");
}

TEST_CASE("large numbers in a small text do not take memory") {
  CHECK(problem_of_body(repeated("{.reg .b64 %large<1048576>;}", 2000)) == "");
  CHECK(problem_of_body(".reg .b64 %q<1048576>; mov.b64 %q1048575, %q0;") == "");
  CHECK(refuses(".reg .b64 %q<8>; mov.b64 %q8, %q0;", "not a register"));
  CHECK(refuses(".reg .b64 %q<8>; mov.b64 %q07, %q0;", "not a register"));
  CHECK(problem_of(head + ".global .b8 large[100000000000];" + kernel_text("")) == "");
  CHECK(problem_of(head + ".global .b8 large[1099511627776];" + kernel_text("")).find("no room") !=
        std::string::npos);
  CHECK(refuses(".local .b8 large[1099511627776];", "1099511627776 bytes of local memory"));
}

TEST_CASE("more static shared memory than a block can have is refused before the launch") {
  const std::string text =
      head + kernel_text(".shared .b8 large[1099511627776]; mov.u32 %r1, large;");
  const auto on = make_emulated_device(*find_gpu("h200"));
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  const auto module = on->load_linked({&bytes, 1});
  REQUIRE(module.ok());
  const auto kernel = on->find_kernel(*module, "k");
  REQUIRE(kernel.ok());
  const std::uint64_t parameter = 0;
  const status launched = on->launch(*kernel, {{1, 1, 1}, {32, 1, 1}, 0, false},
                                     std::as_bytes(std::span(&parameter, 1)));
  CHECK(launched.code == error::invalid_ptx);
  CHECK(launched.message.find("bytes of static shared memory") != std::string::npos);
}

TEST_CASE("time grows with the text's length, not with its square") {
  const int many = 30000;
  std::string calls, variables, functions;
  for (int n = 0; n < many; ++n) {
    const std::string number = std::to_string(n);
    variables += ".shared .b32 v" + number + ";\n";
    functions += ".func f" + number + "() { call.uni f" + std::to_string(n + 1) + "; }\n";
    calls += ".param .b32 a" + number + ";";
  }
  functions += ".func f" + std::to_string(many) + "() { ret; }\n";
  // A chain of calls as long as the program, and shared variables that each function might use.
  std::string uses;
  for (int n = 0; n < many; ++n) uses += "mov.u32 %r1, v" + std::to_string(n) + ";\n";
  CHECK(is_quick([&] {
    CHECK(problem_of(head + variables + functions + kernel_text("call.uni f0;\n" + uses)) == "");
  }));
  CHECK(is_quick([&] {
    CHECK(refuses("{" + calls + "call.uni f, (" + repeated("a29999,", many) + "a0);}", "f"));
  }));
  // Every block of a long body may branch back to the start.
  std::string blocks = "L0:\n";
  for (int n = 1; n < many; ++n) blocks += "@%p1 bra L0;\n";
  CHECK(is_quick([&] { CHECK(problem_of_body(blocks) == ""); }));
}

}  // namespace hostile_test
