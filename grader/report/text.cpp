// Decodes UTF-8 character by character, and chooses a unit for three digits.
#include "grader/report/text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace stepwise {
namespace {

// The code point at the start of `text`, and its length. Length 0 if it is not valid UTF-8.
struct code_point {
  std::uint32_t value = 0;
  std::size_t length = 0;
};

code_point decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (length == 0 || first > 0xf4 || text.size() < length) return {};
  std::uint32_t value = first & (0xff >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3f);
  }
  constexpr std::uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < smallest[length] || value > 0x10ffff) return {};
  if (value >= 0xd800 && value < 0xe000) return {};
  return {value, length};
}

// Control, direction and invisible characters, and characters that XML forbids.
bool is_treacherous(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || (c >= 0x200b && c <= 0x200f) ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
         (c & 0xfffe) == 0xfffe || (c >= 0xe0000 && c <= 0xe007f);
}

std::string escaped_line(std::string_view line) {
  std::string result;
  while (!line.empty()) {
    const code_point c = decode(line);
    if (c.length == 0) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(line[0]));
      line.remove_prefix(1);
      continue;
    }
    if (c.value == '\t') {
      result.append(8 - display_width(result) % 8, ' ');
    } else if (is_treacherous(c.value)) {
      result +=
          c.value < 0x100 ? fmt::format("\\x{:02x}", c.value) : fmt::format("\\u{:04x}", c.value);
    } else {
      result += line.substr(0, c.length);
    }
    line.remove_prefix(c.length);
  }
  return result;
}

std::string scaled(double value, const char* const* units, std::size_t unit_count) {
  std::size_t unit = 0;
  while (std::abs(value) >= 999.5 && unit + 1 < unit_count) {
    value /= 1000;
    ++unit;
  }
  const bool whole = unit == 0 && value == std::floor(value);
  const int decimals = whole || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  const std::string_view name = units[unit];
  return fmt::format("{:.{}f}{}{}", value, decimals, name.empty() ? "" : " ", name);
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == 0x1b && i + 1 < text.size() && text[i + 1] == '[') {
      i += 2;
      while (i < text.size() && (text[i] < '@' || text[i] > '~')) ++i;
    } else if ((byte & 0xc0) != 0x80) {
      ++width;
    }
  }
  return width;
}

std::string shortened(std::string_view text, std::size_t width, std::string_view mark) {
  if (display_width(text) <= width) return std::string(text);
  const std::size_t mark_width = std::min(display_width(mark), width);
  std::string result;
  std::size_t taken = 0;
  while (taken + mark_width < width) {
    std::size_t length = 1;
    while (length < text.size() && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80) {
      ++length;
    }
    result += text.substr(0, length);
    text.remove_prefix(length);
    ++taken;
  }
  while (result.ends_with(' ')) result.pop_back();
  return mark_width == display_width(mark) ? result + std::string(mark) : result;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  std::string line;
  std::size_t position = 0;
  while (position < text.size()) {
    const auto start = text.find_first_not_of(' ', position);
    if (start == std::string_view::npos) break;
    auto end = text.find(' ', start);
    if (end == std::string_view::npos) end = text.size();
    const std::string_view word = text.substr(start, end - start);
    if (!line.empty() && display_width(line) + 1 + display_width(word) > width) {
      lines.push_back(std::move(line));
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
    position = end;
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

std::vector<std::string> escaped_lines(std::string_view text, std::size_t lines,
                                       std::size_t columns) {
  std::vector<std::string_view> raw;
  while (!text.empty()) {
    const auto end = text.find('\n');
    raw.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  std::vector<std::string> result;
  const std::size_t head = raw.size() <= lines ? raw.size() : (lines + 1) / 2;
  const std::size_t tail = raw.size() <= lines ? 0 : lines - head;
  const auto add = [&](std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    // Escaping makes a line at most 6 times longer, so a line of megabytes is truncated first.
    result.push_back(shortened(escaped_line(line.substr(0, 4 * columns + 4)), columns));
  };
  for (std::size_t i = 0; i < head; ++i) add(raw[i]);
  if (head < raw.size()) {
    result.push_back(fmt::format("[... {} lines left out ...]", raw.size() - head - tail));
  }
  for (std::size_t i = raw.size() - tail; i < raw.size(); ++i) add(raw[i]);
  return result;
}

std::string escaped_name(std::string_view text, std::size_t columns) {
  const auto lines = escaped_lines(text, 1, columns);
  return lines.empty() ? std::string() : lines[0];
}

void escape_name(std::string& text) { text = escaped_name(text); }

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const auto& word : words) {
    if (&word != &words.front()) text += between;
    text += word;
  }
  return text;
}

std::string count_text(double count) {
  static constexpr const char* units[] = {"", "k", "M", "G", "T"};
  return scaled(count, units, 5);
}

std::string bytes_text(double bytes) {
  static constexpr const char* units[] = {"B", "kB", "MB", "GB", "TB"};
  return scaled(bytes, units, 5);
}

std::string time_text(double time_ms) {
  static constexpr const char* units[] = {"us", "ms", "s"};
  if (time_ms >= 999.5e3) return fmt::format("{:.0f} s", time_ms / 1000);
  const double time_us = 1000 * time_ms;
  if (time_us < 999.5) return fmt::format("{:.{}f} us", time_us, time_us < 99.95 ? 1 : 0);
  return scaled(time_us, units, 3);
}

std::string energy_text(double joules) {
  static constexpr const char* units[] = {"uJ", "mJ", "J", "kJ"};
  return scaled(1e6 * joules, units, 4);
}

std::string ratio_text(double ratio) {
  return fmt::format("{:.{}f}x", ratio, ratio >= 99.95 ? 0 : ratio >= 9.995 ? 1 : 2);
}

std::string rate_text(double gb_per_s) {
  return fmt::format("{:.{}f} GB/s", gb_per_s, gb_per_s >= 99.95 ? 0 : gb_per_s >= 9.995 ? 1 : 2);
}

std::string operations_text(double per_s, std::string_view unit) {
  const std::string text = count_text(per_s);
  // "52.4 TFLOP/s", the usual form
  return unit == "flop" ? text + "FLOP/s" : fmt::format("{} {}/s", text, unit);
}

}  // namespace stepwise
