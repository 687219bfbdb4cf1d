// `lab device` and `lab occupancy` through the built program.
#include <doctest/doctest.h>

#include "grader/cli/tests/cloned_course.hpp"

using namespace stepwise;

TEST_CASE("device: every described GPU has peaks, and estimated values are marked") {
  const cloned_course course;
  const json list = document_of(course.lab({"device", "--list", "--json"}));
  check_documented(list, "device");
  CHECK(list.at("gpus").size() >= 10);
  for (const auto& gpu : list.at("gpus")) {
    const json document =
        document_of(course.lab({"device", "--gpu", gpu.at("id").get<std::string>(), "--json"}));
    CAPTURE(document.dump());
    CHECK(document.at("name") == gpu.at("name").get<std::string>());
    CHECK(document.at("peak_gb_per_s") > 20);
    CHECK(document.at("peak_flop_per_s") > 1e11);
  }
  const json old = document_of(course.lab({"device", "--gpu", "gtx980", "--json"}));
  check_documented(old, "device");
  CHECK(old.at("peak_gb_per_s") == doctest::Approx(224.32));
  CHECK(old.at("estimated").size() == 3);
  CHECK(has(course.lab({"device", "--gpu", "gtx980"}).out, "256 bits (estimated)"));
  check_refused(course.lab({"device", "--gpu", "gtx9800"}), 2, "known names: h200, h100");
}

TEST_CASE("device: figures measured on an H200 are kept next to theoretical ones") {
  const cloned_course course;
  const json h200 = document_of(course.lab({"device", "--gpu", "h200", "--json"}));
  check_documented(h200, "device");
  CHECK(h200.at("measured").at("gpu") == h200.at("name").get<std::string>());
  CHECK(h200.at("measured").at("figures").size() > 60);
  const auto shown = course.lab({"device", "--gpu", "h200"});
  CHECK(has(shown.out, "GB/s, 89 % of the peak"));
  const auto all = course.lab({"device", "--gpu", "h200", "--figures"});
  CHECK(has(all.out, "dram_latency"));
  CHECK(has(course.lab({"device", "--gpu", "t4", "--figures"}).err, "NVIDIA T4 was not measured"));
  CHECK(has(course.lab({"device", "--record"}).err, "--record works only with --measure"));
  CHECK(has(course.lab({"device", "--measure", "--gpu", "t4"}).err, "leave out --gpu"));
}

TEST_CASE("occupancy: computed from numbers, as in the lectures' tables") {
  const cloned_course course;
  const std::vector<std::string> command = {"occupancy", "--threads", "32",    "--registers", "25",
                                            "--shared",  "1536",      "--gpu", "gt430"};
  auto with_json = command;
  with_json.push_back("--json");
  const json document = document_of(course.lab(with_json));
  check_documented(document, "occupancy");
  const json& block = document.at("kernels")[0];
  CHECK(block.at("blocks") == 8);
  CHECK(block.at("limits").at("registers") == 38);
  CHECK(block.at("limits").at("shared memory") == 32);
  CHECK(block.at("limited_by")[0] == "block slots");
  const auto shown = course.lab(command);
  CHECK(shown.end.exit_code == 0);
  CHECK(has(shown.out, "32768 registers / 800 per warp = 40 warps"));
  CHECK(has(shown.out, "there are only 8 block slots"));
}

TEST_CASE("occupancy: of a step's kernels, with some numbers replaced by your own") {
  const cloned_course course;
  const json as_is = document_of(course.lab({"occupancy", "reduction", "--step", "08", "--json"}));
  check_documented(as_is, "occupancy");
  const json& kernel = as_is.at("kernels")[0];
  CHECK(!kernel.at("kernel").get<std::string>().empty());
  CHECK(kernel.at("registers") > 0);
  CHECK(kernel.at("blocks") > 0);
  const json wide = document_of(
      course.lab({"occupancy", "reduction", "--step", "08", "--registers", "128", "--json"}));
  CHECK(wide.at("kernels")[0].at("registers") == 128);
  CHECK(wide.at("kernels")[0].at("warps") == 16);
}

TEST_CASE("occupancy: a picture, and refused arguments") {
  const cloned_course course;
  const auto file = course.root() / "curves.svg";
  CHECK(course.lab({"occupancy", "--threads", "256", "--svg", file.string()}).end.exit_code == 0);
  const auto svg = read_if_there(file);
  REQUIRE(svg);
  CHECK(svg->starts_with("<svg"));
  CHECK(has(*svg, "shared-memory bytes per block"));
  for (const auto& [words, said] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"occupancy"}, "give the block's size"},
           {{"occupancy", "--threads", "0"}, "at least one thread"},
           {{"occupancy", "--threads", "64", "--step", "02"}, "need a lab"},
           {{"occupancy", "--threads", "64", "--gpu", "voodoo"}, "known names: h200"}})
    check_refused(course.lab(words), 2, said);
}
