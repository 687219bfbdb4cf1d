// Declares options through CLI11, lays out the help in 80 columns, and refuses unknown words.
#include "grader/cli/command_line.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "grader/cli/overview.hpp"
#include "grader/course/lab.hpp"
#include "grader/judge/installation.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"

namespace stepwise::cli {
namespace {

constexpr std::size_t help_width = 80, help_column = 30;

// The library's help, but in 80 columns and wrapped between words.
class help_text : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return row(make_option_name(option, is_positional) + make_option_opts(option),
               make_option_desc(option));
  }
  std::string make_subcommand(const CLI::App* sub) const override {
    return row(sub->get_name(), sub->get_description());
  }

 private:
  static std::string row(const std::string& name, const std::string& what) {
    std::string text = "  " + name;
    bool fits = text.size() < help_column;
    for (const auto& line : wrapped(what, help_width - help_column)) {
      if (!fits) text += '\n';
      text.append(fits ? help_column - text.size() : help_column, ' ');
      text += line;
      fits = false;
    }
    return text + '\n';
  }
};

// Examples, "  COMMAND   what it does", in the help's width. Long descriptions wrap.
std::string fitted(const std::string& examples) {
  std::string text;
  for (std::size_t begin = 0; begin < examples.size();) {
    const auto end = std::min(examples.find('\n', begin), examples.size());
    const std::string line = examples.substr(begin, end - begin);
    const auto blanks = line.find("  ", std::min(line.find_first_not_of(' '), line.size()));
    if (!text.empty()) text += '\n';
    if (line.size() <= help_width || blanks == std::string::npos) {
      text += line;
    } else {
      const auto column = line.find_first_not_of(' ', blanks);
      const bool fits = column <= help_width / 2 + 5;
      const std::size_t indent = fits ? column : 6;
      text += line.substr(0, fits ? column : blanks);
      bool is_first = fits;
      for (const auto& part : wrapped(line.substr(column), help_width - indent)) {
        text += is_first ? part : '\n' + std::string(indent, ' ') + part;
        is_first = false;
      }
    }
    begin = end + 1;
  }
  return text;
}

std::string quoted(const std::string& word) { return '"' + word + '"'; }

// Reports a word that is not a command and suggests what to type. Often the word is a lab.
[[noreturn]] void refuse_word(const std::string& word, const std::vector<std::string>& verbs) {
  const std::string lists = "\n`./lab --help` lists the commands";
  const auto labs = lab_names(load_own_installation().build);
  if (std::count(labs.begin(), labs.end(), word) > 0) {
    throw failure(exit_code::usage,
                  quoted(word) + " is a lab, not a command; put the command first:\n  ./lab walk " +
                      word + "     shows and runs its versions, step by step\n  ./lab start " +
                      word + "    creates your own file\n  ./lab run " + word +
                      "      tests your file and shows the cost of a call" + lists);
  }
  std::string sentence = "there is no command " + quoted(word);
  static constexpr std::pair<std::string_view, std::string_view> meant[] = {
      {"submit", "pack"},   {"reset", "start"},  {"restart", "start"}, {"compile", "run"},
      {"build", "run"},     {"debug", "check"},  {"score", "grade"},   {"points", "grade"},
      {"bench", "profile"}, {"time", "profile"}, {"status", "list"},   {"labs", "list"}};
  const auto known =
      std::ranges::find(meant, word, &std::pair<std::string_view, std::string_view>::first);
  if (known != std::end(meant)) {
    sentence += "; " + quoted(std::string(known->second)) + " does that";
  } else if (const std::string near = nearest(word, verbs); !near.empty()) {
    sentence += "; did you mean " + quoted(near) + "?";
  } else if (const std::string lab = nearest(word, labs); !lab.empty()) {
    sentence += "; did you mean the lab " + quoted(lab) + ": ./lab walk " + lab + "?";
  }
  throw failure(exit_code::usage, sentence + lists);
}

// The line that names the help of the command that was parsed.
std::string usage_of(const CLI::App& app) {
  std::string verb;
  for (const auto* sub : app.get_subcommands()) {
    verb += " " + sub->get_name();
    for (const auto* under : sub->get_subcommands()) verb += " " + under->get_name();
  }
  return "\n`./lab" + verb + " --help` shows the usage";
}

// The options of a command, with those of all commands.
std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* app : {&command, command.get_parent()})
    for (const CLI::Option* option : app->get_options())
      for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

