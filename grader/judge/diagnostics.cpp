// Parses the messages of nvcc's front end, g++, ptxas and the linker, each in its own format.
#include "grader/judge/diagnostics.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <optional>

#include "common/device/names.hpp"
#include "grader/course/lab.hpp"
#include "grader/course/source.hpp"
#include "grader/report/text.hpp"
#include "grader/system/files.hpp"

namespace stepwise {
namespace {

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

// The author of a source file can make the compiler's output arbitrarily long. Only the first
// message is shown, and it is truncated, so the rest is not needed.
constexpr std::size_t longest_message = 4000, most_message_lines = 20, longest_excerpt = 200;
constexpr std::size_t most_quoted = std::size_t{4} << 20;  // of a file whose line is shown
constexpr int most_names = 20;                             // in all messages

// '_Z6kernelPi' becomes 'kernel(int*)', for at most `names` names.
std::string with_readable_names(std::string_view text, int& names) {
  std::string result(text.substr(0, longest_message));
  for (std::size_t at = result.find("_Z"); at != std::string::npos && names > 0;
       at = result.find("_Z", at + 1)) {
    std::size_t end = at;
    while (end < result.size() &&
           (std::isalnum(static_cast<unsigned char>(result[end])) != 0 || result[end] == '_')) {
      ++end;
    }
    const auto name = demangled(std::string_view(result).substr(at, end - at));
    --names;
    if (name) result.replace(at, end - at, *name);
  }
  return result;
}

// The caret's column in the file's own line, from 0. nvcc's excerpt has expanded macros (__global__
// is one), so only the text after the caret can be found in it.
std::size_t caret_column(const diagnostic& d, const std::string& source) {
  if (d.column > 0) return static_cast<std::size_t>(d.column) - 1;
  for (std::size_t length = d.at_caret.size(); length > 0; --length) {
    const auto at = source.rfind(d.at_caret.substr(0, length));
    if (at != std::string::npos) return at;
  }
  const auto first = source.find_first_not_of(" \t");
  return first == std::string::npos ? 0 : first;
}

bool is_caret_line(const std::string& line) { return trimmed(line) == "^"; }

// The CUDA names that files of the course use, to suggest for misspelt names.
constexpr std::string_view cuda_names[] = {"threadIdx",
                                           "blockIdx",
                                           "blockDim",
                                           "gridDim",
                                           "__global__",
                                           "__device__",
                                           "__shared__",
                                           "__syncthreads",
                                           "__syncwarp",
                                           "__shfl_sync",
                                           "__shfl_up_sync",
                                           "__shfl_down_sync",
                                           "__shfl_xor_sync",
                                           "__ballot_sync",
                                           "__any_sync",
                                           "__all_sync",
                                           "warpSize",
                                           "__restrict__",
                                           "cudaMalloc",
                                           "cudaMallocHost",
                                           "cudaMemcpy",
                                           "cudaMemcpyAsync",
                                           "cudaMemset",
                                           "cudaFree",
                                           "cudaGetLastError",
                                           "cudaDeviceSynchronize",
                                           "cudaMemcpyHostToDevice",
                                           "cudaMemcpyDeviceToHost",
                                           "cudaMemcpyDeviceToDevice",
                                           "atomicAdd",
                                           "atomicMax",
                                           "atomicMin"};

// In lower case, without underscores.
std::string bare(std::string_view name) {
  std::string letters;
  for (const char c : name.substr(0, 40))
    if (c != '_') letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return letters;
}

// ": is it threadIdx?" for a name that resembles one of CUDA's; otherwise empty.
std::string spelling_hint(std::string_view written) {
  const std::string name = bare(written);
  const auto by_distance = [&](std::string_view known) { return edit_distance(name, bare(known)); };
  const std::string_view known = *std::ranges::min_element(cuda_names, {}, by_distance);
  return by_distance(known) <= 2 && name.size() > 4 ? ": is it " + std::string(known) + "?" : "";
}

// Names that a file can use only if it includes a header.
struct declared_name {
  std::string_view name, header;
};
constexpr declared_name declared_names[] = {
    {"ceil_div", "\"common/lab/ceil_div.hpp\""},
    {"check", "\"common/lab/check.hpp\""},
    {"printf", "<cstdio>"},
    {"assert", "<cassert>"},
    {"FLT_MAX", "<cfloat>"},
    {"__nv_bfloat16", "<cuda_bf16.h>"},
    {"__float2half", "<cuda_fp16.h>"},
    {"__half2float", "<cuda_fp16.h>"},
    {"__half", "<cuda_fp16.h>"},
    {"half", "<cuda_fp16.h>"},
    {"__pipeline_memcpy_async", "<cuda_pipeline.h>"},
    {"cooperative_groups::", "<cooperative_groups.h>"},
    {"nvcuda::", "<mma.h>"},
    {"wmma::", "<mma.h>, and `using namespace nvcuda;`"},
    {"cub::", "<cub/cub.cuh>"},
    {"cuda::atomic", "<cuda/atomic>"},
};

// ": #include <cstdio> is missing" for a name in that list; otherwise empty.
std::string header_hint(std::string_view name) {
  const auto* const known = std::ranges::find(declared_names, name, &declared_name::name);
  return known == std::end(declared_names)
             ? ""
             : ": #include " + std::string(known->header) + " is missing";
}

// Explains common mistakes in a first kernel, for which nvcc uses words that beginners do not know.
struct explained_message {
  std::string_view start;    // of nvcc's message
  std::string_view part;     // which the message contains, too
  std::string_view excerpt;  // which the source line contains
  std::string_view hint;     // follows the message
};
constexpr std::string_view members_hint =
    ": threadIdx, blockIdx, blockDim and gridDim have the members .x, .y and .z";
constexpr std::string_view launch_hint = ": launch a kernel as kernel<<<blocks, threads>>>(...)";
constexpr explained_message explained_messages[] = {
    {"a __global__ function call must be configured", "", "", launch_hint},
    {"expected a \">>>\"", "", "", launch_hint},
    {"expected a \">\"", "", "<",
     ": is each name before a < declared? An undeclared one is read as a template"},
    {"expression must have integral or unscoped enum type", "", "<<", launch_hint},
    {"a host function call cannot be configured", "", "",
     ": only a kernel can be launched; put __global__ before the function"},
    {"", "\"cudaMalloc\" matches the argument list", "",
     "; it stores an address in your pointer, so pass the pointer's address: "
     "cudaMalloc(&pointer, bytes)"},
    {"no instance of overloaded function \"atomic", "", "",
     "; it takes the variable's address: atomicAdd(&sum, value)"},
    {"argument of type \"const ", "", "cudaMemcpy(",
     ": cudaMemcpy(to, from, bytes, kind) writes to its first argument"},
    {"no suitable conversion function from \"const uint3\"", "", "", members_hint},
    {"no suitable conversion function from \"const dim3\"", "", "", members_hint},
    {"no operator ", "uint3", "", members_hint},
    {"no operator ", "dim3", "", members_hint},
    {"calling a constexpr __host__ function(\"operator[]\")", "", "",
     ": a kernel cannot use std::vector, so pass the pointer from cudaMalloc"},
    {"calling a constexpr __host__ function", "", "numeric_limits",
     ": store it in a constexpr variable, which a kernel can use"},
    {"calling a constexpr __host__ function", "",
     "std::", ": CUDA has its own max(), min() and abs(), without std::"},
    {"calling a __device__ function", "from a __host__ function", "<<<",
     ": a kernel, which the host launches, is declared __global__"},
    {"calling a __host__ function", "", "",
     ": a kernel can call only functions that are marked __device__, such as printf()"},
    {"expression must have a constant value", "", "shared",
     ": the compiler must know the size of the array; extern __shared__ takes it from the launch"},
    {"expression must have a constant value", "", "[",
     ": the compiler must know the size of the array, so use a constant"},
    {"expression must be a modifiable lvalue", "", "if", ": == compares, = assigns"},
    {"expression must be a modifiable lvalue", "", "", ": is it declared const?"},
    {"a static \"__shared__\" variable declaration is not allowed inside a host function", "", "",
     ": is __global__ missing before the function?"},
    {"a variable length array cannot have static storage duration", "", "",
     ": the size must be a constant (constexpr); extern __shared__ takes it from the launch"},
    {"argument of type \"void\" is incompatible with parameter of type \"cudaError_t\"", "", "<<<",
     ": a launch returns nothing; call cudaGetLastError() after it"},
    {"identifier \"", "is undefined in device code", "",
     ": a kernel cannot use a variable of the host, so pass it as a parameter"},
    {"expected a \";\"", "", "{", ": is a } missing above?"},
    {"expression has no effect", "", "dim3", "; (a, b) has the value b, so write dim3 name(a, b)"},
    {"initializer not allowed for __shared__ variable", "", "",
     ": let the threads store the initial values, then call __syncthreads()"},
    {"empty dependent statement in if-statement", "", "",
     ": a `;` ends the if here, so what follows is always executed"},
    {"namespace \"std\" has no member \"vector\"", "", "",
     ": #include <vector> is missing; a kernel cannot use std::vector, but can use an array"},
    {"incomplete type", "[]\" is not allowed", "shared",
     ": give the array a constant size, or write extern __shared__ and pass its bytes as the third "
     "launch parameter"},
    {"an initializer is not allowed on a local declaration of an extern", "", "shared",
     ": let the threads store the initial values, then call __syncthreads()"},
    {"declaration is incompatible with previous", "", "shared",
     ": all extern __shared__ arrays of a file are one memory, so give them one type or different "
     "names"},
    {"an array may not have elements of this type", "", "[]", ": only the first [] may be empty"},
    {"expression must have pointer-to-object type", "", "][",
     ": a pointer or an array with one [] has one index, such as p[row * width + column]"},
    {"expression must have pointer-to-object type", "", "",
     ": only an array or a pointer has elements, so is a [] or * missing where it is declared?"},
    {"expression must have class type but it has type", "", "].",
     ": an element that is a number has no members .x, .y or .z"},
    {"no instance of overloaded function \"__shfl", "", "",
     ": the first argument is the mask of lanes, such as __shfl_down_sync(0xffffffff, value, "
     "distance)"},
    {"too few arguments in function call", "", "cudaMemcpy(",
     ": cudaMemcpy(to, from, bytes, kind)"},
    {"too few arguments in function call", "", "<<<",
     ": a launch passes one argument for each parameter of the kernel"},
};

// `excerpt` is the source line of the message.
std::string beginners_hint(std::string_view message, std::string_view excerpt) {
  const auto has = [](std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
  };
  for (const explained_message& e : explained_messages)
    if (message.starts_with(e.start) && has(message, e.part) && has(excerpt, e.excerpt))
      return std::string(e.hint);
  if (message.starts_with("identifier \"")) {
    const std::string_view name = message.substr(12, message.find('"', 12) - 12);
    if (std::string hint = header_hint(name); !hint.empty()) return hint;
    const std::string with_mask = std::string(name) + "_sync";
    if (std::ranges::find(cuda_names, with_mask) != std::end(cuda_names))
      return ": it is now " + with_mask + "(mask, ...), and mask 0xffffffff names all lanes";
    return spelling_hint(name);
  }
  // `cub::DeviceReduce::Sum(...)`
  if (message.starts_with("name followed by \"::\" must be a class or namespace name")) {
    for (const auto& [name, header] : declared_names)
      if (name.find("::") != std::string_view::npos && has(excerpt, name)) return header_hint(name);
  }
  // `_global_ void kernel(...)`
  if (message.starts_with("this declaration has no storage class")) {
    const auto word = trimmed(excerpt);
    return spelling_hint(word.substr(0, word.find(' ')));
  }
  return "";
}

// file.cu(23): error: identifier "x" is undefined, then possibly more of the message, the source
// line and a line with a caret, until an empty line.
std::optional<diagnostic> front_end_message(const std::vector<std::string>& lines, std::size_t i,
                                            std::initializer_list<std::string_view> marks) {
  const std::string& line = lines[i];
  for (std::string_view mark : marks) {
    const auto close = line.find(mark);
    const auto open = close == std::string::npos ? close : line.rfind('(', close);
    if (open == std::string::npos) continue;
    const auto line_number = number(std::string_view(line).substr(open + 1, close - open - 1));
    if (!line_number) continue;
    diagnostic d{line.substr(0, open), *line_number, 0, {}, {}};
    d.message = line.substr(line.find(": ", close + mark.size() - 2) + 2);
    std::string excerpt;
    std::size_t end = i + 1;
    while (end < lines.size() && end - i <= most_message_lines && !trimmed(lines[end]).empty())
      ++end;
    for (std::size_t k = i + 1; k < end; ++k) {
      if (k + 1 < end && is_caret_line(lines[k + 1])) {
        excerpt = lines[k].substr(0, longest_excerpt);
        d.at_caret =
            lines[k].substr(std::min(lines[k].size(), lines[k + 1].find('^')), longest_excerpt);
        break;
      }
      if (is_caret_line(lines[k])) continue;
      const std::string_view more = trimmed(lines[k]);
      const bool types = more.starts_with("argument types ") || more.starts_with("operand types ");
      d.message += (types ? "; " : " ") + std::string(more);
    }
    // An option that students cannot set.
    d.message = d.message.substr(0, d.message.find(" The experimental flag"));
    if (d.message.ends_with('.')) d.message.pop_back();
    d.message += beginners_hint(d.message, excerpt);
    return d;
  }
  return {};
}

std::optional<diagnostic> front_end_error(const std::vector<std::string>& lines, std::size_t i) {
  return front_end_message(lines, i, {"): error: ", "): error #", "): catastrophic error: "});
}

// At end of source: error: expected a "}", then possibly file.cu(3): note #3196-D: to match this
// "{" with that line and a caret.
std::optional<diagnostic> error_at_end(const std::vector<std::string>& lines, std::size_t i) {
  constexpr std::string_view mark = "At end of source: error: ", note = "): note #";
  if (!lines[i].starts_with(mark)) return {};
  diagnostic d;
  d.message = lines[i].substr(mark.size()) + " at the end of the file";
  const std::string next = i + 1 < lines.size() ? lines[i + 1] : "";
  const auto close = next.find(note), said = next.find(": ", close + note.size());
  if (close == std::string::npos || said == std::string::npos) return d;
  const auto open = next.rfind('(', close);
  const auto line = open == std::string::npos
                        ? std::nullopt
                        : number(std::string_view(next).substr(open + 1, close - open - 1));
  if (!line) return d;
  d.file = next.substr(0, open);
  d.line = *line;
  d.message += ", " + next.substr(said + 2);
  if (i + 3 < lines.size() && is_caret_line(lines[i + 3]))
    d.at_caret =
        lines[i + 2].substr(std::min(lines[i + 2].size(), lines[i + 3].find('^')), longest_excerpt);
  return d;
}

// file.cu:23:10: fatal error: x.hpp: No such file or directory
std::optional<diagnostic> host_error(const std::string& line) {
  for (std::string_view mark : {": fatal error: ", ": error: "}) {
    const auto at = line.find(mark);
    if (at == std::string::npos) continue;
    diagnostic d;
    d.message = line.substr(at + mark.size());
    std::string_view place = std::string_view(line).substr(0, at);
    std::vector<int> numbers;
    while (numbers.size() < 2) {
      const auto colon = place.rfind(':');
      if (colon == std::string_view::npos) break;
      const auto n = number(place.substr(colon + 1));
      if (!n) break;
      numbers.push_back(*n);
      place = place.substr(0, colon);
    }
    if (numbers.empty()) continue;
    d.line = numbers.back();
    if (numbers.size() == 2) d.column = numbers.front();
    d.file = place;
    return d;
  }
  return {};
}

// ptxas prints sizes in hexadecimal.
std::string shared_hint(const std::string& line) {
  const auto at = line.find("uses too much shared data (0x");
  unsigned used = 0, most = 0;
  if (at == std::string::npos ||
      std::sscanf(line.c_str() + line.find('(', at), "(%x bytes, %x max)", &used, &most) != 2)
    return "";
  return ": __shared__ arrays of " + std::to_string(used) + " bytes, and " + std::to_string(most) +
         " at most; extern __shared__ may have more";
}

// ptxas error   : Entry function '_Z...' uses too much shared data (0x20000 bytes, 0xc000 max)
// ptxas a.ptx, line 34; error   : Instruction 'vote' without '.sync' is not supported on ...
std::optional<diagnostic> tool_error(const std::string& line, int& names) {
  constexpr std::string_view in_ptx = "; error   : ";
  if (const auto at = line.find(in_ptx); line.starts_with("ptxas ") && at != std::string::npos) {
    const std::string message = with_readable_names(line.substr(at + in_ptx.size()), names);
    const bool lacks_mask = message.find("without '.sync'") != std::string::npos;
    return diagnostic{{},
                      0,
                      0,
                      message + (lacks_mask ? ": write __ballot_sync, __any_sync or __all_sync, "
                                              "with the mask of lanes first"
                                            : ""),
                      {}};
  }
  for (std::string_view tool : {"ptxas error", "ptxas fatal", "nvlink error", "nvcc fatal"}) {
    if (!line.starts_with(tool)) continue;
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const auto message = trimmed(std::string_view(line).substr(colon + 1));
    return diagnostic{{}, 0, 0, with_readable_names(message, names) + shared_hint(line), {}};
  }
  return {};
}

// ptxas warning : Stack size for entry function '_Z...' cannot be statically determined
// ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to determine ...
std::optional<diagnostic> assembler_warning(const std::string& line, int& names) {
  constexpr std::string_view loss = "Potential Performance Loss: ";
  const auto at = line.find(loss), colon = line.find(" : ");
  std::string_view message;
  if (line.starts_with("ptxas info ") && at != std::string::npos)
    message = std::string_view(line).substr(at + loss.size());
  else if (line.starts_with("ptxas warning ") && colon != std::string::npos)
    message = std::string_view(line).substr(colon + 3);
  else
    return {};
  message = trimmed(message);
  if (message.ends_with('.')) message.remove_suffix(1);
  std::string hint;
  if (message.find("register count at entry") != std::string_view::npos)
    hint =
        ": give __launch_bounds__ a second argument, the number of blocks that a multiprocessor "
        "must hold";
  return diagnostic{{}, 0, 0, "ptxas: " + with_readable_names(message, names) + hint, {}};
}

// ...: undefined reference to `reduce(int const*, int*, int*, int)'
std::optional<diagnostic> linker_error(const std::string& line) {
  for (std::string_view mark : {"undefined reference to ", "multiple definition of "}) {
    const auto at = line.find(mark);
    if (at == std::string::npos) continue;
    std::string symbol = line.substr(at + mark.size());
    symbol = symbol.substr(0, symbol.find(';'));
    if (symbol.size() > 2 && symbol.front() == '`') symbol = symbol.substr(1);
    if (symbol.ends_with('\'')) symbol.pop_back();
    if (symbol.starts_with("__device_builtin_variable_"))
      return diagnostic{{}, 0, 0, symbol.substr(26) + " exists only in kernels", {}};
    const bool missing = mark.front() == 'u';
    return diagnostic{{},
                      0,
                      0,
                      missing ? "nothing defines " + symbol +
                                    ", which the runner calls: are name and parameters those of "
                                    "the contract?"
                              : symbol + " is defined twice",
                      {}};
  }
  return {};
}

}  // namespace

std::vector<diagnostic> parse_diagnostics(const std::string& text) {
  std::vector<diagnostic> found;
  const auto lines = split_lines(text);
  int names = most_names;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    auto d = front_end_error(lines, i);
    if (!d) d = error_at_end(lines, i);
    if (!d) d = host_error(lines[i]);
    if (!d) d = tool_error(lines[i], names);
    if (!d) d = linker_error(lines[i]);
    if (d) found.push_back(*std::move(d));
  }
  // An undeclared name before < is read as a template. A later message may name it.
  const auto starts_with = [](std::string_view start) {
    return [start](const diagnostic& d) { return d.message.starts_with(start); };
  };
  if (!found.empty() && (starts_with("expected a \">\"")(found[0]) ||
                         found[0].message.ends_with(" is not a template"))) {
    const auto named = std::ranges::find_if(found, starts_with("identifier \""));
    if (named != found.end()) std::rotate(found.begin(), named, named + 1);
  }
  // A missing parenthesis or bracket may first give an operand a wrong type.
  const auto is_type = starts_with("expression must have ");
  if (found.size() > 1 && is_type(found[0]) && starts_with("expected a \"")(found[1]) &&
      found[0].file == found[1].file && found[0].line == found[1].line)
    std::swap(found[0], found[1]);
  return found;
}

