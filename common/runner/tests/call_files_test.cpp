// Tests the files of a call whose contract is a program's main.
#include "common/runner/call_files.hpp"

#include <doctest/doctest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "common/runner/contract.hpp"
#include "common/runner/machine.hpp"

namespace call_files_test {

using namespace stepwise::runner;
namespace fs = std::filesystem;

std::string content_of(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A call with an input of four bytes and a result of three.
struct example {
  std::array<std::byte, 4> input{std::byte{'a'}, std::byte{0}, std::byte{'b'}, std::byte{'c'}};
  std::array<std::byte, 3> result{};
  call_files files;
  std::string input_name = files.add(buffer_role::input, input);
  std::string result_name = files.add(buffer_role::output, result);

  void write_result(const std::string& text) const {
    std::ofstream(result_name, std::ios::binary) << text;
  }
  // The message and the number of the wrong array; "" if the results are read.
  std::string read() const {
    std::optional<std::size_t> wrong;
    try {
      files.read_results([&](std::size_t number) { wrong = number; });
    } catch (const call_failure& failure) {
      CHECK(wrong == std::size_t{1});
      return failure.message;
    }
    CHECK(!wrong);
    return "";
  }
};

TEST_CASE("a program finds its inputs in a file, and no result of an earlier call") {
  const example call;
  call.write_result("old");
  call.files.write_inputs();
  CHECK(content_of(call.input_name) == std::string("a\0bc", 4));
  CHECK(!fs::exists(call.result_name));
}

TEST_CASE("a result is read if it has the expected size") {
  const example call;
  CHECK(call.read() == "the program ended without a result file, but 3 bytes are expected");
  call.write_result("xy");
  CHECK(call.read() == "the result file has 2 bytes, but 3 bytes are expected");
  CHECK(call.result[0] == std::byte{0});
  call.write_result("xyzw");
  CHECK(call.read() == "the result file has 4 bytes, but 3 bytes are expected");
  call.write_result("xyz");
  CHECK(call.read().empty());
  CHECK(call.result[2] == std::byte{'z'});
}

TEST_CASE("a folder in place of the result is refused, and the next call removes it") {
  const example call;
  fs::create_directory(call.result_name);
  CHECK(call.read().starts_with("the program ended without a result file"));
  call.files.write_inputs();
  CHECK(!fs::exists(call.result_name));
}

TEST_CASE("only the user can read the folder, which is gone afterwards") {
  std::string folder;
  {
    const example call;
    folder = fs::path(call.input_name).parent_path();
    CHECK((fs::status(folder).permissions() & fs::perms::all) == fs::perms::owner_all);
    call.write_result("left behind");
  }
  CHECK(!fs::exists(folder));
}

std::vector<std::string> given;

int program(int count, char** arguments) {
  given.assign(arguments, arguments + count);
  return arguments[count] == nullptr && given.back() == "out" ? 0 : 3;
}

TEST_CASE("a program gets two names as its arguments, and must return 0") {
  constexpr contract whole = contract_of<&program>::make("main");
  CHECK(whole.pointers == 2);
  CHECK(whole.integers == 0);
  char in[] = "in", out[] = "out", other[] = "other";
  void* names[] = {in, out};
  whole.call(names, nullptr);
  CHECK(given == std::vector<std::string>{"program", "in", "out"});
  names[1] = other;
  try {
    whole.call(names, nullptr);
    FAIL("the failure was not noticed");
  } catch (const call_failure& failure) {
    CHECK(failure.message ==
          "main() returned 3, which reports a failure; a program that succeeds returns 0");
  }
}

}  // namespace call_files_test
