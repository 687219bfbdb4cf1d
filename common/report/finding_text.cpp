// The texts for each kind, place, party and object, and their layout in wrapped blocks.
#include "common/report/finding_text.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace stepwise {
std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string harmless(std::string text) {
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) c = ' ';
  }
  return text;
}

std::string cut(const std::string& text, std::size_t width) {
  if (columns(text) <= width) return text;
  std::string kept;
  for (std::size_t i = 0, seen = 0; i < text.size(); i++) {
    if ((text[i] & 0xC0) != 0x80 && ++seen > std::max<std::size_t>(width, 4) - 3) break;
    kept += text[i];
  }
  return kept + "...";
}

namespace {

struct kind_words {
  const char *title, *one, *many;
};

constexpr std::array<kind_words, finding_kinds> words = {{
    {"out of bounds", "access out of bounds", "accesses out of bounds"},
    {"misaligned access", "misaligned access", "misaligned accesses"},
    {"use after free", "use after free", "uses after free"},
    {"invalid free", "invalid free", "invalid frees"},
    {"wrong pointer", "wrong pointer", "wrong pointers"},
    {"too little shared memory", "launch with too little shared memory",
     "launches with too little shared memory"},
    {"read of unwritten memory", "read of unwritten memory", "reads of unwritten memory"},
    {"copy of unwritten memory", "copy of unwritten memory", "copies of unwritten memory"},
    {"uninitialised variable", "use of an uninitialised variable",
     "uses of uninitialised variables"},
    {"race", "race", "races"},
    {"barrier divergence", "barrier divergence", "barrier divergences"},
    {"barrier not reached by all threads", "barrier not reached by all threads",
     "barriers not reached by all threads"},
    {"invalid mask", "invalid mask", "invalid masks"},
    {"inactive source lane", "inactive source lane", "inactive source lanes"},
    {"deadlock", "deadlock", "deadlocks"},
    {"unfinished kernel", "unfinished kernel", "unfinished kernels"},
    {"kernel failure", "kernel failure", "kernel failures"},
    {"memory leak", "memory leak", "memory leaks"},
    {"unchecked error", "unchecked error", "unchecked errors"},
    {"missing fence", "missing fence", "missing fences"},
    {"missing wait", "missing wait", "missing waits"},
    {"wrong copy kind", "wrong copy kind", "wrong copy kinds"},
    {"unaligned tile", "unaligned tile", "unaligned tiles"},
}};

const kind_words& words_of(finding_kind kind) { return words[static_cast<std::size_t>(kind)]; }

std::string count_of(std::uint64_t count, const char* singular, const char* plural) {
  return grouped(count) + " " + (count == 1 ? singular : plural);
}

std::string shown_file(const std::string& file, const finding_style& style) {
  const std::string folder = style.folder.ends_with('/') ? style.folder : style.folder + "/";
  const bool below = !style.folder.empty() && file.starts_with(folder);
  return harmless(below ? file.substr(folder.size()) : file);
}

std::string coordinates(const extent& e) {
  return "(" + std::to_string(e.x) + "," + std::to_string(e.y) + "," + std::to_string(e.z) + ")";
}

// Builds the lines of one finding.
class block {
 public:
  explicit block(const finding_style& style) : style_(style) {}

  // Adds `label`, then text wrapped to the width. Continuation lines align with the text's first
  // word.
  void paragraph(std::size_t indent, const text_span& label, const std::string& text,
                 text_role role = text_role::plain) {
    const std::size_t room =
        std::max<std::size_t>(style_.width, indent + columns(label.text) + 20) - indent;
    text_line line = {{text_role::plain, std::string(indent, ' ')}, label};
    std::size_t used = columns(label.text);
    std::string row;
    const std::string clean = harmless(text);
    for (std::size_t at = 0; at < clean.size();) {
      const std::size_t end = std::min(clean.find(' ', at), clean.size());
      const std::string word = clean.substr(at, end - at);
      if (!row.empty() && used + columns(row) + 1 + columns(word) > room) {
        line.push_back({role, row});
        lines.push_back(std::move(line));
        line = {{text_role::plain, std::string(indent + hanging, ' ')}};
        used = hanging;
        row.clear();
      }
      row += (row.empty() ? "" : " ") + word;
      at = end + 1;
    }
    line.push_back({role, row});
    lines.push_back(std::move(line));
  }

  // Adds "reduction.cu:31:  the line's text", without the text if that is unknown.
  void place(std::size_t indent, const std::string& file, int line, const std::string& text) {
    const std::string where = shown_file(file, style_) + ":" + std::to_string(line) + ":";
    const std::size_t used = indent + columns(where) + 2;
    const std::string source = cut(harmless(text), std::max(style_.width, used + 20) - used);
    lines.push_back({{text_role::plain, std::string(indent, ' ')},
                     {text_role::place, where},
                     {text_role::source, source.empty() ? "" : "  " + source}});
  }

