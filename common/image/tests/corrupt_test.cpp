// Tests that damaged files give an error or a result, never a crash. With a sanitiser, these tests
// also detect reads past the end.
#include <functional>

#include "common/image/tests/inputs.hpp"

namespace stepwise::image {
namespace {

// `exact` is allocated with its exact size, so that a sanitiser detects a read past its end.
std::size_t errors_of_container(const buffer& exact) {
  const auto entries = read_container(exact);
  if (!entries.ok()) return 1;
  std::size_t errors = 0;
  for (const fat_entry& e : *entries) {
    const auto content = content_of(e);
    errors += !content.ok();
    if (content.ok() && e.kind == entry_kind::elf) errors += !read_cubin(*content).ok();
  }
  for (const std::uint32_t sm : {75u, 90u, ~0u}) {
    choose(*entries, entry_kind::ptx, sm);
    choose(*entries, entry_kind::elf, sm);
  }
  return errors;
}

std::size_t errors_of_cubin(const buffer& exact) { return !read_cubin(exact).ok(); }

using reading = std::function<std::size_t(const buffer&)>;

void check_truncations(const buffer& whole, const reading& errors) {
  CHECK(errors(whole) == 0);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const buffer part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK_MESSAGE(errors(part) > 0, "truncated to ", size, " of ", whole.size(), " bytes");
  }
}

void check_flips(const buffer& whole, const reading& errors) {
  buffer changed = whole;
  std::size_t refused = 0;
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    changed[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    refused += errors(changed) > 0;
    changed[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
  }
  CHECK(refused > 100);
  CHECK(errors(whole) == 0);
}

TEST_CASE("damaged containers that the test builds") {
  const std::string text = ".version 9.0\n.target sm_90\n" + std::string(200, 'x');
  const buffer whole = make_container(
      {{1, 90, 0x11, text, 0, text.size(), "a.cu"}, {1, 80, 0x11, text, 0, 0, "a.cu"}});
  check_truncations(whole, errors_of_container);
  check_flips(whole, errors_of_container);
}

TEST_CASE("damaged containers of nvcc" * doctest::skip(compiled_folder().empty())) {
  const buffer whole = compiled("tiny.fatbin");
  check_truncations(whole, errors_of_container);
  check_flips(whole, errors_of_container);
}

TEST_CASE("damaged cubins of nvcc" * doctest::skip(compiled_folder().empty())) {
  const buffer whole = compiled("tiny.cubin");
  check_truncations(whole, errors_of_cubin);
  check_flips(whole, errors_of_cubin);
}

}  // namespace
}  // namespace stepwise::image
