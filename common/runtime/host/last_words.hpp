// Output to stderr where stdio must not be used: at the end of the program, and in signal handlers.
//
// idea    A handler may neither lock nor allocate, so its text is prepared in advance.
// tests   tests/checks_test.py
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace stepwise::runtime {

// Whether stderr is still the same file as at the start of the process. Safe in signal handlers.
bool stderr_is_unchanged();

// Writes as much as the file accepts. Safe in signal handlers.
void write_all(int to, std::string_view text);

// Sets the text that is written when a signal ends the program. An empty text writes nothing. With
// `file`, only this process writes the text, at the end of that file. Otherwise it goes to stderr.
void set_last_words(std::string_view text, const std::string& file = {});
// Writes the text, once. Safe in signal handlers.
void say_last_words();
// Writes the text before these signals end the program, unless the program handles them itself.
void say_last_words_on(std::initializer_list<int> signals);
// Does the same, but stops a running launch first (common/device/interruption.hpp). The function
// that the launch then calls writes the text. A second signal does not wait for that.
void stop_launches_on(std::initializer_list<int> signals);
// Ends the process as if the program had no handler for the signal.
void end_by_signal(int number);

}  // namespace stepwise::runtime
