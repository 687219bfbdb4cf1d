// Ctrl-C: the first one asks every wait to stop, the second one ends at once.
#pragma once

#include <sys/types.h>

namespace stepwise {

// SIGINT, SIGTERM and SIGHUP set a flag; SIGPIPE and SIGXFSZ are ignored (writes
// report it instead).
void install_signal_handlers();

// As they were when we were started: what a program in our place should meet. Between fork and
// exec.
void restore_inherited_signals();

// Throws `interrupted` once a signal has arrived. Called at every wait and between calls.
void throw_if_interrupted();

// Process groups that a second signal kills before the process ends; at most 64 at a time.
void register_group(pid_t group);
void forget_group(pid_t group);

}  // namespace stepwise
