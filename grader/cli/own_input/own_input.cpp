// Refuses files that cannot be read or written, makes the call, and shows the outcome.
#include "grader/cli/own_input/own_input.hpp"

#include <errno.h>
#include <fmt/core.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>

#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"

namespace stepwise::cli {
namespace {

[[noreturn]] void refuse_option(const std::string& option, const fs::path& file,
                                const std::string& why, exit_code code = exit_code::usage) {
  throw failure(code, fmt::format("{} {}: {}", option, file.string(), why));
}

void check_folder(const std::string& option, const fs::path& named, const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    refuse_option(option, named, "there is no folder " + folder.string());
  }
  if (::access(folder.c_str(), W_OK) != 0) {
    refuse_option(option, named, "cannot write in " + folder.string() + ": " + strerror(errno),
                  exit_code::environment);
  }
}

// The text as one line, escaped and truncated.
std::string on_a_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return escaped_lines(text, 1, 300).at(0);
}

}  // namespace

std::string read_input(const fs::path& file) {
  constexpr std::uintmax_t most_bytes = 0x7fffffff;
  std::error_code ignored;
  if (fs::is_regular_file(file, ignored) && fs::file_size(file, ignored) > most_bytes) {
    throw failure(exit_code::usage,
                  "cannot read " + file.string() + ": it has more than 2^31 bytes");
  }
  return read_file(file, static_cast<int>(exit_code::usage));
}

void refuse_own_input(const context& c, const lab& l, const std::string& kind,
                      const std::string& what) {
  std::string others;
  for (const auto& other : load_labs(c.where.build))
    if (other.own_input == kind) others += (others.empty() ? "" : ", ") + other.name;
  throw failure(exit_code::usage,
                fmt::format("--{}: the lab {} does not accept {}; these labs do: {}", kind, l.name,
                            what, others));
}

void check_target(const std::string& option, const fs::path& file, const fs::path& input) {
  check_folder(option, file, fs::absolute(file).parent_path());
  std::error_code ignored;
  if (fs::equivalent(file, input, ignored)) {
    refuse_option(option, file, "this is the input file, which the command does not overwrite");
  }
  if (fs::is_directory(file, ignored)) refuse_option(option, file, "it is a folder");
  if (fs::exists(file, ignored) && !fs::is_regular_file(file, ignored)) {
    refuse_option(option, file, "it exists, and is not a regular file");
  }
}

void check_target_folder(const std::string& option, const fs::path& folder) {
  std::error_code ignored;
  if (fs::exists(folder, ignored)) {
    if (!fs::is_directory(folder, ignored)) refuse_option(option, folder, "it is not a folder");
    check_folder(option, folder, folder);
  } else {
    const fs::path whole = fs::absolute(folder).lexically_normal();
    const bool ends_in_slash = whole.filename().empty();
    check_folder(option, folder, (ends_in_slash ? whole.parent_path() : whole).parent_path());
  }
}

one_call_report call_program(context& c, const lab& l, const problem& p, const subject& s,
                             const device_choice& device, const problem_call& call,
                             const lab_size& size) {
  double largest = 0;
  for (const auto& check : l.check) largest = std::max(largest, p.work(check).operations);
  const double times = largest > 0 ? p.work(size).operations / largest : 1;
  return check_one_call(l, p, s.program, device, call, times, c.now());
}

json own_input_document(const lab& l, const subject& s, const device_choice& device) {
  return {{"lab", l.name},
          {"subject", s.shown},
          {"device", device_json(device)},
          {"figures", nullptr},
          {"written", json::array()}};
}

void complete(json& document, const check_report& report, const std::vector<fs::path>& written) {
  document.update(check_json(report));
  document["seed"] = nullptr;
  document["printed"] = report.printed;
  for (const auto& file : written) document["written"].push_back(file.string());
}

void show_own_result(context& c, const lab& l, const subject& s, const problem_call& call,
                     const check_report& report, const std::vector<remark>& remarks,
                     const std::vector<fs::path>& written) {
  if (report.correct()) {
    c.say(fmt::format("  {}  {}", c.out.paint(tone::good, "correct"), on_a_line(call.label)));
  } else {
    show_finding(c, report);
    show_todos(c, l, s.shown);
    c.say();
  }
  const auto row = [&](const std::string& mark, tone t, const std::string& text) {
    const std::string padding(mark.size() < 9 ? 9 - mark.size() : 1, ' ');
    c.say("  " + c.out.paint(t, mark) + padding + text);
  };
  for (const auto& one : remarks) row(one.mark, tone::note, one.text);
  for (const auto& file : written) row("wrote", tone::dim, on_a_line(file.string()));
  show_printed(c, report.printed);
}

}  // namespace stepwise::cli
