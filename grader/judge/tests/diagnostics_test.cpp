// Compiler messages: file, line and caret.
#include "grader/judge/diagnostics.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

#include "grader/system/files.hpp"

using namespace stepwise;

// Output of nvcc 13.0.88 with g++ 12.2.
TEST_CASE("nvcc's front end: file, line, message over several lines, and caret") {
  const auto found = parse_diagnostics(
      "a.cu(2): warning #177-D: variable \"x\" was declared but never referenced\n\n"
      "a.cu(3): error: identifier \"tidd\" is undefined\n"
      "   p[tidd] = 0; int x = \"a\";\n"
      "     ^\n"
      "\n"
      "a.cu(6): error: no instance matches\n"
      "            argument types are: (int)\n"
      "  __attribute__((global)) void h() { g(1, 2); }\n"
      "                                          ^\n"
      "\n"
      "2 errors detected in the compilation of \"a.cu\".\n");
  REQUIRE(found.size() == 2);
  CHECK(found[0].file == "a.cu");
  CHECK(found[0].line == 3);
  CHECK(found[0].message == "identifier \"tidd\" is undefined");
  CHECK(found[1].message == "no instance matches; argument types are: (int)");
  CHECK(found[1].at_caret == "2); }");
}

TEST_CASE("warnings of nvcc's front end are separate from its errors") {
  const std::string text =
      "mine.cu(23): warning #187-D: use of \"=\" where \"==\" may have been intended\n"
      "    if (i = n) z[i] = 0;\n        ^\n\n"
      "Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n\n"
      "mine.cu(25): error: identifier \"x\" is undefined\n    x = 1;\n    ^\n\n"
      "labs/launch/launch.hpp(4): warning #549-D: variable \"sum\" is used before its value is "
      "set\n"
      "    s = sum;\n        ^\n\n";
  const auto warnings = parse_warnings(text);
  REQUIRE(warnings.size() == 2);
  CHECK(warnings[0].file == "mine.cu");
  CHECK(warnings[0].line == 23);
  CHECK(warnings[0].message == "use of \"=\" where \"==\" may have been intended");
  CHECK(warnings[1].file == "labs/launch/launch.hpp");
  const auto errors = parse_diagnostics(text);
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].line == 25);
}

TEST_CASE("warnings of ptxas have no line") {
  const auto warnings = parse_warnings(
      "ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to "
      "determine register count at entry.\n"
      "ptxas info    : 0 bytes gmem\n"
      "ptxas warning : Stack size for entry function '_Z1fPi' cannot be statically determined\n");
  REQUIRE(warnings.size() == 2);
  CHECK(warnings[0].line == 0);
  CHECK(warnings[0].message ==
        "ptxas: 'setmaxnreg' ignored; unable to determine register count at entry: give "
        "__launch_bounds__ a second argument, the number of blocks that a multiprocessor must "
        "hold");
  CHECK(warnings[1].message ==
        "ptxas: Stack size for entry function 'f(int*)' cannot be statically determined");
}

TEST_CASE("nvcc's front end at the end of a file: the bracket that was not closed") {
  const auto found = parse_diagnostics(
      "At end of source: error: expected a \"}\"\n"
      "a.cu(3): note #3196-D: to match this \"{\"\n"
      "    if (n) {\n"
      "           ^\n"
      "\n"
      "At end of source: error: expected a \";\"\n"
      "\n"
      "2 errors detected in the compilation of \"a.cu\".\n");
  REQUIRE(found.size() == 2);
  CHECK(found[0].file == "a.cu");
  CHECK(found[0].line == 3);
  CHECK(found[0].message == "expected a \"}\" at the end of the file, to match this \"{\"");
  CHECK(found[0].at_caret == "{");
  CHECK(found[1].file.empty());
  CHECK(found[1].message == "expected a \";\" at the end of the file");
}

