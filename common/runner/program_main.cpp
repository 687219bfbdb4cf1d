// Puts a runner around a whole program, for a contract that is `main`.
//
// idea    The program is compiled as it is. It is linked with --wrap=main, so that the C library
//         starts __wrap_main, and __real_main is the program's own main. With two arguments, the
//         program is not being judged, and works as if the runner were not there.
// watch   Where one file holds many programs, as the skeletons of a lab, each is in its own
//         namespace. Such a file defines lab_contract itself, so the definition here is weak, and
//         __real_main is then the main of runner_main.cpp, which nothing calls.
// source  GNU ld manual, "--wrap=symbol".
#include "common/runner/contract.hpp"
#include "common/runner/runner.hpp"

extern "C" {
int __real_main(int argument_count, char** arguments);
int __wrap_main(int argument_count, char** arguments);
}

namespace stepwise::runner {

extern const contract lab_contract __attribute__((weak));
const contract lab_contract = contract_of<&__real_main>::make("main");

}  // namespace stepwise::runner

int __wrap_main(int argument_count, char** arguments) {
  if (argument_count == 3) return __real_main(argument_count, arguments);
  return stepwise::runner::run_runner(argument_count, arguments);
}
