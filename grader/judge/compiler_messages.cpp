// Selects warnings, and searches the output for known reasons of a failure.
#include "grader/judge/compiler_messages.hpp"

#include <fmt/core.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>

#include "common/source_map/source_tokens.hpp"
#include "grader/course/source.hpp"
#include "grader/judge/outcomes.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise {
namespace {

constexpr std::size_t most_warnings = 100, longest_warning = 300;
constexpr std::size_t most_read = std::size_t{4} << 20;  // of a file that lacks a function

// A variable that is not used yet: every file that is being written has some.
bool is_about_unused(const diagnostic& d) {
  return d.message.find("was declared but never referenced") != std::string::npos ||
         d.message.find("was set but never used") != std::string::npos;
}

// The signal that ended nvcc, or that ended one of its programs as nvcc reports it: "nvcc error   :
// 'cicc' died due to signal 9 (Kill signal)". 0: none.
int signal_of(const child_result& result) {
  if (result.end.how == child_end::cause::signalled) return result.end.signal;
  constexpr std::string_view before = " died due to signal ";
  for (const std::string& line : split_lines(result.err)) {
    const auto at = line.find(before);
    if (line.starts_with("nvcc error") && at != std::string::npos) {
      return std::atoi(line.c_str() + at + before.size());
    }
  }
  return 0;
}

// The reason why the file does not define the contract's function: "nothing defines reduce(int
// const*, ...".
std::string what_lacks(const std::string& message, const fs::path& file, const lab& l) {
  constexpr std::string_view start = "nothing defines ";
  if (!message.starts_with(start)) return {};
  const std::string symbol = message.substr(start.size());
  const std::string function = symbol.substr(0, symbol.find('('));
  const std::string text = read_bounded(file, most_read).value_or("");
  const auto tokens = tokens_of(text);
  if (tokens.empty()) return "the file is empty; `./lab start " + l.name + "` creates a skeleton";
  const auto named = [&](const source_token& t) { return t.is(function); };
  return std::ranges::any_of(tokens, named)
             ? ""
             : "the file has no function " + function + "(); is it the file of another lab?";
}

// Names the line that uses an undefined function. The message of ptxas has no line:
// "Unresolved extern function 'void multiply_add<96>(...)'".
void locate_undefined(diagnostic& d, const fs::path& file) {
  constexpr std::string_view start = "Unresolved extern function '";
  if (!d.message.starts_with(start)) return;
  std::string name = d.message.substr(start.size());
  name.resize(std::min(name.size(), name.find_first_of("('")));
  name.erase(0, name.find(' ') + 1);  // the result
  const std::string bare = name.substr(name.rfind(':') + 1, name.find('<') - name.rfind(':') - 1);
  d.message = name + "() is declared, but not defined" +
              (name.find('<') == std::string::npos ? "" : " for these template arguments");
  const std::string text = read_bounded(file, most_read).value_or("");
  for (const source_token& t : tokens_of(text)) {
    if (!t.is(bare)) continue;
    d.file = file;
    d.line = static_cast<int>(t.line);
    return;
  }
}

// nvcc's code generator names no line if device code has a type that only the host compiler knows.
std::optional<diagnostic> type_of_the_host(const std::string& log, const fs::path& file) {
  if (log.find("unsupported float variant") == std::string::npos) return {};
  constexpr std::pair<std::string_view, const char*> types[] = {
      {"_Float16", "use __half (#include <cuda_fp16.h>)"},
      {"__fp16", "use __half (#include <cuda_fp16.h>)"},
      {"__bf16", "use __nv_bfloat16 (#include <cuda_bf16.h>)"},
      {"__float128", "use double"},
      {"_Float128", "use double"}};
  const std::string text = read_bounded(file, most_read).value_or("");
  for (const source_token& t : tokens_of(text))
    for (const auto& [name, instead] : types)
      if (t.is(name))
        return diagnostic{file.string(), t.line, 0,
                          "a kernel cannot use " + std::string(name) + ": " + instead,
                          text.substr(t.begin, text.find('\n', t.begin) - t.begin)};
  return {};
}

// ": #include "labs/blur/stages.hpp" is missing" if a header of the lab with device code has the
// function that this message calls undefined.
std::string lab_header_hint(const std::string& message, const lab& l, const fs::path& root,
                            const fs::path& file) {
  constexpr std::string_view start = "identifier \"", end = "\" is undefined";
  if (!message.starts_with(start) || !message.ends_with(end)) return {};
  const std::string name = message.substr(start.size(), message.size() - start.size() - end.size());
  const std::string source = read_bounded(file, most_read).value_or("");
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root / "labs" / l.name, error)) {
    const std::string header = entry.path().filename().string();
    if (!header.ends_with(".hpp") || source.find(header) != std::string::npos) continue;
    const std::string text = read_bounded(entry.path(), most_read).value_or("");
    const auto tokens = tokens_of(text);
    const auto is_device = [](const source_token& t) { return t.is("__device__"); };
    if (std::ranges::none_of(tokens, is_device)) continue;
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i)
      if (tokens[i].is(name) && (tokens[i + 1].is("(") || tokens[i + 1].is("[")))
        return ": #include \"labs/" + l.name + "/" + header + "\" is missing";
  }
  return {};
}

const std::string needed_more_memory = "the compiler needed more memory than its limit";

}  // namespace

