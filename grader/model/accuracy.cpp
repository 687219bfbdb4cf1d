// Errors, ranks and directions of modelled times.
#include "grader/model/accuracy.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "grader/measure/statistics.hpp"

namespace stepwise {
namespace {

// Measured ratios closer to 1 than this count as undecided.
constexpr double clear_ratio = 1.15;

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](std::size_t n) { return values[n]; });
  std::vector<double> result(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first + 1;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    for (std::size_t n = first; n < end; ++n)
      result[order[n]] = (static_cast<double>(first) + static_cast<double>(end) - 1) / 2;
    first = end;
  }
  return result;
}

}  // namespace

double modelled_time::error() const { return std::abs(ratio() - 1); }

double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() < 2) return 1;
  const std::vector<double> x = ranks(a), y = ranks(b);
  const double mean = (static_cast<double>(a.size()) - 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t n = 0; n < x.size(); ++n) {
    xy += (x[n] - mean) * (y[n] - mean);
    xx += (x[n] - mean) * (x[n] - mean);
    yy += (y[n] - mean) * (y[n] - mean);
  }
  return xx == 0 || yy == 0 ? 1 : xy / std::sqrt(xx * yy);
}

json accuracy_json(const lab& l, const std::string& gpu, const std::vector<modelled_time>& times,
                   const times_summary& s) {
  json document = {{"lab", l.name},
                   {"gpu", gpu},
                   {"median_error", s.median_error},
                   {"worst_tenth_error", s.worst_tenth_error},
                   {"rank_correlation", s.rank_correlation},
                   {"times", json::array()},
                   {"wrong", json::array()}};
  for (const modelled_time& t : times)
    document["times"].push_back({{"step", t.step},
                                 {"size", t.size},
                                 {"measured_ms", t.measured_ms},
                                 {"modelled_ms", t.modelled_ms}});
  for (const compared_steps& pair : s.pairs)
    if (pair.is_wrong())
      document["wrong"].push_back({{"step", pair.step},
                                   {"over", pair.over},
                                   {"size", pair.size},
                                   {"measured_ratio", pair.measured},
                                   {"modelled_ratio", pair.modelled}});
  return document;
}

json accuracy_record(json document) {
  json entries = document.at("times");
  for (const json& untimed : document.at("untimed")) entries.push_back(untimed);
  for (const char* const list : {"times", "untimed", "wrong"}) document.erase(list);
  document["entries"] = std::move(entries);
  return document;
}

times_summary summarise(const lab& l, const std::vector<modelled_time>& times) {
  times_summary s;
  std::vector<double> errors, measured, modelled;
  std::map<std::pair<std::string, lab_size>, const modelled_time*> known;
  for (const modelled_time& t : times) {
    errors.push_back(t.error());
    measured.push_back(t.measured_ms);
    modelled.push_back(t.modelled_ms);
    known[{t.step, t.size}] = &t;
  }
  std::ranges::sort(errors);
  s.median_error = median(errors);
  if (!errors.empty()) s.worst_tenth_error = errors[(9 * errors.size() + 9) / 10 - 1];
  s.rank_correlation = rank_correlation(measured, modelled);
  const auto compare = [&](const modelled_time& t, const std::string& over) {
    const auto other = known.find({over, t.size});
    if (other == known.end()) return;
    const compared_steps pair{t.step, over, t.size, other->second->measured_ms / t.measured_ms,
                              other->second->modelled_ms / t.modelled_ms};
    const bool clear = pair.measured >= clear_ratio || pair.measured <= 1 / clear_ratio;
    if (clear) s.pairs.push_back(pair);
  };
  for (std::size_t n = 0; n < l.steps.size(); ++n) {
    for (const modelled_time& t : times) {
      if (t.step != l.steps[n].name) continue;
      // A step that did not help is not made from the step listed before it.
      const std::string before = n == 0 || !l.may_help(t.step) ? "" : l.steps[n - 1].name;
      if (!before.empty()) compare(t, before);
      if (!l.steps[n].over.empty() && l.steps[n].over != before) compare(t, l.steps[n].over);
    }
  }
  return s;
}

}  // namespace stepwise