TEST_CASE("for frequent mistakes in a first kernel, a hint follows nvcc's message") {
  struct row {
    const char *said, *excerpt, *help;
  };
  const row rows[] = {
      {"no instance of overloaded function \"cudaMalloc\" matches the argument list\n"
       "            argument types are: (unsigned char *, const int)",
       "    cudaMalloc(in, bytes);", "cudaMalloc(&pointer, bytes)"},
      {"argument of type \"const unsigned char *\" is incompatible with parameter of type \"void "
       "*\"",
       "    cudaMemcpy(in, device_in, bytes, cudaMemcpyHostToDevice);",
       "cudaMemcpy(to, from, bytes, kind)"},
      {"no suitable conversion function from \"const uint3\" to \"int\" exists",
       "    for (int i = threadIdx; i < n; i += blockDim.x) {", "members .x, .y and .z"},
      {"identifier \"threadId\" is undefined", "    const int i = threadId.x;",
       ": is it threadIdx?"},
      {"identifier \"blockdim\" is undefined", "    const int i = blockdim.x;",
       ": is it blockDim?"},
      {"calling a __host__ function(\"twice(int)\") from a __global__ function(\"k\") is not "
       "allowed",
       "", "marked __device__"},
      {"calling a constexpr __host__ function(\"max\") from a __global__ function(\"k\") is not "
       "allowed. The experimental flag '--expt-relaxed-constexpr' can be used to allow this.",
       "    float z = std::max(1.0f, in[0]);", "without std::"},
      {"expression must be a modifiable lvalue", "    if (y = height) return;", "== compares"},
      {"a static \"__shared__\" variable declaration is not allowed inside a host function body",
       "", "is __global__ missing"},
      {"a variable length array cannot have static storage duration",
       "    __attribute__((shared)) int partial[blockDim.x];", "constexpr"},
      {"argument of type \"void\" is incompatible with parameter of type \"cudaError_t\"",
       "    check(k<<<1, 32>>>(p));", "cudaGetLastError() after it"},
      {"identifier \"printf\" is undefined", "", "#include <cstdio>"},
      {"identifier \"points\" is undefined in device code", "", "pass it as a parameter"},
      {"expected a \";\"", "  void reduce(const int* in, int* out) {", "is a } missing above?"},
      {"calling a constexpr __host__ function(\"operator[]\") from a __global__ function(\"k\") is "
       "not allowed. The experimental flag '--expt-relaxed-constexpr' can be used to allow this.",
       "    out[i] = v[i];", "is not allowed: a kernel cannot use std::vector"},
      {"empty dependent statement in if-statement", "    if (i < n); out[i] = 1;", "ends the if"},
      {"identifier \"syncthreads\" is undefined", "", ": is it __syncthreads?"},
      {"identifier \"cudaMemcpyHosttoDevice\" is undefined", "", ": is it cudaMemcpyHostToDevice?"},
      {"this declaration has no storage class or type specifier",
       "  _global_ void k(const float* in) {", ": is it __global__?"},
      {"expression must have integral or unscoped enum type", "    k<<blocks, 256>>(in, out, n);",
       "kernel<<<blocks, threads>>>"},
      {"calling a __device__ function(\"k(int*)\") from a __host__ function(\"run\") is not "
       "allowed",
       "    k<<<blocks, 256>>>(out);", "is declared __global__"},
      {"no operator \"+\" matches these operands\n            operand types are: unsigned int + "
       "const uint3",
       "    int i = blockIdx.x * blockDim.x + threadIdx;", "members .x, .y and .z"},
      {"expression must have a constant value", "    __attribute__((shared)) float tile[n];",
       "extern __shared__"},
      {"expression must have a constant value", "    float sums[n];", "use a constant"},
      {"no instance of overloaded function \"atomicAdd\" matches the argument list\n            "
       "argument types are: (float, int)",
       "    atomicAdd(out[i], 1);", "atomicAdd(&sum, value)"},
      {"identifier \"ceil_div\" is undefined", "", "#include \"common/lab/ceil_div.hpp\""},
      {"identifier \"__float2half\" is undefined", "", "#include <cuda_fp16.h>"},
      {"identifier \"__shfl_down\" is undefined", "", "__shfl_down_sync(mask, ...)"},
      {"name followed by \"::\" must be a class or namespace name",
       "    cub::DeviceReduce::Sum(nullptr, bytes, in, out, n);", "#include <cub/cub.cuh>"},
      {"incomplete type \"unsigned int []\" is not allowed",
       "    __attribute__((shared)) unsigned partial[];", "third launch parameter"},
      {"declaration is incompatible with previous \"partial\" (declared at line 9)",
       "    extern __attribute__((shared)) float partial[];", "one type or different names"},
      {"expression must have pointer-to-object type but it has type \"float\"",
       "    out[col][row] = in[row][col];", "one index"},
  };
  for (const row& r : rows) {
    const auto found =
        parse_diagnostics("a.cu(3): error: " + std::string(r.said) + "\n" +
                          (*r.excerpt == 0 ? "" : r.excerpt + std::string("\n    ^\n")) +
                          "\n1 error detected in the compilation of \"a.cu\".\n");
    REQUIRE(found.size() == 1);
    CHECK_MESSAGE(found[0].message.find(r.help) != std::string::npos, found[0].message);
  }
  for (const std::string own : {"threads", "block", "grid", "width", "sum", "tile_of"}) {
    const std::string message = "identifier \"" + own + "\" is undefined";
    const auto other = parse_diagnostics("a.cu(3): error: " + message + "\n\n");
    REQUIRE(other.size() == 1);
    CHECK(other[0].message == message);
  }
}

TEST_CASE("a missing parenthesis comes before the wrong type that it causes in its line") {
  const std::string type =
      "a.cu(3): error: expression must have integral or unscoped enum type\n\n";
  const auto found = parse_diagnostics(type + "a.cu(3): error: expected a \")\"\n\n");
  REQUIRE(found.size() == 2);
  CHECK(found[0].message == "expected a \")\"");
  CHECK(parse_diagnostics(type + "a.cu(4): error: expected a \")\"\n\n")[0].line == 3);
}

