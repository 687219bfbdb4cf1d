// Collects findings and the source lines of their origins.
#include "common/device/remote/finding_list.hpp"

#include <utility>

namespace stepwise::remote {
namespace {

constexpr std::size_t most_found = 2000, most_reported = 200;

}  // namespace

void finding_list::want(std::uint64_t origin) {
  if (origin != 0 && places_.try_emplace(origin).second) unasked_.push_back(origin);
}

void finding_list::add(std::vector<finding> found) {
  for (finding& f : found) {
    if (found_.size() == most_found) return;
    for (const std::uint64_t origin : {f.origin, f.object.allocated_by, f.object.freed_by})
      want(origin);
    found_.push_back({std::move(f), {}, {}, {}, {}});
  }
}

void finding_list::add_line(const std::string& line) {
  if (reported_.size() == most_reported) return;
  if (auto reported = parse_json_line(line)) reported_.push_back(std::move(*reported));
}

void finding_list::place(const give_place& where) {
  const auto known = places_.find(where.origin);
  if (known == places_.end() || known->second) return;
  known->second = {where.file, static_cast<int>(where.line), where.text, where.function};
}

std::vector<std::uint64_t> finding_list::wanted() { return std::exchange(unasked_, {}); }

std::vector<long_text> finding_list::lines() const {
  const auto place_of = [&](std::uint64_t origin, host_place& place) {
    const auto known = places_.find(origin);
    if (known != places_.end() && known->second && !place.known()) place = *known->second;
  };
  std::vector<located_finding> merged;
  for (const auto* list : {&found_, &reported_}) {
    for (located_finding f : *list) {
      place_of(f.what.origin, f.host);
      place_of(f.what.object.allocated_by, f.allocated);
      place_of(f.what.object.freed_by, f.freed);
      merge_into(merged, std::move(f));
    }
  }
  std::vector<long_text> lines;
  std::size_t bytes = 0;
  for (const located_finding& f : merged) {
    lines.push_back({json_line(f)});
    bytes += lines.back().text.size() + sizeof(std::uint32_t);
    if (bytes > most_reply_bytes / 2) {
      lines.pop_back();
      break;
    }
  }
  return lines;
}

}  // namespace stepwise::remote
