// lab ptx through the built program, with kernels whose inner loops are known, and the kinds of
// instructions.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>

#include "grader/cli/tests/cloned_course.hpp"
#include "grader/cli/text/ptx_listing.hpp"
#include "grader/course/lab.hpp"
#include "grader/course/source.hpp"
#include "grader/report/text.hpp"

using namespace stepwise;

namespace {

// A kernel with FMAs, loads from both memories, and a barrier. Only the innermost loop may be
// unrolled.
constexpr const char* tiled = R"(// a small tile product
__global__ void tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float left[16][16], right[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < n; k += 16) {
    left[y][x] = a[y * n + k + x];
    right[y][x] = b[(k + y) * n + x];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 16; ++j) {
      sum = fmaf(left[y][j], right[j][x], sum);
    }
    __syncthreads();
  }
  c[y * n + x] = sum;
}

__global__ void plain(float* c) { c[threadIdx.x] = 1; }
)";

const json& kind(const json& loop, const std::string& name) {
  for (const json& k : loop["kinds"]) {
    if (k["kind"] == name) return k;
  }
  FAIL("no " << name << " in " << loop.dump());
  return loop;
}

const json& line_of(const json& kernel, int number) {
  for (const json& l : kernel["lines"]) {
    if (l["line"] == number) return l;
  }
  FAIL("no line " << number);
  return kernel;
}

ptx::instruction parsed(const std::string& text) {
  static std::vector<std::unique_ptr<ptx::module>> kept;
  kept.push_back(std::make_unique<ptx::module>(
      ".version 9.0\n.target sm_90\n.address_size 64\n.entry k()\n{\n.reg .b32 r<9>; .reg .f32 "
      "f<9>; .reg .f64 e<9>; .reg .b64 d<9>; .reg .pred p; .reg .b16 h<9>;\n" +
      text + ";\n}\n"));
  return kept.back()->body_of(kept.back()->functions.at(0)).instructions.at(0);
}

}  // namespace

TEST_CASE("each instruction has a kind") {
  const std::vector<std::pair<const char*, const char*>> expected = {
      {"fma.rn.f32 f0, f1, f2, f3", "FMA"},
      {"fma.rn.f64 e0, e1, e2, e3", "FMA"},
      {"add.f32 f0, f1, f2", "FP32"},
      {"setp.lt.f32 p, f1, f2", "FP32"},
      {"mul.f64 e0, e1, e2", "FP64"},
      {"add.f16x2 r0, r1, r2", "half"},
      {"mad.lo.s32 r0, r1, r2, r3", "integer"},
      {"setp.lt.s32 p, r1, r2", "integer"},
      {"rsqrt.approx.f32 f0, f1", "special"},
      {"div.rn.f32 f0, f1, f2", "special"},
      {"div.s32 r0, r1, r2", "integer"},
      {"cvt.rn.f32.s32 f0, r1", "conversion"},
      {"ld.global.nc.f32 f0, [d0]", "load global"},
      {"ld.shared.v2.f32 {f0, f1}, [r0]", "load shared"},
      {"ld.shared::cta.f32 f0, [r0]", "load shared"},
      {"ld.local.f32 f0, [d0]", "load local"},
      {"ld.const.f32 f0, [d0]", "load constant"},
      {"ld.f32 f0, [d0]", "load"},
      {"st.global.f32 [d0], f0", "store global"},
      {"st.volatile.shared.f32 [r0], f0", "store shared"},
      {"atom.global.add.u32 r0, [d0], r1", "atomic"},
      {"red.shared.add.u32 [r0], r1", "atomic"},
      {"cp.async.ca.shared.global [r0], [d0], 4", "async copy"},
      {"shfl.sync.bfly.b32 r0, r1, 1, 31, -1", "warp"},
      {"bar.sync 0", "barrier"},
      {"bar.warp.sync -1", "barrier"},
      {"ret", "control"},
      {"mov.u32 r0, 1", "move"},
  };
  for (const auto& [text, kind] : expected) {
    CAPTURE(text);
    CHECK(cli::kind_of(parsed(text)) == kind);
  }
}

