// A TOML file as a tree of values that know their lines.
//
// idea    toml++ is a header of templates that takes seconds to compile; only toml.cpp includes it.
// tests   tests/toml_test.cpp
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace stepwise {

// Thrown if the text is not TOML.
struct toml_error : std::runtime_error {
  toml_error(const std::string& what, int at) : std::runtime_error(what), line(at) {}
  int line;
};

struct toml_value {
  enum class kind : std::uint8_t { table, array, text, integer, real, truth, other };

  kind is = kind::table;
  int line = 0;  // the line where the value begins, from 1
  std::string text;
  std::int64_t integer = 0;
  double real = 0;  // also set for an integer
  bool truth = false;
  std::vector<std::string> keys;  // a table's keys, in alphabetical order
  std::vector<toml_value> items;  // a table's values, or an array's

  bool is_table() const { return is == kind::table; }
  bool is_array() const { return is == kind::array; }
  // A table's value for this key; null if there is none, or if this is not a table.
  const toml_value* find(std::string_view key) const;
  bool contains(std::string_view key) const { return find(key) != nullptr; }
  // Like find(), but also null if the value is not a table (or not an array).
  const toml_value* table_at(std::string_view key) const;
  const toml_value* array_at(std::string_view key) const;

  // The value as std::string, std::int64_t, double or bool; none if it has another type. A whole
  // number can also be read as a double, and a whole double as an integer.
  template <class Value>
  std::optional<Value> as() const {
    if constexpr (std::is_same_v<Value, std::string>) {
      if (is == kind::text) return text;
    } else if constexpr (std::is_same_v<Value, bool>) {
      if (is == kind::truth) return truth;
    } else if constexpr (std::is_floating_point_v<Value>) {
      if (is == kind::real || is == kind::integer) return static_cast<Value>(real);
    } else {
      static_assert(std::is_same_v<Value, std::int64_t>);
      if (is == kind::integer || (is == kind::real && static_cast<double>(integer) == real)) {
        return integer;
      }
    }
    return {};
  }
  // The value at this key, or none if there is no such key.
  template <class Value>
  std::optional<Value> as(std::string_view key) const {
    const toml_value* value = find(key);
    return value == nullptr ? std::nullopt : value->as<Value>();
  }
};

// Returns the root table of the text. Throws toml_error.
toml_value parse_toml(std::string_view text);

}  // namespace stepwise
