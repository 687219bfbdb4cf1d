// Recorded measurements, solutions/<lab>/measured/<gpu>.jsonl, and the README's table made of them.
//
// idea    A speed in a text comes from a record, a record from `lab dev bench --record`. The table
// is
//         written between two markers, and a test checks that it is what the records say.
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

// An entry for each step and peer at each size, then one for each duel. The head names the CPU if a
// peer was measured on it.
json record_of(const lab& l, const device_choice& device, const std::vector<bench_row>& rows,
               const duels& fought, const std::string& date, const std::string& command);

// The same figures as `lab dev bench --json` prints them, with rates and the method.
json bench_json(const lab& l, const device_choice& device, const std::vector<bench_row>& rows,
                const duels& fought, const std::string& date, const std::string& command);

// The peers among the rows, as `lab dev bench --json` prints them; and the CPU of this machine.
json peers_json(const lab& l, const std::vector<bench_row>& rows);
json cpu_json();

// The lab's peers that the older record has and that are not among `peers`: what replaces the
// record would be without them.
std::vector<std::string> peers_lost(const json& older, const lab& l,
                                    const std::vector<contender>& peers);

// The entry of a step or peer at this size; null if it was not measured there.
const json* measured_at(const json& record, const std::string& name, const json& size);
// "4312 GB/s": the rate with a cold L2 of such an entry.
std::string recorded_rate(const json& entry);

// The record's last step at each of its sizes.
std::vector<json> entries_of_last_step(const json& record);
// "n = 1000": the size of an entry. The seed of its inputs is left out.
std::string recorded_size(const json& entry);

// The Markdown between the markers of solutions/README.md: one table per lab and GPU at the largest
// size at which no recorded step was too slow, cold L2.
std::string results_markdown(const fs::path& root, const std::vector<lab>& labs);

// The same of the main README: of each lab the fastest step at that size, beside the first step and
// the peers.
std::string winners_markdown(const fs::path& root, const std::vector<lab>& labs);

// The same of a lab's deeper.md: all recorded sizes, and the last step against its peers.
std::string handout_markdown(const fs::path& root, const lab& l);

// Records of every GPU, or of the first one of known_gpus() that has any: the course's own.
enum class records_of { every_gpu, first_gpu };

// The text that `table` makes of each record of a lab, of this kind (records/record_file.hpp).
std::string of_records(const fs::path& root, const lab& l, std::string_view kind,
                       const std::function<std::string(const lab&, const json&)>& table,
                       records_of which = records_of::every_gpu);

// "(cold L2; 2026-11-22, driver 580.159.04, `./lab dev bench matmul`)": where a table's figures
// come from. The record has `date`, `driver`, `command`, and optionally `cpu`, which is then named,
// too.
std::string source_of(const json& record);

// `readme` with the text between the two markers <!-- MARK:begin --> and <!-- MARK:end -->
// replaced; failure(ours) if they are missing.
std::string with_results(const std::string& readme, const std::string& results,
                         std::string_view mark = "results");

}  // namespace stepwise
