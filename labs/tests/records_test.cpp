// Tests the records of the course. Each record is as `--record` would write it, and its sizes,
// labels and work agree with the lab's problem today.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "common/lab/problem.hpp"
#include "grader/course/lab.hpp"
#include "grader/measure/device_figures.hpp"
#include "grader/measure/ragged/ragged.hpp"
#include "grader/measure/records/record_file.hpp"
#include "labs/tests/problem_of.hpp"

namespace {

using namespace stepwise;

// A label needs the inputs of a call. The label is compared only where these inputs are quick to
// make.
constexpr double most_bytes = 1 << 22;

void check_facts(const lab& l, const json& entry) {
  const problem& p = problem_of(l);
  const auto size = entry.at("size").get<lab_size>();
  const problem_work work = p.work(size);
  if (entry.contains("bytes")) CHECK(entry.at("bytes") == work.bytes);
  if (entry.contains("bytes") && entry.contains("label")) {
    CHECK(entry.value("operations", 0.0) == work.rated);
    CHECK(entry.value("rate_in", "") == work.rated_unit);
  }
  if (entry.contains("amount")) CHECK(entry.at("amount") == work.amount());
  if (entry.contains("class")) CHECK(entry.at("class") == name_of(*class_of(l, size)));
  if (entry.contains("label") && work.bytes < most_bytes) {
    const std::string label = p.make_call(size, 7).label, recorded = entry.at("label");
    CHECK((recorded == label || recorded + ", seed 7" == label));
  }
}

TEST_CASE("a record is as --record writes it, and its sizes agree with the lab's problem") {
  const fs::path root = std::getenv("STEPWISE_SOURCE");
  std::size_t checked = 0;
  for (const lab& l : load_labs(std::getenv("STEPWISE_BUILD"))) {
    std::error_code unmeasured;  // a new lab has no records
    for (const auto& file :
         fs::directory_iterator(root / "solutions" / l.name / "measured", unmeasured)) {
      const std::string name = file.path().filename();
      if (!name.ends_with(".jsonl") || name.ends_with(".guided.jsonl")) continue;
      CAPTURE(file.path());
      read_record(file.path(), [&](const json& record) {
        CHECK(json_lines_text(record) == read_if_there(file.path()).value_or(""));
        json known = json::array();
        for (const json& entry : record.at("entries")) {
          if (!entry.contains("label") && !entry.contains("bytes")) continue;
          if (std::ranges::count(known, entry.at("size")) > 0) continue;
          known.push_back(entry.at("size"));
          check_facts(l, entry);
          ++checked;
        }
      });
    }
  }
  CHECK(checked > 350);
}

TEST_CASE("the measurements of a GPU are as --record writes them") {
  const fs::path root = std::getenv("STEPWISE_SOURCE");
  const temporary_folder copy(fs::temp_directory_path());
  for (const std::string id : {"h100", "h200"}) {
    CAPTURE(id);
    const auto record = load_device_record(root, id);
    REQUIRE(record);
    keep_device_record(copy.path(), id, *record);
    CHECK(read_if_there(device_record_file(copy.path(), id)) ==
          read_if_there(device_record_file(root, id)));
  }
}

}  // namespace
