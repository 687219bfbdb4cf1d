// Advice for a thread that waits for a phase of an mbarrier that has already ended.
#pragma once

#include <string>

#include "common/emulator/check/evidence.hpp"

namespace stepwise::emulator {

// Advice if a thread's last wait before its access probably had a wrong parity; otherwise empty.
std::string wrong_parity_advice(evidence& all, const access_maker& who);

}  // namespace stepwise::emulator
