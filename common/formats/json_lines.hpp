// Records of measurements as JSON Lines: the first line is the head, each other line an entry.
//
// idea    An entry holds what was measured. The facts that follow from its size, such as the label
//         and the bytes of a call, are written once per size, on a line of their own:
//         {"describes":[1000],"label":"n = 1000, seed 7","bytes":4004.0}. In memory, a record is
//         one object: the fields of the head, and "entries", each with the facts of its "size".
//         slides/builder/records.py reads the same files.
// tests   tests/json_lines_test.cpp
#pragma once

#include <string>
#include <string_view>

#include "common/formats/json.hpp"

namespace stepwise {

// Throws json_error, which names the malformed line.
json parse_json_lines(std::string_view text);

std::string json_lines_text(const json& record);

}  // namespace stepwise
