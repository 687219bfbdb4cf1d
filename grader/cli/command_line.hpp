// Parses the words after `lab`: the command and its arguments, or a request for help.
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

// An option that may follow a verb, as it was declared. Used for completion.
struct known_option {
  std::vector<std::string> names;  // "--file", "-h"
  bool takes_value = false;
  std::string what;
};
struct known_verb {
  std::string name, what;
  std::vector<known_option> options;
  std::vector<std::string> words;  // positional: "LAB", "STEP"
};

class command_line {
 public:
  command_line();  // with all verbs
  ~command_line();

  // `words` excludes the program's name. Throws failure(usage) if they are malformed.
  void parse(std::vector<std::string> words);

  // Results of parse().
  const global_options& globals() const;
  const verb::action& action() const;  // empty if help or the version is requested
  bool asks_for_version() const;
  std::vector<known_verb> verbs() const;  // of students and instructors, with global options
  std::string help() const;               // for the named command, else for all

 private:
  struct parser;
  std::unique_ptr<parser> parser_;
};

}  // namespace stepwise::cli
