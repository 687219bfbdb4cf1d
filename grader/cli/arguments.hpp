// The arguments of a command, declared without the library that parses them.
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

// A declared argument. Each function adds a constraint and returns its object.
class argument {
 public:
  explicit argument(CLI::Option* option) : option_(option) {}
  argument& required();
  argument& positive();         // a number above 0
  argument& split_at_commas();  // for a list: one word may hold several
  argument& one_a_time();       // for a list: --over A --over B
  argument& excludes(const argument& other);

 private:
  CLI::Option* option_;
};

// A name with dashes declares an option with a value, a name without dashes a positional argument.
// The value is stored in `to`, which is unchanged if no value is given and must outlive the
// parsing.
class arguments {
 public:
  arguments(CLI::App& command, bool for_authors) : command_(command), for_authors_(for_authors) {}
  // True for `lab dev VERB`, where options that only authors need are declared. A verb that calls
  // this function is also listed in `lab dev`.
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
  // A step of the lab. `mine` leaves `to` empty, which is the student's own file.
  argument add_step(const char* name, std::string& to, const char* what);
  argument flag(const char* name, bool& to, const char* what);

 private:
  CLI::App& command_;
  bool for_authors_, asked_ = false;
};

}  // namespace stepwise::cli
