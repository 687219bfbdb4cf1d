// Compares the file's status with the previous one, and reads the file once it is stable.
#include "grader/cli/watch/saved_file.hpp"

#include <sys/stat.h>

#include <utility>

namespace stepwise::cli {
namespace {

using clock = std::chrono::steady_clock;

// An empty file is probably still being written.
constexpr auto calm = std::chrono::milliseconds(40), calm_if_empty = std::chrono::milliseconds(300);

}  // namespace

saved_file::stamp saved_file::look() const {
  struct stat status {};
  if (stat(file_.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  return {true, status.st_ino, status.st_size,
          std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec};
}

bool saved_file::has_news() {
  const stamp now = look();
  if (now != seen_ || since_ == clock::time_point{}) {
    seen_ = now;
    since_ = clock::now();
    settled_ = false;
    news_.reset();
  }
  if (settled_ || !seen_.exists) return news_.has_value();
  if (clock::now() - since_ < (seen_.size == 0 ? calm_if_empty : calm)) return false;
  auto text = read_if_there(file_);
  if (!text || look() != seen_) return false;  // it changed while it was read
  settled_ = true;
  if (text != taken_) news_ = std::move(text);
  return news_.has_value();
}

const std::string& saved_file::take() {
  taken_ = std::move(news_);
  news_.reset();
  return *taken_;
}

}  // namespace stepwise::cli
