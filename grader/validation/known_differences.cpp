// Reads the list, checks each entry against the lab, and marks the differences that the entry
// excuses.
#include "grader/validation/known_differences.hpp"

#include <algorithm>

#include "common/formats/toml.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise {
namespace {

bool has(const auto& list, const auto& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// A list of T; empty if the key is missing.
template <class T>
std::vector<T> list_of(const toml_value& table, std::string_view key) {
  std::vector<T> list;
  if (const auto* const array = table.array_at(key)) {
    for (const auto& value : array->items) list.push_back(value.as<T>().value_or(T{}));
  }
  return list;
}

std::vector<lab_size> sizes_of(const toml_value& table) {
  std::vector<lab_size> sizes;
  if (const auto* const array = table.array_at("sizes")) {
    for (const auto& entry : array->items) {
      lab_size& size = sizes.emplace_back();
      for (const auto& number : entry.items) size.push_back(number.as<std::int64_t>().value_or(0));
    }
  }
  return sizes;
}

// The error in an entry. Empty if there is none.
std::string fault_of(const known_difference& d, const lab& l) {
  if (d.why.empty()) return "a difference needs a reason: why = \"...\"";
  if (d.steps.empty() || d.counters.empty()) return "a difference needs `steps` and `counters`";
  for (const auto& name : d.steps) {
    const auto same = [&](const step& s) { return s.name == name; };
    if (std::none_of(l.steps.begin(), l.steps.end(), same))
      return "there is no step `" + name + "`";
  }
  for (const auto& key : d.counters) {
    const auto same = [&](const counter& c) { return c.key == key; };
    if (std::none_of(all_counters().begin(), all_counters().end(), same))
      return "there is no counter `" + key + "`";
  }
  for (const auto& size : d.sizes) {
    if (size.empty() || has(size, std::int64_t{0})) return "a size must be a list like [200]";
  }
  return "";
}

}  // namespace

std::vector<known_difference> load_known_differences(const fs::path& root, const lab& l) {
  const fs::path file = root / "solutions" / l.name / "measured" / "differs.toml";
  const auto text = read_if_there(file);
  if (!text) return {};
  std::vector<known_difference> known;
  try {
    const toml_value all = parse_toml(*text);
    if (const auto* const entries = all.array_at("differs")) {
      for (const auto& entry : entries->items) {
        known.push_back({list_of<std::string>(entry, "steps"), sizes_of(entry),
                         list_of<std::string>(entry, "counters"),
                         entry.as<std::string>("why").value_or("")});
        if (const std::string fault = fault_of(known.back(), l); !fault.empty()) {
          throw failure(exit_code::ours,
                        file.string() + ":" + std::to_string(entry.line) + ": " + fault);
        }
      }
    }
  } catch (const toml_error& wrong) {
    throw failure(exit_code::ours,
                  file.string() + ":" + std::to_string(wrong.line) + ": " + wrong.what());
  }
  return known;
}

excused excuse(validation& v, const std::vector<known_difference>& known) {
  excused result;
  for (const known_difference& d : known) {
    std::size_t steps = 0, compared = 0, differs = 0;  // `compared` counts sizes of these steps
    for (validated_step& s : v.steps) {
      if (!has(d.steps, s.name)) continue;
      ++steps;
      for (validated_size& size : s.sizes) {
        if (!d.sizes.empty() && !has(d.sizes, size.size)) continue;
        ++compared;
        for (compared_kernel& k : size.kernels) {
          for (compared_counter& c : k.counters) {
            if (c.found != conclusion::differs || !has(d.counters, c.what->key)) continue;
            c.found = conclusion::known;
            ++differs;
          }
          k.holds = k.hardware != nullptr && k.emulated != nullptr &&
                    k.hardware->launches == k.emulated->launches &&
                    std::none_of(k.counters.begin(), k.counters.end(),
                                 [](const auto& c) { return c.found == conclusion::differs; });
        }
      }
    }
    const bool all = steps == d.steps.size() && compared >= steps * d.sizes.size();
    if (differs > 0)
      result.used.push_back(&d);
    else if (all)
      result.unused.push_back(&d);
  }
  return result;
}

}  // namespace stepwise
