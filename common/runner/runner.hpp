// Makes the calls that a runner's arguments ask for (runner.cpp).
#pragma once

namespace stepwise::runner {

// Returns the exit code.
int run_runner(int argument_count, char** arguments);

}  // namespace stepwise::runner
