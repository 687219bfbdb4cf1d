// Recorded measurements, solutions/<lab>/measured/<gpu>.json, and the README's table made of them.
//
// idea    A speed in a text comes from a record, a record from `lab bench --record`. The table is
//         written between two markers, and a test checks that it is what the records say.
// Tested by tests/measure_test.cpp.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "grader/course/lab.hpp"
#include "grader/measure/alternate.hpp"

namespace stepwise {

// "NVIDIA H200" -> "h200", "NVIDIA GeForce RTX 4090" -> "geforce-rtx-4090".
std::string gpu_file_name(std::string_view device_name);

// `cpu` is there if a peer was measured on it: its name, and how many threads computed.
nlohmann::ordered_json record_of(const lab& l, const device_choice& device,
                                 const std::vector<bench_row>& rows, const duels& fought,
                                 const std::string& date, const std::string& command);

// The peers among the rows, as a record has them; and the CPU of this machine.
nlohmann::ordered_json peers_json(const lab& l, const std::vector<bench_row>& rows);
nlohmann::ordered_json cpu_json();

// The Markdown between the markers of the main README: one table per lab and GPU at the largest
// size at which no recorded step was too slow, cold L2.
std::string results_markdown(const fs::path& root, const std::vector<lab>& labs);

// The same of a lab's handout: all recorded sizes, and the last step against its peers.
std::string handout_markdown(const fs::path& root, const lab& l);

// `readme` with the text between the markers replaced; failure(ours) if the markers are missing.
std::string with_results(const std::string& readme, const std::string& results);

}  // namespace stepwise