// Reports a word that a command does not take, and suggests the option that was probably meant.
std::string unexpected(const CLI::App& command, const std::string& word) {
  const auto options = options_of(command);
  const auto takes = [&](const char* option) {
    return std::ranges::find(options, option) != options.end();
  };
  std::string sentence = command.get_name() + " takes no " + quoted(word);
  if (word.starts_with('-')) {
    for (const CLI::App* other : command.get_parent()->get_subcommands({}))
      if (const auto theirs = options_of(*other); std::ranges::find(theirs, word) != theirs.end())
        return sentence + "; that is an option of " + other->get_name();
    const auto letters = word.find_first_not_of('-');
    const std::string near =
        letters == std::string::npos ? "" : nearest("--" + word.substr(letters), options);
    return sentence + (near.empty() ? "" : "; did you mean " + quoted(near) + "?");
  }
  const bool is_number = word.find_first_not_of("0123456789") == std::string::npos;
  const bool is_size = word.find_first_not_of("0123456789x^") == std::string::npos;
  if (takes("--size") && word == "x")
    return sentence + "; write the size without spaces: --size 640x480";
  if (takes("--step") && is_number && word.size() == 2) return sentence + "; use --step " + word;
  if (takes("--size") && is_size) return sentence + "; use --size " + word;
  return sentence;
}

// The first word from `begin` on that is not an option.
std::vector<std::string>::iterator first_word(std::vector<std::string>& words,
                                              std::vector<std::string>::iterator begin) {
  for (auto word = begin; word != words.end(); ++word) {
    if (*word == "--device" && word + 1 != words.end())
      ++word;
    else if (!word->starts_with('-'))
      return word;
  }
  return words.end();
}

}  // namespace

argument& argument::required() {
  option_->required();
  return *this;
}

argument& argument::positive() {
  option_->check(CLI::PositiveNumber);
  return *this;
}

argument& argument::split_at_commas() {
  option_->delimiter(',');
  return *this;
}

argument& argument::one_a_time() {
  option_->allow_extra_args(false);
  return *this;
}

argument& argument::excludes(const argument& other) {
  option_->excludes(other.option_);
  return *this;
}

argument arguments::add(const char* name, std::string& to, const char* what) {
  return argument(command_.add_option(name, to, what));
}
argument arguments::add(const char* name, int& to, const char* what) {
  return argument(command_.add_option(name, to, what));
}
argument arguments::add(const char* name, std::uint64_t& to, const char* what) {
  return argument(command_.add_option(name, to, what));
}
argument arguments::add(const char* name, std::optional<std::string>& to, const char* what) {
  return argument(command_.add_option(name, to, what));
}
argument arguments::add(const char* name, std::optional<std::uint64_t>& to, const char* what) {
  return argument(command_.add_option(name, to, what));
}
argument arguments::add(const char* name, std::optional<double>& to, const char* what) {
  return argument(command_.add_option(name, to, what));
}
argument arguments::add(const char* name, std::vector<std::string>& to, const char* what) {
  return argument(command_.add_option(name, to, what));
}
argument arguments::add_step(const char* name, std::string& to, const char* what) {
  const auto step_name = [](std::string word) { return word == "mine" ? std::string{} : word; };
  return argument(command_.add_option(name, to, what)->transform(step_name));
}
argument arguments::flag(const char* name, bool& to, const char* what) {
  return argument(command_.add_flag(name, to, what));
}

struct command_line::parser {
  CLI::App app{"Stepwise: learn to optimise CUDA kernels, one idea at a time.", "./lab"};
  CLI::App* dev = nullptr;
  global_options globals;
  std::vector<std::string> names, dev_names;  // the verbs' names
  verb::action action;
  bool version = false;

  void add(const verb& v) {
    if (v.place.of != verb_place::group::dev) {
      names.push_back(v.name);
      if (!add(v, app, false)) return;
    }
    dev_names.push_back(v.name);
    add(v, *dev, true);
  }

 private:
  // Returns whether the verb has options that only authors need.
  bool add(const verb& v, CLI::App& to, bool for_authors) {
    CLI::App* sub = to.add_subcommand(v.name, v.what);
    sub->fallthrough();
    sub->footer(
        "Examples\n" + fitted(v.examples) +
        "\n\nAll commands take --json, --device and --no-color; ./lab --help explains them.");
    arguments takes(*sub, for_authors);
    sub->callback([this, run = v.set_up(takes)] { action = run; });
    return takes.has_options_for_authors();
  }
};

namespace {

std::string names_of(verb_place::group group) {
  std::string text;
  for (const verb* v : all_verbs())
    if (v->place.of == group) text += (text.empty() ? "" : ", ") + v->name;
  return text;
}

// A line per verb, with the group's title before the first.
std::string described(verb_place::group group, const char* title) {
  std::string text;
  for (const verb* v : all_verbs()) {
    if (v->place.of != group) continue;
    text += fmt::format("{:<9}{:<9}{}\n", text.empty() ? title : "", v->name, v->what);
  }
  return text;
}

// The help must fit a terminal of 24 lines.
std::string help_of_all() {
  using enum verb_place::group;
  std::string text = "Stepwise: learn to optimise CUDA kernels, one idea at a time.\n\n" +
                     described(learn, "Learn") + described(write, "Write") +
                     described(examine, "Examine") + '\n';
  for (const auto& line : wrapped("More: " + names_of(more) + ".", help_width)) text += line + '\n';
  text += "For instructors: " + names_of(teaching) + ". For authors: dev.\n";
  text += "./lab COMMAND --help shows options and examples. Start: labs/first/README.md.\n";
  return text;
}

}  // namespace

