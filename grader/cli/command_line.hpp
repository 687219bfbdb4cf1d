// The words after `lab`, read: which command, with what, or which help.
//
// Tested by tests/cli_test.cpp.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "grader/cli/verb.hpp"

namespace stepwise::cli {

struct global_options {
  std::string device = "auto";
  bool json = false;
  bool no_color = false;
};

// What may be typed after a verb, as it was declared; for completion.
struct known_option {
  std::vector<std::string> names;  // "--file", "-h"
  bool takes_value = false;
  std::string what;
};
struct known_verb {
  std::string name, what;
  std::vector<known_option> options;
  std::vector<std::string> words;  // by their places: "LAB", "STEP"
};

class command_line {
 public:
  command_line();  // with all verbs
  ~command_line();

  // `words` without the program's name. failure(usage) says what is wrong with them.
  void parse(std::vector<std::string> words);

  // What was parsed.
  const global_options& globals() const;
  const verb::action& action() const;  // none: help is asked for, or the version
  bool asks_for_version() const;
  std::vector<known_verb> verbs() const;  // those of students and instructors, with global options
  std::string help() const;               // of the command that was named, else of all

 private:
  struct parser;
  std::unique_ptr<parser> parser_;
};

}  // namespace stepwise::cli
