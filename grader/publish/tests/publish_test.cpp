// Tests report formats: the fields that their documentation requires, filled with an attacker's
// texts.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "grader/publish/escape.hpp"
#include "grader/publish/explain.hpp"
#include "grader/publish/formats.hpp"
#include "grader/publish/tests/entries.hpp"
#include "grader/system/failure.hpp"

using namespace stepwise;
using namespace stepwise::publish;

namespace {

// Checks that the text has no control character except line ends, nothing that XML forbids, and no
// workflow command. Valid UTF-8 is the job of escaped_lines.
void check_harmless(const std::string& text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    CHECK((byte >= 0x20 || c == '\n' || c == '\r'));
    CHECK(byte != 0x7f);
    CHECK(byte != 0xff);
  }
  CHECK(text.find("##[") == std::string::npos);
  CHECK(text.find("\xe2\x80\xae") == std::string::npos);
  CHECK(text.find("\xef\xbf\xbf") == std::string::npos);
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    const auto first = text.find_first_not_of(" \t\xe3\x80", begin);  // also skips U+3000
    CHECK(!(first < end && text.compare(first, 2, "::") == 0));
    begin = end + 1;
  }
}

// Reads CSV as RFC 4180 describes it, for our output.
std::vector<std::vector<std::string>> rows_of(const std::string& csv) {
  std::vector<std::vector<std::string>> rows(1, {""});
  bool quoted = false;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    std::string& cell = rows.back().back();
    if (quoted) {
      if (csv[i] != '"') {
        cell += csv[i];
      } else if (i + 1 < csv.size() && csv[i + 1] == '"') {
        cell += csv[i++];
      } else {
        quoted = false;
      }
    } else if (csv[i] == '"') {
      quoted = true;
    } else if (csv[i] == ',') {
      rows.back().emplace_back();
    } else if (csv[i] == '\r') {
      ++i;
      if (i + 1 < csv.size()) rows.push_back({""});
    } else {
      cell += csv[i];
    }
  }
  return rows;
}

// An XML reader that is strict where reports often fail: every element closes, attributes are in
// quotes, and there is no raw "<" or "&". Collects all elements.
struct xml_reader {
  struct element {
    std::string name, parent;
    std::map<std::string, std::string> attributes;
    std::vector<std::string> children;
  };
  std::vector<element> all;

  explicit xml_reader(const std::string& text) {
    std::vector<std::size_t> open;
    std::size_t at = text.find("<testsuites");
    REQUIRE(text.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"));
    while (at < text.size()) {
      if (text[at] != '<') {
        if (text[at] == '&') {
          const std::string entity = text.substr(at, text.find(';', at) + 1 - at);
          CHECK(std::set<std::string>{"&amp;", "&lt;", "&gt;", "&quot;", "&#39;", "&#10;"}.count(
                    entity) == 1);
        }
        ++at;
        continue;
      }
      if (text[at + 1] == '/') {
        const auto end = text.find('>', at);
        REQUIRE(!open.empty());
        CHECK(all[open.back()].name == text.substr(at + 2, end - at - 2));
        open.pop_back();
        at = end + 1;
        continue;
      }
      element e;
      auto end = text.find_first_of(" />", at + 1);
      e.name = text.substr(at + 1, end - at - 1);
      while (text[end] == ' ') {
        const auto equals = text.find("=\"", end), close = text.find('"', equals + 2);
        const std::string value = text.substr(equals + 2, close - equals - 2);
        CHECK(value.find('<') == std::string::npos);
        CHECK(e.attributes.emplace(text.substr(end + 1, equals - end - 1), value).second);
        end = close + 1;
      }
      if (!open.empty()) {
        e.parent = all[open.back()].name;
        all[open.back()].children.push_back(e.name);
      }
      all.push_back(e);
      if (text[end] == '/') {
        ++end;
      } else {
        open.push_back(all.size() - 1);
      }
      REQUIRE(text[end] == '>');
      at = end + 1;
    }
    CHECK(open.empty());
  }
};

std::vector<entry> hostile_entries() {
  return read_entries(
      {entry_json("anna", "PASS"), entry_json(hostile, "WRONG", hostile), infra_json("carl")});
}

}  // namespace

