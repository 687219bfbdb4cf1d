// Finds metrics by their names, and lays out their values.
#include "grader/cli/profile/metrics_text.hpp"

#include <fmt/format.h>

#include <cmath>

#include "common/report/profile_text.hpp"
#include "grader/cli/text/page.hpp"
#include "grader/course/lab.hpp"
#include "grader/system/failure.hpp"

namespace stepwise::cli {
namespace {

// Whole numbers and values of at least 1000 have no decimals; other values have 4 significant
// digits.
std::string value_text(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) return fmt::format("{:.0f}", value);
  return std::abs(value) >= 1000 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

std::string with_unit(double value, const std::string& unit) {
  if (unit.empty() && value == std::floor(value) && value >= 0)
    return grouped(static_cast<std::uint64_t>(value));
  if (unit == "bytes") return bytes_text(value);
  return value_text(value) + (unit.empty() ? "" : " " + unit);
}

std::string all_of(const extent& e) { return fmt::format("{}x{}x{}", e.x, e.y, e.z); }

[[noreturn]] void refuse_metric(const std::string& name) {
  const std::string lists = "\n`./lab profile --metrics list` lists all metrics";
  if (const std::string why = why_no_metric(name); !why.empty())
    throw failure(exit_code::usage, fmt::format("--metrics: {}: {}{}", name, why, lists));
  std::vector<std::string> names;
  for (const metric& m : all_metrics())
    for (const std::string* one : {&m.name, &m.older, &m.ncu})
      if (!one->empty()) names.push_back(*one);
  const std::string near = nearest(name, names);
  throw failure(exit_code::usage,
                fmt::format("--metrics: there is no metric \"{}\"{}{}", name,
                            near.empty() ? "" : "; did you mean \"" + near + "\"?", lists));
}

}  // namespace

std::vector<wanted_metric> wanted_metrics(const std::vector<std::string>& names) {
  std::vector<wanted_metric> wanted;
  for (const std::string& given : names) {
    const auto first = given.find_first_not_of(' ');
    if (first == std::string::npos) continue;
    const std::string name = given.substr(first, given.find_last_not_of(' ') + 1 - first);
    const metric* const found = find_metric(name);
    if (found == nullptr) refuse_metric(name);
    wanted.push_back({name, found});
  }
  if (wanted.empty())
    throw failure(
        exit_code::usage,
        "--metrics: name at least one metric; `./lab profile --metrics list` lists them all");
  return wanted;
}

std::vector<std::string> metric_lines(const std::vector<kernel_analysis>& kernels,
                                      const std::vector<wanted_metric>& wanted,
                                      const terminal_style& style) {
  page p(style);
  for (const kernel_analysis& a : kernels) {
    if (&a != &kernels.front()) p.line();
    p.line(style.paint(tone::strong, a.kernel->kernel) +
           fmt::format("  grid {}, block {}, {} launch{}", all_of(a.kernel->grid),
                       all_of(a.kernel->block), grouped(a.kernel->launches),
                       a.kernel->launches == 1 ? "" : "es"));
    std::vector<std::vector<cell>> rows;
    for (const wanted_metric& m : wanted) {
      const auto value = m.what->of(a);
      rows.push_back({{m.name},
                      {value ? with_unit(*value, m.what->unit) : "none", tone::strong},
                      {m.what->what, tone::dim}});
    }
    p.table({{"metric"}, {"value", true}, {"description", false, true, true}}, rows);
  }
  return p.take();
}

std::vector<std::string> metric_csv(const std::vector<kernel_analysis>& kernels,
                                    const std::vector<wanted_metric>& wanted) {
  std::string names = "kernel,grid,block,launches";
  for (const wanted_metric& m : wanted)
    names += "," + m.name + (m.what->unit.empty() ? "" : " (" + m.what->unit + ")");
  std::vector<std::string> lines = {names};
  for (const kernel_analysis& a : kernels) {
    std::string name;
    for (const char c : a.kernel->kernel) name += c == '"' ? "\"\"" : std::string(1, c);
    std::string line = fmt::format("\"{}\",{},{},{}", name, all_of(a.kernel->grid),
                                   all_of(a.kernel->block), a.kernel->launches);
    for (const wanted_metric& m : wanted) {
      const auto value = m.what->of(a);
      line += "," + (value ? value_text(*value) : "");
    }
    lines.push_back(line);
  }
  return lines;
}

json metric_json(const std::vector<kernel_analysis>& kernels,
                 const std::vector<wanted_metric>& wanted) {
  json all = json::array();
  for (const kernel_analysis& a : kernels) {
    json values = json::array();
    for (const wanted_metric& m : wanted) {
      const auto value = m.what->of(a);
      values.push_back({{"metric", m.name},
                        {"value", value ? json(*value) : json(nullptr)},
                        {"unit", m.what->unit}});
    }
    all.push_back({{"kernel", a.kernel->kernel},
                   {"grid", {a.kernel->grid.x, a.kernel->grid.y, a.kernel->grid.z}},
                   {"block", {a.kernel->block.x, a.kernel->block.y, a.kernel->block.z}},
                   {"launches", a.kernel->launches},
                   {"values", std::move(values)}});
  }
  return all;
}

std::vector<std::string> metric_list(const terminal_style& style) {
  page p(style);
  for (const metric& m : all_metrics()) {
    const std::string unit = m.unit.empty() ? "" : " [" + m.unit + "]";
    const std::string other = m.older.empty() ? "" : "; nvprof: " + m.older;
    p.labelled(fmt::format("{:<28}  ", m.name), m.what + unit + other);
  }
  p.line();
  p.paragraph("You can also use the names of nvprof and ncu: see ./lab profile --glossary.",
              tone::dim);
  return p.take();
}

json metric_list_json() {
  json all = json::array();
  for (const metric& m : all_metrics())
    all.push_back({{"metric", m.name},
                   {"older", m.older.empty() ? json(nullptr) : json(m.older)},
                   {"ncu", m.ncu.empty() ? json(nullptr) : json(m.ncu)},
                   {"unit", m.unit},
                   {"formula", m.what}});
  return all;
}

}  // namespace stepwise::cli
