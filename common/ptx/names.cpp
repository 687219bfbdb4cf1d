// Stores the new name of each renamed name by scope, and makes names that are unique.
#include "common/ptx/names.hpp"

#include "common/ptx/ast.hpp"

namespace stepwise::ptx {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view stem_of(std::string_view name) {
  while (!name.empty() && is_digit(name.back())) name.remove_suffix(1);
  return name;
}

}  // namespace

void names::open_scope() {
  scopes_.emplace_back();
  scope_numbers_.push_back(++scopes_opened_);
}

void names::close_scope() {
  for (const std::string_view name : scopes_.back()) {
    const auto found = renamed_.find(name);
    found->second.pop_back();
    if (found->second.empty()) renamed_.erase(found);
  }
  scopes_.pop_back();
  scope_numbers_.pop_back();
}

void names::rename(std::string_view from, std::string_view to, bool counted) {
  renamed_[from].push_back({depth(), to, counted});
  scopes_.back().push_back(from);
}

std::string_view names::fresh(std::string_view name, std::string_view tail) {
  std::uint32_t& number = last_number_[name];
  if (number == 0) number = 1;
  std::string candidate;
  do {
    candidate = std::string(name) + "$" + std::to_string(++number);
  } while (declared_.count(candidate) || is_global_(candidate));
  storage_.push_back(candidate + std::string(tail));
  surround(std::string_view(storage_.back()).substr(0, candidate.size()));
  return storage_.back();
}

std::string_view names::declare(std::string_view name, std::uint32_t line) {
  stem& s = stems_[stem_of(name)];
  const auto [found, is_new] = declared_.emplace(name, scope_numbers_.back());
  if (!is_new && found->second == scope_numbers_.back()) {
    throw parse_error(line, "'" + std::string(name) + "' is declared twice in one scope");
  }
  const bool nested = depth() > 0;
  const bool clash = !is_new || (s.counted && (nested || s.nested)) || (nested && is_global_(name));
  s.nested |= nested;
  if (!clash) return name;
  found->second = scope_numbers_.back();
  const std::string_view unique = fresh(name);
  rename(name, unique, false);
  return unique;
}

std::string_view names::declare_counted(std::string_view prefix, std::uint32_t line) {
  stem& s = stems_[stem_of(prefix)];
  storage_.push_back(std::string(prefix) + "<>");  // no name in PTX ends like this
  const auto [found, is_new] = declared_.emplace(storage_.back(), scope_numbers_.back());
  if (!is_new && found->second == scope_numbers_.back()) {
    throw parse_error(line, "'" + std::string(prefix) + "' is declared twice in one scope");
  }
  const bool nested = depth() > 0;
  const bool clash = !is_new || nested || s.nested;
  s.counted = true;
  s.nested |= nested;
  if (!clash) return prefix;
  found->second = scope_numbers_.back();
  const std::string_view unique = fresh(prefix, "$");
  rename(prefix, unique, true);
  return unique;
}

std::string_view names::resolve_renamed(std::string_view name) {
  // "%v.x" is element x of the renamed "%v".
  const std::string_view whole = name.substr(0, name.find('.'));
  const renaming* best = nullptr;
  std::string_view digits;
  const auto consider = [&](std::string_view from, bool counted) {
    const auto found = renamed_.find(from);
    if (found == renamed_.end()) return;
    for (std::size_t k = found->second.size(); k-- > 0;) {
      const renaming& r = found->second[k];
      if (r.counted != counted) continue;
      if (best == nullptr || r.depth > best->depth) {
        best = &r;
        digits = whole.substr(from.size());
      }
      return;
    }
  };
  consider(whole, false);
  for (std::string_view prefix = whole; !prefix.empty() && is_digit(prefix.back());) {
    prefix.remove_suffix(1);
    if (whole.size() - prefix.size() > 7) break;  // more digits than any register has
    consider(prefix, true);
  }
  if (best == nullptr) return name;
  if (digits.empty() && whole.size() == name.size()) return best->to;
  storage_.push_back(std::string(best->to) + std::string(digits) +
                     std::string(name.substr(whole.size())));
  return storage_.back();
}

}  // namespace stepwise::ptx
