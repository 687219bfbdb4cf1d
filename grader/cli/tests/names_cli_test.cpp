// Files whose names a shell, nvcc, PTX or JSON could misread, through the built program, and a
// whole clone in such a folder.
#include <doctest/doctest.h>

#include <fstream>

#include "grader/cli/tests/cloned_course.hpp"

using namespace stepwise;

namespace {

// A name that would create a file if a shell executed part of it.
constexpr const char* name_of_all =
    "$(touch ${HOME}pwned) `touch pwned`; \"it's\" a, b\\c #1 größe &|<>*?[x]{y}.cu";

struct awkward : cloned_course {
  explicit awkward(const std::string& name, const std::string& folder = "a, \"b\" $HOME")
      : file(root() / folder / name) {
    write(*read_if_there(root() / "solutions/launch/01_tiny_blocks.cu"));
  }
  void write(const std::string& text) const {
    write_atomically(file.parent_path() / "mine.hpp", "#pragma once\nconstexpr int offset = 0;\n");
    write_atomically(file, "#include \"mine.hpp\"\n" + text);
  }
  std::string text() const { return *read_if_there(root() / "solutions/launch/01_tiny_blocks.cu"); }

  child_result run(std::vector<std::string> words) const {
    for (const auto& word : {"--device", "emulated", "--json"}) words.push_back(word);
    auto options = command(words);
    options.environment.push_back("HOME=" + root().string() + "/");
    return run_child(options, 120);
  }
  bool executed_nothing() const {
    for (const auto& entry : fs::recursive_directory_iterator(root())) {
      if (entry.path().filename() == "pwned") return false;
    }
    return !fs::exists("pwned") && !fs::exists(root().string() + "pwned");
  }

  const fs::path file;
};

}  // namespace

TEST_CASE("a file's name is only a name: no part of it is executed, split or lost") {
  const awkward c(name_of_all);
  const std::string name = c.file;
  const json ran = document_of(c.run({"run", "launch", "--file", name}));
  CHECK(ran["correct"] == true);
  // A graded file is compiled alone. It passes if it does not include its own header.
  json graded = document_of(c.run({"grade", "launch", "--file", name}));
  CHECK(graded["class"] == "COMPILE");
  CHECK(has(graded["message"], "1 | #include \"mine.hpp\""));
  CHECK(has(graded["message"], "a graded file is compiled alone"));
  write_atomically(c.file, c.text());
  graded = document_of(c.run({"grade", "launch", "--file", name}));
  CHECK(graded["points"] > 0);
  CHECK(name.ends_with(graded["file"].get<std::string>()));
  CHECK(c.executed_nothing());
  c.write(c.text());
  CHECK(has(c.run({"ptx", "launch", "--file", name}).out, "add_kernel"));
  const json listed = document_of(c.run({"ptx", "--file", name}));
  CHECK(has(listed.dump(), "x[i] + y[i]"));  // the line of the source
  const json swept = document_of(
      c.run({"sweep", "launch", "--file", name, "--over", "threads=64,128", "--size", "1000"}));
  CHECK(swept["points"][1]["correct"] == true);

  std::string text = c.text();
  text.replace(text.rfind("y[i]"), 4, "y[i + 1]");
  c.write(text);
  const json found = document_of(c.run({"check", "launch", "--file", name}));
  CHECK(has(found.at("findings").dump(), json(name_of_all).dump()));
  CHECK(!has(found.dump(), "percent-coded"));
  CHECK(has(found.dump(), "x[i] + y[i + 1]"));

  c.write("int wrong = undeclared;\n");
  const json refused = document_of(c.run({"run", "launch", "--file", name}));
  CHECK(refused["class"] == "COMPILE");
  const std::string message = refused["message"];
  CHECK(has(message, c.file.filename().string() + ":2: "));
  CHECK(has(message, "2 | int wrong = undeclared;"));
  CHECK(c.executed_nothing());
}

TEST_CASE("awkward file names, one at a time") {
  for (const char* name : {"$(touch ${HOME}pwned).cu", "o'neil \"x\".cu", "lab 1, final.cu",
                           "`touch pwned`.cu", "tab\t new\nline.cu", "\xff.cu", "-o.cu", "no"}) {
    CAPTURE(name);
    const awkward c(name, "plain");
    CHECK(document_of(c.run({"run", "launch", "--file", c.file, "--size", "1000"}))["correct"] ==
          true);
    CHECK(c.executed_nothing());
  }
}

TEST_CASE("a change of a header next to the file is noticed, whatever the folder's name is") {
  const awkward c("x.cu");
  const std::vector<std::string> words = {"run", "launch", "--file", c.file};
  CHECK(document_of(c.run(words))["correct"] == true);
  write_atomically(c.file.parent_path() / "mine.hpp", "#error seen\n");
  const std::string message = document_of(c.run(words))["message"];
  CHECK(has(message, "seen"));
  CHECK(has(message, "mine.hpp:1"));
  CHECK(!has(message, "beside"));
}

