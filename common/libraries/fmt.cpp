// fmt, compiled once from its package's headers. This file defines the functions that the headers
// only declare, and instantiates for char the templates that they leave to a library. Debian has
// only a shared library of fmt, but a built clone must run on machines without it.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

#if FMT_VERSION < 100000
template FMT_API void vformat_to(buffer<char>&, string_view,
                                 basic_format_args<FMT_BUFFER_CONTEXT(char)>, locale_ref);
#elif FMT_VERSION < 120000  // from 12.0.0 on, it is not a template
template FMT_API void vformat_to(buffer<char>&, string_view, vformat_args<>::type, locale_ref);
#endif
template FMT_API void buffer<char>::append(const char*, const char*);
template FMT_API char decimal_point_impl(locale_ref);
template FMT_API thousands_sep_result<char> thousands_sep_impl(locale_ref);
template FMT_API dragonbox::decimal_fp<float> dragonbox::to_decimal(float) noexcept;
template FMT_API dragonbox::decimal_fp<double> dragonbox::to_decimal(double) noexcept;

}  // namespace detail
FMT_END_NAMESPACE