  std::vector<text_line> lines;

 private:
  static constexpr std::size_t hanging = 2;
  const finding_style& style_;
};

bool shown(const host_place& place, const finding_style& style) {
  const auto is_ours = [&](const std::string& part) {
    return place.file.find(part) != std::string::npos ||
           place.function.find(part) != std::string::npos;
  };
  return place.known() && std::none_of(style.hidden.begin(), style.hidden.end(), is_ours);
}

std::string host_words(const host_place& place, const finding_style& style) {
  if (place.file.empty()) return "in " + place.function + "()";
  std::string text = "at " + shown_file(place.file, style) + ":" + std::to_string(place.line);
  if (!place.text.empty()) text += ": " + place.text;
  return text;
}

const char* noun_of(finding_object::kind kind) {
  switch (kind) {
    case finding_object::kind::allocation:
      return "allocation";
    case finding_object::kind::variable:
      return "variable";
    case finding_object::kind::shared_variable:
      return "shared variable";
    case finding_object::kind::dynamic_shared:
      return "dynamic shared memory (extern __shared__)";
    case finding_object::kind::local_memory:
      return "local memory of the thread";
    case finding_object::kind::constant:
      return "__constant__ variable";
    case finding_object::kind::none:
      break;
  }
  return "memory";
}

// For example "1,024 elements of 4 bytes" or "13 bytes".
std::string size_words(const finding_object& o) {
  if (o.element_bytes > 1 && o.bytes % o.element_bytes == 0) {
    return count_of(o.bytes / o.element_bytes, "element", "elements") + " of " +
           std::to_string(o.element_bytes) + " bytes";
  }
  return count_of(o.bytes, "byte", "bytes");
}

// For example "in[1024], just past the end" or "byte 6 of in"; empty if the position is unknown.
std::string position_words(const finding_object& o) {
  if (o.element_bytes == 0) return {};
  const auto element = static_cast<std::int64_t>(o.element_bytes);
  const bool whole = o.offset % element == 0;
  const std::int64_t unit = whole ? element : 1;
  const std::string index = std::to_string(o.offset / unit), distance = distance_words(o);
  const std::string noun = unit > 1 ? "element " : "byte ";
  return (whole && !o.name.empty() ? o.name + "[" + index + "]" : noun + index) +
         (distance.empty() ? "" : ", " + distance);
}

std::string object_words(const finding_object& o) {
  const std::string position = position_words(o);
  std::string text = position.empty() ? "" : position + "; ";
  text += o.name.empty() ? noun_of(o.what) : o.name + " is ";
  if (!o.name.empty()) {
    const bool an = o.what == finding_object::kind::allocation;
    text += (an ? "an " : "a ") + std::string(noun_of(o.what));
  }
  return text + " of " + size_words(o);
}

void add_parties(block& out, const finding& f) {
  for (const finding_party& p : f.parties) {
    if (!p.at.file.empty()) out.place(2, p.at.file, p.at.line, p.at.text);
    std::string who = p.has_thread ? "thread " + coordinates(p.thread) + " of block " +
                                         coordinates(p.block) + " " + p.action
                                   : p.action;
    if (p.at.file.empty() && !p.kernel.empty()) who += " in " + p.kernel;
    if (!p.at.inner.empty()) who += ", inside " + p.at.inner;
    if (!who.empty()) out.paragraph(p.at.file.empty() ? 2 : 4, {}, who);
  }
}

// The label for the host's source line.
const char* host_label(const finding& f) {
  if (f.between == race_between::host) return "accessed ";
  if (f.kind == finding_kind::wrong_pointer && f.parties.empty()) return "";
  const bool of_host = (is_warning(f.kind) && f.kind != finding_kind::unaligned_tile) ||
                       f.kind == finding_kind::double_free ||
                       f.kind == finding_kind::unwritten_copy ||
                       (!f.parties.empty() && !f.parties[0].has_thread &&
                        f.parties[0].kernel.empty());  // a copy that races with a kernel
  return of_host ? "called " : "launched ";
}

// Whether the message already describes the memory.
bool is_said_of_object(const finding& f) {
  return f.kind == finding_kind::too_little_shared ||
         (f.kind == finding_kind::wrong_pointer && f.parties.empty());
}

// Whether the host's line comes first.
bool is_at_host(const finding& f) {
  return f.parties.empty() || f.kind == finding_kind::too_little_shared ||
         f.between == race_between::host;
}

std::string title_kernel(const finding& f) {
  std::string first, second;
  for (const finding_party& p : f.parties) {
    if (first.empty()) first = p.kernel;
    if (!p.kernel.empty() && p.kernel != first) second = p.kernel;
  }
  if (first.empty()) return {};
  return " in " + first + (second.empty() ? "" : " and " + second);
}

}  // namespace

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(static_cast<std::size_t>(at), ",");
  }
  return text;
}

