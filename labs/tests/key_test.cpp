// Tests that the answer keys answer exactly the handouts' questions, that each answer has its
// evidence and a common error, and that the figures are those of the records and commands.
#include "labs/tests/key.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "common/testing/skip_case.hpp"
#include "grader/course/answers.hpp"
#include "grader/course/lab.hpp"
#include "grader/course/source.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace {

using namespace stepwise;

fs::path source() { return std::getenv("STEPWISE_SOURCE"); }
fs::path built() { return std::getenv("STEPWISE_BUILD"); }

// Some figures come from the steps' programs.
bool has_programs() {
  const char* nvcc = std::getenv("STEPWISE_NVCC");
  return nvcc != nullptr && *nvcc != '\0';
}

std::string handout_text(const lab& l) { return *whole_handout(source(), l); }

std::vector<key_answer> key_of(const lab& l) {
  const std::string file = "solutions/" + l.name + "/answers.md";
  const auto text = read_if_there(source() / file);
  REQUIRE_MESSAGE(text, "there is no ", file);
  return parse_key(*text, file);
}

std::string refusal(const std::function<void()>& body) {
  try {
    body();
  } catch (const failure& error) {
    return error.what();
  }
  return "no error";
}

// Whether the text has the figure, and not only as a part of a longer number.
bool has_figure(const std::string& text, const std::string& literal) {
  const auto belongs = [](char c) { return (c >= '0' && c <= '9') || c == '.'; };
  for (auto at = text.find(literal); at != std::string::npos; at = text.find(literal, at + 1)) {
    const auto end = at + literal.size();
    const bool begins = at == 0 || !belongs(text[at - 1]);
    const bool ends = end == text.size() || !(text[end] >= '0' && text[end] <= '9');
    if (begins && ends) return true;
  }
  return false;
}

// Joins lines, because a line break may divide a figure.
std::string joined_lines(std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  return text;
}

const std::string small_key = R"(# Key

## A section

### A1 What it takes (2 points)

At least 15.6 us.

*Shown by:* `./lab device`

```checked
2 * 3 ^ 2 + 1 = 19
four() / 8 = 50 %
```

### A2 Why (1 point)

Because.
)";

TEST_CASE("key: headings, points and figures are read") {
  const auto all = parse_key(small_key, "k.md");
  REQUIRE(all.size() == 2);
  CHECK(all[0].id == "A1");
  CHECK(all[0].title == "What it takes");
  CHECK(all[0].section == "A section");
  CHECK(all[0].points == 2);
  REQUIRE(all[0].figures.size() == 2);
  CHECK(all[0].figures[0].expression == "2 * 3 ^ 2 + 1");
  CHECK(all[0].figures[1].literal == "50 %");
  CHECK(all[0].figures[1].where == "k.md:13");
  CHECK(all[1].points == 1);
  const figure_sources sources = {{"four", [](const auto&) { return 4.0; }}};
  for (const auto& f : all[0].figures)
    CHECK(is_rounded(value_of(f.expression, sources, f.where), f.literal, f.where));
}

TEST_CASE("key: malformed lines and unknown names are refused with their line") {
  CHECK(refusal([] { parse_key("### A1 no points\n", "k.md"); }) ==
        "k.md:1: expected \"### ID title (N points)\"");
  CHECK(refusal([] { parse_key("### A1 t (2 marks)\n", "k.md"); }) ==
        "k.md:1: expected \"(N points)\" after the title");
  CHECK(refusal([] { parse_key("### A1 t (2 points)\n```checked\n3\n", "k.md"); }) ==
        "k.md:3: expected \"expression = figure\"");
  CHECK(refusal([] { parse_key("### A1 t (2 points)\n```checked\n1 = 1\n", "k.md"); }) ==
        "k.md: a block of figures has no end");
  const auto value = [](const char* text) { return value_of(text, {}, "k.md:7"); };
  CHECK(value("(1 + 2) * -3 - log2(8) / min(3, 4)") == -10);
  CHECK(refusal([&] { value("clock(3)"); }) ==
        "k.md:7: \"clock(3)\": there is no source \"clock\" of 1 numbers");
  CHECK(refusal([&] { value("2 +"); }).find("expected a number") != std::string::npos);
  CHECK(refusal([&] { value("(2"); }).find("not closed") != std::string::npos);
  CHECK(refusal([&] { value("2 3"); }).find("unexpected \"3\"") != std::string::npos);
  CHECK(refusal([] { is_rounded(1, "3 parsec", "k.md:7"); }) ==
        "k.md:7: \"3 parsec\" is not a number with a known unit");
  CHECK(is_rounded(15.64e-6, "15.6 us", ""));
  CHECK(!is_rounded(15.66e-6, "15.6 us", ""));
}

