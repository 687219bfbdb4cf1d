// lab dev validate --sampling: for a sample of blocks, the time model gives the same result as for
// all blocks.
//
// LAB_BUILD is the build folder, LAB_ROOT the clone.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "grader/cli/tests/cloned_course.hpp"
#include "grader/measure/statistics.hpp"

using namespace stepwise;

namespace {

// The largest allowed error of a figure: in any call, and in half of the calls.
struct most_off {
  std::string figure;
  double any, half;
};
const std::vector<most_off> bounds = {{"time", 0.1, 0.005},  // matmul 02, whose warps drift apart
                                      {"instructions", 0.02, 0.001}, {"global", 0.05, 0.01},
                                      {"shared", 0.05, 0.01},        {"l2", 0.05, 0.01},
                                      {"dram", 0.05, 0.01}};

}  // namespace

TEST_CASE("a sampled call has the time and the counters of the whole call") {
  const cloned_course c;
  struct row {
    const char *lab, *size;
    std::vector<const char*> steps;
  };
  std::map<std::string, std::vector<double>> errors;
  std::size_t compared = 0, cut = 0;
  for (const row& r :
       {row{"launch", "8388608", {"01", "02"}}, row{"reduction", "1048576", {"02", "03", "07"}},
        row{"transpose", "2048x2048", {"03", "04", "06"}}, row{"matmul", "512", {"02", "03", "04"}},
        row{"blur", "1920x1080", {"05", "11"}}, row{"neighbour", "16384x0", {"03"}}}) {
    std::vector<std::string> command = {"dev",    "validate", r.lab,   "--sampling",
                                        "--size", r.size,     "--json"};
    command.insert(command.end(), r.steps.begin(), r.steps.end());
    const json document = document_of(c.lab(command));
    check_documented(document, "validate");
    CHECK(document["untimed"].empty());
    REQUIRE(document["calls"].size() == r.steps.size());
    for (const json& call : document["calls"]) {
      ++compared;
      cut += call["counted"] < 0.9;
      for (const json& figure : call["figures"])
        if (!figure["error"].is_null())
          errors[figure["figure"]].push_back(std::abs(figure["error"].get<double>()));
    }
  }
  CHECK(10 * cut > 8 * compared);  // a call that runs in full anyway tests nothing
  for (const most_off& b : bounds) {
    CAPTURE(b.figure);
    const auto& all = errors[b.figure];
    REQUIRE(2 * all.size() >= compared);
    CHECK(*std::ranges::max_element(all) < b.any);
    CHECK(median(all) < b.half);
  }
}

TEST_CASE("validate --sampling: a separate table of the model alone") {
  const cloned_course c;
  for (const char* other : {"--times", "--recorded", "--record"})
    check_refused(c.lab({"dev", "validate", "launch", "--sampling", other}), 2,
                  "--sampling is a separate table");
  check_refused(c.lab({"dev", "validate", "launch", "--sampling", "--device", "gpu"}), 2,
                "leave out --device gpu");
  const auto shown = c.lab({"dev", "validate", "launch", "02", "--sampling", "--size", "65536"});
  CHECK(shown.end.exit_code == 0);
  CHECK(has(shown.out, "sampled launches compared with whole launches, modelled, NVIDIA H200"));
  CHECK(has(shown.out, "time          median "));
}
