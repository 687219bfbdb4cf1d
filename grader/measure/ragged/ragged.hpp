// How a lab's last step does at random sizes, compared with its peers.
//
// idea    A table of round sizes shows no cliff. So sizes are drawn from a seed: evenly by their
//         order of magnitude, a third of them odd, a third multiples of 4 and not of 32, a third
//         multiples of 32, since alignment is what most cliffs come from. Steps are not tuned with
//         the seed of a record.
// watch   The worst of K draws is no bound: other draws may find a worse one.
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

inline constexpr std::uint64_t most_ragged = 1000;  // sizes of one run

enum class size_class { odd, of_4, of_32 };
std::string_view name_of(size_class c);  // "odd", "of 4", "of 32"
// By all numbers that the lab's range has from 1 on; those that may be 0 are kinds of inputs.
// of_4: not all are multiples of 32, but of 4. nullopt for a size of none of the three.
std::optional<size_class> class_of(const lab& l, const lab_size& size);

// `count` sizes between l.ragged's two, in turn of each class; the same for the same seed. A number
// that may be 0 is drawn evenly. failure(usage) if count is not 1 to most_ragged or the lab has no
// range, failure(ours) if the range is too narrow for a class.
std::vector<lab_size> draw_ragged(const lab& l, std::uint64_t count, std::uint64_t seed);

// The same sizes, small before large, in runs of `bench`: what its programs' inputs take together
// stays below `most_bytes`, except for a single size that takes more, and they are at most
// `most_sizes`. `bytes_of`: of a size.
std::vector<std::vector<lab_size>> in_runs(std::vector<lab_size> sizes,
                                           const std::function<double(const lab_size&)>& bytes_of,
                                           double most_bytes, std::size_t most_sizes);

// How the last step did against one peer at one size.
struct ragged_point {
  lab_size size;
  std::string label;   // "n = 777"
  double amount = 0;   // bytes or operations, whatever the lab's rate counts
  double step_ms = 0;  // median
  double ratio = 0;    // times as fast as the peer, cold L2
  interval range;      // 95 %
};

// From the reports of all runs: against each peer, by its name. Pairs where there are any (a peer
// on the GPU), else the quotient of the medians, with the interval of the worst and the best case.
struct ragged_peer {
  std::string name;
  std::vector<ragged_point> points;
};
std::vector<ragged_peer> ragged_points(const std::vector<bench_report>& reports);

// What a record says of one peer's points, or of one class of them.
struct ragged_summary {
  std::size_t sizes = 0;
  double median = 0, worst = 0;
  std::string worst_label;
};

// The record, GPU.ragged.jsonl: an entry for each point.
json ragged_record(const lab& l, const device_choice& device, std::uint64_t seed,
                   std::uint64_t count, const std::vector<ragged_peer>& peers,
                   const std::string& date, const std::string& command);

// What `lab dev bench --ragged --json` prints: the record with its method, and its entries as
// `peers`.
json ragged_json(json record);

// The peers of a record, each with its `name` and `sizes`.
json peers_of_ragged(const json& record);

// Summarises one of those peers for a class of sizes, or for all (""). `sizes` is 0 if nothing was
// measured.
ragged_summary summary_of(const json& peer, std::string_view of_class = "");

// The sizes with the smallest ratios, the worst first; at most `count`.
std::vector<json> worst_of(const json& peer, std::size_t count);

// The section's tables from the records: against each peer median and worst, of each class, and the
// worst sizes. A sentence where nothing is recorded.
std::string ragged_markdown(const fs::path& root, const lab& l);

}  // namespace stepwise
