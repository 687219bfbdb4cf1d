// Gradescope's results.json and Classroom 50's result.json, for one submission each.
#include <cmath>

#include "grader/publish/escape.hpp"
#include "grader/publish/formats.hpp"
#include "grader/system/failure.hpp"

namespace stepwise::publish {
namespace {

void require_verdict(const entry& e) {
  if (e.points) return;
  throw failure(exit_code::environment,
                harmless_line(e.id, 100) + " could not be graded (" + e.verdict +
                    ") because of the machine, so there is no score to write\n" +
                    harmless_line(e.message, 300));
}

std::string headline(const entry& e) {
  std::string text = e.verdict;
  if (!e.message.empty()) text += ": " + e.message;
  if (!e.hint.empty()) text += "\nhint: ./lab hint " + e.lab + "  (" + e.hint + ")";
  if (!e.missing_layers.empty()) {
    text += "\nmissing protections on this machine:";
    for (const auto& layer : e.missing_layers) text += " " + layer;
  }
  return text;
}

}  // namespace

std::string gradescope(const entry& e) {
  require_verdict(e);
  json tests = json::array();
  int number = 0;
  for (const auto& g : e.goals) {
    ++number;
    // A goal that is not graded here is shown without a status, and without points on either side.
    json test = {{"name", json_string(g.name)},
                 {"number", std::to_string(number)},
                 {"score", g.passed ? g.points : 0},
                 {"max_score", g.passed ? g.max_points : 0},
                 {"output", json_string(g.message)},
                 {"output_format", "text"},
                 {"name_format", "text"}};
    if (g.passed) test["status"] = *g.passed ? "passed" : "failed";
    tests.push_back(test);
  }
  json document = {{"score", *e.points},
                   {"execution_time", static_cast<std::int64_t>(std::ceil(e.seconds))},
                   {"output", json_string(headline(e))},
                   {"output_format", "text"},
                   {"test_output_format", "text"},
                   {"test_name_format", "text"},
                   {"visibility", "visible"},
                   {"stdout_visibility", "hidden"},
                   {"extra_data",
                    {{"class", e.verdict},
                     {"max_points", e.max_points ? json(*e.max_points) : json(nullptr)},
                     {"seed", e.seed ? json(*e.seed) : json(nullptr)},
                     {"submission", e.submission},
                     {"trust", e.trust}}},
                   {"tests", tests}};
  if (const auto ratio = e.best_ratio())
    document["leaderboard"] =
        json::array({{{"name", "speedup"}, {"value", *ratio}, {"order", "desc"}}});
  return json_text(document, 1) + "\n";
}

std::string classroom50(const entry& e, const std::function<std::string(const char*)>& variable) {
  require_verdict(e);
  std::string missing;
  const auto need = [&](const char* name, const char* otherwise = nullptr) {
    std::string value = variable(name);
    if (value.empty() && otherwise != nullptr) value = variable(otherwise);
    if (value.empty()) missing += (missing.empty() ? "" : ", ") + std::string(name);
    return value;
  };
  std::string type = variable("ASSIGNMENT_TYPE");
  if (type.empty()) type = "individual";
  json document = {{"schema", "classroom50/result/v1"},
                   {"classroom", need("CLASSROOM")},
                   {"assignment", need("ASSIGNMENT")},
                   {"assignment_type", type},
                   {"owner", need("OWNER", "USERNAME")},
                   {"submission", need("SUBMISSION_TAG")},
                   {"commit", need("COMMIT_URL")},
                   {"release", need("RELEASE_URL")},
                   {"review", need("REVIEW_URL", "COMMIT_URL")}};
  if (!missing.empty()) {
    throw failure(exit_code::usage,
                  "Classroom 50's result.json must name the submission, but these variables of its "
                  "runner are not set: " +
                      missing);
  }
  // The submission's time is metadata. Without it, the time of grading would be used.
  if (e.submitted_at.empty()) {
    throw failure(exit_code::usage,
                  "the submission time is unknown, but result.json needs it: use grade-all "
                  "--submitted TIME (the commit's date)");
  }
  document["datetime"] = e.submitted_at;
  document["graded_at"] = e.graded_at;
  json tests = json::array();
  std::int64_t score = 0, most = 0;
  // Whole points. A goal that cannot be graded here counts on neither side.
  for (const auto& g : e.goals) {
    if (!g.passed) continue;
    const std::int64_t points = static_cast<std::int64_t>(std::floor(g.points + 1e-9));
    const std::int64_t max_points = static_cast<std::int64_t>(std::llround(g.max_points));
    score += points;
    most += max_points;
    tests.push_back({{"test-name", json_string(g.name)},
                     {"passed", *g.passed},
                     {"score", points},
                     {"max-score", max_points},
                     {"message", json_string(g.message)}});
  }
  document["score"] = score;
  document["max-score"] = most;
  document["tests"] = tests;
  return json_text(document, 1) + "\n";
}

}  // namespace stepwise::publish