TEST_CASE("key: sources refuse entries that their records do not have") {
  if (!has_programs()) return skip_case("no nvcc: there is no program to run");
  const auto sources = sources_of(source(), built(), "reduction");
  const auto value = [&](const char* text) { return value_of(text, sources, "k.md:7"); };
  CHECK(value("time(03_sequential, 268435456)") > 0);
  CHECK(value("blocks(256, 40, 0)") == 6);
  for (const char* unknown :
       {"time(03_sequentail, 268435456)", "time(03_sequential, 7)", "time(03_sequential)",
        "part(most)", "gpu(speed)", "ncu(03_sequential, 1000, beauty)", "ptx(03, beauty)",
        "run(03, 64, beauty.requests)", "run(99, 64, launches)"}) {
    CAPTURE(unknown);
    CHECK_THROWS(value(unknown));
  }
}

TEST_CASE("handouts: question ids have the lab's initial and no gaps, and every item has an id") {
  std::set<std::string> initials;
  for (const lab& l : load_labs(built())) {
    CAPTURE(l.name);
    const std::string initial(1, static_cast<char>(l.name[0] - 'a' + 'A'));
    CHECK_MESSAGE(initials.insert(initial).second,
                  "the questions of another lab have this initial");
    const std::string handout = handout_text(l);
    // A question keeps its number when it moves.
    std::set<std::string> ids, due;
    for (const question& q : questions_of(handout)) {
      CHECK_MESSAGE(ids.insert(q.id).second, q.id, " is asked twice");
      due.insert(initial + std::to_string(due.size() + 1));
    }
    for (const std::string& id : due) CHECK_MESSAGE(ids.count(id) == 1, "no question ", id);
    for (const std::string& id : ids)
      CHECK_MESSAGE(due.count(id) == 1, id, " is not the next number");
    bool code = false;
    for (const auto& line : split_lines(handout)) {
      if (line.starts_with("```")) code = !code;
      const auto digits = std::min(line.find_first_not_of("0123456789"), line.size());
      const bool is_item = digits > 0 && line.substr(digits).starts_with(". ");
      CHECK_MESSAGE((code || !is_item), "an item without an id: ", line);
    }
  }
}

TEST_CASE("handouts: the labs have an order, and the main README names them in this order") {
  const std::string readme = *read_if_there(source() / "README.md");
  std::int64_t order = 0;
  std::size_t at = 0;
  for (const lab& l : load_labs(built())) {
    CAPTURE(l.name);
    ++order;
    CHECK_MESSAGE(l.order == order, "`order` in lab.toml is not the next number, ", order);
    const auto named = readme.find("](labs/" + l.name + "/README.md)");
    REQUIRE_MESSAGE(named != std::string::npos, "the main README has no link to the lab's handout");
    CHECK_MESSAGE(named > at, "the main README names a lab with a later `order` before this lab");
    at = named;
  }
}

TEST_CASE("key: it answers the handout's questions, in the same order and sections") {
  std::set<std::string> verbs;
  for (const auto& entry : fs::directory_iterator(source() / "grader/cli/verbs")) {
    std::string name = entry.path().stem();
    std::replace(name.begin(), name.end(), '_', '-');
    verbs.insert(name);
  }
  for (const lab& l : load_labs(built())) {
    CAPTURE(l.name);
    const auto asked = questions_of(handout_text(l));
    const auto answers = key_of(l);
    std::vector<std::string> asked_ids, answered_ids;
    for (const auto& q : asked) asked_ids.push_back(q.section + ": " + q.id);
    for (const auto& a : answers) answered_ids.push_back(a.section + ": " + a.id);
    CHECK(asked_ids == answered_ids);
    for (const auto& a : answers) {
      CAPTURE(a.id);
      CHECK(a.points <= 4);
      const auto shown = a.text.find("*Shown by:* "), common = a.text.find("*Often wrong:* ");
      CHECK_MESSAGE(shown != std::string::npos, "the answer needs \"*Shown by:* \"");
      CHECK_MESSAGE(common != std::string::npos, "the answer needs \"*Often wrong:* \"");
      CHECK_MESSAGE(std::min(shown, common) > 40, "the answer itself has 40 characters or fewer");
      for (auto at = a.text.find("./lab "); at != std::string::npos;
           at = a.text.find("./lab ", at + 1)) {
        const auto begin = at + 6;
        const auto last_word = begin + (a.text.compare(begin, 4, "dev ") == 0 ? 4 : 0);
        const auto end = a.text.find_first_of(" `\n", last_word);
        CHECK_MESSAGE(verbs.count(a.text.substr(last_word, end - last_word)) == 1,
                      a.text.substr(at, end - at), " is not a command");
      }
    }
  }
}

