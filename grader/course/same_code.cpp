// Numbers the names of a source, and compares it with each step of a lab.
#include "grader/course/same_code.hpp"

#include <map>

#include "common/source_map/source_tokens.hpp"
#include "grader/system/files.hpp"

namespace stepwise {
namespace {

// Words with a fixed meaning: code that differs in one of them is different code.
bool has_fixed_meaning(std::string_view word) {
  static constexpr std::string_view all =
      " "
      "alignas alignof asm auto bool break case catch char class const consteval constexpr "
      "constinit const_cast continue decltype default delete do double dynamic_cast else enum "
      "explicit extern false float for friend goto if inline int long mutable namespace new "
      "noexcept nullptr operator private protected public register reinterpret_cast return "
      "short signed sizeof static static_assert static_cast struct switch template this throw "
      "true try typedef typename union unsigned using virtual void volatile while __global__ "
      "__device__ __host__ __shared__ __constant__ __restrict__ __forceinline__ __noinline__ "
      "__launch_bounds__ threadIdx blockIdx blockDim gridDim warpSize x y z w atomicAdd "
      "atomicMax atomicMin fmaf dim3 float2 float4 int2 int4 uchar4 ";
  return all.find(" " + std::string(word) + " ") != std::string_view::npos;
}

// Macros are code. Includes and compiler directives are not compared.
bool is_compared(const source_token& t) {
  return !t.directive.starts_with("include") && !t.directive.starts_with("pragma") &&
         !t.directive.starts_with("line");
}

}  // namespace

std::string code_without_names(std::string_view source) {
  std::map<std::string_view, std::size_t> names;
  std::string code;
  for (const source_token& t : tokens_of(source)) {
    if (!is_compared(t)) continue;
    std::string text(t.text);
    if (t.what == source_token::kind::number) std::erase(text, '\'');
    if (t.what == source_token::kind::sign && text.size() > 1) text.insert(1, "\n");
    if (t.what == source_token::kind::word && !has_fixed_meaning(text))
      text = "$" + std::to_string(names.try_emplace(t.text, names.size()).first->second);
    code += text + "\n";
  }
  return code;
}

std::vector<named_text> texts_of_steps(const fs::path& root, const lab& l) {
  std::vector<named_text> all;
  if (!l.is_worked) return all;
  for (const step& s : l.steps) {
    if (auto text = read_if_there(root / s.file)) all.push_back({s.name, *std::move(text)});
  }
  return all;
}

std::string published_step(const std::vector<named_text>& steps, std::string_view source) {
  const std::string code = code_without_names(source);
  if (code.empty()) return {};
  for (const named_text& s : steps) {
    if (code_without_names(s.text) == code) return s.name;
  }
  return {};
}

}  // namespace stepwise