std::vector<compiler_warning> warnings_in(const std::string& log, const std::string& shown,
                                          const std::string& source) {
  std::vector<compiler_warning> warnings;
  const auto lines = split_lines(source);
  const auto clean = [](std::string_view text) { return escaped_name(text, longest_warning); };
  for (const diagnostic& d : parse_warnings(log)) {
    const bool of_assembler = d.file.empty() && d.line == 0;
    const bool of_file = d.file == shown && d.line > 0;
    if ((!of_file && !of_assembler) || is_about_unused(d) || warnings.size() == most_warnings)
      continue;
    const auto index = static_cast<std::size_t>(d.line) - 1;
    compiler_warning w{d.line, clean(d.message),
                       index < lines.size() ? clean(trimmed(lines[index])) : std::string{}};
    const bool known = std::any_of(warnings.begin(), warnings.end(), [&](const auto& other) {
      return other.line == w.line && other.message == w.message;
    });
    if (!known) warnings.push_back(std::move(w));
  }
  for (const todo& t : suspicious_statements(source)) {
    const int line = static_cast<int>(t.line);
    const bool known = std::ranges::find(warnings, line, &compiler_warning::line) != warnings.end();
    if (!known && warnings.size() < most_warnings)
      warnings.push_back({line, t.text, clean(trimmed(lines[t.line - 1]))});
  }
  std::ranges::stable_sort(warnings, {}, &compiler_warning::line);
  return warnings;
}

std::string limit_that_ended(const child_result& result, const compile_guards& guards) {
  if (guards.with == nullptr) return {};
  const auto says = [&](std::string_view text) {
    return result.err.find(text) != std::string::npos || result.out.find(text) != std::string::npos;
  };
  if (signal_of(result) == SIGXCPU || says("CPU time limit exceeded")) {
    return "the compiler took too long";
  }
  if (result.end.how == child_end::cause::flooded) return "the compiler printed too much";
  if (signal_of(result) == SIGXFSZ || says("File size limit exceeded") || says("File too large")) {
    return "the compiled program is too large";
  }
  if (result.end.out_of_memory || says("virtual memory exhausted") ||
      says("out of memory allocating") || says("Cannot allocate memory") ||
      says("Killed signal terminated program") || says("std::bad_alloc")) {
    return needed_more_memory + limit_text(guards.memory_bytes);
  }
  return {};
}

compiled explain_failure(const child_result& result, const std::string& log, const lab& l,
                         const installation& where, const quotable& sources,
                         const compile_guards& guards) {
  compiled c;
  c.log = log;
  if (result.end.how == child_end::cause::deadline) {
    c.explanation = {fmt::format("the compiler did not finish within {:g} s", guards.limit_s)};
    return c;
  }
  if (const std::string limit = limit_that_ended(result, guards); !limit.empty()) {
    c.explanation = {limit};
    c.out_of_memory = limit.starts_with(needed_more_memory);
    return c;
  }
  auto errors = parse_diagnostics(c.log);
  if (errors.empty())
    if (auto type = type_of_the_host(c.log, sources.file)) errors.push_back(*std::move(type));
  if (!errors.empty()) {
    locate_undefined(errors[0], sources.file);
    errors[0].message += lab_header_hint(errors[0].message, l, where.root, sources.file);
    c.explanation = explain(errors[0], errors.size(), where, sources);
    if (guards.with != nullptr && errors[0].message.find("No such file") != std::string::npos) {
      std::string alone =
          "a graded file is compiled alone: it may include the contract, common/lab/ and what "
          "the compiler and the toolkit provide";
      if (errors[0].message.find("solutions/") != std::string::npos)
        alone += "; with --practice your own file may include parts of solutions";
      c.explanation.push_back(std::move(alone));
    }
    if (c.log.find("undefined reference") != std::string::npos) {
      if (auto why = what_lacks(errors[0].message, sources.file, l); !why.empty())
        c.explanation.push_back(std::move(why));
      c.explanation.push_back("the contract is labs/" + l.name + "/" + l.contract);
    }
    return c;
  }
  c.explanation = escaped_lines(c.log, 12, 200);
  c.explanation.insert(c.explanation.begin(), "the compiler failed and said:");
  return c;
}

void refuse_what_is_not_the_students_fault(const child_result& result, const fs::path& output) {
  const auto says = [&](std::string_view text) {
    return result.err.find(text) != std::string::npos || result.out.find(text) != std::string::npos;
  };
  if (says("No space left on device") || says("Disk quota exceeded")) {
    throw failure(exit_code::environment, "the disk is full: the compiler cannot write below " +
                                              output.string() +
                                              "; free some space and run it again");
  }
  const int signal = signal_of(result);
  if (signal == SIGKILL || says("Killed signal terminated program") ||
      says("virtual memory exhausted") || says("out of memory allocating") ||
      says("Cannot allocate memory")) {
    throw failure(
        exit_code::environment,
        std::string(
            signal == SIGKILL
                ? "the compiler was killed, which happens when the system runs out of memory"
                : "the compiler ran out of memory") +
            "; close other programs and run it again");
  }
  const bool sent = signal == SIGTERM || signal == SIGHUP || signal == SIGINT || signal == SIGXCPU;
  if (sent || result.end.how == child_end::cause::signalled) {
    throw failure(exit_code::environment,
                  "the compiler was ended by " + signal_text(signal) + "; run it again");
  }
  if (says("gcc: No such file or directory") || says("cc1plus: No such file")) {
    throw failure(exit_code::environment, "nvcc finds no host compiler; install g++");
  }
}

}  // namespace stepwise
