// Calls, modules with several parts, and the functions of the device's library.
#include <doctest/doctest.h>

#include <cstring>

#include "common/device/device.hpp"
#include "common/emulator/run/device_printf.hpp"

using namespace stepwise;

namespace call_test {
namespace {

const std::string head = ".version 9.0\n.target sm_90\n.address_size 64\n";

// A kernel that stores %r9 to out[tid]. %r0 is tid.
std::string kernel_text(const std::string& body) {
  return ".visible .entry kernel(.param .u64 out)\n{\n.reg .pred %p<8>;\n.reg .b32 %r<32>;\n"
         ".reg .b64 %rd<16>;\nld.param.u64 %rd1, [out];\nmov.u32 %r0, %tid.x;\n" +
         body +
         "\nmul.wide.u32 %rd14, %r0, 4;\nadd.s64 %rd15, %rd1, %rd14;\nst.global.u32 [%rd15], "
         "%r9;\nret;\n}\n";
}

// Calls `name` with %r0 and writes its result to %r9.
std::string call_text(const std::string& name) {
  return "{ .param .b32 a; .param .b32 r; st.param.b32 [a+0], %r0; call.uni (r), " + name +
         ", (a); ld.param.b32 %r9, [r+0]; }\n";
}

std::string function_text(const std::string& name, const std::string& body) {
  return ".func (.param .b32 result) " + name +
         "(.param .b32 x)\n{\n.reg .pred %p<4>;\n.reg .b32 %r<16>;\nld.param.u32 %r1, [x];\n" +
         body + "\nst.param.b32 [result+0], %r2;\nret;\n}\n";
}

struct outcome {
  status load, launch, end;
  std::vector<std::uint32_t> out = std::vector<std::uint32_t>(64);
};

outcome run(const std::vector<std::string>& parts, unsigned threads = 32,
            std::uint64_t stack_bytes = 1024) {
  const auto model = find_gpu("h200");
  REQUIRE(model.ok());
  const auto on = make_emulated_device(*model);
  REQUIRE(on->set_limit(device_limit::stack_bytes, stack_bytes).ok());
  std::vector<std::span<const std::byte>> bytes;
  for (const std::string& p : parts) bytes.push_back(std::as_bytes(std::span(p)));
  outcome result;
  const auto module = on->load_linked(bytes);
  if (!module.ok()) {
    result.load = module.failure();
    return result;
  }
  const auto kernel = on->find_kernel(*module, "kernel");
  REQUIRE(kernel.ok());
  const auto out = on->allocate(result.out.size() * 4);
  REQUIRE(out.ok());
  REQUIRE(on->fill(*out, 0, 4, result.out.size()).ok());
  const std::uint64_t parameter = *out;
  result.launch = on->launch(*kernel, {{1, 1, 1}, {threads, 1, 1}, 0, false},
                             std::as_bytes(std::span(&parameter, 1)));
  result.end = on->synchronize();
  (void)on->read(std::as_writable_bytes(std::span(result.out)), *out);
  return result;
}

bool says(const status& s, const std::string& words) {
  INFO(s.message);
  return s.message.find(words) != std::string::npos;
}

// Computes x! by recursion. Lanes recurse to different depths, so they return at different times.
const std::string factorial = function_text(
    "factorial",
    "mov.u32 %r2, 1;\nsetp.lt.u32 %p1, %r1, 2;\n@%p1 bra done;\nsub.u32 %r3, %r1, 1;\n"
    "{ .param .b32 a; .param .b32 r; st.param.b32 [a+0], %r3; call.uni (r), factorial, (a); "
    "ld.param.b32 %r4, [r+0]; }\nmul.lo.u32 %r2, %r4, %r1;\ndone:");

std::uint32_t factorial_of(std::uint32_t x) { return x < 2 ? 1 : x * factorial_of(x - 1); }

}  // namespace

TEST_CASE("every lane recurses to its own depth") {
  const outcome o = run({head + factorial + kernel_text(call_text("factorial"))});
  REQUIRE(o.launch.ok());
  REQUIRE(o.end.ok());
  for (std::uint32_t k = 0; k < 32; ++k) CHECK(o.out[k] == factorial_of(k));
}

TEST_CASE("lanes that return at different times reconverge after the call") {
  // activemask after the call shows which lanes have met; the loop makes lanes return one by one.
  const std::string wait =
      function_text("wait",
                    "mov.u32 %r2, 0;\nagain:\nadd.u32 %r2, %r2, 1;\nsetp.ge.u32 %p1, %r2, "
                    "%r1;\n@%p1 ret;\nbra again;");
  const outcome o = run({head + wait + kernel_text(call_text("wait") + "activemask.b32 %r9;")});
  REQUIRE(o.end.ok());
  for (int k = 0; k < 32; ++k) CHECK(o.out[k] == 0xffffffffu);
}

TEST_CASE("a call does not wait for lanes that exit inside the function") {
  const std::string leave =
      function_text("leave",
                    "and.b32 %r3, %r1, 1;\nsetp.eq.u32 %p1, %r3, 1;\n@%p1 exit;\n"
                    "mov.u32 %r2, 7;");
  const outcome o = run({head + leave + kernel_text(call_text("leave") + "activemask.b32 %r9;")});
  REQUIRE(o.end.ok());
  for (int k = 0; k < 32; ++k) CHECK(o.out[k] == (k % 2 == 0 ? 0x55555555u : 0u));
}

TEST_CASE("a call through pointers that differ between lanes") {
  const std::string two = function_text("twice", "add.u32 %r2, %r1, %r1;") +
                          function_text("square", "mul.lo.u32 %r2, %r1, %r1;") +
                          ".global .align 8 .u64 table[2] = {twice, square};\n";
  const outcome o =
      run({head + two +
           kernel_text("and.b32 %r2, %r0, 1;\nmul.wide.u32 %rd3, %r2, 8;\nmov.u64 %rd4, table;\n"
                       "add.u64 %rd4, %rd4, %rd3;\nld.global.u64 %rd5, [%rd4];\n"
                       "{ .param .b32 a; .param .b32 r; st.param.b32 [a+0], %r0;\n"
                       "kind: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                       "call (r), %rd5, (a), kind; ld.param.b32 %r9, [r+0]; }\n"
                       "activemask.b32 %r8;\npopc.b32 %r8, %r8;\nadd.u32 %r9, %r9, %r8;")});
  REQUIRE(o.end.ok());
  for (std::uint32_t k = 0; k < 32; ++k) CHECK(o.out[k] == (k % 2 == 0 ? 2 * k : k * k) + 32);
}

