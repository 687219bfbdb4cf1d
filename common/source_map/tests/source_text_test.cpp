// Tests lines of files that are found, moved, missing or long.
#include "common/source_map/source_text.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace stepwise::emulator {
namespace {

namespace fs = std::filesystem;

struct folder {
  folder() {
    std::string name = (fs::temp_directory_path() / "source-text-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~folder() { fs::remove_all(path); }
  void write(const fs::path& file, const std::string& text) const {
    fs::create_directories((path / file).parent_path());
    std::ofstream(path / file) << text;
  }
  fs::path path;
};

TEST_CASE("lines are trimmed, or keep their indentation") {
  const folder f;
  f.write("k.cu", "first\n  \tx += 1;  \r\n\nlast");
  source_text text;
  const std::string file = (f.path / "k.cu").string();
  CHECK(text.line(file, 1) == "first");
  CHECK(text.line(file, 2) == "x += 1;");
  CHECK(text.whole_line(file, 2) == "  \tx += 1;");
  CHECK(text.line(file, 3).empty());
  CHECK(text.line(file, 4) == "last");
  CHECK(text.line(file, 5).empty());
  CHECK(text.line(file, 0).empty());
}

TEST_CASE("a moved file is found by the longest matching end of its path") {
  const folder f;
  f.write("k.cu", "the other one\n");
  f.write("labs/x/k.cu", "this one\n");
  source_text text({f.path});
  CHECK(text.line("/build/somewhere/labs/x/k.cu", 1) == "this one");
  CHECK(text.line("/build/somewhere/labs/y/k.cu", 1) == "the other one");
  CHECK(text.line("/build/none.cu", 1).empty());
  CHECK(text.line("", 1).empty());
  CHECK(text.line(f.path.string(), 1).empty());  // a folder
}

TEST_CASE("long lines are truncated between characters") {
  const folder f;
  const std::string dots(source_text::longest_line - 1, '.');
  f.write("k.cu", dots + "\xC3\xA4\xC3\xA4\n");
  source_text text;
  CHECK(text.line((f.path / "k.cu").string(), 1) == dots);
}

}  // namespace
}  // namespace stepwise::emulator