TEST_CASE("one sentence reports UTF-16") {
  const awkward c("wide.cu");
  std::string wide = "\xff\xfe";
  for (const char letter : c.text()) wide += {letter, '\0'};
  write_atomically(c.file, wide);
  for (const char* command : {"run", "grade"}) {
    const json document = document_of(c.run({command, "launch", "--file", c.file}));
    CHECK(document["class"] == "COMPILE");
    CHECK(has(document.dump(), "is UTF-16 text"));
  }
  CHECK(has(c.run({"ptx", "--file", c.file}).out, "is UTF-16 text"));
}

TEST_CASE("a UTF-8 file may begin with a byte order mark") {
  const awkward c("marked.cu");
  write_atomically(c.file, "\xEF\xBB\xBF" + c.text());
  CHECK(document_of(c.run({"run", "launch", "--file", c.file}))["correct"] == true);
}

TEST_CASE("a clone in a folder whose name shells misread") {
  const cloned_course c("it's $(touch pwned), \"größe\" #1;&");
  fs::copy_file(c.root() / "solutions/launch/01_tiny_blocks.cu", c.root() / "labs/launch/launch.cu",
                fs::copy_options::overwrite_existing);
  const auto result = c.lab({"check", "launch", "--device", "emulated", "--json"});
  CHECK(result.end.exit_code == 0);
  CHECK(document_of(result)["correct"] == true);
  CHECK(has(c.lab({"ptx", "launch"}).out, "add_kernel"));
  const std::string alias = *read_if_there(c.root() / "build/alias");
  const fs::path link = alias.substr(0, alias.find('\n'));
  CHECK(fs::equivalent(link, c.root()));
  CHECK(!fs::exists("pwned"));
  fs::remove_all(link.parent_path());
}

// Their symbols contain the module id, by which the host and device halves of a compilation match
// them.
TEST_CASE("a file's static symbols, and those in its unnamed namespace, are found") {
  const awkward c("static.cu");
  std::string text = c.text();
  const auto kernel = text.find("__global__");
  REQUIRE(kernel != std::string::npos);
  text.insert(kernel,
              "namespace {\n__constant__ int nothing[2];\n__global__ void count(int* n) { ++*n; }\n"
              "}\nstatic __device__ int calls;\n");
  text +=
      "static void before() {\n"
      "  int now = 0, zero[2] = {0, 0};\n"
      "  void* at = nullptr;\n"
      "  check(cudaMemcpyToSymbol(nothing, zero, sizeof zero));\n"
      "  check(cudaGetSymbolAddress(&at, calls));\n"
      "  count<<<1, 1>>>(static_cast<int*>(at));\n"
      "  check(cudaMemcpyFromSymbol(&now, calls, sizeof now));\n"
      "  if (now != 1) throw now;\n"
      "  check(cudaMemset(at, 0, sizeof now));\n"
      "}\n";
  const auto body = text.find("void add(");
  REQUIRE(body != std::string::npos);
  text.insert(body, "static void before();\n");
  text.insert(text.find('{', text.find("void add(")) + 1, "\n  before();");
  c.write(text);
  const json ran = document_of(c.run({"run", "launch", "--file", c.file, "--size", "1000"}));
  INFO(ran.dump());
  CHECK(ran["correct"] == true);
}

TEST_CASE("no command follows a link in place of the file, and all follow a link to its folder") {
  const cloned_course c;
  write_atomically(c.root() / "secret", "root:SECRET:1\n");
  fs::create_symlink("secret", c.root() / "linked.cu");
  for (const std::string verb : {"grade", "try", "run", "check"}) {
    std::vector<std::string> words = {verb, "launch", "--file", "linked.cu", "--json"};
    // Without this option, `try` reads no file on a machine that lacks a layer of the sandbox.
    if (verb == "try") words.push_back("--i-trust-these-files");
    const auto result = c.lab(words);
    INFO(verb << ": " << result.out << result.err);
    CHECK(result.end.exit_code == 2);
    CHECK(has(result.out, "linked.cu: it is a link"));
    CHECK(!has(result.out + result.err, "SECRET"));
  }
  write_atomically(c.root() / "folder" / "mine.cu", "int no;int no;\n");
  fs::create_directory_symlink("folder", c.root() / "course");
  fs::create_symlink(c.root() / "secret", c.root() / "folder" / "answers.md");
  const json graded = document_of(c.lab({"grade", "launch", "--file", "course/mine.cu", "--json"}));
  CHECK(graded["class"] == "COMPILE");
  CHECK(graded["answers"].is_null());
}