TEST_CASE("a pointer that is not a function's address stops the kernel") {
  const outcome o = run(
      {head + function_text("twice", "add.u32 %r2, %r1, %r1;") +
       kernel_text("mov.u64 %rd5, 64;\n{ .param .b32 a; .param .b32 r; st.param.b32 [a+0], %r0;\n"
                   "kind: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                   "call (r), %rd5, (a), kind; ld.param.b32 %r9, [r+0]; }\n")});
  CHECK(o.launch.ok());
  CHECK(!o.end.ok());
  CHECK(says(o.end, "not the address of a function"));
}

TEST_CASE("endless recursion overflows the stack, and a larger stack allows deeper recursion") {
  const std::string endless = function_text(
      "endless",
      "{ .param .b32 a; .param .b32 r; st.param.b32 [a+0], %r1; call.uni (r), endless, (a); "
      "ld.param.b32 %r2, [r+0]; }\n");
  const outcome o = run({head + endless + kernel_text(call_text("endless"))});
  CHECK(o.launch.ok());
  CHECK(o.end.code == error::illegal_address);
  CHECK(says(o.end, "stack overflow"));

  const std::string deep = kernel_text("mov.u32 %r0, 300;\n" + call_text("factorial") +
                                       "mov.u32 %r0, %tid.x;\nmov.u32 %r9, 5;");
  CHECK(says(run({head + factorial + deep}).end, "stack overflow"));
  const outcome larger = run({head + factorial + deep}, 32, 16384);
  CHECK(larger.end.ok());
  CHECK(larger.out[31] == 5);
}

TEST_CASE("alloca gives every call its own memory, and stackrestore frees it") {
  // Each iteration saves the stack, allocates tid + 1 words, writes the last word and reads it.
  const std::string body =
      "mov.u32 %r2, 0;\nmov.u32 %r9, 0;\nmov.u32 %r3, 100;\nagain:\nstacksave.u64 %rd2;\n"
      "add.u32 %r4, %r0, 1;\nmul.wide.u32 %rd3, %r4, 4;\nalloca.u64 %rd4, %rd3, 4;\n"
      "add.u64 %rd5, %rd4, %rd3;\nst.local.u32 [%rd5+-4], %r2;\nld.local.u32 %r5, [%rd5+-4];\n"
      "add.u32 %r9, %r9, %r5;\nstackrestore.u64 %rd2;\nadd.u32 %r2, %r2, 1;\n"
      "setp.lt.u32 %p1, %r2, %r3;\n@%p1 bra again;";
  const outcome o = run({head + kernel_text(body)});
  REQUIRE(o.end.ok());
  for (int k = 0; k < 32; ++k) CHECK(o.out[k] == 4950);
  std::string kept = body;
  kept.replace(kept.find("stackrestore.u64 %rd2;\n"), 23, "");
  CHECK(says(run({head + kernel_text(kept)}).end, "stack overflow"));
}

TEST_CASE("parts of a program call each other and share variables") {
  const std::string one =
      head + ".extern .func (.param .b32 result) other(.param .b32 x);\n" +
      ".extern .global .align 4 .u32 offset;\n" + function_text("own", "add.u32 %r2, %r1, 100;") +
      kernel_text(call_text("other") + "mov.u32 %r5, %r9;\n" + call_text("own") +
                  "add.u32 %r9, %r9, %r5;\nld.global.u32 %r6, [offset];\nadd.u32 %r9, %r9, %r6;");
  const std::string two = head + ".visible .global .align 4 .u32 offset = 1000;\n" +
                          function_text("own", "add.u32 %r2, %r1, 1;") + ".visible " +
                          function_text("other", "shl.b32 %r2, %r1, 4;");
  for (const auto& parts : {std::vector{one, two}, std::vector{two, one}}) {
    const outcome o = run(parts);
    REQUIRE(o.end.ok());
    for (std::uint32_t k = 0; k < 32; ++k) CHECK(o.out[k] == 16 * k + k + 100 + 1000);
  }
  CHECK(says(run({one}).load.ok() ? run({one}).launch : run({one}).load, "other"));
  CHECK(says(run({two, two + kernel_text("")}).load, "two parts"));
}

TEST_CASE(
    "an unimplemented instruction in a function fails every launch that may call it, by name") {
  const std::string odd = function_text("odd", "mov.u32 %r2, 1;\ntcgen05.wait::ld.sync.aligned;");
  const outcome direct = run({head + odd + kernel_text(call_text("odd"))});
  CHECK(direct.launch.code == error::not_supported);
  CHECK(says(direct.launch, "tcgen05.wait::ld"));
  CHECK(says(direct.launch, "odd"));
  const outcome no_function =
      run({head + ".extern .func (.param .b32 r) no_function(.param .b32 x);\n" +
           kernel_text(call_text("no_function"))});
  CHECK(no_function.launch.code == error::not_supported);
  CHECK(says(no_function.launch, "no_function, which no part of the program defines"));
}

TEST_CASE("modifiers may be in a different order than in the manual") {
  const outcome o = run(
      {head + kernel_text(
                  ".reg .f32 %f<4>;\nmov.b32 %f1, 0f3f000000;\nfma.rn.f32.sat %f2, %f1, %f1, %f1;\n"
                  "ex2.approx.f32.ftz %f3, %f2;\nmov.b32 %r2, %f2;\nadd.u32.cc %r3, %r2, %r2;\n"
                  "ld.u32.global %r4, [%rd1];\nadd.u32 %r9, %r2, %r4;")});
  REQUIRE(o.launch.ok());
  REQUIRE(o.end.ok());
  CHECK(o.out[0] == 0x3f400000);  // 0.75, plus the 0 in out
  CHECK(says(run({head + kernel_text("wgmma.fence.f32.aligned;")}).launch,
             "wgmma.fence.f32.aligned"));
}

TEST_CASE("forms of video instructions that a GPU computes differently are refused") {
  for (const char* form :
       {"vmad.s32.s32.s32 %r9, %r0, %r0, %r0;", "vadd.s32.s32.s32 %r9.h1, %r0, %r0, %r0;",
        "vadd.u32.u32.u32.min %r9, %r0, %r0, %r0;", "vsub.u32.u32.u32.sat %r9, %r0, %r0;"}) {
    const outcome o = run({head + kernel_text(form)});
    CHECK(o.launch.code == error::not_supported);
    CHECK(says(o.launch, std::string(form).substr(0, std::string(form).find(' '))));
  }
}

TEST_CASE("printf produces the same text as in C") {
  using emulator::format_printf;
  std::vector<std::uint64_t> values;
  std::vector<unsigned> widths;
  const auto print = [&](const char* format, std::vector<std::uint64_t> with) {
    values = std::move(with);
    widths.clear();
    return format_printf(format,
                         {[&](unsigned bytes) {
                            widths.push_back(bytes);
                            return values.at(widths.size() - 1);
                          },
                          [](std::uint64_t address) { return "text " + std::to_string(address); }});
  };
  const auto bits = [](double v) { return std::bit_cast<std::uint64_t>(v); };
  CHECK(print("plain 100%%\n", {}).text == "plain 100%\n");
  CHECK(print("%d|%5d|%-5d|%05d|%+d", {0xffffffffu, 7, 7, 7, 7}).text == "-1|    7|7    |00007|+7");
  CHECK(print("%u %x %X %#o", {0xffffffffu, 255, 255, 8}).text == "4294967295 ff FF 010");
  CHECK(print("%lld %llu %ld", {~std::uint64_t{0}, ~std::uint64_t{0}, 5}).text ==
        "-1 18446744073709551615 5");
  CHECK(widths == std::vector<unsigned>{8, 8, 8});
  CHECK(print("%hd", {2}).text == "2");
  CHECK(widths == std::vector<unsigned>{4});
  CHECK(print("%f %.2e %g %8.3f|", {bits(1.5), bits(12345.678), bits(0.1), bits(3.14159)}).text ==
        "1.500000 1.23e+04 0.1    3.142|");
  CHECK(print("%c%c %s %-8s|", {'o', 'k', 12, 3}).text == "ok text 12 text 3  |");
  CHECK(print("%*d|%-*d|", {4, 7, 4, 7}).text == "   7|7   |");
  CHECK(print("%d %*d", {1, 5, 2}).arguments == 3);
  CHECK(print("%y %", {}).text == "%y ");
  for (const char* unknown : {"%hhd", "%zu", "%td", "%jd", "%.*f", "%-5zu"}) {
    CHECK(print(unknown, {1, 2}).text == unknown);
    CHECK(print(unknown, {1, 2}).unknown == unknown);
  }
}

}  // namespace call_test
