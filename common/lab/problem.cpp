// The table of problems that the labs' static objects register in.
#include "common/lab/problem.hpp"

#include <map>
#include <utility>

namespace stepwise {
namespace {

using problem_table = std::map<std::string, std::unique_ptr<problem>, std::less<>>;

// A function's static: registrations run before main(), in no particular order.
problem_table& registered_problems() {
  static problem_table table;
  return table;
}

}  // namespace

register_problem::register_problem(std::string_view lab, std::unique_ptr<problem> p) {
  registered_problems().insert_or_assign(std::string(lab), std::move(p));
}

const problem* find_problem(std::string_view lab) {
  const auto found = registered_problems().find(lab);
  return found == registered_problems().end() ? nullptr : found->second.get();
}

}  // namespace stepwise
