// A lab's points and texts, and steps and labs by name.
#include "grader/course/lab.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise {

double lab::points() const {
  return std::accumulate(goals.begin(), goals.end(), 0.0,
                         [](double sum, const goal& g) { return sum + g.points; });
}

bool lab::has(goal::kind k) const {
  return std::any_of(goals.begin(), goals.end(), [&](const goal& g) { return g.what == k; });
}

std::optional<std::string> whole_handout(const fs::path& root, const lab& l) {
  auto text = read_if_there(root / l.handout());
  if (!text) return text;
  return *text + "\n" + read_if_there(root / l.deeper()).value_or("");
}

const step& find_step(const lab& l, std::string_view name) {
  std::vector<std::string> names;
  for (const auto& s : l.steps) {
    // "03_sequential", abbreviated "03" or "sequential"
    const auto split = s.name.find('_');
    if (s.name == name || s.name.substr(0, split) == name) return s;
    if (split != std::string::npos && s.name.substr(split + 1) == name) return s;
    names.push_back(s.name);
  }
  const std::string near = nearest(name, names);
  std::string message = "the " + l.name + " lab has no step \"" + std::string(name) + "\"";
  if (!near.empty()) message += "; did you mean \"" + near + "\"?";
  message += "\nits steps are";
  for (const auto& n : names) message += " " + n;
  throw failure(exit_code::usage, message);
}

bool lab::may_help(std::string_view step_name) const {
  return std::ranges::find(did_not_help, step_name) == did_not_help.end();
}

const step& lab::last_step() const { return steps.at(steps.size() - 1 - did_not_help.size()); }

lab path_of(lab l) {
  std::map<std::string, std::string> over_on_path;  // of each step in the case study
  for (step& s : l.steps) {
    if (const auto left_out = over_on_path.find(s.over); left_out != over_on_path.end())
      s.over = left_out->second;
    if (s.in_case_study) over_on_path[s.name] = s.over;
  }
  std::erase_if(l.steps, [](const step& s) { return s.in_case_study; });
  l.did_not_help.clear();
  return l;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> least(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        least[i][j] = i + j;
        continue;
      }
      least[i][j] = std::min({least[i - 1][j] + 1, least[i][j - 1] + 1,
                              least[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        least[i][j] = std::min(least[i][j], least[i - 2][j - 2] + 1);
      }
    }
  }
  return least[a.size()][b.size()];
}

std::string nearest(std::string_view given, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = std::string::npos;
  int containing = 0;
  for (const auto& candidate : candidates) {
    const std::size_t distance = edit_distance(given, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  if (best_distance <= std::max<std::size_t>(1, best.size() / 3)) return best;
  if (given.size() < 2) return {};
  // "sequential" or "03" for "03_sequential"
  for (const auto& candidate : candidates) {
    if (candidate.find(given) != std::string::npos) {
      best = candidate;
      ++containing;
    }
  }
  return containing == 1 ? best : std::string{};
}

std::string without_seed(std::string_view label) {
  return std::string(label.substr(0, label.find(", seed")));
}

std::string size_text(const lab_size& size) {
  std::string text;
  for (const auto n : size) text += (text.empty() ? "" : "x") + std::to_string(n);
  return text;
}

}  // namespace stepwise
