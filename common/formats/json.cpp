#include "common/formats/json.hpp"

namespace stepwise {

json parse_json(std::string_view text) {
  constexpr int most_depth = 200;
  return json::parse(text, [](int depth, json::parse_event_t, const json&) {
    if (depth > most_depth) throw malformed_json("nested too deeply");
    return true;
  });
}

json parse_json_or_null(std::string_view text) {
  try {
    return parse_json(text);
  } catch (const json_error&) {
    return nullptr;
  }
}

std::string json_text(const json& value, int indent) {
  return value.dump(indent, ' ', false, json::error_handler_t::replace);
}

}  // namespace stepwise
