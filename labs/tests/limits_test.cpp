// Tests the parts of `lab limits`. On the emulator, a part has the launches and the occupancy of
// its step. The memory part moves the step's data and computes nothing, and the compute part does
// the step's computation and moves nothing. Also tests the command itself.
//
// STEPWISE_BUILD and LAB_BUILD name the build folder, and LAB_ROOT the clone.
#include "grader/measure/limits.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "grader/cli/tests/cloned_course.hpp"
#include "grader/course/source.hpp"
#include "grader/judge/installation.hpp"
#include "grader/measure/profiled.hpp"
#include "labs/tests/problem_of.hpp"

namespace {

using namespace stepwise;

struct counted_step {
  limit_counts whole;
  std::map<std::string, limit_counts> parts;
};

// Uses the last check size, which is ragged, because parts must also keep the accesses at the
// edges.
counted_step count(const installation& where, const device_choice& emulator, const lab& l) {
  const auto profiled = [&](const std::string& program, outputs_are outputs) {
    const auto call = profile_program(l, problem_of(l), where.solution(l.name, program),
                                      l.check.back(), 7, emulator, {}, outputs);
    INFO(program, ": ", call.found.message);
    REQUIRE(call.found.ok());
    for (const auto& k : call.kernels) CHECK(k.knows_machine_code);
    return counts_of(call.kernels);
  };
  counted_step result;
  result.whole = profiled(l.parts[0].step, outputs_are::compared);
  for (const auto& p : l.parts) result.parts[p.part] = profiled(p.program(), outputs_are::ignored);
  return result;
}

// All of the step's floating-point instructions remain. Each store adds its condition, a
// multiplication and a comparison, and in matmul a sum over a thread's 64 sums. A kernel without
// floats keeps its integer instructions, except for the indices of the removed loads.
void check_arithmetic(const limit_counts& whole, const limit_counts& compute) {
  if (whole.has_floats()) {
    CHECK(compute.arithmetic(false) >= whole.arithmetic(false));
    CHECK(static_cast<double>(compute.arithmetic(false)) <=
          1.01 * static_cast<double>(whole.arithmetic(false)) +
              2 * static_cast<double>(whole.store_sectors));
  } else {
    const double left =
        static_cast<double>(compute.arithmetic(true)) / static_cast<double>(whole.arithmetic(true));
    CHECK(left >= 0.75);
    CHECK(left <= 1.05);
  }
}

TEST_CASE("every part of every lab is a part of its step") {
  const installation where = load_installation(std::getenv("STEPWISE_BUILD"));
  const device_choice emulator = choose_device(device_request::emulated, where);
  for (const lab& l : load_labs(where.build)) {
    CAPTURE(l.name);
    if (l.parts.empty()) {  // copies take its time, and parts of its kernel would keep the copies
      const bool has_copies =
          problem_of(l).make_call(l.check[0], 1).memory != runner::memory_kind::device;
      CHECK((has_copies || l.name == "scan"));  // scan's parts are not written yet
      continue;
    }
    REQUIRE(l.parts.size() >= 2);
    for (const auto& p : l.parts) CHECK(p.step == l.parts[0].step);
    const auto [whole, parts] = count(where, emulator, l);
    for (const auto& [name, part] : parts) {
      CAPTURE(name);
      const auto doubted = doubts(whole, name, part);
      INFO((doubted.empty() ? "" : doubted[0]));
      CHECK(doubted.empty());
      REQUIRE(part.launches.size() == whole.launches.size());
      for (std::size_t i = 0; i < part.launches.size(); ++i) {
        CHECK(volume(part.launches[i].grid) == volume(whole.launches[i].grid));
        CHECK(volume(part.launches[i].block) == volume(whole.launches[i].block));
        CHECK(part.launches[i].resident_warps == whole.launches[i].resident_warps);
      }
      CHECK(part.local_sectors == 0);
      if (name == "memory") {
        CHECK(part.load_sectors == whole.load_sectors);
        CHECK(part.store_sectors == whole.store_sectors);
        CHECK(part.arithmetic(false) == 0);
      } else {
        CHECK(part.load_sectors == 0);
        CHECK(part.store_sectors == 0);
      }
    }
    check_arithmetic(whole, parts.at("compute"));
    if (parts.count("shared") == 1) {
      CHECK(parts.at("shared").shared_load_wavefronts == whole.shared_load_wavefronts);
      CHECK(parts.at("shared").arithmetic(false) == 0);
      CHECK(parts.at("compute").shared_wavefronts == 0);
    } else {  // then shared memory belongs to the compute part
      CHECK(parts.at("compute").shared_wavefronts == whole.shared_wavefronts);
    }
  }
}

TEST_CASE(
    "limits.txt lists exactly the existing parts, and each part says what it keeps and lacks") {
  const fs::path root = std::getenv("LAB_ROOT");
  for (const lab& l : load_labs(std::getenv("STEPWISE_BUILD"))) {
    CAPTURE(l.name);
    CHECK(l.parts.empty() == !fs::exists(root / "solutions" / l.name / "limits"));
    if (l.parts.empty()) continue;
    std::set<std::string> listed, there;
    for (const auto& p : l.parts) {
      CAPTURE(p.file.string());
      CHECK(listed.insert(p.file.filename()).second);
      const std::string text = *read_if_there(root / p.file);
      CHECK(text.starts_with("// " + l.name + " " + p.step + ", "));
      const auto fields = header_fields(text);
      for (const char* field : {"keeps", "lacks", "holds"}) {
        CAPTURE(field);
        CHECK(fields.count(field) == 1);
      }
      for (const auto& line : split_lines(text)) CHECK(line.size() <= 100);
    }
    for (const auto& entry : fs::directory_iterator(root / "solutions" / l.name / "limits"))
      there.insert(entry.path().filename());
    CHECK(listed == there);
  }
}

TEST_CASE("lab limits: without a GPU, it shows counts and modelled times of a step and its parts") {
  const cloned_course c;
  const auto people = c.lab({"limits", "reduction", "--size", "65536", "--device", "emulated"});
  CHECK(people.end.exit_code == 0);
  for (const char* part :
       {"03_sequential and its parts", "full", "memory", "compute", "integer instructions",
        "global sectors loaded", "warps that fit", "n = 65536: modelled, NVIDIA H200", "overlap",
        "reading", "recorded, NVIDIA H200, n = 268435456: full 1.23 ms", "measured times"}) {
    CAPTURE(part);
    CHECK(has(people.out, part));
  }
  CHECK(!has(people.out, "doubt"));
  const json document = document_of(
      c.lab({"limits", "reduction", "--size", "65536", "--device", "emulated", "--json"}));
  check_documented(document);
  CHECK(document["correct"] == true);
  CHECK(document["modelled_as"] == "NVIDIA H200");
  CHECK(document["time_size"] == json{65536});
  CHECK(document["reading"]["full_ms"] == document["programs"][0]["time_ms"]);
  CHECK(document["recorded"]["programs"].size() == 3);
  CHECK(document["recorded"]["programs"][0]["time_ms"] == doctest::Approx(1.227376));
  CHECK(document["programs"].size() == 3);
  CHECK(document["programs"][1]["part"] == "memory");
  CHECK(document["programs"][1]["counts"]["global_load_sectors"] == 8224);
  CHECK(document["programs"][2]["counts"]["global_load_sectors"] == 0);
  for (const json& program : document["programs"]) {
    CHECK(program["time_kind"] == "modelled");
    CHECK(program["time_ms"] > 0);
    CHECK(program["time_low_ms"].is_null());
  }
}

TEST_CASE("lab limits: it says why your own file is not a part of the step") {
  const cloned_course c;
  const auto result = c.lab({"limits", "reduction", "--step", "03", "--compute",
                             "solutions/reduction/limits/03_sequential.memory.cu", "--size", "4096",
                             "--device", "emulated", "--json"});
  CHECK(result.end.exit_code == 0);
  const json document = document_of(result);
  REQUIRE(document["programs"].size() == 2);
  const json& doubted = document["programs"][1]["doubts"];
  REQUIRE(doubted.size() == 2);
  CHECK(has(doubted[0].get<std::string>(), "sectors of global memory are loaded or stored"));
  CHECK(has(doubted[1].get<std::string>(), "of the arithmetic remains"));
}

TEST_CASE("lab limits: invalid requests are refused with a message") {
  const cloned_course c;
  const auto refused = [&](std::vector<std::string> arguments, int code, const char* what) {
    arguments.insert(arguments.begin(), {"dev", "limits", "reduction"});
    const auto result = c.lab(arguments);
    CAPTURE(result.err);
    CHECK(result.end.exit_code == code);
    CHECK(has(result.err, what));
  };
  refused({"--step", "01"}, 2,
          "the course has no parts for 01_interleaved, only for 03_sequential");
  refused({"--file", "labs/reduction/reduction.cu"}, 2, "--file also needs the parts of that file");
  refused({"--record", "--device", "emulated"}, 3, "--record needs a GPU");
  refused({"--memory", "nowhere.cu", "--step", "03"}, 2, "nowhere.cu");
}

}  // namespace