TEST_CASE("each format makes texts harmless in its own way") {
  check_harmless(harmless(hostile) + "\n");
  CHECK(harmless(std::string(100000, 'x')).size() < 500);
  CHECK(harmless_line("a\nb\n") == "a / b");
  CHECK(xml_text("a<b>\n&'\"") == "a&lt;b&gt;&#10;&amp;&#39;&quot;");
  for (const char* formula : {"=1+1",          "+1",        "-1",           "@SUM(A1)",
                              "  =1",          "|x",        "%x",           "\t=1",
                              "::x",           "\uff1d1+1", "\uff0b1",      "\uff0d1",
                              "\uff20SUM(A1)", "\uff5cx",   "\uff05x",      "\uff1ax",
                              "\ufe661",       "\ufe6bx",   "\u22121",      "\u207c1",
                              " \t\uff1d1",    "\u3000=1",  "\u00a0\uff1d1"}) {
    CAPTURE(formula);
    CHECK(csv_cell(formula).starts_with("\"'"));
  }
  CHECK(csv_cell("a \"b\", c") == "\"a \"\"b\"\", c\"");
  for (const char* visible : {"\r=1", "\r\n=1", "\ufeff=1", "\u200b=1", "\0=1"}) {
    CAPTURE(visible);
    CHECK(std::string_view("=+-@").find(csv_cell(visible)[1]) == std::string_view::npos);
  }
  CHECK(csv_cell("1=1") == "\"1=1\"");
  for (const char* plain : {"", " ", "\u3000", "Zo\u00eb", "\u6797", "1\uff1d1", "\U0001f600=1"}) {
    CAPTURE(plain);
    CHECK(csv_cell(plain) == "\"" + std::string(plain) + "\"");
  }
  CHECK(quoted_lines("a\n  ::b", "  ") == "  | a\n  |   : :b\n");
}

TEST_CASE("an entry with missing or malformed parts is read without them") {
  const entry none = read_entry(json());
  CHECK(none.id.empty());
  CHECK(!none.points);
  CHECK(none.goals.empty());
  json wrong = entry_json("a", "PASS");
  wrong["points"] = "many";
  wrong["grade"]["goals"] = "none";
  CHECK(!read_entry(wrong).points);
  CHECK(read_entry(wrong).goals.empty());
  const entry e = read_entry(entry_json("a", "PASS"));
  CHECK(e.best_ratio() == 1.625);
  CHECK(e.goals.at(2).passed == std::nullopt);
  CHECK(points_text(e) == "82.5 of 82.5");
  CHECK(number_text(1e-9) == "0");
  CHECK(number_text(123456789.5) == "123456789.5");
}

TEST_CASE("CSV has one line per entry, the same columns in every line, and no formula") {
  const std::string text = csv(hostile_entries());
  check_harmless(text);
  const auto rows = rows_of(text);
  REQUIRE(rows.size() == 4);
  for (const auto& row : rows) CHECK(row.size() == rows[0].size());
  const auto column = [&](const std::string& name) {
    return static_cast<std::size_t>(std::find(rows[0].begin(), rows[0].end(), name) -
                                    rows[0].begin());
  };
  CHECK(rows[1][column("points")] == "82.5");
  CHECK(rows[1][column("goal: fast")] == "20");
  CHECK(rows[1][column("goal: on a GPU")].empty());
  CHECK(rows[1][column("late_seconds")] == "30");
  CHECK(rows[2][column("id")].starts_with("'="));
  CHECK(rows[2][column("points")] == "0");
  CHECK(rows[3][column("class")] == "INFRA");
  CHECK(rows[3][column("points")].empty());  // never zero
  for (const auto& row : rows)
    for (const auto& cell : row)
      CHECK(std::string("=+-@\t\r").find(cell.empty() ? 'x' : cell[0]) == std::string::npos);
}

