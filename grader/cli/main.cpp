// The `lab` program: runs the requested command and reports errors to people and scripts.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <new>

#include "grader/cli/command_line.hpp"
#include "grader/cli/context.hpp"
#include "grader/course/source.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/signals.hpp"

namespace stepwise::cli {
namespace {

void print_document(const json& document) {
  std::fputs((json_text(document, 2) + "\n").c_str(), stdout);
  std::fflush(stdout);
}

// Prints "lab: what\n     more" on stderr, or the one document on stdout. On a terminal, no line is
// wider than the terminal.
int report_failure(const failure& error, bool as_json, const terminal_style& style) {
  const std::string message = error.what();
  if (message.empty()) return static_cast<int>(error.code());
  if (as_json) {
    print_document({{"error", message}, {"exit_code", static_cast<int>(error.code())}});
    return static_cast<int>(error.code());
  }
  const std::string indent = "     ";
  const auto room = static_cast<std::size_t>(style.width) - indent.size();
  std::string text;
  for (const std::string& line : split_lines(message)) {
    const bool fits = isatty(STDERR_FILENO) == 0 || display_width(line) <= room;
    for (const std::string& piece : fits ? std::vector{line} : wrapped(line, room))
      text += indent + piece + "\n";
  }
  text.replace(0, indent.size(), style.paint(tone::bad, "lab:") + " ");
  std::fputs(text.c_str(), stderr);
  return static_cast<int>(error.code());
}

device_request parse_device(const std::string& text) {
  if (text == "auto") return device_request::automatic;
  if (text == "gpu") return device_request::gpu;
  if (text == "emulated") return device_request::emulated;
  throw failure(exit_code::usage, "--device " + text + ": expected auto, gpu or emulated");
}

// The words for `lab`, and the words after `exec` that belong to another program. The words of the
// other program start at the first word that is not an option, or after "--".
struct split_words {
  std::vector<std::string> ours, program;
};

split_words split(const command_line& line, int argc, char** argv) {
  split_words words{{argv + 1, argv + argc}, {}};
  const auto verbs = line.verbs();
  const auto exec = std::ranges::find(verbs, "exec", &known_verb::name);
  if (exec == verbs.end()) return words;
  const auto takes_value = [&](const std::string& word) {
    return std::ranges::any_of(exec->options, [&](const known_option& o) {
      return o.takes_value && std::ranges::find(o.names, word) != o.names.end();
    });
  };
  bool after_exec = false;
  for (auto word = words.ours.begin(); word != words.ours.end(); ++word) {
    if (takes_value(*word) && word + 1 != words.ours.end()) {
      ++word;
    } else if (*word == "--" || !word->starts_with('-')) {
      if (after_exec) {
        words.program.assign(word + (*word == "--" ? 1 : 0), words.ours.end());
        words.ours.erase(word, words.ours.end());
        break;
      }
      if (*word != "exec") break;
      after_exec = true;
    }
  }
  return words;
}

int print_help(const command_line& line, bool as_json) {
  if (!as_json) {
    std::fputs(line.help().c_str(), stdout);
    return 0;
  }
  json document = {{"help", line.help()}, {"commands", json::array()}};
  for (const verb* v : all_verbs()) {
    const char* const group = v->place.of == verb_place::group::dev ? "dev " : "";
    document["commands"].push_back({{"name", group + v->name}, {"description", v->what}});
  }
  print_document(document);
  return 0;
}

int print_version(bool as_json) {
  const std::string version = load_own_installation().version;
  if (as_json) {
    print_document({{"version", version}});
  } else {
    std::fputs(("lab " + version + "\n").c_str(), stdout);
  }
  return 0;
}

int run_command(const command_line& line, const split_words& words) {
  const global_options& globals = line.globals();
  context c{load_own_installation(),
            globals.json,
            globals.no_color,
            parse_device(globals.device),
            output(detect_style(STDOUT_FILENO, !globals.no_color)),
            progress(true),
            words.ours,
            words.program};
  return line.action()(c);
}

}  // namespace

int lab_main(int argc, char** argv) {
  command_line line;
  const split_words words = split(line, argc, argv);
  const std::vector<std::string>& arguments = words.ours;
  // Looked up before parsing, which may fail: --json promises a document even then.
  const bool as_json = std::count(arguments.begin(), arguments.end(), "--json") > 0;
  const bool plain = std::count(arguments.begin(), arguments.end(), "--no-color") > 0;
  const terminal_style style = detect_style(STDERR_FILENO, !plain);
  install_signal_handlers();
  try {
    line.parse(arguments);
    if (line.asks_for_version()) return print_version(as_json);
    if (!line.action()) return print_help(line, as_json);
    return run_command(line, words);
  } catch (const failure& error) {
    return report_failure(error, as_json, style);
  } catch (const std::bad_alloc&) {
    return report_failure(failure(exit_code::environment, "out of memory; choose a smaller --size"),
                          as_json, style);
  } catch (const std::exception& error) {
    return report_failure(
        failure(exit_code::ours, std::string("internal error: ") + error.what() +
                                     "\nPlease report this with the command you ran."),
        as_json, style);
  }
}

}  // namespace stepwise::cli

int main(int argc, char** argv) { return stepwise::cli::lab_main(argc, argv); }
