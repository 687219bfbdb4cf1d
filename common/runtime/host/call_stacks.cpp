// Unwinds the stack, numbers stacks, and picks the innermost line of the program's own code.
#include "common/runtime/host/call_stacks.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unwind.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <vector>

#include "common/runtime/host/host_lines.hpp"

namespace stepwise::runtime {
namespace {

constexpr std::size_t most_stacks = 100'000;

struct address_range {
  std::uintptr_t first = 0, end = 0;
};

bool contains(const address_range& range, std::uintptr_t address) {
  return address >= range.first && address < range.end;
}

struct own_code_search {
  std::uintptr_t inside;
  address_range found;
  bool is_program = true;  // the program itself is listed first
};

int search_own_code(dl_phdr_info* info, std::size_t, void* data) {
  auto& search = *static_cast<own_code_search*>(data);
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || !(part.p_flags & PF_X)) continue;
    const address_range range{info->dlpi_addr + part.p_vaddr,
                              info->dlpi_addr + part.p_vaddr + part.p_memsz};
    if (!contains(range, search.inside)) continue;
    if (!search.is_program) search.found = range;
    return 1;
  }
  search.is_program = false;
  return 0;
}

// The code range of the library that contains an address. Empty if the library is linked into the
// program, as in tests.
address_range library_code(std::uintptr_t inside) {
  own_code_search search{inside, {}, true};
  dl_iterate_phdr(search_own_code, &search);
  return search.found;
}

address_range own_code() {
  static const address_range range =
      library_code(reinterpret_cast<std::uintptr_t>(&search_own_code));
  return range;
}

// Set once, before the first driver API call whose stack is taken.
address_range driver_code;

struct unwinding {
  address_range own;
  std::span<std::uintptr_t> stack;
  std::uintptr_t last_own = 0;
  std::uintptr_t from = 0;  // skip the frames inside the one at this address; 0: skip none
  std::size_t count = 0;
};

_Unwind_Reason_Code take_frame(_Unwind_Context* context, void* data) {
  auto& walk = *static_cast<unwinding*>(data);
  int is_interrupted = 0;  // whether the address is exact, not a return address
  const std::uintptr_t address = _Unwind_GetIPInfo(context, &is_interrupted);
  if (address == 0) return _URC_END_OF_STACK;
  if (walk.from != 0 && address != walk.from) return _URC_NO_REASON;
  walk.from = 0;
  if (walk.count == 0 && (contains(walk.own, address) || contains(driver_code, address))) {
    walk.last_own = address;
    return _URC_NO_REASON;
  }
  walk.stack[walk.count++] = address + (is_interrupted ? 1 : 0);
  return walk.count < walk.stack.size() ? _URC_NO_REASON : _URC_END_OF_STACK;
}

struct stack_table {
  std::mutex lock;
  std::map<call_stack, std::uint64_t> numbers;
  std::vector<call_stack> stacks;              // number - 1
  std::map<std::uint64_t, host_place> places;  // cached
};

