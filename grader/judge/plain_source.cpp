// Recognises plain names, writes the copy with its #line, and restores the names in messages.
#include "grader/judge/plain_source.hpp"

#include <algorithm>
#include <cctype>

#include "common/device/names.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"

namespace stepwise {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// Whether a name is UTF-8 without control characters, as required by terminals, JSON and nvcc's
// lists.
bool is_text(const std::string& name) {
  return escaped_lines(name, 1, name.size()) == std::vector<std::string>{name};
}

// A string literal for a #line. `name` must satisfy is_text().
std::string literal(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"";
}

// The lines before the text, which make it line 1 of the file that `shown` names.
std::string line_directive(const std::string& shown, const std::string& coded) {
  if (!is_text(shown)) return "#line 1 " + literal(coded) + "\n";
  if (shown.find_first_of("\"\\") == std::string::npos) return "#line 1 " + literal(shown) + "\n";
  return "#ifdef __CUDA_ARCH__\n#define STEPWISE_FILE " + literal(coded) +
         "\n#else\n#define STEPWISE_FILE " + literal(shown) + "\n#endif\n#line 1 STEPWISE_FILE\n";
}

// A folder that can hold the copy, because nvcc resolves links in its input's name.
fs::path place_of_copy(const fs::path& folder) {
  std::error_code error;
  const fs::path resolved = fs::canonical(folder, error);
  return !error && is_plain(resolved.string()) ? folder : plain_temporary_path();
}

}  // namespace

bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 || std::isalnum(byte) != 0 ||
           std::string_view("/._+-@=%^").find(c) != std::string_view::npos;
  });
}

fs::path plain_temporary_path() {
  std::error_code error;
  const fs::path path = fs::temp_directory_path(error);
  if (error || !is_plain(path.string())) return "/tmp";
  const fs::path resolved = fs::canonical(path, error);
  return !error && is_plain(resolved.string()) ? path : fs::path("/tmp");
}

plain_source::plain_source(const fs::path& file, const std::string& shown, std::string_view text,
                           const fs::path& folder)
    : plain_source(file, shown, text, folder, file, shown) {}

plain_source::plain_source(const fs::path& file, const std::string& shown, std::string_view text,
                           const fs::path& folder, const fs::path& stand_in,
                           const std::string& stand_in_shown)
    : file_(fs::absolute(file)),
      shown_(shown),
      coded_(percent_coded(fs::absolute(stand_in).string())),
      line_name_(stand_in_shown),
      source_folder_(file_.parent_path()),
      copy_(place_of_copy(folder)) {
  if (!is_plain(source_folder_.string())) {
    source_folder_ = folder / "beside";
    std::error_code ignored;
    fs::remove(source_folder_, ignored);
    std::error_code error;
    fs::create_directory_symlink(file_.parent_path(), source_folder_, error);
    if (error) {
      throw failure(exit_code::environment,
                    "cannot write " + source_folder_.string() + ": " + error.message());
    }
  }
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  write_atomically(path(), line_directive(line_name_, coded_) + std::string(text));
}

std::vector<std::string> plain_source::flags() const {
  return {"-Xcompiler=-iquote", "-Xcompiler=" + source_folder_.string()};
}

std::string plain_source::as_typed(std::string text) const {
  const std::string one_line = joined(escaped_lines(shown_, shown_.size(), shown_.size()), "\\x0a");
  replace_all(text, coded_, one_line);
  if (line_name_ != shown_) {
    for (const std::string& name : {decoded_path(coded_), line_name_})
      replace_all(text, name, one_line);
  }
  replace_all(text, path(), one_line);
  replace_all(text, source_folder_.string() + "/", file_.parent_path().string() + "/");
  return text;
}

bool is_utf16(std::string_view text) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) return true;
  // Recognises UTF-16 without a mark: every second byte of English text is zero.
  const auto zeros = std::count(text.begin(), text.end(), '\0');
  return text.size() >= 4 && static_cast<std::size_t>(zeros) >= text.size() / 3;
}

std::string utf16_refusal(const std::string& shown) {
  return shown + " is UTF-16 text, which the compilers here cannot read: save it as UTF-8";
}

}  // namespace stepwise
