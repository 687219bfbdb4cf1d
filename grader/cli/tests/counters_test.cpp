// Counters per line, as users and scripts see them. The figures come from an H200 (ncu,
// 2026-11-22), or were counted by hand.
#include <doctest/doctest.h>

#include <chrono>
#include <fstream>
#include <set>

#include "common/image/image.hpp"
#include "grader/cli/tests/cloned_course.hpp"
#include "grader/system/program_file.hpp"

using namespace stepwise;

namespace {

const json& kernel_with_grid(const json& document, int blocks) {
  for (const json& k : document.at("kernels"))
    if (k.at("grid").at(0) == blocks) return k;
  FAIL("no kernel with ", blocks, " blocks");
  return document;
}

const json& line_with(const json& kernel, const std::string& text) {
  for (const json& l : kernel.at("lines"))
    if (has(l.at("text").get<std::string>(), text)) return l;
  FAIL("no line with ", text);
  return kernel;
}

// The registers of the program's only kernel, as its machine code states them. The compiler chooses
// the number.
int registers_of(const fs::path& program) {
  const auto parts = read_device_parts(program, 90);
  REQUIRE(parts);
  for (const device_part& part : *parts) {
    if (part.cubin.empty()) continue;
    const auto cubin = image::read_cubin(part.cubin);
    REQUIRE(cubin.ok());
    REQUIRE((*cubin).kernels.size() == 1);
    return (*cubin).kernels.begin()->second.registers;
  }
  FAIL("no machine code in ", program.string());
  return 0;
}

}  // namespace

TEST_CASE("run --counters: the table of a reduction equals the hardware's counts") {
  const cloned_course c;
  const auto result = c.lab({"run", "reduction", "--step", "03", "--size", "65536", "--counters",
                             "--device", "emulated", "--json"});
  REQUIRE(result.end.exit_code == 0);
  const json document = document_of(result);
  check_documented(document, "run");
  const json& k = kernel_with_grid(document, 256);
  CHECK(k["kernel"] == "reduce_kernel");
  CHECK(k["launches"] == 1);
  CHECK(k["block"] == json::array({256, 1, 1}));
  CHECK(k["registers"] == registers_of(c.root() / "build/solutions/reduction-03_sequential"));
  CHECK(k["dynamic_shared_bytes"] == 1024);
  CHECK(k["resident_warps"] == 64);
  CHECK(k["knows_machine_code"] == true);
  const json& total = k["total"];
  CHECK(total["global_load"]["requests"] == 2048);
  CHECK(total["global_load"]["sectors"] == 8192);
  CHECK(total["global_load"]["l1_hits"] == 0);
  CHECK(total["global_load"]["dram_read_bytes"] == 65536 * 4);
  CHECK(total["global_store"]["requests"] == 256);
  CHECK(total["global_store"]["sectors"] == 256);
  CHECK(total["shared_load"]["requests"] == 6400);
  CHECK(total["shared_load"]["wavefronts"] == 6400);
  CHECK(total["shared_store"]["requests"] == 5120);
  CHECK(total["shared_store"]["wavefronts"] == 5120);

  const json& load = line_with(k, "partial[tid] = i < n ? in[i] : 0;");
  CHECK(load["file"] == "03_sequential.cu");
  CHECK(load["counts"]["global_load"]["sectors"] == 8192);
  CHECK(load["counts"]["shared_store"]["requests"] == 2048);
  const json& fold = line_with(k, "if (tid < s) partial[tid] += partial[tid + s];");
  CHECK(fold["counts"]["shared_store"]["wavefronts"] == 5120 - 2048);
  CHECK(fold["counts"]["shared_load"]["wavefronts"] == 2 * (5120 - 2048));
  // Only the last five rounds split a warp, and they split only the first warp of each block.
  CHECK(fold["counts"]["divergent_branches"] == 5 * 256);
}

TEST_CASE("run --counters: a remark about all copies of an unrolled loop is shown once") {
  const cloned_course c;
  const auto result = c.lab({"run", "matmul", "--step", "06", "--size", "64", "--counters",
                             "--device", "emulated", "--json"});
  REQUIRE(result.end.exit_code == 0);
  int counted = 0;
  const json document = document_of(result);
  for (const json& line : document.at("kernels").at(0).at("lines")) {
    std::set<std::string> different;
    for (const json& note : line.value("notes", json::array())) {
      CHECK(different.insert(note).second);
      counted += has(note.get<std::string>(), " times)");
    }
  }
  CHECK(counted >= 1);
}

TEST_CASE("run --counters: bank conflicts are named, and the text has no escape codes") {
  const cloned_course c;
  const auto result = c.lab({"run", "reduction", "--step", "02", "--size", "65536", "--counters",
                             "--device", "emulated"});
  CHECK(result.end.exit_code == 0);
  CHECK(has(result.out, "reduce_kernel"));
  CHECK(has(result.out, "grids from 256 to 1, block 256, 2 launches"));
  CHECK(has(result.out, "occupancy 100 %"));
  CHECK(has(result.out, "-way bank conflict"));
  CHECK(has(result.out, "What stands out"));
  CHECK(!has(result.out, "\x1b"));
}

