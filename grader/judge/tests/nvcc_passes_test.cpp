// Tests nvcc's passes in parallel: what becomes of nvcc's list, and what happens if the list looks
// different. nvcc and its programs are scripts that record that they ran.
#include "grader/judge/nvcc_passes.hpp"

#include <doctest/doctest.h>

#include "grader/judge/compile.hpp"
#include "grader/judge/tests/doubling.hpp"
#include "grader/system/files.hpp"

using namespace stepwise;
using namespace stepwise::tests;

namespace nvcc_passes_test {
namespace {

// The list that nvcc 13.0 prints, shortened. $T is the folder for temporary files.
constexpr const char* usual_list = R"(#$ _SPACE_=
#$ CICC_PATH=$H
#$ PATH=$H:/usr/bin:/bin
#$ gcc -D__CUDA_ARCH_LIST__=900 -E -x c++ "mine.cu" -o "$T/4.ii"
#$ cudafe++ --gen_c_file_name "$T/6.cpp" --gen_module_id_file --module_id_file_name "$T/id" "$T/4.ii"
#$ gcc -D__CUDA_ARCH__=900 -D__CUDA_ARCH_LIST__=900 -E -x c++ "mine.cu" -o "$T/1.ii"
#$ "$CICC_PATH/cicc" --module_id_file_name "$T/id" --stub_file_name "$T/6.stub.c" -o "$T/6.ptx"
#$ ptxas -arch=sm_90 "$T/6.ptx" -o "$T/8.cubin"
#$ fatbinary --embedded-fatbin="$T/3.fatbin.c"
#$ rm $T/3.fatbin
#$ gcc -D__CUDA_ARCH__=900 -c -x c++ "$T/6.cpp" -o "$T/student.o"
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// A toolkit whose programs write their names to the file `ran`, and a compilation with it.
class toolkit {
 public:
  toolkit() : work_(fs::temp_directory_path()) {
    where_.root = work_.path();
    where_.build = work_.path() / "build";
    where_.nvcc = file("nvcc");
    write_atomically(file("mine.cu"), "\n");
    write_atomically(file("mine.hpp"), "// first\n");
    const std::string makes =
        "made=; for word; do\n"
        "case $made in -o) : >\"$word\"; chmod +x \"$word\";;\n"
        "-MF) echo \"headers: mine.hpp\" >\"$word\";; esac\n"
        "case $word in --create=*) : >\"${word#--create=}\";; esac\n"
        "made=$word; done\n";
    for (const char* name : {"cudafe++", "cicc", "ptxas", "fatbinary"}) program(name, makes);
    program("gcc", "case \" $* \" in *' -E '*) : ;; *) echo 'gcc -c' >>" + file("ran") +
                       ";; esac\n" + makes);
    list(usual_list);
  }

  std::string file(const std::string& name) const { return work_.path() / name; }

  void program(const std::string& name, const std::string& script) {
    const std::string notes = name == "gcc" ? "" : "echo '" + name + "' >>" + file("ran") + "\n";
    write_atomically(file(name), "#!/bin/sh\n" + notes + script);
    fs::permissions(file(name), fs::perms::owner_exec, fs::perm_options::add);
  }

  // Sets the output of nvcc --dryrun. Without --dryrun, nvcc compiles or links.
  void list(const std::string& text) {
    const std::string shown = replaced(replaced(text, "$H", work_.path()), "$CICC", "\\$CICC");
    write_atomically(
        file("nvcc"),
        "#!/bin/sh\nT=$TMPDIR\n"
        "case \" $* \" in *' --dryrun '*) cat >&2 <<END\n" +
            shown +
            "END\nexit;;\n"
            "*' -c '*) echo 'nvcc compiles' >>" +
            file("ran") +
            ";;\n"
            "*) echo 'nvcc links' >>" +
            file("ran") +
            ";; esac\n"
            "made=; for word; do [ \"$made\" != -o ] || { : >\"$word\"; chmod +x \"$word\"; }\n"
            "[ \"$made\" != -MF ] || echo \"headers: mine.hpp\" >\"$word\"\n"
            "[ \"$made\" != --keep-dir ] || : >\"$word/student.fatbin\" >\"$word/mine.fatbin\"\n"
            "made=$word; done\n");
    fs::permissions(file("nvcc"), fs::perms::owner_exec, fs::perm_options::add);
  }

