// Parses just enough of C++ to find the way past a barrier and the variables without a value.
#include "common/emulator/check/statements.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "common/source_map/source_tokens.hpp"

namespace stepwise::emulator {
namespace {

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

// Code without literals. A token's line is its index in the lines that were joined.
std::vector<source_token> code_in(const std::string& text) {
  auto tokens = tokens_of(text);
  std::erase_if(tokens, [](const source_token& t) {
    return !t.directive.empty() || t.what == source_token::kind::text;
  });
  for (source_token& t : tokens) --t.line;
  return tokens;
}

class reader {
 public:
  reader(const std::vector<std::string>& lines, int barrier)
      : text_(joined(lines)), tokens_(code_in(text_)), barrier_(find_barrier(barrier)) {}

  way_past of(bool leaves_loop) const {
    const auto start = start_of_branch(leaves_loop);
    if (!start) return without_keyword();
    const std::string_view keyword = tokens_[*start].text;
    const bool is_loop = keyword == "for" || keyword == "while" || keyword == "do";
    const std::size_t open = *start + 1, body = after_parentheses(open);
    if (barrier_ > open && barrier_ < body) return way_past::operand;
    return in_or_after(body, is_loop ? way_past::loop : way_past::condition, keyword == "if");
  }

 private:
  // The token of the barrier's call, or the first token on its line if no name is recognised.
  std::size_t find_barrier(int line) const {
    std::size_t found = tokens_.size();
    for (std::size_t n = tokens_.size(); n-- > 0;) {
      if (tokens_[n].line != line) continue;
      found = n;
      if (tokens_[n].text.find("sync") != std::string_view::npos) break;
    }
    return line < 0 ? 0 : found;
  }

  bool is(std::size_t n, std::string_view text) const {
    return n < tokens_.size() && tokens_[n].text == text;
  }

  // The keyword that the branch belongs to: the last one on the branch's line before the barrier.
  std::optional<std::size_t> start_of_branch(bool leaves_loop) const {
    std::optional<std::size_t> loop, other;
    for (std::size_t n = 0; n < tokens_.size() && tokens_[n].line == 0; ++n) {
      if (barrier_ != 0 && n > barrier_) break;
      if (is(n, "for") || is(n, "while") || is(n, "do")) loop = n;
      if (is(n, "if") || is(n, "switch")) other = n;
    }
    // `if (...) break;` also leaves a loop.
    if (leaves_loop && loop && !(other && *other > *loop && jumps(*other))) return loop;
    return other ? other : loop;
  }

  bool jumps(std::size_t keyword) const {
    const std::size_t body = after_parentheses(keyword + 1);
    return jump_in(body, after_statement(body)) != way_past::unknown;
  }

  // The line has no keyword: it continues a condition from the line before, or has an operand.
  way_past without_keyword() const {
    int depth = 0;
    constexpr int none = std::numeric_limits<int>::max();
    int chosen = none;  // the depth of an && before the barrier
    for (std::size_t n = 0; n < tokens_.size(); ++n) {
      if (n == barrier_) return depth >= chosen ? way_past::operand : way_past::unknown;
      if (is(n, "&&") || is(n, "||") || is(n, "?")) chosen = std::min(chosen, depth);
      if (is(n, "(")) ++depth;
      if (is(n, ")") && --depth < 0) return in_or_after(n + 1, way_past::condition, true);
      if (depth < chosen || is(n, ",") || is(n, ";")) chosen = none;
      if (is(n, ";") || is(n, "{")) break;
    }
    return way_past::unknown;
  }

  // `inside` is the answer if the barrier is in the statement that begins at `body`.
  way_past in_or_after(std::size_t body, way_past inside, bool has_else) const {
    std::size_t end = after_statement(body);
    const std::size_t then = end;
    if (has_else && is(end, "else")) end = after_statement(end + 1);
    if (barrier_ != 0 && barrier_ < end) return inside;
    const way_past first = jump_in(body, then);
    if (first != way_past::unknown) return first;
    if (end != then) return jump_in(then, end);
    // The barrier is earlier, in the loop that ends here: do { ... } while (...);
    return barrier_ == 0 ? inside : way_past::unknown;
  }

