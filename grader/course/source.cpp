// Splits the text into lines, reads the header, and replaces or removes the regions.
#include "grader/course/source.hpp"

#include <algorithm>

#include "common/source_map/source_tokens.hpp"
#include "grader/system/failure.hpp"

namespace stepwise {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

namespace {

constexpr std::string_view region_begin = "//> todo:";
constexpr std::string_view region_end = "//<";

bool begins_region(std::string_view line) { return trimmed(line).starts_with(region_begin); }
bool ends_region(std::string_view line) { return trimmed(line) == region_end; }

// The text after "// ".
std::string_view comment_of(std::string_view line) {
  line.remove_prefix(2);
  if (line.starts_with(' ')) line.remove_prefix(1);
  return line;
}

// The name of the field that starts in a header line, or empty. A name starts in the comment's
// first column and its text in the ninth. Continuation lines have spaces instead of a name.
std::string_view field_begun_by(std::string_view line) {
  const auto name_end = line.find(' ');
  const bool begins = !line.starts_with(' ') && name_end != std::string_view::npos &&
                      name_end < 8 && line.size() > 8 && line[7] == ' ' && line[8] != ' ' &&
                      trimmed(line.substr(0, 8)).find(' ') == std::string_view::npos;
  return begins ? line.substr(0, name_end) : std::string_view();
}

// A result of measuring the step. Students who write the step should find this result themselves.
bool is_result(std::string_view field) { return field == "watch" || field == "gain"; }

}  // namespace

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::size_t header_lines(const std::vector<std::string>& lines) {
  std::size_t count = 0;
  while (count < lines.size() && lines[count].starts_with("//")) ++count;
  return count;
}

std::map<std::string, std::string> header_fields(std::string_view text) {
  const auto lines = split_lines(text);
  std::map<std::string, std::string> fields;
  std::string field;
  for (std::size_t i = 0; i < header_lines(lines); ++i) {
    const std::string_view line = comment_of(lines[i]);
    if (trimmed(line).empty()) continue;
    if (const auto name = field_begun_by(line); !name.empty()) {
      field = name;
      fields[field] = trimmed(line.substr(8));
    } else if (fields.empty()) {
      const auto colon = line.find(": ");
      fields[""] = trimmed(colon == std::string_view::npos ? line : line.substr(colon + 2));
    } else {
      fields[field] += " " + std::string(trimmed(line));
    }
  }
  return fields;
}

clean_source without_markers(std::string_view text) {
  clean_source clean;
  int number = 0;
  for (auto& line : split_lines(text)) {
    ++number;
    if (begins_region(line) || ends_region(line)) continue;
    clean.lines.push_back(std::move(line));
    clean.numbers.push_back(number);
  }
  return clean;
}

std::string derive_skeleton(std::string_view text, const std::string& origin) {
  std::string skeleton = "// Generated from " + origin + " by lab start.\n";
  const auto fail = [&](std::size_t line, const std::string& what) {
    throw failure(exit_code::ours, origin + ":" + std::to_string(line) + ": " + what);
  };
  std::size_t opened = 0;  // the open region's line, from 1
  std::size_t regions = 0;
  const auto lines = split_lines(text);
  const std::size_t header = header_lines(lines);
  bool left_out = false;  // the line's header field is omitted
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    if (i < header && !begins_region(line) && !ends_region(line)) {
      const std::string_view comment = comment_of(line);
      if (const auto name = field_begun_by(comment); !name.empty()) left_out = is_result(name);
      if (!left_out) skeleton += line + "\n";
    } else if (begins_region(line)) {
      if (opened != 0)
        fail(i + 1, "//> inside the region that starts in line " + std::to_string(opened));
      opened = i + 1;
      ++regions;
      const auto marker = line.find(region_begin);
      skeleton +=
          line.substr(0, marker) + "// TODO: " +
          std::string(trimmed(std::string_view(line).substr(marker + region_begin.size()))) + "\n";
    } else if (ends_region(line)) {
      if (opened == 0) fail(i + 1, "//< without a //> todo: before it");
      opened = 0;
    } else if (opened == 0) {
      skeleton += line + "\n";
    }
  }
  if (opened != 0) fail(opened, "//> todo: without a //< after it");
  if (regions == 0) fail(1, "the step has no //> todo: region, so it has no skeleton");
  return skeleton;
}