  compiled compile() {
    fs::remove(file("ran"));
    const compile_progress progress{[](const std::string&) {}, [] {}};
    return compile_submission(doubling_lab(), file("mine.cu"), where_, progress);
  }
  bool ran(const std::string& what) const {
    return ("\n" + read_if_there(file("ran")).value_or("")).find("\n" + what + "\n") !=
           std::string::npos;
  }

 private:
  const temporary_folder work_;
  installation where_;
};

}  // namespace

TEST_CASE("nvcc's list becomes passes that run side by side") {
  const auto passes = side_by_side(usual_list, "/work");
  REQUIRE(passes);
  CHECK(passes->environment.size() == 3);
  CHECK(passes->module_id == "$T/id");
  CHECK(passes->rules.size() == 2);
  CHECK(passes->script.find("--gen_module_id_file") == std::string::npos);
  CHECK(passes->script.find("rm ") == std::string::npos);
  // The compiler includes this file, and the assembler adds the data.
  CHECK(passes->stand_in == "$T/3.fatbin.c");
  CHECK(passes->stand_in_text.find(".incbin \\\"$T/3.fatbin\\\"") != std::string::npos);
  CHECK(passes->script.find("fatbinary --create=\"$T/3.fatbin\"") != std::string::npos);
}

TEST_CASE("a list with another form is not recognised") {
  const std::string usual = usual_list;
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"#$ ptxas", "ptxas"},            // not a command of the list
           {"#$ ptxas", "#$ nvlink"},        // an unknown program
           {" --gen_module_id_file ", " "},  // no id is generated
           {"cicc\" --module_id_file_name \"$T/id\"", "cicc\" --module_id_file_name \"$T/other\""},
           {"cicc\" --module_id_file_name \"$T/id\"", "cicc\""},
           {"#$ cudafe++", "#$ rm"},  // a pass is missing
           {"#$ fatbinary", "#$ rm"},
           {" --embedded-fatbin=\"$T/3.fatbin.c\"", " --create=\"$T/3.fatbin\""},
           {" -o \"$T/student.o\"", " -o \"$T/student.o\" -Wall"},
           {" -c -x c++ ", " -S -x c++ "},
           {"-D__CUDA_ARCH__=900 -D__CUDA_ARCH_LIST__", "-D__CUDA_ARCH_LIST__"},
       }) {
    CAPTURE(from);
    CAPTURE(to);
    REQUIRE(replaced(usual, from, to) != usual);
    CHECK(!side_by_side(replaced(usual, from, to), "/work"));
  }
  CHECK(!side_by_side("", "/work"));
  CHECK(!side_by_side(usual + "#$ gcc -c -x c++ more.cpp -o more.o\n", "/work"));
}

TEST_CASE("the passes make the object file, nvcc links, and headers are watched") {
  toolkit t;
  const compiled first = t.compile();
  CHECK(!first.program.empty());
  for (const char* name : {"cudafe++", "cicc", "ptxas", "fatbinary", "gcc -c", "nvcc links"}) {
    CAPTURE(name);
    CHECK(t.ran(name));
  }
  CHECK(!t.ran("nvcc compiles"));
  CHECK(t.compile().cached);
  write_atomically(t.file("mine.hpp"), "// second\n");
  CHECK(!t.compile().cached);
}

TEST_CASE("if the passes fail, nvcc compiles the file") {
  for (const char* name : {"cudafe++", "cicc", "ptxas", "fatbinary", "gcc"}) {
    for (const char* end : {"exit 2\n", "kill -SEGV $$\n"}) {
      CAPTURE(name);
      CAPTURE(end);
      toolkit t;
      t.program(name, end);
      CHECK(!t.compile().program.empty());
      CHECK(t.ran("nvcc compiles"));
    }
  }
  toolkit t;
  t.list(replaced(usual_list, "#$ ptxas", "#$ newtool"));
  CHECK(!t.compile().program.empty());
  CHECK(t.ran("nvcc compiles"));
  CHECK(!t.ran("cudafe++"));
}

TEST_CASE("if cudafe++ refuses a file, its message is reported at once") {
  toolkit t;
  t.program("cudafe++", "echo 'mine.cu(1): error: identifier \"x\" is undefined' >&2; exit 2\n");
  t.program("cicc", "sleep 60\n");
  const compiled c = t.compile();
  CHECK(c.program.empty());
  REQUIRE(!c.explanation.empty());
  CHECK(c.explanation[0].find("identifier \"x\" is undefined") != std::string::npos);
  CHECK(c.seconds < 30);
  CHECK(!t.ran("nvcc compiles"));
}

}  // namespace nvcc_passes_test
