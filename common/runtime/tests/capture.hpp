// Captures the output of a piece of code to stderr.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>

namespace stepwise {

template <class Body>
std::string captured_stderr(Body&& body) {
  std::fflush(stderr);
  const int saved = dup(2);
  std::FILE* const file = std::tmpfile();
  dup2(fileno(file), 2);
  body();
  std::fflush(stderr);
  dup2(saved, 2);
  close(saved);
  std::string text(static_cast<std::size_t>(lseek(fileno(file), 0, SEEK_END)), '\0');
  const ssize_t got = pread(fileno(file), text.data(), text.size(), 0);
  std::fclose(file);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

}  // namespace stepwise
