// The names of verdicts, as people and JSON see them.
#include "grader/judge/verdict.hpp"

namespace stepwise {

std::string_view name_of(verdict v) {
  switch (v) {
    case verdict::pass:
      return "PASS";
    case verdict::slow:
      return "SLOW";
    case verdict::wrong:
      return "WRONG";
    case verdict::check:
      return "CHECK";
    case verdict::compile:
      return "COMPILE";
    case verdict::crash:
      return "CRASH";
    case verdict::timeout:
      return "TIMEOUT";
    case verdict::memory:
      return "MEMORY";
    case verdict::output:
      return "OUTPUT";
    case verdict::protocol:
      return "PROTOCOL";
    case verdict::held:
      return "HELD";
    case verdict::inconclusive:
      return "INCONCLUSIVE";
    case verdict::infra:
      return "INFRA";
  }
  return "INFRA";
}

}  // namespace stepwise