std::vector<todo> find_todos(std::string_view text) {
  constexpr std::string_view mark = "// TODO: ";
  std::vector<todo> todos;
  const auto lines = split_lines(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto line = trimmed(lines[i]);
    if (line.starts_with(mark)) todos.push_back({i + 1, std::string(line.substr(mark.size()))});
  }
  return todos;
}

namespace {

using tokens = std::vector<source_token>;

// The index after the bracket that closes the bracket at `open`, or the end if no bracket does.
std::size_t after_bracket(const tokens& all, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < all.size(); ++i) {
    if (all[i].is("(") || all[i].is("[")) ++depth;
    if ((all[i].is(")") || all[i].is("]")) && --depth == 0) return i + 1;
  }
  return all.size();
}

// Whether `if (` at `open` continues with a variable, an element or a member, and then with "=". A
// declaration, `if (int i = n)`, has another word there.
bool assigns(const tokens& all, std::size_t open) {
  std::size_t i = open + 1;
  if (i >= all.size() || all[i].what != source_token::kind::word) return false;
  for (++i; i < all.size() && !all[i].is("=");) {
    if (all[i].is("["))
      i = after_bracket(all, i);
    else if (all[i].is("."))
      i += 2;
    else
      return false;
  }
  return i < all.size();
}

// The column of a token, from 0.
std::size_t column_of(std::string_view source, const source_token& t) {
  return t.begin - (source.substr(0, t.begin).rfind('\n') + 1);
}

}  // namespace

std::vector<todo> suspicious_statements(std::string_view source) {
  std::vector<todo> found;
  const tokens all = tokens_of(source);
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    if (!all[i].directive.empty() || !all[i + 1].is("(")) continue;
    const auto line = static_cast<std::size_t>(all[i].line);
    if (all[i].is("if") && assigns(all, i + 1)) found.push_back({line, "= assigns, == compares"});
    if (!all[i].is("for")) continue;
    const std::size_t end = after_bracket(all, i + 1);
    if (end + 1 >= all.size() || !all[end].is(";")) continue;
    const source_token& next = all[end + 1];
    const bool is_indented =
        next.line > all[end].line && column_of(source, next) > column_of(source, all[i]);
    if (next.is("{") || is_indented)
      found.push_back({line, "a `;` ends the loop here, so what follows is executed once"});
  }
  return found;
}

std::vector<std::string> refused_when_graded(std::string_view text, bool may_copy_to_host) {
  struct feature {
    std::string_view word, name;
  };
  static constexpr feature features[] = {
      {"cudaCreateTextureObject", "texture objects"},
      {"cudaCreateSurfaceObject", "surface objects"},
      {"cudaMallocManaged", "managed memory"},
      {"__managed__", "managed memory"},
      {"cudaHostGetDevicePointer", "mapped memory"},
      {"cudaLaunchHostFunc", "host callbacks"},
      {"cudaStreamAddCallback", "host callbacks"},
      {"cudaGraphLaunch", "graphs"},
  };
  std::vector<std::string> names;
  for (const std::string_view word : {"cudaMemcpyDeviceToHost", "cudaMemcpyFromSymbol"}) {
    if (may_copy_to_host || text.find(word) == std::string_view::npos) continue;
    names.emplace_back("copies to the host");
    break;
  }
  for (const auto& [word, name] : features) {
    if (text.find(word) != std::string_view::npos &&
        std::find(names.begin(), names.end(), name) == names.end())
      names.emplace_back(name);
  }
  return names;
}

}  // namespace stepwise
