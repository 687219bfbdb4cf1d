// Tests the lines and accesses of PTX that is written for these tests, with invented line tables.
#include "common/source_map/source_map.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

namespace stepwise::emulator::source_map_test {

constexpr std::uint32_t first_line = 11;  // of the given text

// The map of a kernel with this body. `counts` are machine instructions by line of the given text,
// from 0.
struct test_kernel {
  explicit test_kernel(const std::string& text, std::map<std::uint32_t, std::uint32_t> counts = {})
      : module(
            ".version 9.0\n.target sm_90\n.address_size 64\n.file 1 \"/home/me/a/../k.cu\"\n"
            ".file 2 \"/usr/local/cuda/include/cub/block/load.cuh\"\n"
            ".entry k(.param .u64 q)\n{\n.reg .pred p;\n"
            ".reg .b32 r<20>; .reg .f32 f<9>; .reg .b64 d<20>;\n"
            ".shared .align 16 .b8 s[4096];\n" +
            text + "}\n") {
    for (const auto& [line, count] : counts) {
      resources.instructions_of_ptx_line[first_line + line] = count;
    }
    resources.frame_bytes = 8;
    map = std::make_unique<source_map>(module, module.functions.at(0), &resources);
  }

  const source_line& line(std::size_t instruction) const {
    return map->lines.at(map->instructions.at(instruction).line);
  }
  access_role role(std::size_t instruction) const { return map->instructions.at(instruction).role; }