// Checks that the figure is the value of its expression, and is in `text`.
void check_figure(const checked_figure& f, const figure_sources& sources, const std::string& text) {
  double value = 0;
  const std::string error = refusal([&] { value = value_of(f.expression, sources, f.where); });
  CHECK_MESSAGE(error == "no error", f.where, ": ", error);
  if (error != "no error") return;
  CHECK_MESSAGE(is_rounded(value, f.literal, f.where), f.where, ": ", f.expression, " is ", value,
                ", not ", f.literal);
  CHECK_MESSAGE(has_figure(text, f.literal), f.where, ": the text lacks \"", f.literal, "\"");
}

// The text without its comments, and without tables that are generated from records.
std::string typed_text(std::string text) {
  for (const char* begin : {"<!-- checked", "<!-- results:begin", "<!-- limits:begin",
                            "<!-- lectures:begin", "<!-- ragged:begin", "<!-- sweep "}) {
    for (auto at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
      const bool is_table = std::string_view(begin) != "<!-- checked";
      auto end = is_table ? text.find(":end -->", at) : text.find("-->", at);
      REQUIRE_MESSAGE(end != std::string::npos, begin, " has no end");
      text.erase(at, end + (is_table ? 8 : 3) - at);
    }
  }
  return text;
}

TEST_CASE("key: its figures agree with the records and commands") {
  if (!has_programs()) return skip_case("no nvcc: the figures of programs cannot be computed");
  std::size_t figures = 0;
  for (const lab& l : load_labs(built())) {
    const auto sources = sources_of(source(), built(), l.name);
    for (const auto& a : key_of(l)) {
      const std::string text = joined_lines(a.text);
      for (const auto& f : a.figures) check_figure(f, sources, text);
      figures += a.figures.size();
    }
  }
  CHECK(figures > 100);
}

TEST_CASE("handouts: figures in comments agree with the records and commands") {
  if (!has_programs()) return skip_case("no nvcc: the figures of programs cannot be computed");
  std::size_t figures = 0;
  for (const lab& l : load_labs(built())) {
    const auto sources = sources_of(source(), built(), l.name);
    for (const fs::path& file : {l.handout(), l.deeper()}) {
      const auto page = *read_if_there(source() / file);
      const std::string text = joined_lines(typed_text(page));
      for (const auto& f : figures_in_comments(page, file)) {
        check_figure(f, sources, text);
        ++figures;
      }
    }
  }
  CHECK(figures > 20);
}

TEST_CASE("handouts: a core is short, and has the points of its questions but not their results") {
  for (const lab& l : load_labs(built())) {
    CAPTURE(l.name);
    const std::string core = *read_if_there(source() / l.handout());
    CHECK(core.size() <= 15 << 10);
    CHECK_MESSAGE(core.find("](deeper.md") != std::string::npos, "it has no link to deeper.md");
    for (const char* section : {"\n## What is graded\n", "\n**Goal.** ",
                                "\n**Afterwards you can** ", "\n**You need** ", "\n**Time:** "})
      CHECK_MESSAGE(core.find(section) != std::string::npos, "it lacks", section);
    CHECK_MESSAGE(core.find(":begin -->") == std::string::npos,
                  "measured tables belong in deeper.md");
    const auto asked = questions_of(core);
    CHECK(asked.size() >= 5);
    CHECK(asked.size() <= 8);
    const auto answers = key_of(l);
    int total = 0;
    for (const question& q : asked) {
      CAPTURE(q.id);
      const auto answer = std::find_if(answers.begin(), answers.end(),
                                       [&](const key_answer& a) { return a.id == q.id; });
      REQUIRE(answer != answers.end());
      total += answer->points;
      const std::string points =
          "(" + std::to_string(answer->points) + (answer->points == 1 ? " point)" : " points)");
      CHECK_MESSAGE(q.lines.front().starts_with(points), "the key gives ", points);
      for (const auto& f : answer->figures) {
        // A number without a unit may belong to something else.
        const bool is_result = f.literal.find(' ') != std::string::npos;
        for (const char* kind : {"time(", "warm(", "part(", "run(", "line(", "ncu(", "swept("})
          if (is_result && f.expression.find(kind) != std::string::npos)
            CHECK_MESSAGE(!has_figure(joined_lines(core), f.literal), "its result, ", f.literal,
                          ", is in the core");
      }
    }
    const std::string sum = "questions are worth another " + std::to_string(total) + " points";
    CHECK_MESSAGE(joined_lines(core).find(sum) != std::string::npos, "it does not say: ", sum);
  }
}

}  // namespace
