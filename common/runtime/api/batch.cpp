// Checks the stream of a batch, and its lists of attributes and indices.
#include "common/runtime/api/batch.hpp"

#include <algorithm>
#include <functional>

namespace stepwise::runtime {

status check_batch_stream(const state& s, cudaStream_t stream, bool per_thread) {
  if (stream == cudaStreamLegacy || (!stream && !per_thread)) {
    return invalid_value("a batch does not run in the legacy default stream: create a stream");
  }
  return check_stream(s, stream);
}

status check_batch_entries(const char* function, std::size_t count, const void* entries,
                           const std::size_t* starts, std::size_t entry_count) {
  const std::string who = std::string(function) + ": ";
  if (count == 0) return invalid_value(who + "no operations");
  if (!entries || !starts || entry_count == 0 || entry_count > count) {
    return invalid_value(who + "no attributes, or more than operations");
  }
  // Not ascending strictly: some index is not below the next.
  const bool rises = std::adjacent_find(starts, starts + entry_count, std::greater_equal<>()) ==
                     starts + entry_count;
  if (starts[0] != 0 || !rises || starts[entry_count - 1] >= count) {
    return invalid_value(who + "the indices must rise from 0 and stay below the count");
  }
  return {};
}

}  // namespace stepwise::runtime
