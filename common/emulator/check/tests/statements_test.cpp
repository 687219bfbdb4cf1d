// Finds the statement in the source that keeps a thread from a barrier.
#include "common/emulator/check/statements.hpp"

#include <doctest/doctest.h>

#include <sstream>

using namespace stepwise::emulator;

namespace {

// The branch is on the first line, or on the line that begins with "@". The barrier is on the first
// line that contains "sync" or "MEET".
way_past past(const std::string& text, bool leaves_loop = false) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  int barrier = -1000, branch = 0, number = 0;
  for (std::string line; std::getline(in, line); ++number) {
    if (line.starts_with("@")) branch = number, line[0] = ' ';
    const bool waits =
        line.find("sync") != std::string::npos || line.find("MEET") != std::string::npos;
    if (waits && barrier < 0) barrier = number;
    lines.push_back(line);
  }
  lines.erase(lines.begin(), lines.begin() + branch);
  return how_past(lines, barrier - branch, leaves_loop);
}

}  // namespace

TEST_CASE("a barrier inside an if, an else or a switch") {
  CHECK(past("if (tid < s) {\n  x = 1;\n  __syncthreads();\n}\n") == way_past::condition);
  CHECK(past("if (tid < s) __syncthreads();\n") == way_past::condition);
  CHECK(past("if (tid < s)\n  __syncthreads();\n") == way_past::condition);
  CHECK(past("if (a && b) __syncthreads();\n") == way_past::condition);
  CHECK(past("if (i >= n) {\n  x = 1;\n} else {\n  __syncthreads();\n}\n") == way_past::condition);
  CHECK(past("} else if (tid < s) {\n  __syncthreads();\n}\n") == way_past::condition);
  CHECK(past("switch (k) {\n case 0:\n  __syncthreads();\n  break;\n}\n") == way_past::condition);
  CHECK(past("if (tid < s) {  // no return here\n  /* return; */ MEET();\n}\n") ==
        way_past::condition);
  CHECK(past("if (a) {\n  for (;;) { if (b) break; }\n  __syncthreads();\n}\n") ==
        way_past::condition);
  CHECK(past("if (first &&\n@    tid < s) {\n  __syncthreads();\n}\n") == way_past::condition);
  CHECK(past("for (int s = 8; s > 0; s /= 2) if (tid < s) {\n  __syncthreads();\n}\n") ==
        way_past::condition);
  CHECK(past("if constexpr (a) {\n  __syncthreads();\n}\n") == way_past::condition);
  CHECK(past("if (a) b(); else if (c) d();\nelse {\n  __syncthreads();\n}\n") ==
        way_past::condition);
}

TEST_CASE("a barrier as an operand") {
  CHECK(past("ok = a && __syncthreads_or(b);\n") == way_past::operand);
  CHECK(past("x = a ? __syncthreads_count(b) : 0;\n") == way_past::operand);
  CHECK(past("if (a && __syncthreads_or(b)) {\n  x = 1;\n}\n") == way_past::operand);
  CHECK(past("while (a && __syncthreads_or(b)) x += 1;\n") == way_past::operand);
  CHECK(past("f(a && b, __syncthreads_or(c));\n") != way_past::operand);
}

TEST_CASE("a barrier inside a loop") {
  CHECK(past("for (int k = 0; k < tid; ++k) {\n  x = k;\n  __syncthreads();\n}\n", true) ==
        way_past::loop);
  CHECK(past("while (k < tid) {\n  __syncthreads();\n}\n", true) == way_past::loop);
  CHECK(past("for (int s = tid; s > 0; s /= 2) if (a) {\n  __syncthreads();\n}\n", true) ==
        way_past::loop);
  CHECK(past("do {\n  x = k;\n  __syncthreads();\n} while (k < tid);\n") == way_past::loop);
  CHECK(past("do {\n  __syncthreads();\n@} while (k < tid);\n", true) == way_past::loop);
}

TEST_CASE("a statement that skips the barrier after it") {
  CHECK(past("if (i >= n) return;\n__syncthreads();\n") == way_past::returns);
  CHECK(past("if (i >= n) return; __syncthreads();\n") == way_past::returns);
  CHECK(past("if (i >= n)\n  return;\n__syncthreads();\n") == way_past::returns);
  CHECK(past("if (i >= 1'000) return;\n__syncthreads();\n") == way_past::returns);
  CHECK(past("if (row >= n ||\n@    col >= n) return;\n__syncthreads();\n") == way_past::returns);
  CHECK(past("if (i < n) {\n  x = 1;\n} else {\n  return;\n}\n__syncthreads();\n") ==
        way_past::returns);
  CHECK(past("if (x[k] == 7) break;\n__syncthreads();\n", true) == way_past::breaks);
  CHECK(past("for (;;) { if (x[k] == 7) break;\n  __syncthreads();\n}\n", true) ==
        way_past::breaks);
  CHECK(past("do {\n  __syncthreads();\n@  if (k < tid) break;\n} while (true);\n", true) ==
        way_past::breaks);
  CHECK(past("if (x[k] == 3) {\n  ++y;\n  continue;\n}\n__syncthreads();\n") ==
        way_past::continues);
}

TEST_CASE("a statement that is not understood gives `unknown`") {
  CHECK(past("if (a) goto end;\n__syncthreads();\n") == way_past::unknown);
  CHECK(past("x = y;\n__syncthreads();\n") == way_past::unknown);
  CHECK(past("") == way_past::unknown);
  CHECK(past("if (((\n__syncthreads();\n") != way_past::returns);
  CHECK(past("if (a) {\n\"unterminated\n__syncthreads();\n") == way_past::condition);
}

// --- variables declared without a value ----------------------------------------------------------

namespace {

// The last line is the statement.
std::string unset(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::string all;
  for (const std::string& name : unset_names(lines, static_cast<int>(lines.size()) - 1))
    all += (all.empty() ? "" : " ") + name;
  return all;
}

}  // namespace

TEST_CASE("a variable without a value is named, and other variables are not") {
  CHECK(unset("int sum;\nint one = 1;\nsum += one;\n") == "sum");
  CHECK(unset("float sum[r][r];\nsum[i][j] += a[i] * b[j];\n") == "sum");
  CHECK(unset("const float* p;\nfloat a, b = 2, *q;\ny[0] = a + b + p[0];\n") == "a p");
  CHECK(unset("std::array<float, 4> v;\ny[0] = v[0];\n") == "v");
  CHECK(unset("int best;\nfor (int i = 0; i < n; ++i)\n  if (x[i] > best) best = x[i];\n") ==
        "best");
}

TEST_CASE("of several variables, only those without an earlier assignment are named") {
  CHECK(unset("float sum[4], a[4];\nfor (i = 0; i < 4; ++i) a[i] = x[i];\nsum[i] += a[i];\n") ==
        "sum");
  CHECK(unset("int v;\nif (i < n) v = x[i];\ny[i] = v;\n") == "v");
}

TEST_CASE("initialised, shared and static variables and parameters are not named") {
  CHECK(unset("float sum{};\nint n(3);\ny[0] = sum + n;\n").empty());
  CHECK(unset("__shared__ float tile[32];\nstatic int s;\ny[0] = tile[s];\n").empty());
  CHECK(unset("__global__ void k(const int* x, int* y, int n) {\n  y[0] = x[n];\n").empty());
  CHECK(unset("void f() {\n  int sum;\n}\nvoid g() {\n  int sum = 0;\n  y[0] = sum;\n").empty());
  CHECK(unset("bool more = x > best;\nreturn best;\n").empty());
}
