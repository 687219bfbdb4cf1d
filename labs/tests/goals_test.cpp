// Tests that the worked solutions reach the speed goals, according to the recorded measurements.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "grader/course/lab.hpp"
#include "grader/course/source.hpp"
#include "grader/measure/records/record_file.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace {

using namespace stepwise;

// The steps in order, each with the time of a call in ms, with a cold L2, at one size.
struct recorded {
  std::string label;
  std::vector<std::pair<std::string, double>> steps;

  // The index of the step, or the index past the last step.
  std::size_t find(const std::string& name) const {
    std::size_t i = 0;
    while (i < steps.size() && steps[i].first != name) ++i;
    return i;
  }
};

// The steps at the size that grading uses; none if it was not measured.
recorded recorded_steps(const fs::path& file, const lab& l) {
  const json size = l.bench.back();
  recorded result{size.dump(), {}};
  read_record(file, [&](const json& record) {
    for (const json& entry : record.at("entries"))
      if (entry.contains("step") && entry.at("size") == size)
        result.steps.emplace_back(entry.at("step").get<std::string>(),
                                  entry.at("cold").at("median_ms").get<double>());
  });
  return result;
}

// One file per GPU on which the lab's steps were measured. "h200.sweeps.jsonl" is of another kind.
std::vector<fs::path> records_of(const lab& l) {
  std::vector<fs::path> records;
  const fs::path folder =
      fs::path(std::getenv("STEPWISE_SOURCE")) / "solutions" / l.name / "measured";
  if (!fs::exists(folder)) return records;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".jsonl" && !entry.path().stem().has_extension())
      records.push_back(entry.path());
  return records;
}

TEST_CASE("the worked solutions reach every speed goal, on every GPU with a record") {
  std::size_t judged = 0;
  std::vector<std::pair<lab, fs::path>> all;
  for (const lab& l : load_labs(std::getenv("STEPWISE_BUILD"))) {
    const auto records = records_of(l);
    if (records.empty()) MESSAGE(l.name, ": not measured, so its speed goals are not judged");
    for (const fs::path& measured : records) all.emplace_back(l, measured);
  }
  for (const auto& [l, measured] : all) {
    CAPTURE(measured.filename());
    recorded record = recorded_steps(measured, l);
    std::erase_if(record.steps, [&](const auto& timed) { return !l.may_help(timed.first); });
    for (const goal& wanted : l.goals) {
      if (!wanted.is_speed()) continue;
      CAPTURE(l.name);
      CAPTURE(wanted.name);
      CAPTURE(record.label);
      const std::size_t over = record.find(wanted.over);
      if (over + 1 >= record.steps.size()) {
        MESSAGE("not judged: ", wanted.over, " or the step after it was not measured");
        continue;
      }
      ++judged;
      // The last step reaches the goal. So does one of the two steps after `over`, which teach the
      // goal's idea.
      const auto speed = [&](std::size_t step) {
        return record.steps[over].second / record.steps[step].second;
      };
      CHECK(speed(record.steps.size() - 1) >= wanted.limit);
      const std::size_t next = over + 1, after = std::min(over + 2, record.steps.size() - 1);
      CHECK(std::max(speed(next), speed(after)) >= wanted.limit);
    }
  }
  CHECK(judged > 0);
}

TEST_CASE("with modelled times, a step meets the speed goals that it meets on an H200") {
  const fs::path root = std::getenv("STEPWISE_SOURCE");
  std::size_t judged = 0;
  for (const lab& l : load_labs(std::getenv("STEPWISE_BUILD"))) {
    const fs::path measured = root / "solutions" / l.name / "measured";
    if (!fs::exists(measured / "h200.jsonl") || !fs::exists(measured / "h200.modelled.jsonl"))
      continue;
    const recorded record = recorded_steps(measured / "h200.jsonl", l);
    std::map<std::string, double> modelled;
    read_record(measured / "h200.modelled.jsonl", [&](const json& model) {
      for (const auto& t : model.at("entries"))
        if (t.contains("modelled_ms") && t.at("size") == json(l.modelled.back()))
          modelled[t.at("step").get<std::string>()] = t.at("modelled_ms").get<double>();
    });
    for (const goal& wanted : l.goals) {
      if (!wanted.is_speed() || wanted.modelled == 0) continue;
      CAPTURE(l.name);
      CAPTURE(wanted.name);
      const std::size_t over = record.find(wanted.over);
      REQUIRE(over < record.steps.size());
      REQUIRE(modelled.contains(wanted.over));
      for (const auto& [name, ms] : record.steps) {
        if (!modelled.contains(name)) continue;
        const double on_gpu = record.steps[over].second / ms,
                     here = modelled.at(wanted.over) / modelled.at(name);
        CAPTURE(name);
        CAPTURE(on_gpu);
        CAPTURE(here);
        CHECK((on_gpu >= wanted.limit) == (here >= wanted.modelled));
        ++judged;
      }
    }
  }
  CHECK(judged > 100);
}

// The points in the rows of the table "| goal | points |" of a handout.
std::multiset<double> points_in_table(const std::string& handout) {
  std::multiset<double> points;
  bool in_table = false;
  for (const std::string& line : split_lines(handout)) {
    if (line == "| goal | points |") {
      in_table = true;
    } else if (!line.starts_with('|')) {
      in_table = false;
    } else if (in_table && !line.starts_with("|---")) {
      const auto last = line.rfind('|', line.size() - 2);
      points.insert(std::stod(line.substr(last + 1)));
    }
  }
  return points;
}

TEST_CASE("a lab's goals have 100 points, and its handout has a row for each goal") {
  const fs::path root = std::getenv("STEPWISE_SOURCE");
  for (const lab& l : load_labs(std::getenv("STEPWISE_BUILD"))) {
    CHECK_MESSAGE(l.points() == 100, "labs/", l.name, "/lab.toml: the goals' points add up to ",
                  l.points(), ", not to 100");
    std::multiset<double> points;
    for (const goal& g : l.goals) points.insert(g.points);
    const fs::path handout = fs::path("labs") / l.name / "README.md";
    const auto shown =
        points_in_table(read_file(root / handout, static_cast<int>(exit_code::ours)));
    CHECK_MESSAGE(shown == points, handout.string(), ": the table of goals has ", shown.size(),
                  " rows, and their points differ from those of the ", points.size(),
                  " goals of lab.toml");
  }
}

}  // namespace
