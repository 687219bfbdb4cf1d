// Compares modelled times with a record of measured times: the errors, and whether the model
// predicts correctly which step is faster.
// Tested by tests/model_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "common/formats/json.hpp"
#include "grader/course/lab.hpp"

namespace stepwise {

struct modelled_time {
  std::string step;
  lab_size size;
  double measured_ms = 0, modelled_ms = 0;

  double ratio() const { return modelled_ms / measured_ms; }
  double error() const;  // |ratio - 1|
};

// A step and the step with which it is compared, whose measured times differ by 1.15x or more.
struct compared_steps {
  std::string step, over;
  lab_size size;
  double measured = 0, modelled = 0;  // speedups
  bool is_wrong() const { return (measured > 1) != (modelled > 1); }
};

struct times_summary {
  double median_error = 0, worst_tenth_error = 0;
  double rank_correlation = 0;  // Spearman's, over all steps and sizes
  std::vector<compared_steps> pairs;
};

// The output of `validate --times --json`. See JSON.md.
json accuracy_json(const lab& l, const std::string& gpu, const std::vector<modelled_time>& times,
                   const times_summary& s);

// That document as a record, with an entry per item of its `times` and `untimed`. Omits `wrong`,
// which follows from the times.
json accuracy_record(json document);

// The errors of all times, and the pairs of steps that steps.txt compares.
times_summary summarise(const lab& l, const std::vector<modelled_time>& times);

// Spearman's rank correlation. Ties get their mean rank. 1 for fewer than two values.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace stepwise