  ptx::module module;
  image::kernel_resources resources;
  std::unique_ptr<source_map> map;
};

TEST_CASE("the user's files are distinguished from libraries") {
  for (const char* mine : {"/home/me/k.cu", "k.cu", "/home/me/cuda/include/tile.cuh",
                           "/home/me/cub/k.cu", "/src/thrust.cu", "/home/me/std/k.cuh", ""}) {
    CHECK_MESSAGE(is_users_file(mine), mine);
  }
  for (const char* not_mine :
       {"/usr/local/cuda/bin/../targets/x86_64-linux/include/sm_30_intrinsics.hpp",
        "/usr/local/cuda-13.0/include/cuda_fp16.hpp", "/usr/include/c++/12/cmath",
        "/usr/lib/gcc/x86_64-linux-gnu/12/include/x.h", "/opt/cuda/include/a.h",
        "/home/me/.venv/lib/python3.11/site-packages/nvidia/cu13/include/a.hpp",
        "/home/me/cccl/cub/cub/block/block_load.cuh", "/home/me/cccl/thrust/thrust/system/x.h",
        "/home/me/cccl/libcudacxx/include/x.h", "/home/me/tool/targets/x86_64-linux/include/a.h",
        "/home/me/course/.cuda/include/cccl/thrust/device_reference.h",
        "/home/me/course/.cuda/bin/../include/cuda_fp16.hpp",
        "/apps/cuda/13/include/cccl/cub/block/block_store.cuh",
        "/home/me/cccl/thrust/thrust/sort.h", "/home/me/old/include/thrust/sort.h"}) {
    CHECK_MESSAGE(!is_users_file(not_mine), not_mine);
  }
}

TEST_CASE("a toolkit's headers are not the user's, wherever the toolkit is installed") {
  namespace fs = std::filesystem;
  const fs::path place = fs::temp_directory_path() / ("toolkit-" + std::to_string(getpid()));
  fs::create_directories(place / "include" / "crt");
  const std::string header = (place / "include" / "cuda_fp16.hpp").string();
  const std::string deeper = (place / "include" / "crt" / "sm_70_rt.hpp").string();
  CHECK(is_users_file(header));
  std::ofstream(place / "include" / "cuda_runtime_api.h") << "\n";
  CHECK_FALSE(is_users_file(header));
  CHECK_FALSE(is_users_file(deeper));
  CHECK(is_users_file((place / "samples" / "k.cu").string()));
  fs::remove_all(place);
}

TEST_CASE("lines of instructions before any record, added by the compiler, and at a block's end") {
  const test_kernel k(
      "mov.u32 r0, 1;\n"              // before any record: line 5
      ".loc 1 5 0\nmov.u32 r1, 1;\n"  // line 5
      ".loc 1 0 0\nmov.u32 r2, 1;\n"  // added by the compiler: the next line, 7
      ".loc 1 7 0\nmov.u32 r3, 1;\n"  // line 7
      ".loc 1 0 0\n@p bra A;\n"       // added, at the end: the line before
      "mov.u32 r4, 1;\n"              // a block without lines
      "A: .loc 1 9 0\nmov.u32 r5, 1;\n"
      ".loc 1 5 3\nmov.u32 r6, 1;\n");
  const std::vector<std::uint32_t> lines = {5, 5, 7, 7, 7, 7, 9, 5};
  const std::vector<bool> estimated = {true, false, true, false, true, true, false, false};
  REQUIRE(k.map->instructions.size() == lines.size());
  for (std::size_t n = 0; n < lines.size(); ++n) {
    CHECK(k.line(n).line == lines[n]);
    CHECK(k.line(n).file == "/home/me/k.cu");
    CHECK(k.map->instructions[n].estimated == estimated[n]);
  }
  CHECK(k.map->lines.size() == 3);  // columns do not make lines
}

TEST_CASE("a kernel without any record has no lines") {
  const test_kernel k("mov.u32 r0, 1;\n ret;\n");
  CHECK(k.map->lines.empty());
  CHECK(k.map->instructions[0].line == no_index);
}

TEST_CASE("a library's kernel can have a line of the user's function") {
  const test_kernel k(
      ".loc 2 40 0\nmov.u32 r0, 1;\n"
      ".loc 2 41 0\n.loc 1 12 0, function_name n, inlined_at 2 41 0\nmov.u32 r1, 1;\n");
  CHECK(k.line(0).line == 40);
  CHECK_FALSE(k.line(0).of_user);
  CHECK(k.line(1).line == 12);
  CHECK(k.line(1).of_user);
  CHECK(k.map->instructions[1].inner == no_index);
}

TEST_CASE("a load without an entry in the table is merged with a nearby load, or dropped") {
  // The root has an unknown alignment, and there is a load nearby.
  const test_kernel near(
      "ld.param.u64 d0, [q];\nld.global.f32 f0, [d0];\nld.global.f32 f1, [d0+4];\n"
      "add.f32 f2, f0, f1;\nst.global.f32 [d0], f2;\n",
      {{1, 1}, {3, 1}, {4, 1}});
  CHECK(near.role(0) == access_role::none);
  CHECK(near.role(1) == access_role::leader);
  CHECK(near.role(2) == access_role::member);
  REQUIRE(near.map->groups.size() == 1);
  CHECK(near.map->groups[0].ambiguous);
  CHECK(near.map->groups[0].bytes == 8);
  // No load is nearby.
  const test_kernel far(
      "ld.param.u64 d0, [q];\nld.global.f32 f0, [d0];\nld.global.f32 f1, [d0+400];\n"
      "add.f32 f2, f0, f1;\nst.global.f32 [d0], f2;\n",
      {{1, 1}, {3, 1}, {4, 1}});
  CHECK(far.role(2) == access_role::dropped);
  REQUIRE(far.map->dropped.size() == 1);
  CHECK(far.map->dropped[0].reason == drop_reason::unknown);
  CHECK(far.map->dropped[0].ambiguous);
}

TEST_CASE("repeated accesses to the same bytes are dropped") {
  const test_kernel k(
      "mov.u32 r0, s;\nld.shared.u32 r1, [r0+4];\nld.shared.u32 r2, [s+4];\n"
      "st.shared.u32 [s], r1;\nld.shared.u32 r3, [r0];\nst.shared.u32 [s+8], r2;\n"
      "st.shared.u32 [s+8], r3;\n",
      {{1, 1}, {3, 1}, {6, 1}});
  CHECK(k.role(1) == access_role::alone);
  CHECK(k.role(2) == access_role::dropped);  // already loaded
  CHECK(k.role(4) == access_role::dropped);  // already stored
  CHECK(k.role(5) == access_role::dropped);  // stored again
  for (const dropped_access& d : k.map->dropped) {
    CHECK(d.reason == drop_reason::same_address);
    CHECK_FALSE(d.ambiguous);
  }
  CHECK(k.map->groups.empty());
}

TEST_CASE("two words in different halves with one instruction may be one wide load") {
  const test_kernel k(
      "ld.shared.u32 r1, [s];\nld.shared.u32 r2, [s+12];\nadd.u32 r4, r1, r2;\n"
      "st.shared.u32 [s+16], r4;\n",
      {{0, 1}, {2, 1}, {3, 1}});
  REQUIRE(k.map->groups.size() == 1);
  CHECK_FALSE(k.map->groups[0].split);
  CHECK(k.map->groups[0].ambiguous);
  CHECK(k.map->groups[0].bytes == 16);
}

TEST_CASE("instructions that share a line share its count, so their roles are ambiguous") {
  const test_kernel k(
      "mov.u32 r0, s;\nld.shared.u32 r1, [r0];\n"
      "ld.shared.u32 r2, [r0+4]; ld.shared.u32 r3, [r0+64];\n"
      "add.u32 r4, r1, r2;\nadd.u32 r4, r4, r3;\nst.shared.u32 [s+16], r4;\n",
      {{1, 1}, {3, 1}, {4, 1}, {5, 1}});
  REQUIRE(k.map->groups.size() == 1);
  CHECK(k.map->groups[0].ambiguous);
  REQUIRE(k.map->dropped.size() == 1);
  CHECK(k.map->dropped[0].ambiguous);
}

TEST_CASE("a third load may have been merged into either of two loads") {
  const test_kernel k(
      "ld.shared.u32 r1, [s];\nld.shared.u32 r2, [s+4];\nld.shared.u32 r3, [s+8];\n"
      "add.u32 r4, r1, r2;\nadd.u32 r4, r4, r3;\nst.shared.u32 [s+16], r4;\n",
      {{0, 1}, {1, 1}, {3, 1}, {4, 1}, {5, 1}});
  REQUIRE(k.map->groups.size() == 1);
  CHECK(k.map->groups[0].leader == 1);  // the nearest load
  CHECK(k.map->groups[0].ambiguous);
}

TEST_CASE("a load with fewer copies than its unrolled block is recorded") {
  const test_kernel k(
      "A: ld.shared.f32 f0, [s];\nld.shared.f32 f3, [s+64];\nfma.rn.f32 f1, f0, f0, f1;\n"
      "fma.rn.f32 f1, f0, f1, f1;\n"
      "fma.rn.f32 f2, f0, f0, f3;\n@p bra A;\n",
      {{0, 4}, {1, 1}, {2, 4}, {3, 4}, {4, 4}, {5, 1}});
  REQUIRE(k.map->thinned.size() == 1);
  CHECK(k.map->thinned[0].instruction == 1);
  CHECK(k.map->thinned[0].copies == 1);
  CHECK(k.map->thinned[0].block_copies == 4);
  CHECK(k.role(1) == access_role::alone);
}

// These cases once took minutes or all memory. The time must grow in proportion to the text, not
// with its square.
constexpr int many = 100000;

bool is_quick(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::steady_clock::now() - start < std::chrono::seconds(20);
}

std::string repeated(int times, const std::function<std::string(int)>& text) {
  std::string out;
  for (int n = 0; n < times; ++n) out += text(n);
  return out;
}

TEST_CASE(
    "registers that are defined after their use, in a long chain or in a cycle, are handled "
    "quickly") {
  CHECK(is_quick([] {
    const test_kernel m(
        ".reg .b32 v<" + std::to_string(many + 1) + ">;\n" +
            repeated(many,
                     [](int n) {
                       return "add.u32 v" + std::to_string(n) + ", v" + std::to_string(n + 1) +
                              ", 4;\n";
                     }) +
            "ld.shared.u32 r0, [v0+9223372036854775807];\nst.shared.u32 [v1], r0;\n",
        {{0, 1}});
    CHECK(m.map->instructions.size() == many + 2);
  }));
  const test_kernel circle(
      "add.u32 r0, r1, 4;\nadd.u32 r1, r2, 4;\nmov.u32 r2, r0;\nld.shared.u32 r3, [r2];\n"
      "ld.shared.u32 r4, [r1];\n",
      {{0, 1}});
  CHECK(circle.role(3) == access_role::dropped);
}

TEST_CASE(
    "many accesses that the machine code lacks, at many or at few addresses, are handled quickly") {
  for (const int distance : {1, 4, 64, 0}) {
    CHECK(is_quick([&] {
      const test_kernel m(repeated(many,
                                   [&](int n) {
                                     return "ld.shared.u32 r0, [s+" + std::to_string(distance * n) +
                                            "];\nst.shared.u32 [s+" + std::to_string(distance * n) +
                                            "], r0;\n";
                                   }),
                          {{0, 1}});
      CHECK(m.map->dropped.size() + m.map->groups.size() > many);
    }));
  }
  // Each access is in its own block, which is the dominator of the next block.
  CHECK(is_quick([] {
    const test_kernel m(repeated(many / 2,
                                 [](int n) {
                                   return "ld.shared.u32 r0, [s+" + std::to_string(n % 2 * 8) +
                                          "];\n@p bra E;\n";
                                 }) +
                            "E: st.shared.u32 [s], r0;\n",
                        {{many - 3, 1}, {many - 2, 1}});
    CHECK(m.map->instructions.size() == many + 1);
  }));
}

TEST_CASE("a long block in a loop that increments one register is handled quickly") {
  CHECK(is_quick([] {
    const test_kernel m(
        "A: " +
            repeated(
                many,
                [](int) { return std::string("add.u32 r1, r1, 4; ld.shared.u32 r0, [r1];\n"); }) +
            "@p bra A;\n",
        {{0, 2}, {1, 2}, {many - 1, 1}});
    CHECK(m.map->instructions.size() == 2 * many + 1);
  }));
}

TEST_CASE("many variables are handled quickly") {
  CHECK(is_quick([] {
    const auto of = [](const std::string& before, const std::string& after) {
      return repeated(many / 2, [&](int n) { return before + std::to_string(n) + after; });
    };
    const test_kernel m(of(".shared .b32 v", ";\n") + of("ld.shared.u32 r0, [v", "+4];\n"));
    CHECK(m.map->instructions.size() == many / 2);
  }));
}

TEST_CASE("functions that are inlined deeper than a person can read are handled quickly") {
  CHECK(is_quick([] {
    const test_kernel m(".loc 1 1 0\nmov.u32 r0, 1;\n" + repeated(many, [](int n) {
                          return ".loc 1 " + std::to_string(n + 2) +
                                 " 0, function_name n, inlined_at 1 " + std::to_string(n + 1) +
                                 " 0\nmov.u32 r0, 1;\n";
                        }));
    CHECK(m.map->lines.size() == 1);
    // Both ends of a chain are kept: the call in the line, and the place of the instruction.
    const auto& instruction = m.map->instructions[5000];
    CHECK(m.line(5000).line == 1);
    const auto& chain = m.map->chains.at(instruction.inner);
    CHECK(chain.size() == 64);
    CHECK(chain.front().at.line == 2);
    CHECK(chain[1].at.line == 5001 - 62);
    CHECK(chain.back().at.line == 5001);
    // There is not enough room for all chains.
    CHECK(m.map->instructions[many].line == 0);
    CHECK(m.map->instructions[many].inner == no_index);
  }));
}

TEST_CASE("the own name of a function has no namespaces of a compiler or a library") {
  const auto own = [](const char* name, bool of_user) {
    return emulator::own_name({name, {"", 0, of_user}});
  };
  CHECK(own("bool _INTERNAL_1f_7_main_cu::cuda::ptx::__4::test_wait<void>", false) ==
        "cuda::ptx::test_wait");
  CHECK(own("unsigned long cuda::__4::arrive<(_INTERNAL_1f_7_main_cu::cuda::__4::scope)0>",
            false) == "cuda::arrive");
  CHECK(own("Chooser<true>::Copy<4ul, 8>::start", false) == "Chooser::Copy::start");
  CHECK(own("float block_sum<256u, float>", true) == "block_sum<256u, float>");
  CHECK(own("_INTERNAL_1f_7_main_cu::tile::load", true) == "tile::load");
  CHECK(own("__pipeline_commit", false) == "__pipeline_commit");
  CHECK(own("n::operator<<int>", false) == "n::operator<<int>");
  CHECK(own("", false).empty());
}

TEST_CASE("many lines of a file with a long path are handled quickly") {
  const auto of_path = [](std::size_t length) {
    return std::make_unique<test_kernel>(
        repeated(many,
                 [](int n) { return ".loc 3 " + std::to_string(n + 1) + " 0\nmov.u32 r0, 1;\n"; }) +
        "}\n.file 3 \"" + std::string(length, 'a') + "\"\n.entry j()\n{\nret;\n");
  };
  CHECK(is_quick([&] {
    const auto longest = of_path(4096);
    CHECK(longest->line(0).file.size() == 4096);
    CHECK(longest->map->lines.size() < 20000);  // there is no room for more
    const auto too_long = of_path(4097);
    CHECK(too_long->line(0).file.empty());
    CHECK(too_long->map->lines.size() == many);
  }));
}

}  // namespace stepwise::emulator::source_map_test
