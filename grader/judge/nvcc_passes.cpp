// Sorts the printed commands by program, and writes a script that runs them in parallel.
#include "grader/judge/nvcc_passes.hpp"

#include <algorithm>
#include <cctype>

#include "grader/course/source.hpp"
#include "grader/report/text.hpp"

namespace stepwise {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prompt = "#$ ";
constexpr std::string_view makes_id = " --gen_module_id_file ";
constexpr std::string_view names_id = " --module_id_file_name \"";
constexpr std::string_view embeds = " --embedded-fatbin=\"", makes_file = " -o \"";
constexpr std::string_view makes_object = " -c -x c++ ";

// The file that fatbinary writes in CUDA 13, except that the assembler reads the data from `file`.
constexpr std::string_view stand_in_source = R"(#include "fatbinary_section.h"
asm(".section .nv_fatbin, \"a\"\n.align 8\nfatbinData:\n.incbin \"$FILE\"\n.text\n");
extern "C" {
extern const unsigned long long fatbinData[];
static const __fatBinC_Wrapper_t __fatDeviceText
    __attribute__((aligned(8))) __attribute__((section(".nvFatBinSegment"))) = {0x466243b1, 1, fatbinData, 0};
}
)";

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

// The text from `option`, which ends with a quote, to the next quote. Empty unless `option` occurs
// exactly once.
std::string quoted_after(std::string_view command, std::string_view option) {
  const auto at = command.find(option);
  if (at == std::string_view::npos || command.rfind(option) != at) return {};
  const auto begin = at + option.size();
  const auto end = command.find('"', begin);
  return end == std::string_view::npos ? std::string{}
                                       : std::string(command.substr(begin, end - begin));
}
std::string module_id_of(std::string_view command) { return quoted_after(command, names_id); }

// The file that fatbinary makes, next to the file that would embed it.
std::string machine_code(const std::string& embedded) {
  return embedded.substr(0, embedded.size() - 2);
}

struct sorted_commands {
  std::vector<std::string> device, code, host, last;
  std::string module_id, embedded;
  std::vector<fs::path> rules;
};

// Splits a command into two, so that only the second command needs the machine code. Returns false
// if the command is not as expected.
bool compile_then_assemble(sorted_commands& to, std::string command) {
  const std::string object = quoted_after(command, makes_file);
  const auto begin = command.find(makes_object);
  const auto name = command.find(" -");  // after the compiler's own name
  if (object.empty() || !command.ends_with(object + "\"") || begin == std::string::npos)
    return false;
  const std::string text = object + ".s";
  to.last = {"", command.substr(0, name) + " -c \"" + text + "\" -o \"" + object + "\""};
  command.replace(command.size() - object.size() - 1, object.size(), text);
  to.last[0] = command.replace(begin, makes_object.size(), " -S -x c++ ");
  return true;
}

// Adds one command to its list. Returns false if the command is unknown.
bool sort_in(sorted_commands& to, std::string command, const fs::path& folder) {
  if (!to.last.empty()) return false;  // no command is expected after the last one
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
  } else if (program == "cicc") {
    if (module_id_of(command).empty()) return false;
    to.device.push_back(std::move(command));
  } else if (program == "ptxas") {
    to.code.push_back(std::move(command));
  } else if (program == "fatbinary") {
    to.embedded = quoted_after(command, embeds);
    if (!to.embedded.ends_with(".c")) return false;
    const auto at = command.find(embeds);
    command.replace(at, embeds.size() + to.embedded.size() + 1,
                    " --create=\"" + machine_code(to.embedded) + "\"");
    to.code.push_back(std::move(command));
  } else {
    return has(command, makes_object) && compile_then_assemble(to, std::move(command));
  }
  return true;
}

// Whether all commands are present and cicc reads the same id as cudafe++.
bool is_whole(const sorted_commands& c) {
  const auto runs = [](const std::vector<std::string>& commands, std::string_view program) {
    return std::count_if(commands.begin(), commands.end(), [&](const std::string& command) {
      return program_of(command) == program;
    });
  };
  return !c.last.empty() && c.host.size() == 2 && runs(c.device, "cicc") > 0 &&
         runs(c.code, "fatbinary") == 1 && program_of(c.code.back()) == "fatbinary" &&
         std::all_of(c.device.begin(), c.device.end(), [&](const std::string& command) {
           return program_of(command) != "cicc" || module_id_of(command) == c.module_id;
         });
}

std::string one_after_another(const std::vector<std::string>& commands) {
  return "{ " + joined(commands, " &&\n") + "\n} ";
}

std::string script_of(const sorted_commands& c) {
  // The host's passes print the warnings of the front end, too, but only ptxas prints its own.
  return one_after_another(c.device) + ">/dev/null 2>&1 & device=$!\n" + c.host[0] +
         " || exit 1\n" + c.host[1] + "\nhost=$?\n" +
         "if [ $host -gt 0 ] && [ $host -lt 126 ]; then exit " + std::to_string(host_half_refused) +
         "; fi\n" + "[ $host = 0 ] && wait $device || exit 1\n" + one_after_another(c.code) +
         ">/dev/null & code=$!\n" + c.last[0] + " && wait $code && exec " + c.last[1] + "\n";
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
  passes.stand_in = commands.embedded;
  passes.kernels = machine_code(commands.embedded);
  passes.stand_in_text = stand_in_source;
  passes.stand_in_text.replace(passes.stand_in_text.find("$FILE"), 5, passes.kernels);
  passes.script = script_of(commands);
  passes.rules = std::move(commands.rules);
  return passes;
}

}  // namespace stepwise
