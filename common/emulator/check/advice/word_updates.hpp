// Finds statements that read a word, change it and write it back in separate instructions, so that
// one thread can lose another thread's change.
#pragma once

#include <cstdint>
#include <optional>

#include "common/emulator/check/advice/register_flow.hpp"
#include "common/ptx/control_flow.hpp"

namespace stepwise::emulator {

enum class word_change : std::uint8_t {
  none,
  identity,  // the value that was read, or a conversion of it
  addition,
  minimum,
  maximum,
  bits_and,
  bits_or,
  bits_xor,
  compared,  // whether the word is written depends on a comparison with the old value
  other
};

struct word_update {
  std::int32_t load, store;
  word_change how;
};

// The update that a plain store completes.
std::optional<word_update> update_by_store(const register_flow& values, const control_flow& flow,
                                           std::int32_t store);
// The update that a plain load begins.
std::optional<word_update> update_by_load(const register_flow& values, const control_flow& flow,
                                          std::int32_t load);

}  // namespace stepwise::emulator
