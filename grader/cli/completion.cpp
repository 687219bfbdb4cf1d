// lab completion: the words that a shell proposes at TAB, and the shell functions that request
// these words.
//
// idea    The shells' functions are a few lines that start this program with the words typed so
//         far. From the verbs' declarations and the labs' files, the program knows what may follow,
//         so three shells propose the same words and nothing is out of date. The functions start
//         the program in build/, never the launcher, so that TAB never starts a build.
#include <fmt/core.h>

#include <algorithm>

#include "grader/cli/command_line.hpp"
#include "grader/cli/context.hpp"
#include "grader/cli/recorded/make.hpp"
#include "grader/cli/verb.hpp"
#include "grader/report/text.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {
namespace {

struct completion_options {
  std::string shell;
  std::vector<std::string> words;
};

// Finds the program in build/ of the clone whose `lab` was typed, if it is there.
constexpr const char* program_of = R"(  local lab=${1/#\~/$HOME} root program
  [[ $lab == */* ]] || lab=$(type -P -- "$lab")
  root=$(readlink -f -- "$lab") && root=${root%/*}
  program=$root/build/grader/lab
)";

constexpr const char* for_bash = R"(# Completion of ./lab for bash:  source <(./lab completion bash)
_stepwise_lab() {
PROGRAM  COMPREPLY=()
  local line
  while IFS=$'\t' read -r line _; do
    if [[ $line == :files ]]; then
      compopt -o filenames -o default 2>/dev/null
    else COMPREPLY+=("$line"); fi
  done < <("$program" completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _stepwise_lab ./lab lab
)";

constexpr const char* for_zsh =
    R"(# Completion of ./lab for zsh, after compinit:  source <(./lab completion zsh)
_stepwise_lab() {
  local lab=${~words[1]} root program line
  local -a found
  [[ $lab == */* ]] || lab=$(whence -p -- "$lab")
  root=${lab:A:h}
  program=$root/build/grader/lab
  while IFS= read -r line; do
    if [[ $line == :files ]]; then _files; else
      found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    fi
  done < <("$program" completion words -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)
  (( ! $#found )) || _describe lab found
}
compdef _stepwise_lab lab ./lab
)";

constexpr const char* for_fish = R"(# Completion of ./lab for fish:  ./lab completion fish | source
function _stepwise_lab
    set -l words (commandline -opc) (commandline -ct)
    set -l lab (realpath -- (string replace -r '^~' $HOME -- $words[1]) 2>/dev/null)
    test -n "$lab"; or set lab (realpath -- (command -s -- $words[1]))
    set -l program (dirname $lab)/build/grader/lab
    for line in ($program completion words -- $words[2..-1] 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c lab -f -a '(_stepwise_lab)'
)";

struct proposal {
  std::string word, what;
};

class proposals {
 public:
  proposals(const context& c, std::vector<std::string> words)
      : root_(c.where.root), build_(c.where.build), words_(std::move(words)) {
    if (words_.empty()) words_.emplace_back();
    begun_ = words_.back();
    words_.pop_back();
  }

  std::vector<proposal> all() {
    known_ = command_line().verbs();
    find_verb();
    if (verb_ == nullptr) {
      if (verb_typed_) return {};
      if (begun_.starts_with('-')) return options();
      for (const auto& v : known_) add(v.name, v.what);
    } else if (!value_of_.empty()) {
      values(value_of_);
    } else if (begun_.starts_with('-')) {
      return options();
    } else if (place_ < verb_->words.size()) {
      values(verb_->words[place_]);
    } else if (!verb_->words.empty() && verb_->words.back() == "STEP") {
      values("STEP");
    }
    return std::move(found_);
  }

 private:
  // Finds the verb, the position of its next word, and whether that word is an option's value.
  void find_verb() {
    for (const auto& word : words_) {
      if (!value_of_.empty()) {
        value_of_.clear();
      } else if (word.starts_with('-')) {
        if (takes_value(word)) value_of_ = word;
      } else if (verb_ == nullptr) {
        const auto v = std::ranges::find(known_, word, &known_verb::name);
        verb_typed_ = true;
        if (v == known_.end()) return;
        verb_ = &*v;
      } else {
        ++place_;
        const auto labs = lab_names(build_);
        if (std::ranges::find(labs, word) != labs.end()) lab_ = word;
      }
    }
  }

