// Sorts the printed commands by their program, and writes a script that runs both halves at once.
#include "grader/judge/nvcc_passes.hpp"

#include <algorithm>
#include <cctype>

#include "grader/course/source.hpp"

namespace stepwise {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prompt = "#$ ";
constexpr std::string_view makes_id = " --gen_module_id_file ";
constexpr std::string_view names_id = " --module_id_file_name \"";

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The program's name without folder and quotes: `"$CICC_PATH/cicc" --c++20` is cicc.
std::string_view program_of(std::string_view command) {
  std::string_view word = command.substr(0, command.find(' '));
  if (word.starts_with('"') && word.ends_with('"') && word.size() > 1) {
    word = word.substr(1, word.size() - 2);
  }
  return word.substr(word.find_last_of('/') + 1);  // npos + 1 is 0
}

bool is_assignment(std::string_view line) {
  const auto name = line.substr(0, line.find('='));
  return name.size() < line.size() && !name.empty() &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

// The file after --module_id_file_name; empty if it is not there once.
std::string module_id_of(std::string_view command) {
  const auto at = command.find(names_id);
  if (at == std::string_view::npos || command.rfind(names_id) != at) return {};
  const auto begin = at + names_id.size();
  const auto end = command.find('"', begin);
  return end == std::string_view::npos ? std::string{}
                                       : std::string(command.substr(begin, end - begin));
}

struct sorted_commands {
  std::vector<std::string> device, host;
  std::string last, module_id;
  std::vector<fs::path> rules;
};

// Sorts one command in; false if it is none that is known.
bool sort_in(sorted_commands& to, std::string command, const fs::path& folder) {
  if (!to.last.empty()) return false;  // that was the last one
  const auto program = program_of(command);
  if (has(command, " -E ") && has(command, " -x c++ ")) {
    const fs::path rule = folder / ("headers-" + std::to_string(to.rules.size()) + ".d");
    to.rules.push_back(rule);
    command += " -MMD -MF \"" + rule.string() + "\" -MT headers";
    (has(command, " -D__CUDA_ARCH__=") ? to.device : to.host).push_back(std::move(command));
  } else if (program == "cudafe++") {
    const auto at = command.find(makes_id);
    if (at == std::string::npos || to.host.size() != 1 || !to.module_id.empty()) return false;
    command.replace(at, makes_id.size(), " ");
    to.module_id = module_id_of(command);
    if (to.module_id.empty()) return false;
    to.host.push_back(std::move(command));
  } else if (program == "cicc" || program == "ptxas" || program == "fatbinary") {
    if (program == "cicc" && module_id_of(command).empty()) return false;
    to.device.push_back(std::move(command));
  } else if (has(command, " -c ") && has(command, " -x c++ ")) {
    to.last = std::move(command);
  } else {
    return false;
  }
  return true;
}

// cicc reads the id that cudafe++ reads, and nothing is missing.
bool is_whole(const sorted_commands& c) {
  const auto runs = [&](std::string_view program) {
    return std::count_if(c.device.begin(), c.device.end(), [&](const std::string& command) {
      return program_of(command) == program;
    });
  };
  return !c.last.empty() && c.host.size() == 2 && runs("cicc") > 0 && runs("fatbinary") == 1 &&
         program_of(c.device.back()) == "fatbinary" &&
         std::all_of(c.device.begin(), c.device.end(), [&](const std::string& command) {
           return program_of(command) != "cicc" || module_id_of(command) == c.module_id;
         });
}

std::string script_of(const sorted_commands& c) {
  std::string device;
  for (const auto& command : c.device) device += (device.empty() ? "" : " &&\n") + command;
  return "{ " + device + "\n} >/dev/null 2>&1 & device=$!\n" + c.host[0] + " || exit 1\n" +
         c.host[1] + "\nhost=$?\n" + "if [ $host -gt 0 ] && [ $host -lt 126 ]; then exit " +
         std::to_string(host_half_refused) + "; fi\n" + "[ $host = 0 ] && wait $device && exec " +
         c.last + "\n";
}

}  // namespace

std::optional<nvcc_passes> side_by_side(std::string_view printed, const fs::path& folder) {
  nvcc_passes passes;
  sorted_commands commands;
  for (const std::string& line : split_lines(printed)) {
    if (line.empty()) continue;
    if (!line.starts_with(prompt)) return std::nullopt;
    std::string command = line.substr(prompt.size());
    while (command.ends_with(' ')) command.pop_back();
    if (is_assignment(command)) {
      passes.environment.push_back(std::move(command));
    } else if (!command.starts_with("rm ") && !sort_in(commands, std::move(command), folder)) {
      return std::nullopt;
    }
  }
  if (!is_whole(commands)) return std::nullopt;
  passes.module_id = commands.module_id;
  passes.script = script_of(commands);
  passes.rules = std::move(commands.rules);
  return passes;
}

}  // namespace stepwise
