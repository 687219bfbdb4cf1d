// A command of `lab`. A file in verbs/ adds a command by defining an object of this class with its
// name and arguments. No other code has to know the command.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "grader/cli/arguments.hpp"

namespace stepwise::cli {

struct context;

// The position of a verb in the help: by group, within a group by `number`, and then by name. The
// numbers leave gaps. The help describes the verbs of the first three groups and only names those
// of `more` and `teaching`. Verbs of `dev` are typed as `lab dev VERB`.
struct verb_place {
  enum class group { learn, write, examine, more, teaching, dev } of;
  int number;
  auto operator<=>(const verb_place&) const = default;
};

class verb {
 public:
  using action = std::function<int(context&)>;  // returns the exit code

  // `takes` declares the arguments, and `run` runs with their values. The object must be static.
  template <class Options>
  verb(verb_place place, const char* name, const char* what, const char* examples,
       std::type_identity_t<void (*)(arguments&, Options&)> takes,
       int (*run)(context&, const Options&))
      : verb(place, name, what, examples, [takes, run](arguments& line) -> action {
          const auto given = std::make_shared<Options>();
          takes(line, *given);
          return [given, run](context& c) { return run(c, *given); };
        }) {}
  // A verb without arguments.
  verb(verb_place place, const char* name, const char* what, const char* examples,
       int (*run)(context&))
      : verb(place, name, what, examples, [run](arguments&) -> action { return run; }) {}
  verb(const verb&) = delete;
  verb& operator=(const verb&) = delete;

  const verb_place place;
  const std::string name;
  const std::string what;      // one line
  const std::string examples;  // several lines
  const std::function<action(arguments&)> set_up;

 private:
  verb(verb_place at, const char* called, const char* does, const char* shown,
       std::function<action(arguments&)> sets_up);
};

// All verbs, in the order of the help.
std::vector<const verb*> all_verbs();

}  // namespace stepwise::cli
