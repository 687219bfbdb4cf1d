// Stores each record once, and finds a call's record by its place and its caller's name.
#include "common/ptx/positions.hpp"

namespace stepwise::ptx {
namespace {

constexpr std::int32_t of_any_function = -2;

}  // namespace

std::size_t position_list::hash::operator()(const key& k) const {
  std::uint64_t h = (std::uint64_t{k.at.file} << 44) ^ (std::uint64_t{k.at.column} << 32) ^
                    k.at.line ^ (static_cast<std::uint64_t>(k.inlined_at) << 20);
  h ^= reinterpret_cast<std::uintptr_t>(k.function) * 0x9E3779B97F4A7C15u;
  h *= 0xD6E8FEB86659FD93u;
  return h ^ (h >> 32);
}

std::int32_t position_list::record(place at, std::string_view function, std::int32_t inlined_at) {
  const auto [found, is_new] = index_.try_emplace(key{at, function.data(), inlined_at},
                                                  static_cast<std::int32_t>(out_.size()));
  if (is_new) out_.push_back({at.file, at.line, at.column, inlined_at, function});
  latest_[key{at, function.data(), 0}] = found->second;
  latest_[key{at, nullptr, of_any_function}] = found->second;
  return last_ = found->second;
}

std::int32_t position_list::caller(std::string_view function, place call, bool directly_after) {
  const key known{call, function.data(), 0};
  if (directly_after && last_ >= 0) {
    const source_position& p = out_[last_];
    if (place{p.file, p.line, p.column} == call) {
      callers_[known] = p.function.data();
      return last_;
    }
  }
  if (const auto name = callers_.find(known); name != callers_.end()) {
    if (const auto found = latest_.find(key{call, name->second, 0}); found != latest_.end()) {
      return found->second;
    }
  }
  const auto found = latest_.find(key{call, nullptr, of_any_function});
  // If there is no record of the call, add a record with its place.
  return found != latest_.end() ? found->second : record(call, {}, -1);
}

std::int32_t position_list::add(place at) { return record(at, {}, -1); }

std::int32_t position_list::add_inlined(place at, std::string_view function, place call,
                                        bool directly_after) {
  return record(at, function, caller(function, call, directly_after));
}

}  // namespace stepwise::ptx
