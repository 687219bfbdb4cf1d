// What is written to stderr where stdio is no longer, or not now, to be used: when the program
// ends, and in a signal's handler.
//
// idea    A handler may neither lock nor allocate, so its text is made beforehand.
// tests   tests/checks_test.py
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace stepwise::runtime {

// Whether stderr still is the file that it was when the process began. For handlers, too.
bool stderr_is_unchanged();

// As much as the file takes. For handlers, too.
void write_all(int to, std::string_view text);

// Sets the text that is written when a signal ends the program. An empty text writes nothing. With
// `file`, only this process writes the text, at the end of that file. Otherwise it goes to stderr.
void set_last_words(std::string_view text, const std::string& file = {});
// Says it once. For handlers.
void say_last_words();
// Says it before these signals end the program, as far as it has not decided what they do.
void say_last_words_on(std::initializer_list<int> signals);
// The same, but a running launch is stopped first (common/device/interruption.hpp), and the
// function that the launch then calls writes the text. A second signal does not wait for that.
void stop_launches_on(std::initializer_list<int> signals);
// Ends the process as if the program had no handler for the signal.
void end_by_signal(int number);

}  // namespace stepwise::runtime
