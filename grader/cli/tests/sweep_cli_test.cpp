// `lab sweep` through the built program: compiled by nvcc, run by the emulator.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "grader/cli/tests/cloned_course.hpp"
#include "grader/course/constants.hpp"
#include "grader/course/lab.hpp"
#include "grader/course/sweep_axis.hpp"

using namespace stepwise;

namespace {

// Checks that the file defines every constant that `over` names.
void check_over(const fs::path& file, const std::vector<std::string>& over) {
  CAPTURE(file);
  const auto source = read_if_there(file);
  REQUIRE_MESSAGE(source, "there is no such file");
  for (const auto& text : over) {
    const std::string name = parse_axis(text).name;
    if (name == "n" || name == "size" || name == "registers") continue;
    CHECK(find_constant(constants_of(*source), name, file).name == name);
  }
}

// The time at which each program of a cache was written, by its path.
std::map<fs::path, fs::file_time_type> times_of_programs(const fs::path& cache) {
  std::map<fs::path, fs::file_time_type> times;
  for (const auto& entry : fs::directory_iterator(cache)) {
    const fs::path program = entry.path() / "program";
    if (fs::exists(program)) times[program] = fs::last_write_time(program);
  }
  return times;
}

}  // namespace

TEST_CASE("sweep: configurations side by side, including those that fail") {
  const cloned_course course;
  const std::vector<std::string> command = {"sweep",  "launch",          "01",
                                            "--over", "threads=48,2048", "--size",
                                            "1000",   "--device",        "emulated"};
  auto with_json = command;
  with_json.push_back("--json");
  const auto result = course.lab(with_json);
  const json document = document_of(result);
  CHECK(result.end.exit_code == 0);
  check_documented(document, "sweep");
  const json& points = document.at("points");
  REQUIRE(points.size() == 2);
  CHECK(points[0].at("correct") == true);
  CHECK(points[0].at("values")[0].at("value") == "48");
  CHECK(points[0].at("blocks") == 21);
  CHECK(points[0].at("occupancy_percent") == 100);
  CHECK(points[0].at("time_kind") == "modelled");
  CHECK(points[0].at("time_ms") > 0);
  CHECK(points[0].at("time_low_ms").is_null());
  CHECK(points[0].at("samples") == 0);
  CHECK(points[0].at("why_no_time").is_null());
  CHECK(document.at("modelled_as") == "NVIDIA H200");
  CHECK(points[0].at("kernels")[0].at("registers") > 0);
  CHECK(points[1].at("class") == "CRASH");
  CHECK(points[1].at("figure").is_null());

  const auto made = times_of_programs(course.root() / "build/sweeps");
  CHECK(made.size() == 2);
  auto again = course.lab(command);
  std::replace(again.out.begin(), again.out.end(), '\n', ' ');  // the sentences are wrapped
  CHECK(again.end.exit_code == 0);
  CHECK(has(again.out, "REFUSED  threads = 2048"));
  CHECK(has(again.out, "this configuration cannot be launched: 01_tiny_blocks.cu:"));
  CHECK(has(again.out, "(cudaErrorInvalidValue)"));
  CHECK(has(again.out, "blocks of 48 threads leave 25 % of their lanes idle"));
  CHECK(has(again.out, "times are modelled, NVIDIA H200"));
  CHECK(has(again.out, "By the model: "));
  CHECK(has(again.out, "of the 15 measured times"));
  // Both programs are kept and reused, separate from what a student compiles.
  CHECK(times_of_programs(course.root() / "build/sweeps") == made);
  CHECK(!fs::exists(course.root() / "build/submissions"));

  const auto no_value = course.lab({"sweep", "launch", "01", "--over", "threads=many"});
  CHECK(no_value.end.exit_code == 1);  // no configuration is correct
  CHECK(has(no_value.out, "COMPILE  threads = many"));
  CHECK(has(no_value.out, "solutions/launch/01_tiny_blocks.cu:16: "));
}

TEST_CASE("sweep: for an unchanged step, the course's record stands next to the modelled time") {
  const cloned_course course;
  const auto result = course.lab({"sweep", "launch", "02", "--over", "threads=128,256", "--over",
                                  "n=1000,1048576", "--device", "emulated", "--json"});
  const json document = document_of(result);
  check_documented(document, "sweep");
  const json& points = document.at("points");
  REQUIRE(points.size() == 4);
  CHECK(points[1].at("recorded_ms").is_null());  // another number of threads
  CHECK(points[2].at("recorded_ms").is_null());  // a size without a record
  CHECK(points[3].at("recorded_ms") > 0);
  CHECK(points[3].at("blocks") == 4096);
  const double ratio =
      points[3].at("time_ms").get<double>() / points[3].at("recorded_ms").get<double>();
  CHECK(ratio > 0.6);
  CHECK(ratio < 1.6);
}

TEST_CASE("sweep: what cannot be swept is refused") {
  const cloned_course course;
  struct row {
    std::vector<std::string> arguments;
    const char* says;
  };
  for (const row& r : {
           row{{"launch", "01", "--over", "items=1,2"}, "has no constant \"items\""},
           row{{"launch", "01", "--over", "items=1,2"}, "threads = 32"},
           row{{"launch", "01", "--over", "threads"}, "= is missing"},
           row{{"launch", "01"}, "choose what to vary"},
           row{{"launch", "01", "--over", "n=0"}, "a size is one number n from 1"},
           row{{"launch", "01", "--over", "threads=1..20+1", "--over", "n=1..11+1"}, "at most 200"},
           row{{"launch", "01", "--over", "n=8", "--size", "7"}, "exclude each other"},
           row{{"launch", "no_step", "--over", "n=8"}, "no step \"no_step\""},
           row{{"launch", "--file", "none.cu", "--over", "n=8"}, "none.cu"},
       }) {
    auto command = r.arguments;
    command.insert(command.begin(), "sweep");
    check_refused(course.lab(command), 2, r.says);
  }
}

TEST_CASE("sweep: an experiment of the lab is found by its name") {
  const cloned_course course;
  course.change_lab("launch", [](json& entry) {
    json more = entry["experiments"][0];
    more["name"] = "unwritten";
    more["over"] = {"ways=1,2"};
    entry["experiments"].push_back(more);
  });
  const auto known = course.lab({"sweep", "launch", "unwritten"});
  CHECK(known.end.exit_code == 4);  // its file is missing, which is an internal error
  CHECK(has(known.err, "solutions/launch/experiments/unwritten.cu"));
  const auto unknown = course.lab({"sweep", "launch", "unwriten", "--over", "ways=1"});
  CHECK(unknown.end.exit_code == 2);
  CHECK(has(unknown.err, "its experiments are"));
  CHECK(has(unknown.err, " unwritten"));
}

TEST_CASE("the sweeps and experiments that labs declare use constants that their files define") {
  const fs::path root = std::getenv("LAB_ROOT");
  for (const lab& l : load_labs(std::getenv("LAB_BUILD"))) {
    if (l.sweeps.standard)
      check_over(root / find_step(l, l.sweeps.standard->step).file, l.sweeps.standard->over);
    for (const auto& e : l.sweeps.experiments) check_over(root / l.experiment_file(e.name), e.over);
  }
}