TEST_CASE("exec --counters: the profile follows the program's output, and is the same every time") {
  const cloned_course c;
  const std::string program = exec_build("with_lines");
  const auto first = c.lab({"exec", "--counters", "--", program});
  CHECK(first.end.exit_code == 0);
  CHECK(has(first.err, "warp instructions"));
  CHECK(has(first.err, "exec_program.cu"));
  CHECK(c.lab({"exec", "--counters", "--", program}).err == first.err);
}

TEST_CASE("exec --counters: a source file that is newer than the program is reported") {
  const cloned_course c;
  const temporary_folder folder(fs::temp_directory_path());
  const fs::path program = folder.path() / "program";
  fs::copy_file(exec_build("with_lines"), program);
  CHECK(!has(c.lab({"exec", "--counters", "--", program}).err, "was changed"));
  fs::last_write_time(program, fs::last_write_time(program) - std::chrono::hours(24 * 365 * 20));
  const auto older = c.lab({"exec", "--counters", "--", program});
  CHECK(older.end.exit_code == 0);
  CHECK(has(older.err, "exec_program.cu was changed after " + program.string() + " was built"));
  CHECK(has(older.err, "warp instructions"));
}

TEST_CASE("record and play: the bank conflicts of each round of 02_strided") {
  const cloned_course c;
  const std::vector<std::string> words = {"dev", "record", "reduction", "02", "--size", "256"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    return c.lab(more);
  };
  const json written = document_of(with({"--out", "a.json", "--json"}));
  check_documented(written, "record, play, recorded warps");
  const json recorded = parse_json(*read_if_there(c.root() / "a.json"));
  CHECK(recorded["steps"].size() == written["steps"]);
  std::vector<int> wavefronts;  // per round: the first load, whose stride is 2, 4, 8, ... words
  for (const json& s : recorded["steps"]) {
    const json& i = recorded["instructions"][s["i"].get<std::size_t>()];
    if (i["line"] == 27 && i["kind"] == "load" && s.contains("x"))
      wavefronts.push_back(s["x"][0]["n"]);
  }
  CHECK(wavefronts == std::vector<int>{2, 2, 4, 4, 8, 8, 8, 8, 8, 8, 4, 4, 2, 2, 1, 1});

  const auto list = c.lab({"play", "a.json"});
  CHECK(list.end.exit_code == 0);
  CHECK(has(list.out, "reduce_kernel, launch 1, block 0, warp 0: 166 instructions"));
  CHECK(has(list.out, "######## ######## ........ ........ 8 wf    ld.shared.u32"));
  // The warp that the course recorded.
  const json played = document_of(c.lab({"play", "reduction", "02", "--json"}));
  check_documented(played, "record, play, recorded warps");
  CHECK(has(played["steps"].dump(), "shared load, 2 wavefronts (ideally 1)"));
  const std::string kept = played["file"];
  const auto made = fs::last_write_time(kept);
  CHECK(document_of(c.lab({"play", "reduction", "02", "--json"}))["file"] == kept);
  CHECK(fs::last_write_time(kept) == made);
  c.own_solutions("reduction");
  std::ofstream(c.root() / "solutions/reduction/02_strided.cu", std::ios::app) << "// changed\n";
  CHECK(document_of(c.lab({"play", "reduction", "02", "--json"}))["file"] != kept);
  CHECK(!fs::exists(kept));

  check_refused(with({}), 2, "name the output file");
  check_refused(with({"--out", "b.json", "--block", "9"}), 2, "launch 1 has 1 block of 8 warps");
  check_refused(with({"--out", "b.json", "--launch", "9"}), 2, "fewer than 9 launches");
  check_refused(c.lab({"play", "reduction", "06"}), 2, "is not recorded");
  check_refused(c.lab({"play", "README.md"}), 2, "is not a recorded warp");
  write_atomically(c.root() / "a.json", R"({"format": "stepwise warp", "version": 2})");
  check_refused(c.lab({"play", "a.json"}), 2, "has version 2");
}

TEST_CASE("exec --record: play shows a warp of any program") {
  const cloned_course c;
  const std::string program = exec_build("with_lines");
  const auto run = c.lab({"exec", "--record", "a.json", "--launch", "5", program, "several"});
  CHECK(run.out == "first 500\n");
  CHECK(has(run.err, "add, launch 5, block 0, warp 0"));
  CHECK(has(c.lab({"play", "a.json"}).out, "atom"));
  CHECK(has(c.lab({"exec", "--record", "a.json", "--launch", "99", program, "several"}).err,
            "the program has no such launch"));
  CHECK(!fs::exists(c.root() / "a.json"));  // the file of an earlier recording is gone
}
