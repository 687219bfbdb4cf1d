// The main of a runner whose contract is a function.
#include "common/runner/runner.hpp"

int main(int argument_count, char** arguments) {
  return stepwise::runner::run_runner(argument_count, arguments);
}
