// --gpu through the built program: every GPU of common/gpus, including those older than the
// compiler's oldest target, and the lectures' figures next to the model's times of their GPUs.
//
// LAB_BUILD is the build folder, LAB_ROOT the clone.
#include <doctest/doctest.h>

#include "common/device/code_of.hpp"
#include "common/formats/json_lines.hpp"
#include "grader/cli/tests/cloned_course.hpp"
#include "grader/system/files.hpp"

using namespace stepwise;

namespace {

// All cases share one clone, so that a program that one case compiled for a GPU serves the others.
const cloned_course& course() {
  static const cloned_course made;
  return made;
}

// The stored figures of a lecture must equal what the model predicts today for these steps.
void check_kept(const cloned_course& c, const std::string& lab,
                const std::vector<std::string>& steps) {
  CAPTURE(lab);
  std::vector<std::string> command = {"dev", "validate", lab, "--lectures", "--json"};
  command.insert(command.end(), steps.begin(), steps.end());
  const auto result = c.lab(command);
  REQUIRE(result.end.exit_code == 0);
  const json now = document_of(result);
  check_documented(now, "validate");
  const json kept =
      parse_json_lines(*read_if_there(c.root() / "solutions" / lab / "lectures.jsonl"));
  std::size_t compared = 0;
  for (const json& lecture : now["lectures"]) {
    for (const json& figure : lecture["figures"]) {
      for (const json& old : kept["entries"]) {
        for (const json& same : old["figures"]) {
          if (old["gpu"] != lecture["gpu"] || same["version"] != figure["version"]) continue;
          ++compared;
          CAPTURE(figure["version"].get<std::string>());
          CHECK(same["published"] == figure["published"]);
          CHECK(figure["modelled"].get<double>() / same["modelled"].get<double>() ==
                doctest::Approx(1).epsilon(0.0005));
        }
      }
    }
  }
  CHECK(compared >= steps.size());
}

}  // namespace

TEST_CASE("--gpu: every described GPU is modelled, with code for it or for the oldest target") {
  const cloned_course& c = course();
  for (const auto& id : known_gpus()) {
    CAPTURE(id);
    const gpu model = *find_gpu(id);
    const auto result =
        c.lab({"profile", "reduction", "03", "--gpu", id, "--size", "65536", "--json"});
    REQUIRE(result.end.exit_code == 0);
    const json document = document_of(result);
    check_documented(document, "profile");
    CHECK(document["modelled_as"] == model.name);
    CHECK(document["time_ms"] > 0);
    CHECK(document["machine_code"] ==
          "sm_" + std::to_string(std::max(75, model.compute_capability())));
    CHECK(document["kernels"][0]["knows_machine_code"] == true);
    CHECK(document["kernels"][0]["registers"] > 0);
    CHECK((document["kernels"][0]["l2_bytes"] == 0) == (id == "gtx280"));
  }
  // Files compiled for another GPU are kept separate from those that students compile.
  CHECK(fs::exists(c.root() / "build/other-gpus"));
  CHECK(!fs::exists(c.root() / "build/submissions"));
}

TEST_CASE("--gpu: an old GPU runs the oldest code and the output says so; its own limits apply") {
  const cloned_course& c = course();
  const auto run = c.lab({"run", "reduction", "--step", "03", "--gpu", "gtx280"});
  CHECK(run.end.exit_code == 0);
  CHECK(has(run.out, "register counts are for sm_75"));
  // A grid on this GPU has at most 65535 blocks.
  CHECK(has(run.out, "one call at n = 1048576, seed 7: modelled"));
  const auto wide = c.lab({"run", "matmul", "--step", "03", "--gpu", "gtx280"});
  CHECK(wide.end.exit_code == 1);
  CHECK(has(wide.out, "1024"));
  const auto walk = c.lab({"walk", "launch", "--step", "03", "--gpu", "t4", "--json"});
  CHECK(walk.end.exit_code == 0);
  const json document = document_of(walk);
  check_documented(document, "walk");
  CHECK(document["machine_code"] == "sm_75");
  CHECK(document["steps"][0]["modelled_as"] == "NVIDIA T4");
  CHECK(!document["steps"][0].contains("recorded_ms"));
  CHECK(!has(c.lab({"run", "launch", "--step", "03"}).out, "register counts are for"));
}

