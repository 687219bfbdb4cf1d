// Tests the source text that nvcc gets for a file.
#include "grader/judge/plain_source.hpp"

#include <doctest/doctest.h>

#include "common/device/names.hpp"

using namespace stepwise;

TEST_CASE("plain names") {
  for (const char* name : {"/home/me/a-b_c.d+e=f@1%/größe", ""}) CHECK(is_plain(name));
  for (const char* name :
       {"a b", "a'b", "a\"b", "a,b", "a$b", "a`b", "a\\b", "a;b", "a&b",  "a|b", "a(b",
        "a*b", "a?b", "a[b",  "a{b", "a<b", "a#b", "a!b",  "a:b", "a\nb", "~"}) {
    CAPTURE(name);
    CHECK(!is_plain(name));
  }
}

TEST_CASE("nvcc sees only plain names, and the source text keeps the real name") {
  const temporary_folder work(plain_temporary_path());
  const fs::path folder = work.path() / "a \"b\", $c", build = work.path() / "build";
  make_folder(build);
  write_atomically(folder / "mine.hpp", "\n");
  const fs::path file = folder / "x\\y.cu";
  const plain_source source(file, file, "\xEF\xBB\xBFint x;\n", build);
  CHECK(is_plain(source.path()));
  for (const auto& flag : source.flags()) CHECK(is_plain(flag));
  CHECK(read_if_there(fs::path(source.flags()[1].substr(11)) / "mine.hpp") == "\n");
  const std::string text = *read_if_there(source.path());
  CHECK(text.ends_with("\n#line 1 STEPWISE_FILE\nint x;\n"));
  CHECK(text.find(percent_coded(file.string())) != std::string::npos);
  CHECK(source.as_typed(percent_coded(file.string()) + ":1") == file.string() + ":1");
  CHECK(source.as_typed(source.flags()[1].substr(11) + "/mine.hpp:1") ==
        (folder / "mine.hpp").string() + ":1");
}

TEST_CASE("with a stand-in name, the text does not contain the file's name, but messages do") {
  const temporary_folder work(plain_temporary_path());
  const fs::path file = work.path() / "with_a_seed_4711.cu", stand_in = work.path() / "x/other.cu";
  const plain_source source(file, "mine/with_a_seed_4711.cu", "int x;\n", work.path(), stand_in,
                            "x/other.cu");
  CHECK(read_if_there(source.path()) == "#line 1 \"x/other.cu\"\nint x;\n");
  for (const std::string& name : {stand_in.string(), std::string("x/other.cu"), source.path()})
    CHECK(source.as_typed(name + ":3: error") == "mine/with_a_seed_4711.cu:3: error");
}

TEST_CASE("UTF-16 is recognised with and without a byte-order mark") {
  using namespace std::string_literals;
  CHECK(is_utf16("\xFF\xFEi\0"s));
  CHECK(is_utf16("\xFE\xFF\0i"s));
  CHECK(is_utf16("i\0n\0t\0 \0x\0"s));
  CHECK(!is_utf16(""));
  CHECK(!is_utf16("int größe;\n"));
  CHECK(!is_utf16("\xEF\xBB\xBFint x;"));
}
