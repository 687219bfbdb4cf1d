// The names of one function body. Every declaration gets a unique name in one flat list.
//
// idea    In PTX, braces limit the scope of a name, and compilers use this: every call declares
//         "param0" in braces of its own. The first "param0" keeps its name, the next becomes
//         "param0$2".
// watch   "%r<3>" declares %r0, %r1 and %r2 without spelling them. We do not check whether such
//         names clash. A counted name in inner braces is always renamed, and so is a single name
//         that differs from a counted name only in its trailing digits.
// source  PTX ISA 9.0, "Parameterized Variable Names", and scoping rules of { } blocks.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stepwise::ptx {

class names {
 public:
  // `storage` owns the new names; `is_global` returns whether a name is defined outside the body.
  names(std::deque<std::string>& storage, std::function<bool(std::string_view)> is_global)
      : storage_(storage), is_global_(std::move(is_global)) {
    scopes_.emplace_back();
  }

  // Declares a name that surrounds the body, such as a parameter's. The body may hide it.
  void surround(std::string_view name) { declared_.emplace(name, ~std::uint64_t{0}); }

  void open_scope();
  void close_scope();
  std::size_t depth() const { return scopes_.size() - 1; }

  // Declares one name in the current scope, and returns its name in the body. Throws parse_error if
  // this scope has that name already.
  std::string_view declare(std::string_view name, std::uint32_t line);
  // Declares prefix0, prefix1, ..., and returns the prefix that they have in the body.
  std::string_view declare_counted(std::string_view prefix, std::uint32_t line);
  // A new name like `name` that is not used yet and that no scope declares.
  std::string_view fresh(std::string_view name, std::string_view tail = "");

  // The unique name in the body for `name` in the current scope.
  std::string_view resolve(std::string_view name) {
    return renamed_.empty() ? name : resolve_renamed(name);
  }

 private:
  struct renaming {
    std::size_t depth;
    std::string_view to;
    bool counted;
  };
  struct stem {  // all names that differ only in their trailing digits
    bool counted = false;
    bool nested = false;
  };

  std::string_view resolve_renamed(std::string_view name);
  void rename(std::string_view from, std::string_view to, bool counted);

  std::deque<std::string>& storage_;
  std::function<bool(std::string_view)> is_global_;
  std::vector<std::vector<std::string_view>> scopes_;  // the renamed names of each open scope
  std::uint64_t scopes_opened_ = 0;
  std::vector<std::uint64_t> scope_numbers_ = {0};
  std::unordered_map<std::string_view, std::uint64_t> declared_;  // name -> number of its scope
  std::unordered_map<std::string_view, stem> stems_;
  std::unordered_map<std::string_view, std::uint32_t> last_number_;
  std::unordered_map<std::string_view, std::vector<renaming>> renamed_;
};

}  // namespace stepwise::ptx
