// Reads and writes whole structures over a descriptor.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace stepwise::runner {

// Returns false at the end of the file or on an error.
inline bool read_all(int from, void* to, std::size_t size) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t got = read(from, static_cast<char*>(to) + done, size - done);
    if (got > 0) done += static_cast<std::size_t>(got);
    if (got == 0 || (got < 0 && errno != EINTR)) return false;
  }
  return true;
}

// False on an error.
inline bool write_all(int to, const void* from, std::size_t size) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t put = write(to, static_cast<const char*>(from) + done, size - done);
    if (put > 0) done += static_cast<std::size_t>(put);
    if (put < 0 && errno != EINTR) return false;
  }
  return true;
}

}  // namespace stepwise::runner