TEST_CASE("sweep --gpu: configurations are compiled for and modelled on that GPU") {
  const cloned_course& c = course();
  const std::vector<std::string> command = {"sweep",  "launch",          "01",
                                            "--over", "threads=64,1024", "--gpu"};
  const auto on = [&](const char* id, const char* form) {
    auto words = command;
    words.push_back(id);
    words.insert(words.end(), {"--size", "65536"});
    if (*form != 0) words.push_back(form);
    return c.lab(words);
  };
  const auto result = on("t4", "--json");
  REQUIRE(result.end.exit_code == 0);
  const json t4 = document_of(result);
  check_documented(t4, "sweep");
  CHECK(t4.at("modelled_as") == "NVIDIA T4");
  CHECK(t4.at("machine_code") == "sm_75");
  CHECK(t4.at("occupancy_of") == "NVIDIA T4");
  CHECK(t4.at("multiprocessors") == 40);
  for (const json& point : t4.at("points")) {
    CHECK(point.at("time_kind") == "modelled");
    CHECK(point.at("time_ms") > 0);
    CHECK(point.at("recorded_ms").is_null());
  }
  // The same code has other limits: at most 512 threads per block.
  const auto shown = on("gtx280", "");
  CHECK(shown.end.exit_code == 0);
  CHECK(has(shown.out, "register counts are for sm_75"));
  CHECK(has(shown.out, "REFUSED  threads = 1024"));
  CHECK(has(shown.out, "times are modelled, NVIDIA GeForce GTX 280"));
  CHECK(!fs::exists(c.root() / "build/submissions"));
}

TEST_CASE("limits --gpu: the kernel and its parts are compiled for and modelled on that GPU") {
  const cloned_course& c = course();
  const auto result = c.lab({"limits", "launch", "--size", "262144", "--gpu", "t4", "--json"});
  REQUIRE(result.end.exit_code == 0);
  const json t4 = document_of(result);
  check_documented(t4, "limits");
  CHECK(t4.at("modelled_as") == "NVIDIA T4");
  CHECK(t4.at("machine_code") == "sm_75");
  CHECK(t4.at("recorded").is_null());
  REQUIRE(t4.at("programs").size() == 3);
  for (const json& part : t4.at("programs")) {
    CHECK(part.at("time_kind") == "modelled");
    CHECK(part.at("time_ms") > 0);
    // A multiprocessor of a T4 holds 1024 threads, in 16 blocks of one warp each.
    CHECK(part.at("counts").at("configurations")[0].at("resident_warps") == 16);
  }
  CHECK(!fs::exists(c.root() / "build/submissions"));
  // This GPU does not allow a block of 1024 threads. That is not the file's fault.
  const auto wide = c.lab({"limits", "transpose", "--gpu", "gtx280"});
  CHECK(wide.end.exit_code == 3);
  CHECK(has(wide.out, "exceeds the limits of an"));
}

TEST_CASE("occupancy --gpu: of the kernels as compiled for that GPU") {
  const cloned_course& c = course();
  const auto t4 =
      document_of(c.lab({"occupancy", "reduction", "--step", "03", "--gpu", "t4", "--json"}));
  check_documented(t4, "occupancy");
  CHECK(t4.at("gpu") == "NVIDIA T4");
  CHECK(t4.at("machine_code") == "sm_75");
  CHECK(t4.at("kernels")[0].at("most_warps") == 32);
  CHECK(fs::exists(c.root() / "build/other-gpus"));
  const auto own = c.lab({"occupancy", "reduction", "--step", "03"});
  CHECK(has(own.out, "Register counts are for sm_90."));
  const auto old = c.lab({"occupancy", "reduction", "--step", "03", "--gpu", "gtx280"});
  CHECK(has(old.out, "Register counts are for sm_75, the oldest GPU"));
  check_refused(c.lab({"occupancy", "reduction", "--gpu", "t4", "--device", "gpu"}), 2,
                "computed from a GPU's description");
  check_refused(c.lab({"occupancy", "reduction", "--gpu", "h2000"}), 2, "known names: h200");
}

TEST_CASE("--gpu: impossible combinations are refused") {
  const cloned_course& c = course();
  check_refused(c.lab({"dev", "limits", "launch", "--gpu", "t4", "--record"}), 2,
                "--record needs measured times");
  for (const char* verb : {"run", "walk", "sweep", "limits"}) {
    check_refused(c.lab({verb, "launch", "--gpu", "h2000"}), 2, "known names: h200");
    check_refused(c.lab({verb, "launch", "--gpu", "t4", "--device", "gpu"}), 2,
                  "use only one of them");
  }
}

TEST_CASE("the stored figures for the lectures' kernels equal what the model predicts today") {
  const cloned_course& c = course();
  check_kept(c, "reduction", {"01", "07"});
  check_kept(c, "matmul", {"02", "03"});
  check_kept(c, "blur", {"02"});
  check_kept(c, "neighbour", {"03"});
}

TEST_CASE("validate --lectures: impossible combinations are refused") {
  const cloned_course& c = course();
  const auto refused = [&](std::vector<std::string> words, const char* what) {
    words.insert(words.begin(), {"dev", "validate"});
    check_refused(c.lab(words), 2, what);
  };
  refused({"transpose", "--lectures"}, "no lecture publishes figures for transpose");
  refused({"reduction", "00", "--lectures"}, "no lecture publishes a figure for these steps");
  refused({"reduction", "01", "--lectures", "--record"}, "saves the whole table");
  refused({"reduction", "--lectures", "--times"}, "a separate table");
  refused({"reduction", "--lectures", "--device", "gpu"}, "uses the time model");
  refused({"reduction", "77", "--lectures"}, "no step");
}
