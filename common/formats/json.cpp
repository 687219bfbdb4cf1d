// Converts from and to the library's values for parsing and dumping; access, changes, comparison.
#include "common/formats/json.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

namespace stepwise {
namespace {

using library = nlohmann::ordered_json;

constexpr int most_depth = 200;  // values are read, written and destroyed recursively
constexpr double most_integer = 9.2e18;

const char* name_of(json::kind kind) {
  constexpr const char* names[] = {"null",     "true or false", "a number", "a number",
                                   "a number", "a text",        "an array", "an object"};
  return names[static_cast<std::size_t>(kind)];
}

[[noreturn]] void refuse(const json& value, json::kind wanted) {
  throw json_error(std::string("expected ") + name_of(wanted) + ", found " + name_of(value.type()));
}

json from(const library& value) {
  switch (value.type()) {
    case library::value_t::boolean:
      return value.get<bool>();
    case library::value_t::number_integer:
      return value.get<std::int64_t>();
    case library::value_t::number_unsigned:
      return value.get<std::uint64_t>();
    case library::value_t::number_float:
      return value.get<double>();
    case library::value_t::string:
      return value.get_ref<const std::string&>();
    case library::value_t::array: {
      json array = json::array();
      for (const auto& element : value) array.push_back(from(element));
      return array;
    }
    case library::value_t::object: {
      json object = json::object();
      for (const auto& [key, element] : value.items()) object[key] = from(element);
      return object;
    }
    default:
      return nullptr;
  }
}

library to_library(const json& value) {
  switch (value.type()) {
    case json::kind::truth:
      return value.get<bool>();
    case json::kind::integer:
      return value.get<std::int64_t>();
    case json::kind::natural:
      return value.get<std::uint64_t>();
    case json::kind::real:
      return value.get<double>();
    case json::kind::text:
      return value.get<std::string>();
    case json::kind::array: {
      library array = library::array();
      for (const auto& element : value) array.push_back(to_library(element));
      return array;
    }
    case json::kind::object: {
      library object = library::object();
      for (const auto& [key, element] : value.items())
        object.get_ref<library::object_t&>().emplace_back(key, to_library(element));
      return object;
    }
    default:
      return nullptr;
  }
}

}  // namespace

json::json() noexcept = default;
json::json(const json& other) = default;
json::json(json&& other) noexcept = default;
json& json::operator=(const json& other) = default;
json& json::operator=(json&& other) noexcept = default;
json::~json() = default;

json::json(kind of) : kind_(of) {}
json::json(double value) : kind_(kind::real) { number_.real = value; }
json::json(const std::string& value) : kind_(kind::text), text_(value) {}
json::json(std::string&& value) : kind_(kind::text), text_(std::move(value)) {}
json::json(std::string_view value) : kind_(kind::text), text_(value) {}
json::json(const char* value) : kind_(kind::text), text_(value) {}

void json::set_truth(bool value) {
  kind_ = kind::truth;
  number_.truth = value;
}

void json::set_integer(std::int64_t value) {
  kind_ = kind::integer;
  number_.integer = value;
}

void json::set_natural(std::uint64_t value) {
  kind_ = kind::natural;
  number_.natural = value;
}

bool json::contains(std::string_view key) const { return find(key) != end(); }
const json& json::operator[](const char* key) const { return at(std::string_view(key)); }
json& json::operator[](const char* key) { return (*this)[std::string_view(key)]; }

std::string json::value(std::string_view key, const char* otherwise) const {
  return value(key, std::string(otherwise));
}

json::json(std::initializer_list<json> values) : json(array(values)) {
  const bool is_object = std::all_of(values.begin(), values.end(), [](const json& value) {
    return value.is_array() && value.size() == 2 && value[0].is_string();
  });
  if (!is_object) return;
  json object(kind::object);
  for (auto& pair : elements_) object[pair.elements_[0].text_] = std::move(pair.elements_[1]);
  *this = std::move(object);
}

json json::array(std::initializer_list<json> values) {
  json result(kind::array);
  result.elements_.assign(values);
  return result;
}

json json::parse(std::string_view text) {
  const auto is_shallow = [](int depth, library::parse_event_t, const library&) {
    if (depth > most_depth) throw json_error("nested too deeply");
    return true;
  };
  try {
    return from(library::parse(text, is_shallow));
  } catch (const library::exception& error) {
    throw json_error(error.what());
  }
}

json json::parse_or_null(std::string_view text) {
  try {
    return parse(text);
  } catch (const json_error&) {
    return nullptr;
  }
}

std::string json::dump(int indent) const {
  return to_library(*this).dump(indent, ' ', false, library::error_handler_t::replace);
}

const json::list& json::require(kind wanted) const {
  if (kind_ != wanted) refuse(*this, wanted);
  return elements_;
}

bool json::truth() const {
  require(kind::truth);
  return number_.truth;
}

std::int64_t json::integer() const {
  if (kind_ == kind::natural) return static_cast<std::int64_t>(number_.natural);
  if (kind_ == kind::real && std::abs(number_.real) < most_integer) {
    return static_cast<std::int64_t>(number_.real);
  }
  require(kind::integer);
  return number_.integer;
}

std::uint64_t json::natural() const {
  return kind_ == kind::natural ? number_.natural : static_cast<std::uint64_t>(integer());
}

double json::real() const {
  if (kind_ == kind::natural) return static_cast<double>(number_.natural);
  if (kind_ == kind::integer) return static_cast<double>(number_.integer);
  require(kind::real);
  return number_.real;
}

const std::string& json::text() const {
  require(kind::text);
  return text_;
}

std::vector<json::item> json::items() const {
  std::vector<item> all;
  for (std::size_t i = 0; i < names_.size(); ++i) all.push_back({names_[i], elements_[i]});
  return all;
}

json::list::const_iterator json::find(std::string_view key) const {
  const auto name = std::find(names_.begin(), names_.end(), key);
  return name == names_.end() ? elements_.end() : elements_.begin() + (name - names_.begin());
}

const json& json::at(std::string_view key) const {
  require(kind::object);
  const auto found = find(key);
  if (found == end()) throw json_error("there is no \"" + std::string(key) + "\"");
  return *found;
}

const json& json::at(std::size_t index) const {
  require(kind::array);
  if (index >= elements_.size()) {
    throw json_error("there is no element " + std::to_string(index) + " in an array of " +
                     std::to_string(elements_.size()));
  }
  return elements_[index];
}

json& json::operator[](std::string_view key) {
  if (kind_ == kind::null) kind_ = kind::object;
  require(kind::object);
  const auto name = std::find(names_.begin(), names_.end(), key);
  if (name != names_.end()) return elements_[static_cast<std::size_t>(name - names_.begin())];
  names_.emplace_back(key);
  return elements_.emplace_back();
}

void json::push_back(json element) {
  if (kind_ == kind::null) kind_ = kind::array;
  require(kind::array);
  elements_.push_back(std::move(element));
}

void json::update(const json& others) {
  others.require(kind::object);
  for (const auto& [key, value] : others.items()) (*this)[key] = value;
}

void json::erase(std::string_view key) {
  const auto name = std::find(names_.begin(), names_.end(), key);
  if (name == names_.end()) return;
  elements_.erase(elements_.begin() + (name - names_.begin()));
  names_.erase(name);
}

bool operator==(const json& a, const json& b) {
  if (a.is_number() && b.is_number()) {
    if (a.is_number_integer() && b.is_number_integer()) {
      const bool a_below = a.kind_ == json::kind::integer && a.number_.integer < 0;
      const bool b_below = b.kind_ == json::kind::integer && b.number_.integer < 0;
      return a_below == b_below && a.natural() == b.natural();
    }
    return a.real() == b.real();
  }
  if (a.kind_ != b.kind_) return false;
  if (a.kind_ == json::kind::truth) return a.number_.truth == b.number_.truth;
  // As texts of JSON: the order of an object's keys matters.
  return a.text_ == b.text_ && a.names_ == b.names_ && a.elements_ == b.elements_;
}

std::ostream& operator<<(std::ostream& out, const json& value) { return out << value.dump(); }

}  // namespace stepwise
