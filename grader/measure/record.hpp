// Recorded measurements, solutions/<lab>/measured/<gpu>.jsonl, and the README's tables of them.
//
// idea    Every speed in a text comes from a record, and every record from `lab dev bench
//         --record`. The table is written between two markers, and a test checks that the table
//         agrees with the records.
// Tested by tests/measure_test.cpp.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "grader/course/lab.hpp"
#include "grader/judge/device_choice.hpp"
#include "grader/measure/alternate.hpp"
#include "grader/measure/records/record_file.hpp"

namespace stepwise {

// The head of every record of measurements: the lab, the GPU, the date and the command.
json record_head(const lab& l, const device_choice& device, const std::string& date,
                 const std::string& command);

// An entry per step and baseline at each size, and then an entry per duel. The head names the CPU
// if a baseline was measured on it.
json record_of(const lab& l, const device_choice& device, const std::vector<bench_row>& rows,
               const duels& fought, const std::string& date, const std::string& command);

// The same figures as `lab dev bench --json` prints them, with rates and the method.
json bench_json(const lab& l, const device_choice& device, const std::vector<bench_row>& rows,
                const duels& fought, const std::string& date, const std::string& command);

// The baselines among the rows, as `lab dev bench --json` prints them, and this machine's CPU.
json baselines_json(const lab& l, const std::vector<bench_row>& rows);
json cpu_json();

// The lab's baselines that the older record has and that are not in `baselines`. The new record
// would lose them.
std::vector<std::string> baselines_lost(const json& older, const lab& l,
                                        const std::vector<contender>& baselines);

// The entry of a step or baseline at this size. Null if it was not measured at this size.
const json* measured_at(const json& record, const std::string& name, const json& size);
// The rate of such an entry with a cold L2: "4312 GB/s".
std::string recorded_rate(const json& entry);

// The record's last step that may help, at each of its sizes.
std::vector<json> entries_of_last_step(const lab& l, const json& record);
// The size of an entry, without the seed of its inputs: "n = 1000".
std::string recorded_size(const json& entry);

// The Markdown between the markers of solutions/README.md: one table per lab, of its first GPU, at
// the largest size at which no recorded step was too slow, cold L2.
std::string results_markdown(const fs::path& root, const std::vector<lab>& labs);

// The main README's table: each lab's fastest step at that size, next to the first step and the
// baselines.
std::string winners_markdown(const fs::path& root, const std::vector<lab>& labs);

// The table of a lab's deeper.md: all recorded sizes, and the last step against its baselines.
std::string handout_markdown(const fs::path& root, const lab& l);

// The table of a lab's results.md: energy at the last size, for every GPU. "" if no energy was
// measured.
std::string energy_markdown(const fs::path& root, const lab& l);

// Records of every GPU, or of the first one of known_gpus() with any, which is the course's own.
enum class records_of { every_gpu, first_gpu };

// The texts that `table` makes from a lab's records of this kind (records/record_file.hpp).
std::string of_records(const fs::path& root, const lab& l, std::string_view kind,
                       const std::function<std::string(const lab&, const json&)>& table,
                       records_of which = records_of::every_gpu);

// "(cold L2; 2026-11-22, driver 580.159.04, `./lab dev bench matmul`)": the origin of a table's
// figures. The record has `date`, `driver`, `command` and optionally `cpu`, which the text then
// names.
std::string source_of(const json& record);

// `readme` with the text between the markers <!-- MARK:begin --> and <!-- MARK:end --> replaced.
// Throws failure(ours) if the markers are missing.
std::string with_results(const std::string& readme, const std::string& results,
                         std::string_view mark = "results");

}  // namespace stepwise
