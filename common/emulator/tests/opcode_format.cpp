// Reads opcode tests. The format is described in opcodes/README.md.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <regex>
#include <sstream>

#include "common/emulator/tests/opcode_case.hpp"

namespace stepwise::opcodes {
namespace {

// The current line, for messages.
struct place {
  const std::string& file;
  unsigned line;

  [[noreturn]] void fail(const std::string& what) const {
    throw format_error(file + ".ptx:" + std::to_string(line) + ": " + what);
  }
};

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

bool find_type(std::string_view name, element_type& type) {
  static const element_type types[] = {
      {"u8", element_kind::integer_unsigned, 1},  {"s8", element_kind::integer_signed, 1},
      {"u16", element_kind::integer_unsigned, 2}, {"s16", element_kind::integer_signed, 2},
      {"u32", element_kind::integer_unsigned, 4}, {"s32", element_kind::integer_signed, 4},
      {"u64", element_kind::integer_unsigned, 8}, {"s64", element_kind::integer_signed, 8},
      {"f32", element_kind::floating, 4},         {"f64", element_kind::floating, 8}};
  for (const element_type& candidate : types) {
    if (candidate.name == name) {
      type = candidate;
      return true;
    }
  }
  return false;
}

std::uint64_t low_bytes(std::uint64_t bits, unsigned bytes) {
  return bytes == 8 ? bits : bits & ((std::uint64_t{1} << (8 * bytes)) - 1);
}

std::uint64_t unsigned_from(const place& at, const std::string& text, const char* what) {
  std::uint64_t number = 0;
  int base = 10;
  std::size_t start = 0;
  if (text.rfind("0x", 0) == 0) {
    base = 16;
    start = 2;
  }
  const char* end = text.data() + text.size();
  auto [stop, problem] = std::from_chars(text.data() + start, end, number, base);
  if (problem != std::errc() || stop != end) at.fail("'" + text + "' is not a valid " + what);
  return number;
}

std::uint64_t float_bits(const place& at, const element_type& type, const std::string& text) {
  char* end = nullptr;
  if (type.bytes == 8) {
    double number = std::strtod(text.c_str(), &end);
    if (*end != '\0') at.fail("'" + text + "' is not a valid f64");
    std::uint64_t bits;
    std::memcpy(&bits, &number, 8);
    return bits;
  }
  float number = std::strtof(text.c_str(), &end);
  if (*end != '\0') at.fail("'" + text + "' is not a valid f32");
  std::uint32_t bits;
  std::memcpy(&bits, &number, 4);
  return bits;
}

value value_from(const place& at, const element_type& type, const std::string& text) {
  if (text == "_") return {match::anything, 0};
  const bool hexadecimal = text.rfind("0x", 0) == 0 && text.find('p') == std::string::npos;
  if (type.kind == element_kind::floating && !hexadecimal) {
    if (text == "nan") {
      return {match::nan, type.bytes == 8 ? 0x7ff8000000000000u : std::uint64_t{0x7fc00000u}};
    }
    return {match::bits, float_bits(at, type, text)};
  }
  const bool negative = text[0] == '-';
  std::uint64_t magnitude = unsigned_from(at, negative ? text.substr(1) : text, type.name.c_str());
  std::uint64_t bits = negative ? 0 - magnitude : magnitude;
  const std::uint64_t sign = std::uint64_t{1} << (8 * type.bytes - 1);
  const bool fits = negative ? magnitude <= sign : low_bytes(magnitude, type.bytes) == magnitude;
  if (!fits) at.fail("'" + text + "' does not fit " + type.name);
  return {match::bits, low_bytes(bits, type.bytes)};
}

// hashed(M,COUNT) or hashed(M,THREADSxREGISTERS), and &MASK|BITS (opcodes/README.md). False if the
// word has another form.
bool append_hashed(const place& at, const element_type& type, const std::string& word,
                   std::vector<value>& values) {
  static const std::regex form(
      "hashed\\((\\d+),(\\d+)(?:x(\\d+))?\\)(?:&(0x[0-9a-f]+)\\|(0x[0-9a-f]+))?");
  std::smatch part;
  if (!std::regex_match(word, part, form)) return false;
  if (type.bytes < 4) at.fail("'hashed' makes 32-bit words");
  const auto number = [&](int group, std::uint64_t missing) {
    return part[group].matched ? unsigned_from(at, part[group], "number") : missing;
  };
  const std::uint64_t threads = number(2, 0), registers = number(3, 1);
  if (threads * registers > 1u << 20) at.fail("'" + word + "' makes too many values");
  for (std::uint64_t t = 0; t < threads; ++t) {
    for (std::uint64_t r = 0; r < registers; ++r) {
      const std::uint64_t hash = low_bytes((1000 * number(1, 0) + 32 * r + t) * 0x9e3779b1u, 4);
      const std::uint64_t bits = (hash & number(4, ~0u)) | number(5, 0);
      values.push_back({match::bits, type.bytes == 8 ? bits << 32 : bits});
    }
  }
  return true;
}

// One word of a list: a value, VALUE*COUNT, FIRST..LAST, or hashed(...).
void append_values(const place& at, const element_type& type, const std::string& word,
                   std::vector<value>& values) {
  if (append_hashed(at, type, word, values)) return;
  if (std::size_t dots = word.find(".."); dots != std::string::npos) {
    std::uint64_t first = unsigned_from(at, word.substr(0, dots), "start of a range");
    std::uint64_t last = unsigned_from(at, word.substr(dots + 2), "end of a range");
    if (last < first || last - first > 1u << 20) at.fail("'" + word + "' is not a valid range");
    for (std::uint64_t i = first; i <= last; ++i) {
      values.push_back(value_from(at, type, std::to_string(i)));
    }
    return;
  }
  std::size_t star = word.find('*');
  value one = value_from(at, type, word.substr(0, star));
  std::uint64_t count =
      star == std::string::npos ? 1 : unsigned_from(at, word.substr(star + 1), "count");
  if (count == 0 || count > 1u << 20)
    at.fail("'" + word + "' repeats a value zero or too many times");
  values.insert(values.end(), count, one);
}

extent extent_from(const place& at, const std::vector<std::string>& words) {
  if (words.empty() || words.size() > 3) at.fail("expected one, two or three sizes");
  extent size;
  std::uint32_t* parts[] = {&size.x, &size.y, &size.z};
  for (std::size_t i = 0; i < words.size(); ++i) {
    *parts[i] = static_cast<std::uint32_t>(unsigned_from(at, words[i], "size"));
  }
  return size;
}

error error_from(const place& at, const std::vector<std::string>& words) {
  static const std::pair<const char*, error> names[] = {
      {"illegal_address", error::illegal_address},
      {"misaligned_address", error::misaligned_address},
      {"illegal_instruction", error::illegal_instruction},
      {"launch_failure", error::launch_failure},
      {"not_supported", error::not_supported}};
  for (auto& [name, code] : names) {
    if (words.size() == 1 && words[0] == name) return code;
  }
  at.fail("unknown error in 'fails'");
}

// "within 2 ulp", "within 1e-6" or "within 2 ulp or 1e-6": the words from `start` onwards.
void read_tolerance(const place& at, const std::vector<std::string>& words, std::size_t start,
                    parameter& p) {
  for (std::size_t i = start; i < words.size();) {
    if (words[i] != (i == start ? "within" : "or")) at.fail("expected 'within N ulp or X'");
    const double amount = i + 1 < words.size() ? std::strtod(words[i + 1].c_str(), nullptr) : 0;
    if (!(amount > 0)) at.fail("'within' needs a positive amount");
    const bool in_ulps = i + 2 < words.size() && words[i + 2] == "ulp";
    (in_ulps ? p.ulps : p.absolute) = amount;
    i += in_ulps ? 3 : 2;
  }
}

// The words after a parameter's name: "in place" or "by address", then the tolerance.
void read_modifiers(const place& at, const std::vector<std::string>& words, parameter& p) {
  std::size_t next = 2;
  auto skip = [&](const char* first, const char* second) {
    const bool found =
        words.size() >= next + 2 && words[next] == first && words[next + 1] == second;
    if (found) next += 2;
    return found;
  };
  if (p.role == array_role::inout || skip("in", "place")) p.access = buffer_access::own_address;
  if (skip("by", "address")) p.access = buffer_access::address;
  read_tolerance(at, words, next, p);
}

void read_structure(const place& at, const std::vector<std::string>& words, parameter& p) {
  element_type type;
  p.alignment = 1;
  for (const std::string& word : words) {
    if (find_type(word, type)) continue;
    if (type.bytes == 0) at.fail("a value needs a type before it");
    std::vector<value> values;
    append_values(at, type, word, values);
    for (const value& v : values) {
      while (p.plain_bytes.size() % type.bytes != 0) p.plain_bytes.push_back(std::byte{0});
      for (unsigned i = 0; i < type.bytes; ++i) {
        p.plain_bytes.push_back(static_cast<std::byte>(v.bits >> (8 * i)));
      }
    }
    p.alignment = std::max(p.alignment, type.bytes);
  }
  while (p.plain_bytes.size() % p.alignment != 0) p.plain_bytes.push_back(std::byte{0});
}

// The list after the colon of in, out, inout or value.
void read_list(const place& at, parameter& p, const std::string& text) {
  std::vector<std::string> words = words_of(text);
  if (p.role == array_role::plain) {
    read_structure(at, words, p);
    return;
  }
  const bool is_register = p.role == array_role::out && p.access == buffer_access::value;
  if (is_register && !words.empty() && words[0] == "pred")
    p.type = {"pred", element_kind::integer_unsigned, 4};
  else if (words.empty() || !find_type(words[0], p.type))
    at.fail("expected a type, such as u32");
  std::vector<value>* into = p.role == array_role::out ? &p.expected : &p.initial;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "->") {
      if (p.role != array_role::inout) at.fail("'->' is for inout");
      into = &p.expected;
    } else {
      append_values(at, p.type, words[i], *into);
    }
  }
  if (p.role == array_role::inout && p.initial.size() != p.expected.size()) {
    at.fail("expected as many values before '->' as after it, but found " +
            std::to_string(p.initial.size()) + " and " + std::to_string(p.expected.size()));
  }
  if (p.initial.empty() && p.expected.empty()) at.fail("no values");
}

