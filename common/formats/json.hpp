// JSON: nlohmann-json, with the keys of an object in the order in which they were added.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

// Release builds also check that const operator[] finds its key. Use at() for data that other
// programs wrote.
#define JSON_ASSERT(is_true) ((is_true) ? void() : std::abort())
#include <nlohmann/json.hpp>

namespace stepwise {

using json = nlohmann::ordered_json;
using json_error = json::exception;

// Thrown for JSON whose values are not the expected ones.
struct malformed_json : json_error {
  explicit malformed_json(const std::string& what) : json_error(0, what.c_str()) {}
};

// Throws json_error with the cause and place. Nesting is limited, because values are written
// recursively.
json parse_json(std::string_view text);
// null if the text is not JSON.
json parse_json_or_null(std::string_view text);
// On one line, or indented. Bytes that are not UTF-8 are replaced.
std::string json_text(const json& value, int indent = -1);

}  // namespace stepwise