TEST_CASE("the inner loop of a tile product: counts per iteration, bytes per FMA, merged loads") {
  const cloned_course c;
  write_atomically(c.root() / "tiled.cu", tiled);
  const auto result = c.lab({"ptx", "--file", "tiled.cu", "--json"});
  CHECK(result.end.exit_code == 0);
  const json document = document_of(result);
  check_documented(document, "ptx");
  CHECK(document["subject"] == "tiled.cu");
  REQUIRE(document["kernels"].size() == 2);
  const json& k = document["kernels"][0];
  CHECK(k["name"] == "tiled");
  CHECK(k["registers"] > 8);
  CHECK(k["shared_bytes"] == 2048);
  CHECK(k["machine_instructions"] > 40);
  CHECK(k["undecided"] == 0);
  REQUIRE(k["loops"].size() == 1);
  const json& loop = k["loops"][0];
  CHECK(loop["first_line"] >= 7);
  CHECK(loop["last_line"] == 15);
  CHECK(loop["innermost"] == true);
  CHECK(loop["branches"] == false);
  CHECK(loop["copies"] == 1);
  CHECK(loop["fma"] == 16);
  // 16 neighbouring words of `left` become four loads of 16 bytes. The words of `right` are in a
  // column.
  CHECK(k["merged"] == 4);
  CHECK(kind(loop, "load shared")["ptx_instructions"] == 32);
  CHECK(kind(loop, "load shared")["machine_instructions"] == 20);
  CHECK(kind(loop, "load shared")["bytes"] == 4 * 16 + 16 * 4);
  CHECK(kind(loop, "load global")["bytes"] == 8);
  CHECK(kind(loop, "barrier")["ptx_instructions"] == 2);
  CHECK(loop["shared_bytes_per_fma"] == 8.0);
  CHECK(loop["global_bytes_per_fma"] == 0.5);
  // The counts of the loop and the kernel are sums over the lines.
  std::uint32_t rows = 0, in_loop = 0;
  for (const json& l : k["lines"]) {
    rows += static_cast<std::uint32_t>(l["ptx"].size());
    for (const json& row : l["ptx"]) in_loop += row["loop"] == 0;
  }
  CHECK(k["ptx_instructions"] == rows);
  CHECK(loop["ptx_instructions"] == in_loop);
  const json& fma = line_of(k, 13);
  CHECK(has(fma["source"].get<std::string>(), "sum = fmaf(left[y][j], right[j][x], sum);"));
  CHECK(std::count_if(fma["ptx"].begin(), fma["ptx"].end(),
                      [](const json& row) { return row["kind"] == "FMA"; }) == 16);
}

TEST_CASE("the text has both columns, fits the width, and shortens long names") {
  const cloned_course c;
  write_atomically(c.root() / "tiled.cu", tiled);
  for (const int width : {80, 140}) {
    CAPTURE(width);
    auto options = c.command({"ptx", "--file", "tiled.cu", "--kernel", "tiled"});
    options.environment.back() = "COLUMNS=" + std::to_string(width);
    const auto result = run_child(options, 120);
    CHECK(result.end.exit_code == 0);
    bool beside = false;
    for (const std::string& line : split_lines(result.out)) {
      CAPTURE(line);
      CHECK(display_width(line) <= static_cast<std::size_t>(width));
      beside = beside || (has(line, "sum = fmaf(") && has(line, "ld.shared.f32"));
    }
    CHECK(beside == (width >= 120));
    for (const std::string part :
         {"innermost loop, lines 7-15", "one 16-byte load replaces 4 of these",
          "machine instructions per FMA", "8.00 bytes from shared memory", "[param_0]",
          "; --line 13 shows them", "Not shown: 1 other kernel"}) {
      CAPTURE(part);
      CHECK(has(result.out, part));
    }
    CHECK(!has(result.out, "_Z5tiled"));
    CHECK(!has(result.out, "\x1b"));
  }
}

TEST_CASE("--line shows one line with all its instructions, or says which lines have some") {
  const cloned_course c;
  write_atomically(c.root() / "tiled.cu", tiled);
  const auto one = c.lab({"ptx", "--file", "tiled.cu", "--kernel", "tiled", "--line", "13"});
  CHECK(one.end.exit_code == 0);
  std::size_t loads = 0;
  for (const std::string& line : split_lines(one.out)) loads += has(line, "ld.shared.f32");
  CHECK(loads == 32);
  CHECK(!has(one.out, "st.global"));
  const auto none = c.lab({"ptx", "--file", "tiled.cu", "--kernel", "tiled", "--line", "12"});
  CHECK(none.end.exit_code == 0);
  CHECK(has(none.out, "comes from line 12"));
  CHECK(has(none.out, "13"));
  const json document = document_of(
      c.lab({"ptx", "--file", "tiled.cu", "--kernel", "tiled", "--line", "13", "--json"}));
  CHECK(document["kernels"][0]["lines"].size() == 1);
}

