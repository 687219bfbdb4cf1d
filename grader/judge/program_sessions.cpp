// Ends each session before it starts the next.
#include "grader/judge/program_sessions.hpp"

#include <utility>

#include "grader/system/files.hpp"

namespace stepwise {
namespace {

constexpr double seconds_to_end = 10;  // for destructors and the search for leaks

}  // namespace

program_sessions::program_sessions(starter start, std::filesystem::path findings)
    : start_(std::move(start)), findings_(std::move(findings)) {}

call_outcome program_sessions::call(std::size_t number) {
  const call_outcome end = end_session(seconds_to_end);
  if (!end.ok()) return end;
  current_ = start_();
  return current_->call(number);
}

call_outcome program_sessions::end_session(double seconds) {
  if (!current_) return {};
  const call_outcome end = current_->finish(seconds);
  printed_ += current_->printed();
  current_.reset();
  if (findings_.empty()) return end;
  if (kept_.empty()) {
    kept_ = read_if_there(findings_).value_or("");
  } else {
    write_atomically(findings_, kept_);
  }
  return end;
}

call_outcome program_sessions::finish(double seconds) { return end_session(seconds); }

std::string program_sessions::printed() const {
  return current_ ? printed_ + current_->printed() : printed_;
}

}  // namespace stepwise
