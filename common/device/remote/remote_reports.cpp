// The reports of a remote device: a submission's places and findings, and a judge's calls.
#include <utility>

#include "common/device/remote/remote_device.hpp"
#include "common/report/located_finding.hpp"

namespace stepwise::remote {

void remote_device::send_wanted_places() {
  if (wanted_.empty() || !place_of_) return;
  for (const std::uint64_t origin : std::exchange(wanted_, {})) queue(place_of_(origin));
  (void)send_queue();
}

std::vector<finding> remote_device::take_findings(bool at_exit) {
  const std::lock_guard guard(lock_);
  if (at_exit) (void)ask(end_in_order{});
  send_wanted_places();
  return {};
}

bool remote_device::give_finding(const std::string& line) {
  const std::lock_guard guard(lock_);
  queue(remote::give_finding{line});
  return send_queue().ok();
}

void remote_device::note_host_array(const std::byte* first, std::uint64_t bytes,
                                    std::uint64_t place) {
  const std::lock_guard guard(lock_);
  if (bytes == 0) {
    arrays_.clear();
    input_ = result_ = {};
  } else {
    arrays_.push_back({first, bytes, place});
  }
}

void remote_device::note_file(std::span<const std::byte> content, std::uint64_t place,
                              bool is_result) {
  const std::lock_guard guard(lock_);
  (is_result ? result_ : input_) = {content, place, 0};
}

std::optional<finding> remote_device::host_access(device_address address, bool writes) {
  const std::lock_guard guard(lock_);
  const auto found = ask(ask_host_access{address, writes});
  if (!found.ok() || found->lines.empty()) return std::nullopt;
  auto parsed = parse_json_line(found->lines[0].text);
  if (!parsed) return std::nullopt;
  return std::move(parsed->what);
}

status remote_device::begin(const begin_call& how) {
  const std::lock_guard guard(lock_);
  const auto begun = ask(how);
  return begun.ok() ? status{} : begun.failure();
}

status remote_device::end_program() {
  const std::lock_guard guard(lock_);
  const auto ended = ask(remote::end_program{});
  return ended.ok() ? status{} : ended.failure();
}

result<end_call::answer> remote_device::end() {
  const std::lock_guard guard(lock_);
  return ask(end_call{});
}

result<std::vector<std::string>> remote_device::take(report_kind which) {
  const std::lock_guard guard(lock_);
  auto found = ask(take_report{static_cast<std::uint32_t>(which)});
  if (!found.ok()) return found.failure();
  std::vector<std::string> lines;
  for (long_text& line : found->lines) lines.push_back(std::move(line.text));
  return lines;
}

}  // namespace stepwise::remote
