// attack reduction: WRONG, at most 0 points
// writes back what it reads from every file below /proc and /sys, which hold machine settings
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "labs/reduction/reduction.hpp"

namespace {

namespace fs = std::filesystem;

bool is_of_a_process(const fs::path& path) {
  return path.parent_path() == "/proc" && std::atoi(path.filename().c_str()) > 0;
}

bool writes_back(const fs::path& file) {
  char text[4096];
  const int reader = open(file.c_str(), O_RDONLY | O_NONBLOCK);
  const auto bytes = reader < 0 ? -1 : read(reader, text, sizeof text);
  const int writer = open(file.c_str(), O_WRONLY | O_NONBLOCK);
  const bool wrote =
      writer >= 0 && bytes > 0 && write(writer, text, static_cast<std::size_t>(bytes)) > 0;
  close(reader);
  close(writer);
  return wrote;
}

}  // namespace

void reduce(const int*, int*, int*, int) {
  for (const char* folder : {"/proc", "/sys"}) {
    std::error_code error;
    const auto skip = fs::directory_options::skip_permission_denied;
    for (fs::recursive_directory_iterator at(folder, skip, error), end; !error && at != end;
         at.increment(error)) {
      if (is_of_a_process(at->path())) at.disable_recursion_pending();
      std::error_code ignored;
      if (at->is_regular_file(ignored) && writes_back(at->path()))
        std::printf("stepwise-attack: wrote %s\n", at->path().c_str());
    }
  }
}
