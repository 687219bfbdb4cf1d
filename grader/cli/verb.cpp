// The list of verbs, which they join before main() runs, and their order in the help.
#include "grader/cli/verb.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace stepwise::cli {
namespace {

std::vector<const verb*>& registered() {
  static std::vector<const verb*> verbs;
  return verbs;
}

}  // namespace

verb::verb(verb_place at, const char* called, const char* does, const char* shown,
           std::function<action(arguments&)> sets_up)
    : place(at), name(called), what(does), examples(shown), set_up(std::move(sets_up)) {
  registered().push_back(this);
}

std::vector<const verb*> all_verbs() {
  auto verbs = registered();
  std::sort(verbs.begin(), verbs.end(), [](const verb* a, const verb* b) {
    return std::tie(a->place, a->name) < std::tie(b->place, b->name);
  });
  return verbs;
}

}  // namespace stepwise::cli
