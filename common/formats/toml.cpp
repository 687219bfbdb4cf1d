// Copies toml++'s nodes into a tree of our own, and finds keys in it.
#include "common/formats/toml.hpp"

#include <algorithm>
#include <cmath>

#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

namespace stepwise {
namespace {

toml_value from(const toml::node& node) {
  using kind = toml_value::kind;
  toml_value value;
  value.line = static_cast<int>(node.source().begin.line);
  if (const toml::table* table = node.as_table()) {
    value.is = kind::table;
    for (const auto& [key, entry] : *table) {
      value.keys.emplace_back(key.str());
      value.items.push_back(from(entry));
    }
  } else if (const toml::array* array = node.as_array()) {
    value.is = kind::array;
    for (const auto& entry : *array) value.items.push_back(from(entry));
  } else if (const auto* text = node.as_string()) {
    value.is = kind::text;
    value.text = text->get();
  } else if (const auto* integer = node.as_integer()) {
    value.is = kind::integer;
    value.integer = integer->get();
    value.real = static_cast<double>(value.integer);
  } else if (const auto* real = node.as_floating_point()) {
    value.is = kind::real;
    value.real = real->get();
    if (std::abs(value.real) < 9e18) value.integer = static_cast<std::int64_t>(value.real);
  } else if (const auto* truth = node.as_boolean()) {
    value.is = kind::truth;
    value.truth = truth->get();
  } else {
    value.is = kind::other;  // dates and times
  }
  return value;
}

}  // namespace

const toml_value* toml_value::find(std::string_view key) const {
  if (!is_table()) return nullptr;
  const auto found = std::find(keys.begin(), keys.end(), key);
  return found == keys.end() ? nullptr : &items[static_cast<std::size_t>(found - keys.begin())];
}

const toml_value* toml_value::table_at(std::string_view key) const {
  const toml_value* value = find(key);
  return value != nullptr && value->is_table() ? value : nullptr;
}

const toml_value* toml_value::array_at(std::string_view key) const {
  const toml_value* value = find(key);
  return value != nullptr && value->is_array() ? value : nullptr;
}

toml_value parse_toml(std::string_view text) {
  try {
    return from(toml::parse(text));
  } catch (const toml::parse_error& error) {
    throw toml_error(std::string(error.description()), static_cast<int>(error.source().begin.line));
  }
}

}  // namespace stepwise