// The rules come from windyroad's JUnit.xsd, the strictest of the schemas.
TEST_CASE("JUnit reports follow the strict schema") {
  const std::string text = junit("reduction", hostile_entries());
  check_harmless(text);
  const xml_reader read(text);
  const std::set<std::string> of_suite = {"package", "id",       "name",   "timestamp", "hostname",
                                          "tests",   "failures", "errors", "skipped",   "time"};
  std::size_t suites = 0;
  for (const auto& e : read.all) {
    CAPTURE(e.name);
    if (e.name == "testsuite") {
      CHECK(e.parent == "testsuites");
      for (const auto& name : of_suite) CHECK(e.attributes.count(name) == 1);
      CHECK(e.attributes.size() == of_suite.size());
      CHECK(e.attributes.at("id") == std::to_string(suites++));
      CHECK(e.attributes.at("timestamp") == "2026-11-21T01:02:03");
      CHECK(e.attributes.at("time") == "2.5");
      CHECK(!e.attributes.at("name").empty());
      // The order is properties, test cases, system-out, system-err.
      REQUIRE(e.children.size() >= 3);
      CHECK(e.children.front() == "properties");
      CHECK(e.children[e.children.size() - 2] == "system-out");
      CHECK(e.children.back() == "system-err");
      const auto cases = std::count(e.children.begin(), e.children.end(), "testcase");
      CHECK(cases == std::ssize(e.children) - 3);
      CHECK(e.attributes.at("tests") == std::to_string(cases));
    } else if (e.name == "testcase") {
      CHECK(e.attributes.size() == 3);
      for (const char* name : {"name", "classname", "time"}) CHECK(e.attributes.count(name) == 1);
      CHECK(e.children.size() <= 1);
    } else if (e.name == "failure" || e.name == "error") {
      CHECK(e.parent == "testcase");
      CHECK(e.attributes.count("type") == 1);
      CHECK(e.attributes.count("message") == 1);
      CHECK(e.attributes.size() == 2);
    } else if (e.name == "property") {
      CHECK(e.attributes.size() == 2);
      CHECK(!e.attributes.at("name").empty());
    }
  }
  CHECK(suites == 3);
  const auto suite = [&](std::size_t number) {
    for (const auto& e : read.all)
      if (e.name == "testsuite" && e.attributes.at("id") == std::to_string(number))
        return e.attributes;
    return std::map<std::string, std::string>{};
  };
  CHECK(suite(0)["failures"] == "0");
  CHECK(suite(0)["skipped"] == "1");
  CHECK(suite(1)["failures"] == "2");
  CHECK(suite(2)["errors"] == "1");
  CHECK(suite(2)["failures"] == "0");
}

TEST_CASE("Gradescope's file has the documented fields, and no score if there is none") {
  const json j = parse_json(gradescope(read_entry(entry_json("a", "SLOW", hostile))));
  const std::set<std::string> top = {"score",         "execution_time",     "output",
                                     "output_format", "test_output_format", "test_name_format",
                                     "visibility",    "stdout_visibility",  "extra_data",
                                     "tests",         "leaderboard"};
  for (const auto& [key, value] : j.items()) CHECK(top.count(key) == 1);
  const std::set<std::string> of_test = {"score",       "max_score",  "status",    "name",
                                         "name_format", "number",     "output",    "output_format",
                                         "tags",        "visibility", "extra_data"};
  double sum = 0;
  for (const auto& test : j["tests"]) {
    for (const auto& [key, value] : test.items()) CHECK(of_test.count(key) == 1);
    CHECK(test["score"] <= test["max_score"].get<double>());
    CHECK(test["number"].is_string());
    CHECK(!test.contains("visibility"));  // a hidden test would hide the total
    sum += test["score"].get<double>();
    check_harmless(test["output"].get<std::string>().insert(0, "x"));
  }
  CHECK(sum == j["score"].get<double>());
  CHECK(j["tests"][0]["status"] == "passed");
  CHECK(j["tests"][1]["status"] == "failed");
  CHECK(!j["tests"][2].contains("status"));
  CHECK(j["leaderboard"][0]["order"] == "desc");
  CHECK(j["output"].get<std::string>().find("control group") != std::string::npos);
  CHECK_THROWS_AS(gradescope(read_entry(infra_json("a"))), failure);
}