std::vector<diagnostic> parse_warnings(const std::string& text) {
  std::vector<diagnostic> found;
  const auto lines = split_lines(text);
  int names = most_names;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    auto d = front_end_message(lines, i, {"): warning #", "): warning: "});
    if (!d) d = assembler_warning(lines[i], names);
    if (d) found.push_back(*std::move(d));
  }
  return found;
}

bool quotable::allows(const fs::path& named) const {
  std::error_code error;
  const fs::path resolved = fs::canonical(named, error);
  if (error) return false;
  if (fs::equivalent(resolved, file, error)) return true;
  return std::any_of(folders.begin(), folders.end(), [&](const fs::path& folder) {
    const fs::path relative = resolved.lexically_relative(folder);
    return !relative.empty() && *relative.begin() != "..";
  });
}

quotable quotable_for(const fs::path& file, const installation& where,
                      const std::vector<fs::path>& more) {
  quotable sources{file, {}};
  const auto add = [&](const fs::path& folder) {
    std::error_code error;
    const fs::path resolved = fs::canonical(folder, error);
    if (!error) sources.folders.push_back(resolved);
  };
  add(where.root / "common" / "lab");
  add("/usr/include");
  add("/usr/lib/gcc");
  if (!where.nvcc.empty()) {
    std::error_code error;
    add(fs::canonical(where.nvcc, error).parent_path().parent_path() / "targets");
    add(fs::canonical(where.nvcc, error).parent_path().parent_path() / "include");
  }
  for (const auto& path : more) add(path);
  return sources;
}