bool find_role(const std::string& word, array_role& role) {
  static const std::pair<const char*, array_role> roles[] = {{"in", array_role::in},
                                                             {"out", array_role::out},
                                                             {"inout", array_role::inout},
                                                             {"value", array_role::plain}};
  for (auto& [name, candidate] : roles) {
    if (word == name) {
      role = candidate;
      return true;
    }
  }
  return false;
}

// A comment in the format: the words before its colon, and the text after it.
struct directive {
  unsigned line = 0;
  unsigned last_line = 0;
  std::vector<std::string> head;
  std::string tail;
};

bool is_directive(const std::vector<std::string>& head) {
  static const char* const verbs[] = {"kernel",      "threads",  "blocks", "shared",
                                      "cooperative", "emulated", "fails",  "in",
                                      "out",         "inout",    "value"};
  return !head.empty() && std::find(std::begin(verbs), std::end(verbs), head[0]) != std::end(verbs);
}

// A directive is "// word [words]: text". Comment lines indented by four spaces continue it.
std::vector<directive> directives_of(const std::vector<std::string>& lines) {
  std::vector<directive> found;
  bool open = false;
  for (unsigned number = 1; number <= lines.size(); ++number) {
    const std::string& line = lines[number - 1];
    if (line.rfind("// ", 0) != 0) {
      open = false;
      continue;
    }
    if (line.rfind("//     ", 0) == 0) {
      if (open) {
        found.back().tail += ' ' + line.substr(3);
        found.back().last_line = number;
      }
      continue;
    }
    std::size_t colon = line.find(':');
    open = false;
    if (colon == std::string::npos) continue;
    std::vector<std::string> head = words_of(std::string_view(line).substr(3, colon - 3));
    if (!is_directive(head)) continue;
    found.push_back({number, number, head, line.substr(colon + 1)});
    open = true;
  }
  return found;
}

