// Picks the rows that this CPU runs fastest, of those that were compiled (meson.build); names of
// rows.
#include <cstring>
#include <stdexcept>
#include <string>

#include "common/emulator/rows/simd.hpp"

namespace stepwise::emulator {
namespace {

#if defined(__x86_64__)
[[maybe_unused]] bool has_avx2() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi2");
}

[[maybe_unused]] bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512cd");
}
#endif

struct choice {
  const row_set* rows = nullptr;
  const char* missing = nullptr;  // the least that was compiled, and this CPU lacks
};

choice choose() {
#define STEPWISE_ROWS(simd)                                                             \
  {&simd::integer_rows, &simd::floating_rows, &simd::compare_rows, &simd::convert_rows, \
   &simd::memory_rows,  &simd::matrix_rows,   &simd::half_rows,    &simd::rounding_rows}
  choice c;
#ifdef STEPWISE_ROWS_AVX512
  static constexpr row_set widest = STEPWISE_ROWS(avx512);
  if (has_avx512()) return {&widest, nullptr};
  c = {&widest, "AVX-512"};
#endif
#ifdef STEPWISE_ROWS_AVX2
  static constexpr row_set wide = STEPWISE_ROWS(avx2);
  if (has_avx2()) return {&wide, nullptr};
  c = {&wide, "AVX2"};
#endif
#ifdef STEPWISE_ROWS_BASELINE
  static constexpr row_set plain = STEPWISE_ROWS(baseline);
  c = {&plain, nullptr};
#endif
#undef STEPWISE_ROWS
  return c;
}

}  // namespace

row_name::row_name(const char* text) { append(text); }

row_name operator+(const row_name& a, const row_name& b) {
  row_name sum;
  sum.append(a.text());
  sum.append(b.text());
  return sum;
}

void row_name::append(std::string_view part) {
  if (part.size() > sizeof text_ - size_)
    throw std::length_error("the name of a row: " + std::string(text()) + std::string(part));
  std::memcpy(text_ + size_, part.data(), part.size());
  size_ = static_cast<unsigned char>(size_ + part.size());
}

void add_row(row_table& table, const row_name& name, handler run, value_class d, value_class a,
             value_class b, value_class c) {
  table.push_back({name, run, d, a, b, c});
}

const row_set& best_row_set() { return *choose().rows; }
const char* missing_instruction_set() { return choose().missing; }

}  // namespace stepwise::emulator
