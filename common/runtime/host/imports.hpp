// Whether this process may still create a stream that runs concurrently with the default stream.
//
// idea    Checked launches end before the host continues, so a stream that the host creates later
//         is not known yet. The imports of the program and its libraries show what they may call.
// watch   A program that looks functions up by name may call any of them.
// tests   ../tests/signals_test.py
#pragma once

namespace stepwise::runtime {

// Whether anything in this process, apart from the runtime and the driver, imports a function that
// creates a non-blocking stream. The answer is kept until another library is loaded.
bool may_create_non_blocking_streams();

}  // namespace stepwise::runtime