TEST_CASE("in every step of every lab, all kernels have line tables and nothing is undecided") {
  const cloned_course c;
  for (const lab& l : load_labs(c.root() / "build")) {
    for (const step& s : l.steps) {
      CAPTURE(s.name);
      const json document = document_of(c.lab({"ptx", l.name, s.name, "--json"}));
      check_documented(document, "ptx");
      REQUIRE(!document["kernels"].empty());
      for (const json& k : document["kernels"]) {
        CHECK(k["machine_instructions"] > 0);
        CHECK(k["undecided"] == 0);
        // All lines of a kernel that is defined in a lab's header or part are in that file. In
        // other kernels, the compiler's line table does not always say which code called a line of
        // the header. This affects up to three lines of a kernel, in matmul 18, 23 and 24.
        std::size_t in_header = 0;
        for (const json& line : k["lines"]) {
          const fs::path file = line["file"].get<std::string>();
          const std::string folder = file.parent_path().filename();
          if ((folder == l.name || folder == "parts") && file.extension() == ".hpp") {
            ++in_header;
          } else {
            CHECK(file.filename() == s.name + ".cu");
          }
          CHECK(!line["source"].get<std::string>().empty());
        }
        CHECK((in_header <= 3 || in_header == k["lines"].size()));
      }
    }
  }
}

TEST_CASE("a loop with branches is not reported as unrolled") {
  const cloned_course c;
  // A loop over four elements, with a test for each of them.
  auto shown = c.lab({"ptx", "launch", "04"});
  std::replace(shown.out.begin(), shown.out.end(), '\n', ' ');  // the sentences are wrapped
  CHECK(has(shown.out, "FMAs appears 4 times, or a multiple"));
  CHECK(!has(shown.out, "nvcc probably unrolled it"));
}

TEST_CASE("the loop that does the rest of an unrolled loop is called its remainder") {
  const cloned_course c;
  // An iteration of 02_row copies one element. nvcc unrolls the loop four times.
  const json loops =
      document_of(c.lab({"ptx", "transpose", "02", "--json"}))["kernels"][0]["loops"];
  REQUIRE(loops.size() == 2);
  for (const json& loop : loops) {
    CHECK((loop["unrolled"] == 1) == loop["remainder"]);
    CHECK((loop["unrolled"] == 4) != loop["remainder"]);
  }
  CHECK(has(c.lab({"ptx", "transpose", "02"}).out, "remainder of an unrolled loop, lines 21-22"));
  const json of_one = document_of(c.lab({"ptx", "reduction", "03", "--json"}));
  CHECK(of_one["kernels"][0]["loops"][0]["remainder"] == false);
}

TEST_CASE("a reduction's loop in shared memory") {
  const cloned_course c;
  const json document = document_of(c.lab({"ptx", "reduction", "03", "--json"}));
  REQUIRE(document["kernels"].size() == 1);
  const json& k = document["kernels"][0];
  CHECK(k["merged"] == 0);
  CHECK(k["dropped"] == 0);
  REQUIRE(k["loops"].size() == 1);
  const json& loop = k["loops"][0];
  CHECK(loop["branches"] == true);
  CHECK(loop["unrolled"] == 1);
  CHECK(kind(loop, "load shared")["ptx_instructions"] == 2);
  CHECK(kind(loop, "store shared")["ptx_instructions"] == 1);
  CHECK(kind(loop, "barrier")["ptx_instructions"] == 1);
  CHECK(loop["shared_bytes_per_fma"].is_null());
  // 07 calls a function for the last levels. Its instructions count for the calling lines.
  const json last = document_of(c.lab({"ptx", "reduction", "07", "--json"}));
  bool inlined = false;
  for (const json& line : last["kernels"][0]["lines"]) {
    for (const json& row : line["ptx"]) {
      inlined = inlined || row["inlined"] == "add_from, line 26";
    }
  }
  CHECK(inlined);
}

