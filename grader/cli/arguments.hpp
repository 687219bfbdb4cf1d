// What a command takes, described without the library that parses it.
//
// idea    CLI11 is a header of templates that takes seconds to compile; only command_line.cpp
//         includes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace stepwise::cli {

// One of them, to say more about it; each function returns its object.
class argument {
 public:
  explicit argument(CLI::Option* option) : option_(option) {}
  argument& required();
  argument& positive();         // a number above 0
  argument& split_at_commas();  // of a list: one word may hold several
  argument& one_a_time();       // of a list: --over A --over B
  argument& excludes(const argument& other);

 private:
  CLI::Option* option_;
};

// A name with dashes is an option with a value, a name without is a word by its place. The value
// goes to `to`, which keeps what it has where nothing is given, and must outlive the parsing.
class arguments {
 public:
  arguments(CLI::App& command, bool for_authors) : command_(command), for_authors_(for_authors) {}
  // Is this `lab dev VERB`? Options that only authors need are declared if it is. Verbs that ask
  // are in `lab dev`, too.
  bool for_authors() {
    asked_ = true;
    return for_authors_;
  }
  bool has_options_for_authors() const { return asked_; }
  argument add(const char* name, std::string& to, const char* what);
  argument add(const char* name, int& to, const char* what);
  argument add(const char* name, std::uint64_t& to, const char* what);
  argument add(const char* name, std::optional<std::string>& to, const char* what);
  argument add(const char* name, std::optional<std::uint64_t>& to, const char* what);
  argument add(const char* name, std::optional<double>& to, const char* what);
  argument add(const char* name, std::vector<std::string>& to, const char* what);
  argument flag(const char* name, bool& to, const char* what);

 private:
  CLI::App& command_;
  bool for_authors_, asked_ = false;
};

}  // namespace stepwise::cli