command_line::command_line() : parser_(std::make_unique<parser>()) {
  parser& p = *parser_;
  p.app.formatter(std::make_shared<help_text>());
  arguments takes(p.app, false);
  takes.add("--device", p.globals.device, "auto (default), gpu or emulated");
  takes.flag("--json", p.globals.json, "print one JSON document to stdout; see grader/JSON.md");
  takes.flag("--no-color,--no-colour", p.globals.no_color, "no colours (or set NO_COLOR)");
  p.app.set_version_flag("--version", std::string());
  p.dev = p.app.add_subcommand("dev", "commands for authors of the course");
  p.dev->fallthrough();
  p.dev->require_subcommand(0, 1);
  for (const verb* v : all_verbs()) p.add(*v);
  p.app.require_subcommand(0, 1);  // a later word is an argument: `test report` is a test
}

command_line::~command_line() = default;

void command_line::parse(std::vector<std::string> words) {
  parser& p = *parser_;
  auto word = first_word(words, words.begin());
  if (word != words.end() && *word == "help") {  // `help run` is `run --help`
    words.erase(word);
    words.emplace_back("--help");
    word = first_word(words, words.begin());
  }
  const auto* names = &p.names;
  if (word != words.end() && *word == "dev") {
    names = &p.dev_names;
    word = first_word(words, word + 1);
  }
  if (word != words.end() && std::ranges::find(*names, *word) == names->end()) {
    if (std::ranges::find(p.dev_names, *word) != p.dev_names.end()) {
      throw failure(exit_code::usage, *word + " is a command for authors; type ./lab dev " + *word);
    }
    refuse_word(*word, *names);
  }
  try {
    p.app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // reverse order for CLI11
    if (p.app.get_subcommands().empty() && !p.globals.json) p.action = overview;
  } catch (const CLI::CallForVersion&) {
    p.action = nullptr;
    p.version = true;
  } catch (const CLI::CallForHelp&) {
    p.action = nullptr;
  } catch (const CLI::ExtrasError& error) {
    const CLI::App* command = p.app.get_subcommands().at(0);
    while (!command->get_subcommands().empty()) command = command->get_subcommands().at(0);
    const auto extra = p.app.remaining(true);
    const auto first = std::ranges::find_if(
        words, [&](const auto& w) { return std::ranges::find(extra, w) != extra.end(); });
    throw failure(
        exit_code::usage,
        (first == words.end() ? error.what() : unexpected(*command, *first)) + usage_of(p.app));
  } catch (const CLI::ParseError& error) {
    std::string sentence = error.what();  // "Could not convert: PART = all"
    constexpr std::string_view no_number = "Could not convert: ";
    if (const auto equals = sentence.find(" = ");
        sentence.starts_with(no_number) && equals != std::string::npos)
      sentence = sentence.substr(no_number.size(), equals - no_number.size()) +
                 " must be a number, but \"" + sentence.substr(equals + 3) + "\" is not one";
    throw failure(exit_code::usage, sentence + usage_of(p.app));
  }
}

namespace {

void add_options(const CLI::App& app, known_verb& v) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) {
      v.words.push_back(option->get_single_name());
      continue;
    }
    known_option known{{}, option->get_items_expected_max() > 0, option->get_description()};
    for (const auto& name : option->get_lnames()) known.names.push_back("--" + name);
    for (const auto& name : option->get_snames()) known.names.push_back("-" + name);
    v.options.push_back(std::move(known));
  }
}

}  // namespace

std::vector<known_verb> command_line::verbs() const {
  std::vector<known_verb> all;
  for (const verb* v : all_verbs()) {
    if (v->place.of == verb_place::group::dev) continue;
    known_verb known{v->name, v->what, {}, {}};
    add_options(*parser_->app.get_subcommand(v->name), known);
    add_options(parser_->app, known);
    all.push_back(std::move(known));
  }
  return all;
}

const global_options& command_line::globals() const { return parser_->globals; }

const verb::action& command_line::action() const { return parser_->action; }

bool command_line::asks_for_version() const { return parser_->version; }

std::string command_line::help() const {
  const auto named = parser_->app.get_subcommands();
  if (named.empty()) return help_of_all();
  const auto under = named[0]->get_subcommands();
  return under.empty() ? named[0]->help() : under[0]->help();
}

}  // namespace stepwise::cli
