// A verdict from the journal, parsed for rendering.
//
// idea    Renderers use only these fields, never the JSON. A key that is missing or of another type
//         becomes an empty text or a missing number.
// Tested by tests/publish_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/formats/json.hpp"

namespace stepwise::publish {

struct speed {
  std::string over;
  double at_least = 0, ratio = 0, low = 0, high = 0;  // low and high: 0 if modelled
  double time_ms = 0, other_ms = 0;
  int pairs = 0;
  std::string modelled_as;  // empty if measured
};

struct goal_entry {
  std::string name, kind, message;
  double points = 0, max_points = 0;
  std::optional<bool> passed;
  std::optional<speed> fast;
};

struct entry {
  std::string id, name, file, verdict, message, submission, answers, submitted_at, graded_at, host;
  std::optional<double> points, max_points;
  std::optional<bool> late;
  std::optional<double> late_s;
  double seconds = 0, peak_bytes = 0;
  int attempts = 0;
  std::optional<std::string> seed;
  std::string trust, device, remark, hint, lab;
  std::vector<goal_entry> goals;
  std::vector<std::string> notes, missing_layers;
  std::optional<int> answered, questions;
  json key, document;  // unchanged

  // Whether a person should look at this verdict, because a machine alone cannot decide.
  bool needs_a_look() const {
    return verdict == "HELD" || verdict == "INFRA" || verdict == "REFUSED" ||
           verdict == "INCONCLUSIVE" || !remark.empty();
  }
  // The largest speedup among the speed goals. nullopt if no speed goal has a figure.
  std::optional<double> best_ratio() const;
};

entry read_entry(const json& j);
std::vector<entry> read_entries(const std::vector<json>& all);

std::string number_text(double value);    // "12.5", without exponent
std::string points_text(const entry& e);  // "62.5 of 100", "no points"

}  // namespace stepwise::publish
