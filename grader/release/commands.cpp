// Decides by the words of a command whether a student copy can execute it.
#include "grader/release/commands.hpp"

#include <algorithm>
#include <cctype>
#include <regex>
#include <sstream>
#include <string_view>
#include <vector>

namespace stepwise {
namespace {

// The words of a command: the verb, then positional arguments, and options with their values.
struct words_of_command {
  std::vector<std::string> positional;
  std::vector<std::string> values;  // of --file, --memory and --compute
  std::vector<std::string> steps;   // values of --step, and words after --compare
  bool has_parts = false;           // --memory or --compute is given
};

bool is_step(const std::string& word) {
  return word.size() >= 2 && std::isdigit(static_cast<unsigned char>(word[0])) != 0 &&
         std::isdigit(static_cast<unsigned char>(word[1])) != 0 &&
         (word.size() == 2 || word[2] == '_');
}

words_of_command parse(std::string_view command) {
  words_of_command all;
  std::istringstream text{std::string(command)};
  std::string word, option;
  text >> word;  // ./lab
  while (text >> word && !word.starts_with("#") && word != "|" && word != ";") {
    if (word.starts_with("--")) {
      option = word;
      all.has_parts = all.has_parts || option == "--memory" || option == "--compute";
    } else if (option == "--compare") {
      all.steps.push_back(word);
    } else if (option.empty()) {
      all.positional.push_back(word);
    } else {
      if (option == "--step") all.steps.push_back(word);
      if (option == "--file" || option == "--memory" || option == "--compute")
        all.values.push_back(word);
      option.clear();
    }
  }
  return all;
}

}  // namespace

bool copy_files::has(const fs::path& path) const {
  return files_.contains(path) || std::ranges::any_of(files_, [&](const fs::path& file) {
           return file.native().starts_with(path.native() + "/");
         });
}

bool copy_files::has_skeleton(const std::string& lab, const std::string& step) const {
  const std::string from = "labs/" + lab + "/given/" + step;
  return std::ranges::any_of(files_, [&](const fs::path& file) {
    return file == from + ".cu" || file.native().starts_with(from + "_");
  });
}

bool needs_whole_course(std::string_view command, const copy_files& files) {
  const words_of_command c = parse(command);
  if (c.positional.empty()) return false;
  const std::string& verb = c.positional[0];
  if (verb == "dev") return true;
  for (const std::string& file : c.values)
    if (file.find('/') != std::string::npos && !files.has(file)) return true;
  if (verb != "walk" && std::ranges::any_of(c.steps, is_step)) return true;
  if (c.positional.size() < 2) return false;
  const std::string& lab = c.positional[1];
  const bool is_lab = std::ranges::all_of(lab, [](char l) { return std::islower(l) != 0; });
  if (!is_lab || verb == "explain") return false;
  if (!files.has("labs/" + lab)) return true;
  if (verb == "limits") return !c.has_parts;
  constexpr std::string_view with_step[] = {"ptx", "profile", "play", "sweep", "start", "diff"};
  if (std::ranges::count(with_step, verb) == 0) return false;
  for (std::size_t n = 2; n < c.positional.size(); ++n) {
    const std::string& word = c.positional[n];
    const bool reads_text = verb == "start" || verb == "diff";
    if (is_step(word) && !(reads_text && files.has_skeleton(lab, word))) return true;
    const bool is_experiment = verb == "sweep" && word != "mine" && !is_step(word);
    if (is_experiment && !files.has("labs/" + lab + "/given/experiments/" + word + ".cu"))
      return true;
  }
  return false;
}

std::string marked_code(const std::string& line, const copy_files& files) {
  const auto at = line.find("./lab ");
  if (at == std::string::npos) return line;
  // A table of commands has at least two spaces before its explanations.
  const std::string command = line.substr(at, line.find("  ", at) - at);
  return needs_whole_course(command, files) ? line + "  (not in this copy)" : line;
}

std::string marked_prose(const std::string& text, const copy_files& files) {
  static const std::regex code("(\\(?)`(\\./lab [^`]+)`");
  std::string result;
  auto from = text.cbegin();
  for (std::sregex_iterator at(text.begin(), text.end(), code), end; at != end; ++at) {
    const auto to = text.cbegin() + at->position() + at->length();
    result.append(from, to);
    from = to;
    if (needs_whole_course((*at)[2].str(), files))
      result += at->length(1) > 0 ? ", not in this copy" : " (not in this copy)";
  }
  return result.append(from, text.cend());
}

}  // namespace stepwise