void read_directive(const place& at, const directive& d, test_case& into, bool& threads_given) {
  const std::string& verb = d.head[0];
  std::vector<std::string> words = words_of(d.tail);
  parameter p;
  if (find_role(verb, p.role)) {
    if (d.head.size() < 2) at.fail("'" + verb + "' needs a name");
    p.name = d.head[1];
    p.line = d.line;
    read_modifiers(at, d.head, p);
    read_list(at, p, d.tail);
    if (!threads_given && p.role != array_role::plain && into.threads.x == 0) {
      into.threads.x = static_cast<std::uint32_t>(p.count());
    }
    into.parameters.push_back(p);
  } else if (verb == "threads") {
    into.threads = extent_from(at, words);
    threads_given = true;
  } else if (verb == "blocks") {
    into.blocks = extent_from(at, words);
  } else if (verb == "shared") {
    into.shared_bytes = extent_from(at, words).x;
  } else if (verb == "cooperative") {
    into.cooperative = true;
  } else if (verb == "emulated") {
    if (words != std::vector<std::string>{"not", "yet"}) at.fail("expected 'emulated: not yet'");
    into.not_yet_emulated = true;
  } else if (verb == "fails") {
    into.fails = error_from(at, words);
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Refuses a test that could not fail or run.
void check_case(const place& at, const test_case& c) {
  bool checks = c.fails != error::success;
  for (const parameter& p : c.parameters) checks = checks || !p.expected.empty();
  if (!checks) at.fail("kernel " + c.kernel + " has no output: it could not fail");
  if (c.threads.x == 0) at.fail("kernel " + c.kernel + " has no threads");
}

// Refuses a parameter that a generated kernel cannot load or store.
void check_frame(const std::string& file, const test_case& c) {
  for (const parameter& p : c.parameters) {
    const place at{file, p.line};
    if (p.role == array_role::plain) at.fail("'value' needs a kernel in full");
    if (p.access != buffer_access::address && p.count() % c.threads.x != 0) {
      at.fail(std::to_string(p.count()) + " values for " + std::to_string(c.threads.x) +
              " threads: use 'by address'");
    }
  }
}

bool is_instruction(const std::vector<std::string>& lines, std::size_t index) {
  return index < lines.size() && lines[index].starts_with("  ");
}

// Completes the kernel of a test whose indented instructions begin at lines[index]. The frame
// replaces the comment above them and the empty line below them, so no line moves.
void add_frame(const std::string& file, const test_case& c, std::vector<std::string>& lines,
               std::size_t index) {
  check_frame(file, c);
  const kernel_frame frame = frame_of(c);
  lines[index - 1] = frame.before;
  while (is_instruction(lines, index)) ++index;
  if (index == lines.size()) lines.emplace_back();
  if (!lines[index].empty()) {
    place{file, static_cast<unsigned>(index + 1)}.fail("expected an empty line after the test");
  }
  lines[index] = frame.after;
}

}  // namespace

test_file read_test(std::string name, const std::string& text) {
  test_file file{std::move(name), {}, {}};
  std::vector<std::string> lines = lines_of(text);
  std::vector<std::size_t> ends;  // the index after each case's last directive
  bool threads_given = false;
  for (const directive& d : directives_of(lines)) {
    place at{file.name, d.line};
    if (d.head[0] == "kernel") {
      std::vector<std::string> words = words_of(d.tail);
      if (words.size() != 1) at.fail("'kernel' needs one name");
      file.cases.push_back({});
      ends.push_back(0);
      file.cases.back().kernel = words[0];
      file.cases.back().line = d.line;
      file.cases.back().threads.x = 0;
      threads_given = false;
    } else if (file.cases.empty()) {
      at.fail("'" + d.head[0] + "' before any 'kernel'");
    } else {
      read_directive(at, d, file.cases.back(), threads_given);
    }
    ends.back() = d.last_line;
  }
  if (file.cases.empty()) place{file.name, 1}.fail("no '// kernel: NAME'");
  for (std::size_t i = 0; i < file.cases.size(); ++i) {
    check_case({file.name, file.cases[i].line}, file.cases[i]);
    if (is_instruction(lines, ends[i])) add_frame(file.name, file.cases[i], lines, ends[i]);
  }
  const bool has_header = std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return line.starts_with(".version");
  });
  if (!has_header) file.ptx = ".version 8.0 .target sm_90 .address_size 64 ";
  for (const std::string& line : lines) file.ptx += line + '\n';
  return file;
}

