// A JSON value: made, read and written without the library's templates in every file.
//
// idea    Values are made from nested lists, as the library's are: a list of pairs that begin with
//         a text is an object, any other list an array. Objects keep their order. Only json.cpp
//         includes the library, which parses and writes; a file that includes this header alone
//         compiles in a tenth of the time.
// tests   tests/json_test.cpp
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace stepwise {

// Not JSON, or other JSON than was asked for.
struct json_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class json {
 public:
  using list = std::vector<json>;
  enum class kind : std::uint8_t { null, truth, integer, natural, real, text, array, object };

  // Defined in json.cpp: a document of nested lists makes and destroys one for each word.
  json() noexcept;
  json(const json& other);
  json(json&& other) noexcept;
  json& operator=(const json& other);
  json& operator=(json&& other) noexcept;
  ~json();

  json(std::nullptr_t) : json() {}
  template <std::same_as<bool> Truth>  // no pointer
  json(Truth value) : json() {
    set_truth(value);
  }
  template <std::signed_integral Number>
  json(Number value) : json() {
    set_integer(value);
  }
  template <std::unsigned_integral Number>
  requires(!std::same_as<Number, bool>) json(Number value) : json() { set_natural(value); }
  json(double value);
  json(const std::string& value);
  json(std::string&& value);
  json(std::string_view value);
  json(const char* value);
  template <class Element>
  json(const std::vector<Element>& values) : json(kind::array) {
    for (const auto& value : values) push_back(json(value));
  }
  // An object if all are pairs that begin with a text, else an array.
  json(std::initializer_list<json> values);

  static json array() { return json(kind::array); }
  static json array(std::initializer_list<json> values);
  static json object() { return json(kind::object); }
  // json_error says what is wrong, and where. Also of what is nested too deeply to be meant.
  static json parse(std::string_view text);
  // null for what is not JSON.
  static json parse_or_null(std::string_view text);

  // On one line, or indented. What is not UTF-8 is replaced.
  std::string dump(int indent = -1) const;

  kind type() const { return kind_; }
  bool is_null() const { return kind_ == kind::null; }
  bool is_boolean() const { return kind_ == kind::truth; }
  bool is_string() const { return kind_ == kind::text; }
  bool is_array() const { return kind_ == kind::array; }
  bool is_object() const { return kind_ == kind::object; }
  bool is_number() const {
    return kind_ == kind::integer || kind_ == kind::natural || kind_ == kind::real;
  }
  bool is_number_integer() const { return kind_ == kind::integer || kind_ == kind::natural; }

  // A number, bool, std::string or std::vector of these; json_error if it is none.
  template <class Value>
  Value get() const {
    if constexpr (std::same_as<Value, json>) {
      return *this;
    } else if constexpr (std::same_as<Value, bool>) {
      return truth();
    } else if constexpr (std::same_as<Value, std::string>) {
      return text();
    } else if constexpr (std::floating_point<Value>) {
      return static_cast<Value>(real());
    } else if constexpr (std::unsigned_integral<Value>) {
      return static_cast<Value>(natural());
    } else if constexpr (std::signed_integral<Value>) {
      return static_cast<Value>(integer());
    } else {
      Value values;
      for (const auto& element : require(kind::array))
        values.push_back(element.template get<typename Value::value_type>());
      return values;
    }
  }
  template <class Value>
  void get_to(Value& to) const {
    to = get<Value>();
  }
  template <class Value>
  requires((std::is_arithmetic_v<Value> && !std::same_as<Value, char>) ||
           std::same_as<Value, std::string>)
  operator Value() const {
    return get<Value>();
  }

  // Elements of an array, or an object's values; none of anything else.
  std::size_t size() const { return elements_.size(); }
  bool empty() const { return elements_.empty(); }
  list::const_iterator begin() const { return elements_.begin(); }
  list::const_iterator end() const { return elements_.end(); }
  list::iterator begin() { return elements_.begin(); }
  list::iterator end() { return elements_.end(); }
  const json& front() const { return elements_.front(); }
  const json& back() const { return elements_.back(); }
  json& back() { return elements_.back(); }
  struct item {
    const std::string& key;
    const json& value;
  };
  std::vector<item> items() const;  // of an object

  bool contains(std::string_view key) const;
  list::const_iterator find(std::string_view key) const;  // end() if it is no object, too
  // json_error if there is no such key or element.
  const json& at(std::string_view key) const;
  const json& at(std::size_t index) const;
  const json& operator[](std::string_view key) const { return at(key); }
  const json& operator[](const char* key) const;
  template <std::integral Index>
  const json& operator[](Index index) const {
    return at(static_cast<std::size_t>(index));
  }
  template <std::integral Index>
  json& operator[](Index index) {
    return const_cast<json&>(at(static_cast<std::size_t>(index)));
  }
  // Made if it is not there; null becomes an object.
  json& operator[](std::string_view key);
  json& operator[](const char* key);
  // `otherwise` if there is no such key.
  template <class Value>
  Value value(std::string_view key, const Value& otherwise) const {
    const auto found = find(key);
    return found == end() ? otherwise : found->template get<Value>();
  }
  std::string value(std::string_view key, const char* otherwise) const;

  void push_back(json element);      // null becomes an array
  void update(const json& others);   // takes over an object's keys; null becomes an object
  void erase(std::string_view key);  // if it is there

  friend bool operator==(const json& a, const json& b);
  template <class Value>
  requires(!std::same_as<Value, json> && std::constructible_from<json, const Value&>) friend bool
  operator==(const json& a, const Value& b) {
    return a == json(b);
  }
  // Of numbers.
  template <class Value>
  requires std::is_arithmetic_v<Value>
  friend std::partial_ordering operator<=>(const json& a, Value b) {
    return a.get<double>() <=> static_cast<double>(b);
  }
  friend std::ostream& operator<<(std::ostream& out, const json& value);

 private:
  explicit json(kind of);
  void set_truth(bool value);
  void set_integer(std::int64_t value);
  void set_natural(std::uint64_t value);
  const list& require(kind wanted) const;
  bool truth() const;
  std::int64_t integer() const;
  std::uint64_t natural() const;
  double real() const;
  const std::string& text() const;

  kind kind_ = kind::null;
  union {
    bool truth;
    std::int64_t integer;
    std::uint64_t natural;
    double real;
  } number_{};
  std::string text_;
  list elements_;                   // of an array, or an object's values
  std::vector<std::string> names_;  // of an object's values
};

}  // namespace stepwise
