// Runs the loader with --list, and reads a library from each line.
#include "grader/system/loader.hpp"

#include <sstream>

#include "grader/system/failure.hpp"
#include "grader/system/process.hpp"

namespace stepwise {
namespace {

// "\tNAME => FILE (0x7f...)", "\tNAME => not found" or "\tFILE (0x7f...)".
std::optional<loaded_library> parse_line(const std::string& line) {
  if (line.empty() || line[0] != '\t') return {};
  const std::string text = line.substr(1, line.rfind(" (0x") - 1);
  const auto arrow = text.find(" => ");
  if (arrow == std::string::npos) return loaded_library{text, text};
  const std::string file = text.substr(arrow + 4);
  return loaded_library{text.substr(0, arrow), file == "not found" ? fs::path{} : fs::path(file)};
}

}  // namespace

std::optional<std::vector<loaded_library>> libraries_of(
    const fs::path& program, const std::string& interpreter,
    const std::vector<std::string>& environment) {
  if (!fs::path(interpreter).filename().string().starts_with("ld-linux")) return {};
  constexpr double patience_s = 20;  // libraries on a slow network disk
  child_options list;
  list.command = {interpreter, program.string()};
  list.environment = environment;
  list.environment.push_back("LD_TRACE_LOADED_OBJECTS=1");
  list.keep_bytes = 1 << 20;
  child_result answer;
  try {
    answer = run_child(list, patience_s);
  } catch (const failure&) {
    return {};  // no such loader: starting the program reports this
  }
  if (answer.end.how != child_end::cause::exited) return {};
  std::vector<loaded_library> libraries;
  std::istringstream lines(answer.out);
  for (std::string line; std::getline(lines, line);) {
    if (const auto library = parse_line(line)) libraries.push_back(*library);
  }
  if (libraries.empty()) return {};
  return libraries;
}

fs::path find_library(const std::string& name, const fs::path& program,
                      const std::string& interpreter, const std::vector<fs::path>& folders) {
  const auto libraries = libraries_of(program, interpreter, {});
  for (const auto& library : libraries.value_or(std::vector<loaded_library>{}))
    if (library.name == name && !library.file.empty()) return library.file;
  std::error_code none;
  for (const fs::path& folder : folders)
    if (fs::exists(folder / name, none)) return folder / name;
  return {};
}

}  // namespace stepwise
