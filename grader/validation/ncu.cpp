// Finds and runs ncu, reads its CSV by column titles, and recognises its error messages.
#include "grader/validation/ncu.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>

#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"
#include "grader/system/process.hpp"

namespace stepwise {
namespace {

constexpr double most_ncu_seconds = 600;  // per program: ncu runs every kernel many times

// The fields of a line of CSV with quoted fields only. Empty for any other line.
std::vector<std::string> quoted_fields(std::string_view line) {
  std::vector<std::string> fields;
  std::size_t at = 0;
  while (at < line.size() && line[at] == '"') {
    std::string field;
    for (++at; at < line.size(); ++at) {
      if (line[at] != '"') {
        field += line[at];
      } else if (at + 1 < line.size() && line[at + 1] == '"') {
        field += line[++at];  // a doubled quote is one quote
      } else {
        break;
      }
    }
    if (at >= line.size()) return {};  // incomplete line
    fields.push_back(std::move(field));
    if (++at < line.size() && line[at] == ',') ++at;
  }
  return at == line.size() ? fields : std::vector<std::string>{};
}

// "1,048,576", "12.5"
std::optional<double> number_in(std::string text) {
  std::erase(text, ',');
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "(256, 1, 1)"
extent extent_in(const std::string& text) {
  unsigned x = 0, y = 0, z = 0;
  if (std::sscanf(text.c_str(), "(%u, %u, %u)", &x, &y, &z) != 3) {
    throw failure(exit_code::environment, "ncu's output has \"" + text + "\" in place of a size");
  }
  return {x, y, z};
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

ncu_launch launch_of(const std::vector<std::string>& titles,
                     const std::vector<std::string>& fields) {
  ncu_launch launch;
  for (std::size_t i = 0; i < titles.size(); ++i) {
    if (titles[i] == "Kernel Name") {
      launch.mangled = fields[i];
    } else if (titles[i] == "Grid Size") {
      launch.grid = extent_in(fields[i]);
    } else if (titles[i] == "Block Size") {
      launch.block = extent_in(fields[i]);
    } else if (const auto value = number_in(fields[i])) {
      launch.metrics[titles[i]] = *value;
    }
  }
  return launch;
}

}  // namespace

std::vector<ncu_launch> parse_ncu_page(std::string_view text) {
  std::vector<std::string> titles;
  std::vector<ncu_launch> launches;
  bool units_follow = false;
  for (const std::string_view line : lines_of(text)) {
    if (!line.starts_with('"')) continue;
    const auto fields = quoted_fields(line);
    if (titles.empty()) {
      const auto has = [&](const char* title) {
        return std::find(fields.begin(), fields.end(), title) != fields.end();
      };
      if (!has("Kernel Name") || !has("Grid Size") || !has("Block Size")) continue;
      titles = fields;
      units_follow = true;
    } else if (fields.size() != titles.size()) {
      throw failure(
          exit_code::environment,
          fmt::format(
              "a line of ncu's output has {} fields, expected {}: the output may be truncated",
              fields.size(), titles.size()));
    } else if (!std::exchange(units_follow, false)) {
      launches.push_back(launch_of(titles, fields));
    }
  }
  return launches;
}

std::string ncu_trouble(std::string_view text) {
  const auto says = [&](std::string_view part) { return text.find(part) != text.npos; };
  if (says("ERR_NVGPUCTRPERM")) {
    return "ncu is not permitted to read this GPU's counters (ERR_NVGPUCTRPERM)\nrun as root, or "
           "ask an administrator to set NVreg_RestrictProfilingToAdminUsers=0 for the nvidia "
           "module";
  }
  for (const std::string_view line : lines_of(text)) {
    if (line.starts_with("==ERROR==")) return "ncu: " + std::string(line.substr(10));
  }
  if (says("No kernels were profiled")) return "ncu saw no kernel";
  return {};
}

std::string find_ncu() {
  for (const char* const place : {"ncu", "/usr/local/cuda/bin/ncu"}) {
    if (const std::string found = on_path(place); !found.empty()) return found;
  }
  throw failure(exit_code::environment,
                "ncu (Nsight Compute) was not found\ninstall it with the CUDA toolkit "
                "(nsight-compute), and add its folder to PATH");
}

std::string ncu_version(const std::string& ncu) {
  child_options options;
  options.command = {ncu, "--version"};
  const auto result = run_child(options, 60);
  const auto at = result.out.find("Version ");
  if (at == std::string::npos) return {};
  const auto start = at + 8;
  return result.out.substr(start, result.out.find_first_of(" \n", start) - start);
}

namespace {

// The page that ncu prints from its report.
std::string printed_page(const std::string& ncu, const fs::path& report,
                         const std::vector<std::string>& page, const activity& now) {
  const fs::path to = report.parent_path() / "page.csv";
  child_options options;
  options.command = {ncu, "--import", report.string(), "--csv", "--log-file", to.string()};
  options.command.insert(options.command.end(), page.begin(), page.end());
  options.tick = now.tick;
  const auto result = run_child(options, most_ncu_seconds);
  if (!result.end.ok())
    throw failure(exit_code::environment,
                  "ncu cannot read its own report: " + (result.out + result.err).substr(0, 400));
  return read_if_there(to).value_or("");
}

}  // namespace

std::vector<ncu_launch> run_under_ncu(const std::string& ncu,
                                      const std::vector<std::string>& command,
                                      const device_choice& device,
                                      const std::vector<std::string>& metrics, const activity& now,
                                      ncu_lines lines) {
  const temporary_folder folder(fs::temp_directory_path());
  const fs::path log = folder.path() / "log", report = folder.path() / "report.ncu-rep";
  const std::string list = joined(metrics, ",");
  child_options options;
  options.command = {ncu,        "--clock-control", "none",       "--metrics",
                     list,       "--log-file",      log.string(), "--force-overwrite",
                     "--export", report.string()};
  if (lines == ncu_lines::counted)
    for (const char* word : {"--section", "SourceCounters", "--import-source", "yes"})
      options.command.emplace_back(word);
  options.command.insert(options.command.end(), command.begin(), command.end());
  options.environment = device.environment();
  options.tick = now.tick;
  const auto result = run_child(options, most_ncu_seconds);
  const std::string said = read_if_there(log).value_or("") + result.out + result.err;
  if (const std::string trouble = ncu_trouble(said); !trouble.empty())
    throw failure(exit_code::environment, trouble);
  if (!result.end.ok()) {
    throw failure(exit_code::environment,
                  fmt::format("the program failed under ncu ({}): {}",
                              result.end.how == child_end::cause::deadline
                                  ? "it took too long"
                                  : fmt::format("exit code {}", result.end.exit_code),
                              result.err.substr(0, 400)));
  }
  std::vector<ncu_launch> launches = parse_ncu_page(printed_page(
      ncu, report, {"--page", "raw", "--print-units", "base", "--print-kernel-base", "mangled"},
      now));
  if (lines == ncu_lines::left_out) return launches;
  auto by_launch = parse_ncu_source(
      printed_page(ncu, report, {"--page", "source", "--print-source", "cuda,sass"}, now));
  // A program without line tables has no lines. Otherwise, each launch has some.
  if (by_launch.size() == launches.size())
    for (std::size_t n = 0; n < launches.size(); ++n) launches[n].lines = std::move(by_launch[n]);
  return launches;
}

}  // namespace stepwise