TEST_CASE("Classroom 50's result has the fields of its schema, in whole points") {
  std::map<std::string, std::string> set = {
      {"CLASSROOM", "cs"},           {"ASSIGNMENT", "reduction"},
      {"USERNAME", "anna"},          {"SUBMISSION_TAG", "submit/2026"},
      {"COMMIT_URL", "https://x/c"}, {"RELEASE_URL", "https://x/r"}};
  const auto variable = [&](const char* name) { return set[name]; };
  const json j = parse_json(classroom50(read_entry(entry_json("a", "SLOW", hostile)), variable));
  const std::set<std::string> fields = {
      "schema",  "classroom", "assignment", "assignment_type", "owner", "submission", "commit",
      "release", "review",    "datetime",   "graded_at",       "score", "max-score",  "tests"};
  for (const auto& [key, value] : j.items()) CHECK(fields.count(key) == 1);
  for (const auto& field : fields) CHECK(j.contains(field));
  CHECK(j["schema"] == "classroom50/result/v1");
  CHECK(j["review"] == "https://x/c");
  CHECK(j["datetime"] == "2026-11-20T23:59:30Z");
  CHECK(j["score"].is_number_integer());
  CHECK(j["score"] == 62);
  CHECK(j["max-score"] == 83);
  CHECK(j["tests"].size() == 2);  // goals that are not graded here are left out
  for (const auto& test : j["tests"]) {
    CHECK(test["passed"].is_boolean());
    CHECK(test["score"] <= test["max-score"].get<int>());
  }
  set.erase("SUBMISSION_TAG");
  CHECK_THROWS_AS(classroom50(read_entry(entry_json("a", "SLOW")), variable), failure);
  set["SUBMISSION_TAG"] = "submit/2026";
  json unknown = entry_json("a", "SLOW");
  unknown["submitted_at"] = nullptr;
  CHECK_THROWS_AS(classroom50(read_entry(unknown), variable), failure);
  CHECK_THROWS_AS(classroom50(read_entry(infra_json("a")), variable), failure);
}

TEST_CASE("Moodle's worksheet has the columns that its importer expects") {
  const auto rows =
      rows_of(moodle(read_entries({entry_json("1234567", "SLOW", hostile), infra_json("99")})));
  REQUIRE(rows.size() == 3);
  const auto column = [&](const std::string& name) {
    const auto found = std::find(rows[0].begin(), rows[0].end(), name);
    REQUIRE(found != rows[0].end());
    return static_cast<std::size_t>(found - rows[0].begin());
  };
  CHECK(rows[1][column("Identifier")] == "Participant 1234567");
  CHECK(rows[1][column("Grade")] == "62.5");
  CHECK(rows[1][column("Last modified (grade)")] == "-");
  CHECK(!rows[1][column("Feedback comments")].empty());
  CHECK(rows[2][column("Grade")].empty());
}

TEST_CASE("JSON and the explanation contain everything that led to the verdict, made harmless") {
  const json j = parse_json(as_json("reduction", {entry_json("a", "WRONG", hostile)}));
  CHECK(j["lab"] == "reduction");
  CHECK(j["entries"][0]["grade"]["seed"] == 271);
  check_harmless("x" + j["entries"][0]["message"].get<std::string>().substr(0, 20));
  CHECK(as_json("reduction", {entry_json("a", "WRONG", hostile)}).find("##[") == std::string::npos);
  const std::string text = explanation(read_entry(entry_json("a", "SLOW", hostile)), "r/f.cu",
                                       "./lab grade", {"grader: now h"});
  check_harmless(text);
  for (const char* part : {"SLOW, 62.5 of 82.5", "seed         271", "toolkit      13.0.88",
                           "1.625x over", "modelled as NVIDIA H200", "differs now  grader: now h",
                           "./lab grade", "late         30 s", "unprotected  control group"}) {
    CAPTURE(part);
    CHECK(text.find(part) != std::string::npos);
  }
}
