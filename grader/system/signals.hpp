// Handles Ctrl-C. The first Ctrl-C stops every wait, and the second one ends the process
// immediately.
#pragma once

#include <sys/types.h>

namespace stepwise {

// SIGINT, SIGTERM and SIGHUP set a flag. SIGPIPE and SIGXFSZ are ignored, because writes report
// these errors.
void install_signal_handlers();

// Restores the actions that we were started with, for a program that replaces us. Called between
// fork and exec.
void restore_inherited_signals();

// Throws `interrupted` once a signal has arrived. Called at every wait and between calls.
void throw_if_interrupted();

// Process groups that a second signal kills before the process ends. At most 64 at a time.
void register_group(pid_t group);
void forget_group(pid_t group);

}  // namespace stepwise