stack_table& table() {
  static stack_table& only = *new stack_table;
  return only;
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

// Whether a source file belongs to a library that calls the API itself, or to CPython.
bool is_of_library(const std::string& file) {
  constexpr const char* parts[] = {"/include/cccl/",
                                   "/include/cub/",
                                   "/include/thrust/",
                                   "/include/cuda/",
                                   "/include/cooperative_groups",
                                   "/Python-3."};
  return std::any_of(std::begin(parts), std::end(parts),
                     [&](const char* part) { return contains(file, part); });
}

// Headers and generated files, which contain no line by the program's author.
bool is_foreign(const std::string& file) {
  if (file.starts_with("/usr/") || is_of_library(file)) return true;
  constexpr const char* parts[] = {"/cuda_runtime", "/include/crt/", "/include/c++/",
                                   "/bits/",        ".cudafe1.",     "/tmpxft_"};
  return std::any_of(std::begin(parts), std::end(parts),
                     [&](const char* part) { return contains(file, part); });
}

// Turns "cudaError cudaMalloc<float>" into "cudaMalloc<float>". Names of template functions include
// the result type.
std::string_view without_result(std::string_view function) {
  int depth = 0;
  for (std::size_t i = function.size(); i-- > 0;) {
    const char c = function[i];
    depth += (c == '>' || c == ')' || c == '}') - (c == '<' || c == '(' || c == '{');
    if (c == ' ' && depth == 0 && !function.substr(0, i).ends_with("operator")) {
      return function.substr(i + 1);
    }
  }
  return function;
}

bool is_function_of_library(std::string_view name) {
  constexpr const char* beginnings[] = {
      "thrust::", "cub::", "cuda::", "cooperative_groups::", "Py", "_Py", "__pyx_"};
  return std::any_of(std::begin(beginnings), std::end(beginnings),
                     [&](const char* beginning) { return name.starts_with(beginning); });
}

// Whether this function was not written by the program's author. It then comes from the headers of
// the toolkit or of the C++ library, or belongs to the Python interpreter.
bool is_foreign_function(std::string_view name) {
  if (is_function_of_library(name) || name.starts_with("std::") || name.starts_with("__gnu_cxx::"))
    return true;
  // Header wrappers have the name of the API function, except for these wrappers.
  if (name.starts_with("cudaOccupancy")) return true;
  const std::string plain(name.substr(0, name.find('<')));
  const void* const wrapped =
      plain.starts_with("cuda") ? dlsym(RTLD_DEFAULT, plain.c_str()) : nullptr;
  const auto at = reinterpret_cast<std::uintptr_t>(wrapped);
  return contains(own_code(), at);
}

}  // namespace

void count_as_own_code(std::uintptr_t address) { driver_code = library_code(address); }

program_call call_of_program() {
  program_call call;
  unwinding walk{own_code(), call.stack};
  _Unwind_Backtrace(take_frame, &walk);
  call.inside = walk.last_own;
  return call;
}

std::string called_function(std::uintptr_t inside) {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(inside), &info) == 0 || !info.dli_sname) return {};
  std::string name = info.dli_sname;
  for (const std::string_view suffix : {"_ptds", "_ptsz", "_v2", "_v3"})
    if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
  return name;
}

bool passes_library_code(std::span<const std::uintptr_t> frames) {
  std::vector<std::uintptr_t> calls;
  for (const std::uintptr_t frame : frames) calls.push_back(frame - 1);
  for (const auto& inlined : lines_of(calls)) {
    if (inlined.empty()) continue;
    const host_line& innermost = inlined.front();
    if (is_of_library(innermost.file) || is_function_of_library(without_result(innermost.function)))
      return true;
  }
  return false;
}

std::size_t interrupted_stack(std::uintptr_t instruction, std::span<std::uintptr_t> stack) {
  unwinding walk{own_code(), stack, 0, instruction};
  _Unwind_Backtrace(take_frame, &walk);
  return walk.count;
}

host_place place_of_stack(std::span<const std::uintptr_t> stack) {
  std::vector<std::uintptr_t> calls;
  for (const std::uintptr_t frame : stack) {
    if (frame != 0) calls.push_back(frame - 1);  // inside the call, not after it
  }
  host_place named;
  for (const auto& inlined : lines_of(calls)) {
    for (const host_line& line : inlined) {
      const std::string_view function = without_result(line.function);
      if (!line.file.empty() && !is_foreign(line.file)) {
        return {line.file, line.line, source_line(line.file, line.line), std::string(function)};
      }
      if (named.function.empty() && line.file.empty() && !is_foreign_function(function)) {
        named.function = function;
      }
    }
  }
  return named;
}

std::uint64_t number_of_stack(const call_stack& stack) {
  if (stack[0] == 0) return 0;
  stack_table& t = table();
  const std::lock_guard guard(t.lock);
  const auto known = t.numbers.find(stack);
  if (known != t.numbers.end()) return known->second;
  if (t.stacks.size() == most_stacks) return 0;
  t.stacks.push_back(stack);
  t.numbers.emplace(stack, t.stacks.size());
  return t.stacks.size();
}

host_place place_of_origin(std::uint64_t number) {
  stack_table& t = table();
  const std::lock_guard guard(t.lock);
  if (number == 0 || number > t.stacks.size()) return {};
  const auto known = t.places.find(number);
  if (known != t.places.end()) return known->second;
  return t.places[number] = place_of_stack(t.stacks[number - 1]);
}

}  // namespace stepwise::runtime
