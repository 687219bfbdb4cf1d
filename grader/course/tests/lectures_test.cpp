// What lectures.toml says, and what is said of one that is wrong.
#include "grader/course/lectures.hpp"

#include <doctest/doctest.h>

#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

using namespace stepwise;

namespace lectures_test {
namespace {

lab one_lab() {
  lab l;
  l.name = "doubling";
  l.check = {{1}};
  step s;
  s.name = "00_first";
  l.steps = {s};
  return l;
}

constexpr const char* head =
    "[[lectures]]\ngpu = \"gtx280\"\nsource = \"a talk\"\nunit = \"GB/s\"\nsize = [64]\n";

}  // namespace

TEST_CASE("a lecture's figures, with what they are of") {
  const temporary_folder root(fs::temp_directory_path());
  CHECK(load_lectures(root.path(), one_lab()).empty());
  const fs::path file = root.path() / "solutions/doubling/lectures.toml";
  write_atomically(file, std::string(head) +
                             "size_told = false\nfigures = [\n"
                             "  { version = \"1\", step = \"00_first\", value = 3.77 },\n"
                             "  { version = \"2\", step = \"00_first\", with = [\"tile=16\"], "
                             "kernel = \"k\", value = 8 },\n]\n");
  const auto all = load_lectures(root.path(), one_lab());
  REQUIRE(all.size() == 1);
  CHECK(all[0].gpu == "gtx280");
  CHECK(all[0].size == lab_size{64});
  CHECK(!all[0].size_told);
  REQUIRE(all[0].figures.size() == 2);
  CHECK(all[0].figures[0].value == 3.77);
  CHECK(all[0].figures[1].with == std::vector<std::string>{"tile=16"});
  CHECK(all[0].figures[1].kernel == "k");
  CHECK(all[0].figures[1].value == 8);
}

TEST_CASE("what is wrong with the file is said with its line") {
  const temporary_folder root(fs::temp_directory_path());
  const fs::path file = root.path() / "solutions/doubling/lectures.toml";
  const std::string good = "{ version = \"1\", step = \"00_first\", value = 1 }";
  for (const auto& [text, said] : std::vector<std::pair<std::string, std::string>>{
           {"lectures = 1", "there is no [[lectures]]"},
           {"[[lectures", "lectures.toml:1: "},
           {std::string(head) + "figures = [" + good + "]", "size_told: expected true or false"},
           {std::string(head) + "size_told = true\nfigures = []", "figures: expected a list"},
           {std::string(head) + "size_told = true\nfigures = [{ version = \"1\", step = \"x\" }]",
            "lectures.toml:7: there is no step x"},
           {std::string(head) +
                "size_told = true\nfigures = [{ version = \"1\", step = \"00_first\" }]",
            "value: expected a positive number"},
           {"[[lectures]]\ngpu = \"g\"\nsource = \"s\"\nunit = \"km\"", "unit: expected ms"},
           {"[[lectures]]\ngpu = \"g\"\nsource = \"s\"\nunit = \"ms\"\nsize = [1, 2]",
            "size: expected a list"},
           {"[[lectures]]\nsource = \"s\"", "lectures.toml:1: gpu: expected a text"}}) {
    CAPTURE(text);
    write_atomically(file, text);
    try {
      load_lectures(root.path(), one_lab());
      FAIL("it was read");
    } catch (const failure& error) {
      CHECK_MESSAGE(std::string(error.what()).find(said) != std::string::npos, error.what());
      CHECK(error.code() == exit_code::ours);
    }
  }
}

}  // namespace lectures_test
