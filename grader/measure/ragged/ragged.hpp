// Compares a lab's last step with its baselines at random sizes.
//
// idea    A table of round sizes shows no performance cliffs. Sizes are therefore drawn from a
//         seed, uniform in their order of magnitude. A third are odd, a third are multiples of 4
//         but not of 32, and a third are multiples of 32, because most cliffs come from alignment.
//         Steps are not tuned with the seed of a record.
// watch   The worst of K random sizes is no bound, because another draw may find a worse size.
// Tested by measure/tests/ragged_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/formats/json.hpp"
#include "grader/course/lab.hpp"
#include "grader/judge/device_choice.hpp"
#include "grader/measure/alternate.hpp"

namespace stepwise {

inline constexpr std::uint64_t most_ragged = 1000;  // sizes per run

enum class size_class { odd, of_4, of_32 };
std::string_view name_of(size_class c);  // "odd", "of 4", "of 32"
// The class of all numbers whose range starts at 1 or more; numbers that may be 0 select a kind of
// input. of_4: all numbers are multiples of 4, but not all are multiples of 32. nullopt for a size
// of no class.
std::optional<size_class> class_of(const lab& l, const lab_size& size);

// `count` sizes between the two of l.ragged, alternately of each class. The same seed gives the
// same sizes. A number that may be 0 is uniform. Throws failure(usage) if count is not 1 to
// most_ragged or the lab has no range, failure(ours) if the range is too narrow for a class.
std::vector<lab_size> draw_ragged(const lab& l, std::uint64_t count, std::uint64_t seed);

// The same sizes, from small to large, split into runs of `bench`. A run's inputs take less than
// `most_bytes` together, except for a single larger size, and a run has at most `most_sizes` sizes.
// `bytes_of` returns the bytes of a size.
std::vector<std::vector<lab_size>> in_runs(std::vector<lab_size> sizes,
                                           const std::function<double(const lab_size&)>& bytes_of,
                                           double most_bytes, std::size_t most_sizes);

// The last step's result against one baseline at one size.
struct ragged_point {
  lab_size size;
  std::string label;   // "n = 777"
  double amount = 0;   // bytes or operations, as in the lab's rate
  double step_ms = 0;  // median
  double ratio = 0;    // speedup over the baseline, cold L2
  interval range;      // 95 %
};

// The results of all runs against one baseline. Uses pairs if there are any (for a baseline on the
// GPU), otherwise the quotient of the medians, whose interval spans the worst and the best case.
struct ragged_baseline {
  std::string name;
  std::vector<ragged_point> points;
};
std::vector<ragged_baseline> ragged_points(const std::vector<bench_report>& reports);

// Summary of the points of one baseline, or of one class of them.
struct ragged_summary {
  std::size_t sizes = 0;
  double median = 0, worst = 0;
  std::string worst_label;
};

// The record, GPU.ragged.jsonl, with an entry per point.
json ragged_record(const lab& l, const device_choice& device, std::uint64_t seed,
                   std::uint64_t count, const std::vector<ragged_baseline>& baselines,
                   const std::string& date, const std::string& command);

// The output of `lab dev bench --ragged --json`: the record with its method, and its entries as
// `baselines`.
json ragged_json(json record);

// The baselines of a record, each with its `name` and `sizes`.
json baselines_of_ragged(const json& record);

// Summarises one of those baselines for a class of sizes, or for all (""). `sizes` is 0 if nothing
// was measured.
ragged_summary summary_of(const json& baseline, std::string_view of_class = "");

// At most `count` sizes with the smallest ratios, the worst first.
std::vector<json> worst_of(const json& baseline, std::size_t count);

// The section's tables from the records: the median and the worst ratio to each baseline per class,
// and the worst sizes. If nothing is recorded, a sentence that says so.
std::string ragged_markdown(const fs::path& root, const lab& l);

}  // namespace stepwise