const char* title_of(finding_kind kind) { return words_of(kind).title; }

std::string distance_words(const finding_object& o) {
  const bool before = o.offset < 0;
  if (!before && static_cast<std::uint64_t>(o.offset) < o.bytes) return {};
  const std::uint64_t bytes = before ? static_cast<std::uint64_t>(-o.offset)
                                     : static_cast<std::uint64_t>(o.offset) - o.bytes;
  if (bytes == 0) return "just past the end";
  const bool whole = o.element_bytes > 1 && bytes % o.element_bytes == 0;
  return (whole ? count_of(bytes / o.element_bytes, "element", "elements")
                : count_of(bytes, "byte", "bytes")) +
         (before ? " before the start" : " past the end");
}

std::vector<text_line> finding_lines(const located_finding& found, const finding_style& style) {
  const finding& f = found.what;
  const auto kind = is_warning(f.kind) ? text_role::warning_kind : text_role::error_kind;
  block out(style);
  out.paragraph(0, {kind, title_of(f.kind) + harmless(title_kernel(f)) + ": "}, f.message,
                text_role::strong);
  const bool host_first = is_at_host(f) && shown(found.host, style) && !found.host.file.empty();
  if (host_first) out.place(2, found.host.file, found.host.line, found.host.text);
  add_parties(out, f);
  if (f.count > 1) {
    out.paragraph(4, {}, "and " + grouped(f.count - 1) + " more like it", text_role::dim);
  }
  if (f.object.what != finding_object::kind::none) {
    if (!is_said_of_object(f))
      out.paragraph(2, {text_role::dim, "memory: "}, object_words(f.object));
    if (shown(found.allocated, style)) {
      out.paragraph(2, {text_role::dim, "allocated "}, host_words(found.allocated, style));
    }
    if (shown(found.freed, style)) {
      out.paragraph(2, {text_role::dim, "freed "}, host_words(found.freed, style));
    }
  }
  if (shown(found.unfinished, style)) {
    const bool is_launch = !f.parties.empty() && !f.parties[0].kernel.empty();
    out.paragraph(2, {text_role::dim, is_launch ? "launched " : "started "},
                  host_words(found.unfinished, style));
  }
  if (!host_first && shown(found.host, style)) {
    out.paragraph(2, {text_role::dim, host_label(f)}, host_words(found.host, style));
  }
  if (!f.advice.empty()) out.paragraph(2, {text_role::dim, "help: "}, f.advice);
  return out.lines;
}

std::string findings_summary(const std::vector<located_finding>& all) {
  if (all.empty()) return "no findings";
  std::array<std::uint64_t, finding_kinds> counts{};
  for (const auto& found : all) counts[static_cast<std::size_t>(found.what.kind)]++;
  std::string text = count_of(all.size(), "finding", "findings");
  const char* separator = ": ";
  for (std::size_t i = 0; i < counts.size(); i++) {
    if (counts[i] == 0) continue;
    text += separator + count_of(counts[i], words[i].one, words[i].many);
    separator = ", ";
  }
  return text;
}

std::string place_of(const located_finding& found, const finding_style& style) {
  const bool host_known = shown(found.host, style) && !found.host.file.empty();
  const auto words = [&](const std::string& file, int line) {
    return shown_file(file, style) + ":" + std::to_string(line);
  };
  if (host_known && is_at_host(found.what)) return words(found.host.file, found.host.line);
  for (const finding_party& p : found.what.parties) {
    if (!p.at.file.empty()) return words(p.at.file, p.at.line);
  }
  if (host_known) return words(found.host.file, found.host.line);
  const bool freed_known = shown(found.freed, style) && !found.freed.file.empty();
  if (freed_known) return words(found.freed.file, found.freed.line);
  const bool allocated_known = shown(found.allocated, style) && !found.allocated.file.empty();
  return allocated_known ? words(found.allocated.file, found.allocated.line) : "";
}

std::string missing_lines_note(const std::vector<located_finding>& all,
                               const finding_style& style) {
  const auto lacks_line = [&](const host_place& p) { return shown(p, style) && p.file.empty(); };
  const bool any = std::any_of(all.begin(), all.end(), [&](const located_finding& f) {
    return lacks_line(f.host) || lacks_line(f.allocated) || lacks_line(f.freed) ||
           lacks_line(f.unfinished);
  });
  if (!any) return {};
  return "hint: compile with -g to get source lines of host code instead of function names (needs "
         "addr2line from binutils)";
}

std::string plain_text(const std::vector<text_line>& lines) {
  std::string text;
  for (const text_line& line : lines) {
    for (const text_span& span : line) text += span.text;
    while (text.ends_with(' ')) text.pop_back();
    text += '\n';
  }
  return text;
}

}  // namespace stepwise
