// JUnit's XML in its strictest form, which every reader accepts.
#include <fmt/core.h>

#include "grader/publish/escape.hpp"
#include "grader/publish/formats.hpp"

namespace stepwise::publish {
namespace {

bool is_error(const entry& e) { return e.verdict == "INFRA" || e.verdict == "REFUSED"; }

std::string token(std::string_view text) {
  const std::string safe = xml_text(harmless_line(text, 200), 1, 200);
  return safe.empty() ? "unknown" : safe;
}

std::string property(const char* name, const std::string& value) {
  return fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", name,
                     xml_text(harmless_line(value, 400), 1, 400));
}

std::string open_case(const std::string& lab, const entry& e, const std::string& name) {
  return fmt::format("    <testcase name=\"{}\" classname=\"{}.{}\" time=\"0\"", token(name),
                     token(lab), token(e.id));
}

std::string finding(const char* what, const std::string& type, const std::string& message) {
  return fmt::format(">\n      <{0} message=\"{1}\" type=\"{2}\">{3}</{0}>\n    </testcase>\n",
                     what, xml_text(harmless_line(message, 300), 1, 300), token(type),
                     xml_text(message));
}

}  // namespace

std::string junit(const std::string& lab, const std::vector<entry>& all) {
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  int number = 0;
  for (const auto& e : all) {
    int tests = 0, failures = 0, errors = 0, skipped = 0;
    std::string cases;
    if (is_error(e) || e.goals.empty()) {
      ++tests, ++errors;
      cases += open_case(lab, e, "grading") + finding("error", e.verdict, e.message);
    }
    for (const auto& g : e.goals) {
      if (is_error(e)) break;
      ++tests;
      cases += open_case(lab, e, g.name);
      if (!g.passed) {
        ++skipped;
        cases += fmt::format(">\n      <skipped message=\"{}\"/>\n    </testcase>\n",
                             xml_text(harmless_line(g.message, 300), 1, 300));
      } else if (!*g.passed) {
        ++failures;
        cases += finding("failure", e.verdict, g.message);
      } else {
        cases += "/>\n";
      }
    }
    // The schema has no time zone; it is UTC.
    const std::string when =
        e.graded_at.size() == 20 ? e.graded_at.substr(0, 19) : "1970-01-01T00:00:00";
    text += fmt::format(
        "  <testsuite package=\"{}\" id=\"{}\" name=\"{}\" timestamp=\"{}\" hostname=\"{}\" "
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{}\">\n    "
        "<properties>\n",
        token(lab), number++, token(e.id), token(when),
        token(e.host.empty() ? "localhost" : e.host), tests, failures, errors, skipped,
        number_text(e.seconds));
    text += property("class", e.verdict);
    if (e.points) text += property("points", number_text(*e.points));
    if (e.max_points) text += property("max_points", number_text(*e.max_points));
    if (e.seed) text += property("seed", *e.seed);
    text += property("device", e.device);
    text += "    </properties>\n" + cases;
    text += "    <system-out>" + xml_text(feedback(e)) + "</system-out>\n";
    text += "    <system-err/>\n  </testsuite>\n";
  }
  return text + "</testsuites>\n";
}

}  // namespace stepwise::publish
