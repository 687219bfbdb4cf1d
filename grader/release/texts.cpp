// Filters Markdown, hints and steps.txt for a student copy.
#include "grader/release/texts.hpp"

#include <regex>

#include "grader/course/source.hpp"

namespace stepwise {
namespace {

const char* const no_table =
    "*The table of measurements is not in the student copy: predict the values, then measure "
    "them.*";

bool is_generated(std::string_view line) {
  return line.starts_with("<!-- ") && line.ends_with(":begin -->");
}

// Filters a text's links, `[words](path)` and `![words](path)`, to missing files.
class link_filter {
 public:
  link_filter(const fs::path& file, const copy_files& files)
      : folder_(file.parent_path()), files_(files) {}

  std::string filtered(const std::string& text) const {
    static const std::regex link(R"((!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\))");
    std::string result;
    auto from = text.cbegin();
    for (std::sregex_iterator at(text.begin(), text.end(), link), end; at != end; ++at) {
      result.append(from, text.cbegin() + at->position());
      from = text.cbegin() + at->position() + at->length();
      const bool is_picture = at->length(1) > 0;
      if (leads_somewhere((*at)[3].str()))
        result += at->str();
      else if (!is_picture)
        result += (*at)[2].str();
    }
    return result.append(from, text.cend());
  }

 private:
  bool leads_somewhere(const std::string& target) const {
    const std::string path = target.substr(0, target.find('#'));
    if (path.empty() || path.find(':') != std::string::npos) return true;  // this file, or the web
    fs::path to = (folder_ / path).lexically_normal();
    if (!to.has_filename()) to = to.parent_path();
    return files_.has(to);
  }

  fs::path folder_;
  const copy_files& files_;
};

}  // namespace

std::string student_markdown(std::string_view text, const fs::path& file, const copy_files& files) {
  const link_filter links(file, files);
  std::string result, prose;
  bool in_code = false;
  std::string until;  // the end of an omitted part
  // Links may span lines, so prose is filtered as a whole.
  const auto flush = [&] {
    result += marked_prose(links.filtered(prose), files);
    prose.clear();
  };
  for (const std::string& line : split_lines(text)) {
    if (!until.empty()) {
      if (trimmed(line).ends_with(until)) until.clear();
      continue;
    }
    if (line.starts_with("```")) {
      if (!in_code) flush();
      in_code = !in_code;
      result += line + "\n";
    } else if (in_code) {
      result += marked_code(line, files) + "\n";
    } else if (is_generated(line)) {
      flush();
      until = ":end -->";
      result += std::string(no_table) + "\n";
    } else if (line.starts_with("<!-- checked")) {
      if (!line.ends_with("-->")) until = "-->";
    } else {
      prose += line + "\n";
    }
  }
  flush();
  return result;
}

std::string shorter_hints(std::string_view text, int parts) {
  std::string result;
  int part = 0;
  for (const std::string& line : split_lines(text)) {
    if (line.starts_with("## ")) part = 0;
    if (line.starts_with("### ")) ++part;
    if (part <= parts) result += line + "\n";
  }
  return result;
}

std::string student_steps(const std::vector<step>& steps) {
  std::string result = "# The steps of this lab: name, what it is compared with, -, idea.\n";
  for (const step& s : steps)
    result += s.name + "  " + (s.over.empty() ? "-" : s.over) + "  -  " + s.idea + "\n";
  return result;
}

}  // namespace stepwise
