// Files of measurements: their names, and how they are read and written.
//
// idea    `lab dev bench --record` writes solutions/LAB/measured/GPU.jsonl. A record of another
//         kind is GPU.KIND.jsonl: counters, guided, limits, modelled, profiles, ragged or sweeps.
//         common/formats/json_lines.hpp describes the format, and grader/JSON.md the fields.
#pragma once

#include <string_view>

#include "common/formats/json_lines.hpp"
#include "grader/course/lab.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise {

// The path of a record, relative to the root.
fs::path record_file(const lab& l, std::string_view device_name, std::string_view kind = "");

// Returns the result of `read` for the record. Throws failure(ours) if the file is malformed or
// lacks a field that `read` needs.
template <class Read>
auto read_record(const fs::path& file, Read read) {
  const std::string text = read_file(file, static_cast<int>(exit_code::ours));
  try {
    return read(parse_json_lines(text));
  } catch (const json_error& error) {
    throw failure(exit_code::ours, file.string() + " is malformed: " + error.what());
  }
}

void write_record(const fs::path& file, const json& record);

}  // namespace stepwise
