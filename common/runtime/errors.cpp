// The table of errors, each thread's last error, and the messages on stderr.
#include "common/runtime/errors.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <span>
#include <string>

#include "common/device/engine_settings.hpp"
#include "common/device/error_table.hpp"

namespace stepwise::runtime {
namespace {

const error_entry* find_entry(int code) {
  const auto found = std::lower_bound(std::begin(error_table), std::end(error_table), code,
                                      [](const error_entry& e, int c) { return e.code < c; });
  return found != std::end(error_table) && found->code == code ? found : nullptr;
}

std::atomic<bool> announced{false};

thread_local int last_code = 0;
thread_local char message[2048] = "";
thread_local const char* driver_function = nullptr;
thread_local char driver_reason[2048] = "";

void keep_sentence(const std::string& sentence, std::span<char> in) {
  const std::size_t length = std::min(sentence.size(), in.size() - 1);
  std::memcpy(in.data(), sentence.data(), length);
  in[length] = '\0';
}

}  // namespace

driver_call::driver_call(const char* function) : before_(driver_function) {
  driver_function = function;
  driver_reason[0] = '\0';
}

driver_call::~driver_call() { driver_function = before_; }

const char* driver_call::function() { return driver_function; }

const char* driver_call::reason() { return driver_reason; }

int finish(const status& outcome) {
  if (driver_function) {
    if (!outcome.ok()) keep_sentence(outcome.message, driver_reason);
    return static_cast<int>(outcome.code);
  }
  // An error that the program has not read yet keeps its message.
  if (outcome.ok() && outcome.message.empty() && last_code != 0) return 0;
  keep_sentence(outcome.message, message);
  const int code = static_cast<int>(outcome.code);
  if (code != 0) last_code = code;
  return code;
}

int last_error() { return last_code; }

int take_error() {
  const int code = last_code;
  last_code = 0;
  return code;
}

const char* last_message() { return message; }

const char* error_name(int code) {
  const error_entry* entry = find_entry(code);
  return entry ? entry->name : unrecognized_error;
}

const char* error_text(int code) {
  const error_entry* entry = find_entry(code);
  return entry ? entry->text : unrecognized_error;
}

bool is_quiet() { return engine_settings::from_environment().quiet; }

bool has_announced() { return announced; }

void announce(std::string_view sentence) {
  if (sentence.empty() || is_quiet()) return;
  announced = true;
  static std::mutex& lock = *new std::mutex;
  static std::set<std::string, std::less<>>& said = *new std::set<std::string, std::less<>>;
  const std::lock_guard guard(lock);
  // A program that fails endlessly must not fill a disk with different messages.
  constexpr std::size_t most = 100;
  if (said.size() >= most || !said.emplace(sentence).second) return;
  std::string out;
  while (!sentence.empty()) {
    const std::size_t end = std::min(sentence.find('\n'), sentence.size());
    out.append("stepwise: ").append(sentence.substr(0, end)).append("\n");
    sentence.remove_prefix(std::min(end + 1, sentence.size()));
  }
  if (said.size() == most) out += "stepwise: (further messages are left out)\n";
  std::fwrite(out.data(), 1, out.size(), stderr);
}

void announce_mistake(std::string_view call, const status& outcome) {
  switch (outcome.code) {
    case error::invalid_value:
    case error::invalid_pitch_value:
    case error::invalid_memcpy_direction:
      return announce(std::string(call) + " was refused: " + outcome.message);
    default:
      return;
  }
}

}  // namespace stepwise::runtime
