// Reads the conversion specifications one by one, and prints each with the host's snprintf.
#include "common/emulator/run/device_printf.hpp"

#include <bit>
#include <cstdio>

namespace stepwise::emulator {
namespace {

template <class T>
std::string print(const std::string& specification, T value) {
  char few[64];
  const int length = std::snprintf(few, sizeof few, specification.c_str(), value);
  if (length < 0) return "";
  if (static_cast<std::size_t>(length) < sizeof few) return few;
  std::string many(static_cast<std::size_t>(length) + 1, '\0');
  std::snprintf(many.data(), many.size(), specification.c_str(), value);
  many.pop_back();
  return many;
}

// One conversion specification, starting after its '%'.
class conversion {
 public:
  conversion(std::string_view rest, const printf_arguments& from, printf_result& into)
      : rest_(rest), from_(from), into_(into) {}

  // Prints the conversion, and returns the number of characters in its specification.
  std::size_t run() {
    while (at_ < rest_.size() && std::string_view("-+ #0").find(rest_[at_]) != rest_.npos)
      specification_ += rest_[at_++];
    if (peek() == '*') {
      ++at_;
      specification_ += std::to_string(static_cast<std::int32_t>(take(4)));
    } else {
      digits();
    }
    if (peek() == '.') {
      specification_ += rest_[at_++];
      digits();
    }
    const std::size_t length = rest_.find_first_not_of("hl", at_);
    const std::string_view modifier = rest_.substr(at_, std::min(length, rest_.size()) - at_);
    wide_ = modifier.starts_with('l');
    at_ += modifier.size();
    if (peek() == '\0') return at_;
    const char kind = rest_[at_++];
    if (modifier == "hh" || !print_argument(kind)) {
      if (std::string_view("ztjL*").find(kind) != rest_.npos && peek() != '\0') ++at_;
      into_.unknown = "%" + std::string(rest_.substr(0, at_));
      into_.text += into_.unknown;
    }
    return at_;
  }

 private:
  char peek() const { return at_ < rest_.size() ? rest_[at_] : '\0'; }

  std::uint64_t take(unsigned bytes) {
    ++into_.arguments;
    return from_.next(bytes);
  }

  void digits() {
    while (peek() >= '0' && peek() <= '9') specification_ += rest_[at_++];
  }

  // False if a GPU does not support this conversion.
  bool print_argument(char kind) {
    switch (kind) {
      case '%':
        into_.text += '%';
        return true;
      case 'd':
      case 'i':
        into_.text += wide_ ? print(specification_ + "lld", static_cast<long long>(take(8)))
                            : print(specification_ + "d", static_cast<int>(take(4)));
        return true;
      case 'u':
      case 'x':
      case 'X':
      case 'o':
        into_.text +=
            wide_ ? print(specification_ + "ll" + kind, static_cast<unsigned long long>(take(8)))
                  : print(specification_ + kind, static_cast<unsigned>(take(4)));
        return true;
      case 'c':
        into_.text += print(specification_ + "c", static_cast<int>(take(4)));
        return true;
      case 's':
        into_.text += print(specification_ + "s", from_.text(take(8)).c_str());
        return true;
      case 'p':
        into_.text += print(specification_ + "p", reinterpret_cast<const void*>(take(8)));
        return true;
      case 'a':
      case 'A':
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        into_.text += print(specification_ + kind, std::bit_cast<double>(take(8)));
        return true;
      default:
        return false;
    }
  }

  std::string_view rest_;
  const printf_arguments& from_;
  printf_result& into_;
  std::string specification_ = "%";
  std::size_t at_ = 0;
  bool wide_ = false;
};

}  // namespace

printf_result format_printf(std::string_view format, const printf_arguments& arguments) {
  printf_result out;
  for (std::size_t at = 0; at < format.size();) {
    const std::size_t percent = std::min(format.find('%', at), format.size());
    out.text += format.substr(at, percent - at);
    at = percent;
    if (at < format.size()) at += 1 + conversion(format.substr(at + 1), arguments, out).run();
  }
  return out;
}

}  // namespace stepwise::emulator