  bool takes_value(const std::string& word) const {
    for (const auto& v : known_) {
      if (verb_ != nullptr && &v != verb_) continue;
      for (const auto& o : v.options)
        if (std::ranges::find(o.names, word) != o.names.end()) return o.takes_value;
    }
    return false;
  }

  std::vector<proposal> options() {
    for (const auto& o : (verb_ != nullptr ? *verb_ : known_.front()).options)
      for (const auto& name : o.names)
        if (name.starts_with("--")) add(name, o.what);
    return std::move(found_);
  }

  void values(const std::string& of) {
    if (of == "LAB" || of == "WHAT") {
      for (const lab& l : labs_by_name()) add(l.name, l.title);
      if (of == "WHAT") found_.push_back({":files", ""});
    } else if (of == "STEP" || of == "A" || of == "B" || of == "--step" || of == "--compare") {
      if (lab_.empty()) return;
      for (const auto& s : load_lab(build_, lab_).steps)
        if (verb_->name != "play" || s.recording) add(s.name, s.idea);
      const std::string& verb = verb_->name;
      if (verb != "start" && verb != "walk" && verb != "validate") add("mine", "your own file");
    } else if (of == "--device") {
      for (const char* device : {"auto", "gpu", "emulated"}) add(device, "");
    } else if (of == "--gpu") {
      for (const auto& entry : fs::directory_iterator(root_ / "common/gpus"))
        if (entry.path().extension() == ".toml") add(entry.path().stem(), "");
    } else if (of == "SHELL") {
      for (const char* shell : {"bash", "zsh", "fish"}) add(shell, "");
    } else if (of == "DIR" || of == "RESULTS" ||
               (of.starts_with("--") && of != "--size" && of != "--seed")) {
      found_.push_back({":files", ""});
    }
  }

  std::vector<lab> labs_by_name() const {
    auto labs = load_labs(build_);
    std::ranges::sort(labs, {}, &lab::name);
    return labs;
  }

  void add(const std::string& word, const std::string& what) {
    if (word.starts_with(begun_)) found_.push_back({word, what});
  }

  const fs::path root_, build_;
  std::vector<std::string> words_;
  std::string begun_, value_of_, lab_;
  std::vector<known_verb> known_;
  const known_verb* verb_ = nullptr;
  bool verb_typed_ = false;
  std::size_t place_ = 0;
  std::vector<proposal> found_;
};

int completion(context& c, const completion_options& o) {
  std::string text;
  if (o.shell == "words") {
    for (const auto& p : proposals(c, o.words).all())
      text += p.word + (p.what.empty() ? "" : "\t" + p.what) + "\n";
  } else if (o.shell == "bash") {
    text = for_bash;
    replace_all(text, "PROGRAM", program_of);
  } else if (o.shell == "zsh") {
    text = for_zsh;
  } else if (o.shell == "fish") {
    text = for_fish;
  } else {
    refuse("completion supports bash, zsh and fish, not \"" + o.shell + "\"");
  }
  if (c.as_json) {
    c.print({{"shell", o.shell}, {"script", text}});
    return 0;
  }
  if (!text.empty()) text.pop_back();
  if (!text.empty()) c.say(text);
  return 0;
}

const verb completion_verb(
    {verb_place::group::more, 10}, "completion", "TAB completion for bash, zsh and fish",
    "  source <(./lab completion bash)   in a shell, or in ~/.bashrc with the clone's path\n"
    "  source <(./lab completion zsh)\n"
    "  ./lab completion fish | source",
    [](arguments& takes, completion_options& o) {
      takes.add("SHELL", o.shell, "bash, zsh or fish").required();
      takes.add("WORDS", o.words, "for `completion words --`: the words typed after ./lab so far");
    },
    completion);

}  // namespace
}  // namespace stepwise::cli