TEST_CASE("--machine shows disassembly next to the PTX, or names the tool to install") {
  const cloned_course c;
  write_atomically(c.root() / "tiled.cu", tiled);
  // A stand-in that prints the kernel `plain` as disassemblers print it.
  const fs::path tool = c.root() / "tools" / "cuobjdump";
  fs::create_directories(tool.parent_path());
  write_atomically(tool,
                   "#!/bin/sh\ncat <<'END'\n\n\tcode for sm_90\n"
                   "\t\tFunction : _Z5plainPf\n\t.headerflags\t@\"...\"\n"
                   "        /*0000*/                   FIRST R1 ;    /* 0x0000000000000001 */\n"
                   "                                                 /* 0x0000000000000002 */\n"
                   "        /*0010*/                   SECOND R2, [R3+0x4] ;  /* 0x01 */\nEND\n");
  REQUIRE(chmod(tool.c_str(), 0755) == 0);
  auto options =
      c.command({"ptx", "--file", "tiled.cu", "--kernel", "plain", "--machine", "--json"});
  options.environment.push_back("PATH=" + tool.parent_path().string() + ":" + std::getenv("PATH"));
  const json document = document_of(run_child(options, 120));
  std::vector<std::string> code;
  for (const json& line : document["kernels"][0]["lines"]) {
    for (const json& row : line["ptx"]) {
      for (const json& text : row["machine_code"]) code.push_back(text.get<std::string>());
    }
  }
  REQUIRE(code.size() == 2);
  CHECK(code[0] == "FIRST R1");
  CHECK(code[1] == "SECOND R2, [R3+0x4]");
  write_atomically(tool, "#!/bin/sh\necho broken >&2\nexit 1\n");
  REQUIRE(chmod(tool.c_str(), 0755) == 0);
  options.command.pop_back();
  const auto broken = run_child(options, 120);
  CHECK(broken.end.exit_code == 0);
  CHECK(has(broken.out, "cuobjdump failed with this message: broken"));
  fs::remove(tool);
  const auto nvcc = parse_json(*read_if_there(c.root() / "build/grader/lab.json"))["nvcc"];
  const fs::path folder = fs::path(nvcc.get<std::string>()).parent_path();
  const bool is_installed = !on_path("cuobjdump").empty() || !on_path("nvdisasm").empty() ||
                            fs::exists(folder / "cuobjdump") || fs::exists(folder / "nvdisasm");
  if (!is_installed) CHECK(has(run_child(options, 120).out, "install cuobjdump or nvdisasm"));
}

TEST_CASE("ptx: if the compiler is killed, the environment is at fault") {
  const cloned_course c;
  write_atomically(c.root() / "tiled.cu", tiled);
  const fs::path nvcc = c.root() / "killed_nvcc", config = c.root() / "build/grader/lab.json";
  write_atomically(nvcc, "#!/bin/sh\nkill -KILL $$\n");
  REQUIRE(chmod(nvcc.c_str(), 0755) == 0);
  auto settings = parse_json(*read_if_there(config));
  settings["nvcc"] = nvcc.string();
  write_atomically(config, settings.dump());
  const auto result = c.lab({"ptx", "--file", "tiled.cu"});
  CHECK(result.end.exit_code == 3);
  CHECK(has(result.err, "lab: the compiler was killed"));
}

TEST_CASE("ptx: bad input gives one message") {
  const cloned_course c;
  write_atomically(c.root() / "tiled.cu", tiled);
  write_atomically(c.root() / "wrong.cu", "__global__ void k(float* c) { c[0] = oops; }\n");
  write_atomically(c.root() / "host.cu", "int f() { return 1; }\n");
  struct row {
    std::vector<std::string> arguments;
    int code;
    const char* says;
  };
  for (const row& r : std::vector<row>{
           {{"ptx"}, 2, "./lab ptx LAB STEP"},
           {{"ptx", "reductoin"}, 2, "did you mean \"reduction\"?"},
           {{"ptx", "reduction", "99"}, 2, "99"},
           {{"ptx", "reduction", "03", "--file", "tiled.cu"}, 2, "exclude each other"},
           {{"ptx", "--file", "nowhere.cu"}, 2, "there is no such file"},
           {{"ptx", "--file", "wrong.cu"}, 1, "wrong.cu:1: identifier \"oops\" is undefined"},
           {{"ptx", "--file", "host.cu"}, 2, "has no kernel"},
           {{"ptx", "--file", "tiled.cu", "--kernel", "nothing"}, 2, "the kernels are"},
           {{"ptx", "--file", "tiled.cu", "--line", "0"}, 2, "--line"},
       }) {
    std::string typed;
    for (const auto& argument : r.arguments) typed += argument + " ";
    CAPTURE(typed);
    check_refused(c.lab(r.arguments), r.code, r.says);
  }
}