  way_past jump_in(std::size_t from, std::size_t to) const {
    for (std::size_t n = from; n < to && n < tokens_.size(); ++n) {
      if (is(n, "return")) return way_past::returns;
      if (is(n, "break")) return way_past::breaks;
      if (is(n, "continue")) return way_past::continues;
    }
    return way_past::unknown;
  }

  // The token after the bracket that closes `open`, or `open` itself if no bracket opens there.
  std::size_t after(std::size_t open, std::string_view opens, std::string_view closes) const {
    if (!is(open, opens)) return open;
    int depth = 0;
    for (std::size_t n = open; n < tokens_.size(); ++n) {
      if (is(n, opens)) ++depth;
      if (is(n, closes) && --depth == 0) return n + 1;
    }
    return tokens_.size();
  }
  std::size_t after_parentheses(std::size_t open) const {
    return after(is(open, "constexpr") ? open + 1 : open, "(", ")");
  }

  std::size_t after_statement(std::size_t n) const {
    std::size_t ifs = 0;  // ifs that an else may belong to
    for (;;) {
      if (is(n, "if")) ++ifs;
      if (is(n, "if") || is(n, "for") || is(n, "while") || is(n, "switch")) {
        n = after_parentheses(n + 1);
      } else if (is(n, "else")) {
        ++n;
      } else {
        n = after_plain_statement(n);
        if (ifs == 0 || !is(n, "else")) return n;
        --ifs;
      }
    }
  }

  std::size_t after_plain_statement(std::size_t n) const {
    const bool is_do = is(n, "do");
    if (is_do) ++n;
    if (is(n, "{")) {
      n = after(n, "{", "}");
      if (!is_do) return n;
    }
    while (n < tokens_.size() && !is(n, ";") && !is(n, "}")) {
      const std::size_t inner = after(after(n, "(", ")"), "{", "}");
      n = inner == n ? n + 1 : inner;
    }
    return is(n, ";") ? n + 1 : n;
  }

  std::string text_;
  std::vector<source_token> tokens_;  // in text_
  std::size_t barrier_;               // 0: the barrier is before the branch
};

// Names that are declared, and whether with a value.
class declarations {
 public:
  explicit declarations(const std::vector<source_token>& tokens) : tokens_(tokens) {
    for (std::size_t n = 0; n < tokens_.size(); ++n) {
      if (is_start(n)) in_unset_ = false;
      read(n);
    }
  }
  bool is_unset(std::string_view name) const {
    const auto at = without_value_.find(name);
    return at != without_value_.end() && at->second;
  }

  // Whether a statement before the token `end` assigns to the variable, or to an element of it.
  bool is_assigned(std::string_view name, std::size_t end) const {
    for (std::size_t n = 0; n < end; ++n) {
      if (text(n) != name) continue;
      std::size_t next = n + 1;
      for (int depth = 0; text(next) == "[" || depth > 0; ++next) {
        if (next >= end) return false;
        depth += text(next) == "[" ? 1 : text(next) == "]" ? -1 : 0;
      }
      if (text(next) == "=") return true;
    }
    return false;
  }