TEST_CASE("messages of the host compiler, ptxas and the linker") {
  auto found = parse_diagnostics("b.cu:1:10: fatal error: nix.hpp: No such file or directory\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].file == "b.cu");
  CHECK(found[0].line == 1);
  CHECK(found[0].column == 10);
  found = parse_diagnostics(
      "ptxas error   : Entry function '_Z1hPi' uses too much shared data (0x61a80 bytes, 0xc000 "
      "max)\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].message ==
        "Entry function 'h(int*)' uses too much shared data (0x61a80 bytes, 0xc000 max): "
        "__shared__ arrays of 400000 bytes, and 49152 at most; extern __shared__ may have more");
  found = parse_diagnostics(
      "ptxas /tmp/a.ptx, line 34; error   : Instruction 'vote' without '.sync' is not supported\n"
      "ptxas fatal   : Ptx assembly aborted due to errors\n");
  REQUIRE(found.size() == 2);
  CHECK(found[0].message.starts_with("Instruction 'vote' without '.sync' is not supported: write"));
  found = parse_diagnostics(
      "/usr/bin/ld: /tmp/x.o: in function `main':\n"
      "x.cpp:(.text+0xf7): undefined reference to `reduce(int const*, int*, int*, int)'\n"
      "collect2: error: ld returned 1 exit status\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].message ==
        "nothing defines reduce(int const*, int*, int*, int), which the runner calls: are name and "
        "parameters those of the contract?");
  CHECK(parse_diagnostics("all is well\n").empty());
}

TEST_CASE("the number and length of messages are limited") {
  std::string doubled = "_Z1fSt4pairIiiE";  // each part is twice as long as the one before it
  for (const char part : std::string("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    doubled += std::string("S_IS") + part + "_S" + part + "_E";
  auto found = parse_diagnostics("ptxas error   : " + doubled + " is too much\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].message.starts_with(doubled + " is too much"));
  // Many messages of the maximum length. Only the first messages matter.
  const std::string large = doubled.substr(0, 15 + 12 * 9);
  std::string many, lines;
  for (int n = 0; n < 50000; ++n) {
    many += "ptxas error   : " + large + "\n";
    lines += "a.cu(3): error: no instance matches\n";
  }
  const auto start = std::chrono::steady_clock::now();
  CHECK(parse_diagnostics(many).size() == 50000);
  found = parse_diagnostics("ptxas error   : " + std::string(10'000'000, 'x') + "\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].message.size() == 4000);
  found = parse_diagnostics(lines);
  CHECK(found.size() == 50000);
  CHECK(found[0].message.size() < 1000);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
}

TEST_CASE("an undeclared name before < is reported, or the message asks about it") {
  const std::string first =
      "a.cu(3): error: expected a \">\"\n    if (x < width) {\n                 ^\n\n";
  const auto alone = parse_diagnostics(first);
  REQUIRE(alone.size() == 1);
  CHECK(alone[0].message.starts_with("expected a \">\": is each name before a < declared?"));
  const auto both = parse_diagnostics(
      first + "a.cu(4): error: identifier \"x\" is undefined\n    out[x] = 1;\n        ^\n\n");
  REQUIRE(both.size() == 2);
  CHECK(both[0].line == 4);
  CHECK(both[0].message == "identifier \"x\" is undefined");
}

TEST_CASE("the explanation shows the student's own line with a caret under the error") {
  const temporary_folder root(fs::temp_directory_path());
  installation where;
  where.root = root.path();
  write_atomically(root.path() / "a.cu",
                   "int a;\n\tp[tidd] = 0;\n__global__ void h() { g(1, 2); }\n");
  diagnostic d{"a.cu", 2, 0, "identifier \"tidd\" is undefined", "tidd] = 0;"};
  const quotable sources = quotable_for(root.path() / "a.cu", where, {});
  CHECK(explain(d, 1, where, sources) ==
        std::vector<std::string>{"a.cu:2: identifier \"tidd\" is undefined",
                                 "2 |         p[tidd] = 0;", "  |           ^"});
  // nvcc's excerpt has __global__ expanded. The caret is found by the text that follows it.
  d = {"a.cu", 3, 0, "too many arguments", "2); }"};
  const auto lines = explain(d, 3, where, sources);
  REQUIRE(lines.size() == 4);
  CHECK(lines[1] == "3 | __global__ void h() { g(1, 2); }");
  CHECK(lines[2] == "  |                            ^");
  CHECK(lines[3] == "2 more errors follow; the first one often causes the others");
  // A #line may name any file. That name is reported, but the contents of the file are not.
  write_atomically(root.path() / "other.cu", "secret\n");
  for (const char* named : {"other.cu", "/etc/passwd", "/usr/include/../../etc/passwd"}) {
    d = {named, 1, 0, "message", ""};
    CHECK(explain(d, 1, where, sources).size() == 1);
  }
  CHECK(explain({"other.cu", 1, 0, "message", ""}, 1, where,
                quotable_for(root.path() / "a.cu", where, {root.path()}))
            .size() == 3);
}
