// What `./lab` prints without a command: the labs with a bar of points each, and the next command.
#pragma once

namespace stepwise::cli {

struct context;

int overview(context& c);  // returns the exit code

}  // namespace stepwise::cli
