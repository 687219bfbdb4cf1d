// Journal entries as the grader writes them, and a text that an attacker might use to harm a
// report.
#pragma once

#include <string>

#include "common/formats/json.hpp"

namespace stepwise::publish {

// Escape sequences, NUL, invalid UTF-8, a direction override, XML and a character that XML forbids,
// HTML, CSV, and workflow commands, one of them after an ideographic space.
inline const std::string hostile = std::string("=HYPERLINK(\"http://x\")\x1b[31mred\0nul", 36) +
                                   "\xff\xfe \xe2\x80\xae <script>alert(1)</script> ]]> & ' \" \r\n"
                                   "::error file=x::owned\n  ::add-mask::a\n##[set-env "
                                   "name=A]b\n\xe3\x80\x80::stop-commands::c \xef\xbf\xbf\n";

inline json goal_json(const std::string& name, const json& passed, double points,
                      const std::string& message) {
  return {
      {"name", name},         {"kind", "correct"}, {"points", passed == json(true) ? points : 0.0},
      {"max_points", points}, {"passed", passed},  {"message", message}};
}

inline json entry_json(const std::string& id, const std::string& verdict,
                       const std::string& message = "") {
  json fast = goal_json("fast", verdict == "PASS", 20, "1.6x over 01_naive");
  fast["modelled"] = {{"over", "01_naive"},
                      {"at_least", 1.5},
                      {"ratio", 1.625},
                      {"time_ms", 1.0},
                      {"other_time_ms", 1.625},
                      {"size", json::array({1})},
                      {"modelled_as", "NVIDIA H200"}};
  json grade = {{"lab", "reduction"},
                {"trust", "judged"},
                {"sandbox", json::array({{{"name", "control group"}, {"active", false}}})},
                {"remarks", json::array()},
                {"device", {{"name", "NVIDIA H200"}, {"kind", "emulated"}}},
                {"seed", 271},
                {"key", {{"id", "k"}, {"public", true}}},
                {"hidden_sizes", 4},
                {"hint", {{"number", 2}, {"title", "Fewer threads"}}},
                {"goals", json::array({goal_json("right", verdict != "WRONG", 62.5, message), fast,
                                       goal_json("on a GPU", nullptr, 10, "not graded here")})}};
  return {{"schema", "stepwise/journal/1"},
          {"id", id},
          {"name", "Name of " + id},
          {"file", "reduction.cu"},
          {"submission", "ab12"},
          {"answers", nullptr},
          {"answered", nullptr},
          {"submitted_at", "2026-11-20T23:59:30Z"},
          {"late", true},
          {"late_seconds", 30},
          {"notes", json::array()},
          {"key",
           {{"submission", "ab12"},
            {"lab", "l"},
            {"grader", "g"},
            {"toolkit", "13.0.88"},
            {"device", "emulator as NVIDIA H200"},
            {"key", "k"}}},
          {"class", verdict},
          {"points", verdict == "PASS"    ? 82.5
                     : verdict == "WRONG" ? 0.0
                                          : 62.5},
          {"max_points", 82.5},
          {"message", message},
          {"grade", grade},
          {"attempts", 1},
          {"seconds", 2.5},
          {"peak_bytes", 300000000},
          {"graded_at", "2026-11-21T01:02:03Z"},
          {"host", "grader"}};
}

inline json infra_json(const std::string& id) {
  json e = entry_json(id, "INFRA", "no space left");
  e["points"] = nullptr;
  e["max_points"] = nullptr;
  e["grade"] = nullptr;
  return e;
}

}  // namespace stepwise::publish