std::vector<test_file> read_folder(const std::string& folder,
                                   const std::vector<std::string>& names) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().stem().string();
    const bool wanted = names.empty() || std::find(names.begin(), names.end(), name) != names.end();
    if (wanted && entry.path().extension() == ".ptx") paths.push_back(entry.path());
  }
  if (paths.empty()) throw std::runtime_error("no .ptx file in " + folder);
  std::sort(paths.begin(), paths.end());
  std::vector<test_file> files;
  for (const auto& path : paths) {
    std::ifstream stream(path, std::ios::binary);
    std::stringstream text;
    text << stream.rdbuf();
    if (!stream) throw std::runtime_error("cannot read " + path.string());
    files.push_back(read_test(path.stem().string(), text.str()));
  }
  return files;
}

std::string text_of(const element_type& type, std::uint64_t bits) {
  char text[64];
  if (type.kind == element_kind::floating && type.bytes == 8) {
    double number;
    std::memcpy(&number, &bits, 8);
    std::snprintf(text, sizeof text, "%.17g(0x%016llx)", number,
                  static_cast<unsigned long long>(bits));
  } else if (type.kind == element_kind::floating) {
    std::uint32_t low = static_cast<std::uint32_t>(bits);
    float number;
    std::memcpy(&number, &low, 4);
    std::snprintf(text, sizeof text, "%.9g(0x%08x)", number, low);
  } else if (type.kind == element_kind::integer_signed) {
    const unsigned unused = 64 - 8 * type.bytes;
    const auto number = static_cast<std::int64_t>(bits << unused) >> unused;
    std::snprintf(text, sizeof text, "%lld", static_cast<long long>(number));
  } else {
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(bits));
  }
  return text;
}

}  // namespace stepwise::opcodes