std::vector<std::string> explain(const diagnostic& first, std::size_t count,
                                 const installation& where, const quotable& sources) {
  std::vector<std::string> lines;
  std::string place;
  if (!first.file.empty()) {
    const fs::path file =
        fs::path(first.file).is_absolute() ? fs::path(first.file) : where.root / first.file;
    place = escaped_name(where.shown(file)) + ":" + std::to_string(first.line) + ": ";
    lines.push_back(place + escaped_name(first.message));
    if (const auto text = sources.allows(file) ? read_bounded(file, most_quoted) : std::nullopt) {
      const auto source = split_lines(*text);
      const auto index = static_cast<std::size_t>(first.line) - 1;
      if (first.line > 0 && index < source.size()) {
        const std::string gutter = std::to_string(first.line) + " | ";
        lines.push_back(gutter + escaped_name(source[index]));
        const std::size_t column = caret_column(first, source[index]);
        const std::string before = escaped_name(source[index].substr(0, column) + "x");
        lines.push_back(std::string(gutter.size() - 2, ' ') + "| " +
                        std::string(display_width(before) - 1, ' ') + "^");
      }
    }
  } else {
    lines.push_back(escaped_name(first.message));
  }
  if (count > 1) {
    lines.push_back(std::to_string(count - 1) +
                    (count == 2 ? " more error follows" : " more errors follow") +
                    "; the first one often causes the others");
  }
  return lines;
}

}  // namespace stepwise