 private:
  static bool is_name(const source_token& t) {
    static const std::unordered_set<std::string_view> others = {
        "return", "else",   "goto",   "case",     "delete", "new",    "throw",     "if",
        "for",    "while",  "do",     "switch",   "break",  "extern", "continue",  "using",
        "sizeof", "struct", "static", "template", "class",  "public", "typename",  "operator",
        "union",  "enum",   "and",    "or",       "not",    "using",  "namespace", "__shared__"};
    return t.what == source_token::kind::word && !others.contains(t.text);
  }
  std::string_view text(std::size_t n) const {
    return n < tokens_.size() ? tokens_[n].text : std::string_view();
  }
  bool is_start(std::size_t n) const {
    return n == 0 || text(n - 1) == ";" || text(n - 1) == "{" || text(n - 1) == "}";
  }
  // Whether the statement that holds a token declares static, __shared__ or extern variables. They
  // are not local variables without a value.
  bool is_static(std::size_t n) const {
    for (; !is_start(n); --n)
      if (text(n) == "static" || text(n) == "__shared__" || text(n) == "extern") return true;
    return text(n) == "static" || text(n) == "__shared__" || text(n) == "extern";
  }
  bool begins_type(std::size_t n) const {
    while (n >= 2 && text(n - 1) == ":" && !is_start(n)) n -= n >= 3 && text(n - 2) == ":" ? 3 : 2;
    return is_start(n) || text(n - 1) == "const";
  }
  // Whether the > belongs to the arguments of a type that begins the statement.
  bool ends_type(std::size_t n) const {
    int depth = 0;
    for (;; --n) {
      if (text(n) == ">") ++depth;
      if (text(n) == "<" && --depth == 0) return n > 0 && begins_type(n - 1);
      if (is_start(n)) return false;
    }
  }
  void read(std::size_t n) {
    if (n == 0 || !is_name(tokens_[n])) return;
    const std::string_view before = text(n - 1);
    const bool after_type =
        is_name(tokens_[n - 1]) || (before == ">" && ends_type(n - 1)) ||
        (before == "*" && n > 1 && is_name(tokens_[n - 2]) && begins_type(n - 2));
    const bool next_one = in_unset_ && before == ",";
    if (!after_type && !next_one) return;
    std::size_t end = n + 1;
    while (text(end) == "[") {
      while (end < tokens_.size() && text(end) != "]") ++end;
      ++end;
    }
    // A parameter is followed by a comma, too.
    const bool in_list = text(end) == "," && !next_one && is_parameter(n);
    const bool unset = (text(end) == ";" || text(end) == ",") && !in_list && !is_static(n);
    without_value_[text(n)] = unset;
    in_unset_ = unset && text(end) == ",";
  }
  // Whether a parenthesis is open in the statement so far.
  bool is_parameter(std::size_t n) const {
    int depth = 0;
    for (;; --n) {
      if (text(n) == "(" || text(n) == "<") ++depth;
      if (text(n) == ")" || text(n) == ">") --depth;
      if (is_start(n)) return depth > 0;
    }
  }

  const std::vector<source_token>& tokens_;
  std::unordered_map<std::string_view, bool> without_value_;
  bool in_unset_ = false;  // between the variables of one declaration
};

}  // namespace

std::vector<std::string> unset_names(const std::vector<std::string>& lines, int statement) {
  const std::string text = joined(lines);
  const std::vector<source_token> tokens = code_in(text);
  const auto first =
      std::ranges::find_if(tokens, [&](const source_token& t) { return t.line >= statement; });
  const auto end = std::find_if(first, tokens.end(), [&](const source_token& t) {
    return t.line > statement && (t.text == ";" || t.text == "{" || t.text == "}");
  });
  // Statements on one line are read as one, up to where the last of them ends.
  const bool ends_there = std::any_of(first, end, [&](const source_token& t) {
    return t.line == statement && (t.text == ";" || t.text == "{");
  });
  std::vector<source_token> known(tokens.begin(), end);
  const declarations declared(known);
  std::vector<std::string> names, assigned;
  for (auto t = first; t != end; ++t) {
    if (ends_there && t->line > statement) break;
    if (!declared.is_unset(t->text) || std::ranges::find(names, t->text) != names.end() ||
        std::ranges::find(assigned, t->text) != assigned.end())
      continue;
    const auto before = static_cast<std::size_t>(first - tokens.begin());
    (declared.is_assigned(t->text, before) ? assigned : names).emplace_back(t->text);
  }
  // A variable with an earlier assignment is suspected only if there is no other candidate.
  return names.empty() ? assigned : names;
}

way_past how_past(const std::vector<std::string>& lines, int barrier, bool leaves_loop) {
  return reader(lines, barrier).of(leaves_loop);
}

}  // namespace stepwise::emulator
