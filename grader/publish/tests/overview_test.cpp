// Checks that the page has the expected contents, is well formed, and shows students' texts without
// markup.
#include "grader/publish/overview.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "grader/publish/figures.hpp"
#include "grader/publish/tests/entries.hpp"

using namespace stepwise;
using namespace stepwise::publish;

namespace {

overview_parts parts() {
  overview_parts p;
  p.lab = "reduction";
  p.title = "Parallel reduction";
  p.salt = "s";
  p.entries = read_entries(
      {entry_json("anna", "PASS"), entry_json(hostile, "WRONG", hostile), infra_json("carl")});
  p.alike.pairs = {{"anna", hostile, 0.75, 30, false}};
  p.alike.to_steps = {{"anna", "03_step", 0.9, 40, false}};
  p.questions = {{"R1", "How long?", "15.7 us", {{hostile, hostile}}}};
  p.hints = {{"fast", "Fewer threads"}};
  p.left_out = {hostile};
  p.without_verdict = 2;
  return p;
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("every element is closed, there are no scripts, and no student's text is markup") {
  const std::string page = overview(parts());
  CHECK(page.find("<script") == std::string::npos);
  CHECK(page.find("javascript:") == std::string::npos);
  CHECK(page.find("http://x") != std::string::npos);  // it is shown as text
  CHECK(page.find("href=\"http") == std::string::npos);
  CHECK(page.find("src=") == std::string::npos);
  CHECK(page.find("default-src 'none'") != std::string::npos);
  for (const char* name : {"section", "table", "tr", "td", "details", "summary", "figure", "svg",
                           "pre", "div", "ul", "li", "main", "header", "nav", "h2", "h3", "h4"}) {
    CAPTURE(name);
    const std::string tag = name;
    CHECK(count(page, "<" + tag + ">") + count(page, "<" + tag + " ") ==
          count(page, "</" + tag + ">"));
  }
  // Every link target exists exactly once.
  for (auto at = page.find("href=\"#"); at != std::string::npos;
       at = page.find("href=\"#", at + 1)) {
    const std::string id = page.substr(at + 7, page.find('"', at + 7) - at - 7);
    CAPTURE(id);
    CHECK(count(page, "id=\"" + id + "\"") == 1);
  }
  for (const char c : page) CHECK((static_cast<unsigned char>(c) >= 0x20 || c == '\n'));
}

TEST_CASE("the page shows classes, goals with hints, pairs, and answers next to the key") {
  const std::string page = overview(parts());
  for (const char* what : {"5 submissions, 2 with points, 2 not graded yet; 1 for manual review",
                           "Fewer threads", "75 %", "03_step", "15.7 us", "(1 answered)",
                           "82.5 of 82.5", "no points", "goal 1.5x", "(modelled)"}) {
    CAPTURE(what);
    CHECK(page.find(what) != std::string::npos);
  }
  // The leaderboard has no names.
  const auto board = page.find("Speedup</th>");
  const std::string rows = page.substr(board, page.find("</section>", board) - board);
  CHECK(rows.find("anna") == std::string::npos);
  CHECK(rows.find(pseudonyms({"anna", hostile, "carl"}, "s").at("anna")) != std::string::npos);
}

TEST_CASE("pseudonyms are stable for a salt, all different, and independent of the order of ids") {
  std::vector<std::string> ids;
  for (int i = 0; i < 700; ++i) ids.push_back("s" + std::to_string(1000 + i));
  const auto names = pseudonyms(ids, "a");
  std::set<std::string> all;
  for (const auto& [id, name] : names) all.insert(name);
  CHECK(all.size() == 700);
  CHECK(pseudonyms(ids, "a") == names);
  CHECK(pseudonyms(ids, "b") != names);
  std::reverse(ids.begin(), ids.end());
  CHECK(pseudonyms(ids, "a") == names);
}

TEST_CASE("a chart counts every value, whatever their range") {
  for (const auto& values : {std::vector<double>{1}, std::vector<double>{2, 2, 2},
                             std::vector<double>{0, 1e9}, std::vector<double>{0, 0, 0}}) {
    std::size_t sum = 0;
    const std::string svg = distribution_svg(values, 0, "", "x");
    for (auto at = svg.find("text-anchor=\"middle\">"); at != std::string::npos;
         at = svg.find("text-anchor=\"middle\">", at + 1))
      sum += std::stoul(svg.substr(at + 21));
    CHECK(sum == values.size());
    CHECK(svg.find("nan") == std::string::npos);
  }
  CHECK(distribution_svg({}, 1, "", "x").empty());
}
