// Reads the table of grader/GLOSSARY.md, which is compiled in, and shows it.
#include "grader/cli/text/glossary.hpp"

#include "grader/cli/text/page.hpp"
#include "grader/course/source.hpp"
#include "grader/system/failure.hpp"

namespace stepwise::cli {
namespace {

// The rows of the one table: "| name | older | ncu | formula | ours |".
std::vector<glossary_entry> read_table() {
  std::vector<glossary_entry> entries;
  for (std::string& row : split_lines(glossary_text)) {
    if (!row.starts_with("| ") || row.starts_with("| metric | ")) continue;
    std::vector<std::string> cells;
    for (std::size_t at = 2, end; (end = row.find(" |", at)) != std::string::npos; at = end + 3)
      cells.push_back(row.substr(at, end - at));
    if (cells.size() != 5) throw failure(exit_code::ours, "GLOSSARY.md: expected 5 cells: " + row);
    if (cells[2] == "none") cells[2].clear();
    entries.push_back({cells[0], cells[1], cells[2], cells[3], cells[4]});
  }
  return entries;
}

}  // namespace

const std::vector<glossary_entry>& glossary() {
  static const std::vector<glossary_entry> entries = read_table();
  return entries;
}

std::vector<std::string> glossary_lines(const terminal_style& style) {
  page p(style);
  for (const glossary_entry& e : glossary()) {
    p.line(style.paint(tone::strong, e.name));
    p.labelled("is     ", e.formula);
    p.labelled("here   ", e.ours);
    p.labelled("older  ", e.older, tone::dim);
    // An ncu name takes nearly the whole line.
    p.labelled("ncu    ", e.ncu.empty() ? "none" : "", tone::dim);
    if (!e.ncu.empty()) p.labelled("  ", e.ncu, tone::dim);
    p.line();
  }
  return p.take();
}

json glossary_json() {
  json all = json::array();
  for (const glossary_entry& e : glossary())
    all.push_back({{"name", e.name},
                   {"older", e.older},
                   {"ncu", e.ncu.empty() ? json(nullptr) : json(e.ncu)},
                   {"formula", e.formula},
                   {"ours", e.ours}});
  return all;
}

}  // namespace stepwise::cli
