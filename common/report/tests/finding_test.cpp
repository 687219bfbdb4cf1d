// Tests findings as JSON and as text.
#include <doctest/doctest.h>

#include "common/report/finding_text.hpp"

using namespace stepwise;

namespace {

located_finding overrun() {
  located_finding found;
  finding& f = found.what;
  f.kind = finding_kind::out_of_bounds;
  f.message = "a thread reads memory that it must not";
  f.parties = {{"reads 4 bytes",
                "sum",
                {"/home/me/sum.cu", 12, "total += in[i];", ""},
                true,
                {7, 0, 0},
                {255, 0, 0}}};
  f.object.what = finding_object::kind::allocation;
  f.object.name = "in";
  f.object.bytes = 4096;
  f.object.offset = 4096;
  f.object.element_bytes = 4;
  f.advice = "Compare the index with n.";
  f.count = 1024;
  found.host = {"/home/me/sum.cu", 40, "sum<<<blocks, 256>>>(in, out, n);", "main"};
  found.allocated = {"/home/me/sum.cu", 31, "cudaMalloc(&in, n * sizeof(int));", "main"};
  return found;
}

located_finding of_kind(finding_kind kind) {
  located_finding found;
  found.what.kind = kind;
  return found;
}

std::string text_of(const located_finding& found, std::size_t width = 80) {
  finding_style style;
  style.width = width;
  style.folder = "/home/me";
  style.hidden = {"/runner/", "our::"};
  return plain_text(finding_lines(found, style));
}

}  // namespace

TEST_CASE("a finding is one line of JSON, and is read back whole") {
  located_finding found = overrun();
  found.what.parties.push_back({"", "k", {}, false, {}, {}});
  found.what.message = "two\nlines";
  const std::string line = json_line(found);
  CHECK(line.find('\n') == std::string::npos);
  const auto back = parse_json_line(line);
  REQUIRE(back);
  CHECK(json_line(*back) == line);
  CHECK(back->what.object.offset == 4096);
  CHECK(back->what.parties[0].thread.x == 255);
  CHECK(!back->what.parties[1].has_thread);
  CHECK(back->allocated.line == 31);
  CHECK(!back->freed.known());
}

TEST_CASE("every kind has a name and is read back") {
  for (int i = 0; i < finding_kinds; i++) {
    const auto kind = static_cast<finding_kind>(i);
    const auto back = parse_json_line(json_line(of_kind(kind)));
    REQUIRE(back);
    CHECK(back->what.kind == kind);
  }
}

TEST_CASE("a malformed finding is refused") {
  const std::string whole = json_line(overrun());
  for (const std::string& line :
       {std::string(), std::string("7"), std::string("{}"), std::string("{\"kind\":\"love\"}"),
        whole.substr(0, whole.size() / 2), "x" + whole, std::string("{\"kind\":3}")}) {
    CHECK(!parse_json_line(line));
  }
}

TEST_CASE("equal findings are merged in any order") {
  std::vector<located_finding> all;
  located_finding other = overrun();
  other.what.parties[0].thread = {1, 2, 3};
  other.what.object.offset = 8192;
  other.what.count = 1;
  CHECK(merge_into(all, overrun()).how == merged::as::fresh);
  CHECK(merge_into(all, other).how == merged::as::repeated);
  REQUIRE(all.size() == 1);
  CHECK(all[0].what.count == 1025);
  CHECK(all[0].what.parties[0].thread.x == 255);
  other.what.parties[0].at.line = 13;
  CHECK(merge_into(all, other).at == 1);
  other.allocated.line = 32;
  CHECK(merge_into(all, other).at == 2);
  CHECK(all.size() == 3);
}

TEST_CASE("a race is shown by the occurrence that needs the strongest synchronisation") {
  const auto race = [](race_between between, int first, int second, const char* advice) {
    located_finding found = of_kind(finding_kind::race);
    found.what.between = between;
    found.what.parties = {{"writes 4 bytes", "sum", {"sum.cu", first, "", ""}, true, {}, {}},
                          {"reads 4 bytes", "sum", {"sum.cu", second, "", ""}, true, {}, {}}};
    found.what.advice = advice;
    found.what.count = 10;
    return found;
  };
  std::vector<located_finding> all;
  CHECK(merge_into(all, race(race_between::lanes, 3, 4, "lanes")).how == merged::as::fresh);
  CHECK(merge_into(all, race(race_between::lanes, 3, 4, "again")).how == merged::as::repeated);
  // The same two lines in the other order, with another action.
  auto reversed = race(race_between::warps, 4, 3, "warps");
  reversed.what.parties[1].action = "writes 4 bytes";
  CHECK(merge_into(all, reversed).how == merged::as::decisive);
  CHECK(merge_into(all, race(race_between::lanes, 3, 4, "late")).how == merged::as::repeated);
  auto in_helper = race(race_between::lanes, 3, 4, "in a helper");
  in_helper.what.parties[0].at.inner = "copy<16> at copies.hpp:190";
  CHECK(merge_into(all, in_helper).how == merged::as::repeated);
  REQUIRE(all.size() == 1);
  CHECK(all[0].what.advice == "warps");
  CHECK(all[0].what.parties[0].at.line == 4);
  CHECK(all[0].what.count == 50);
  const auto back = parse_json_line(json_line(all[0]));
  REQUIRE(back);
  CHECK(back->what.between == race_between::warps);
}

TEST_CASE(
    "an early host access is shown with its line first, then the kernel's line, then the launch") {
  located_finding found = of_kind(finding_kind::race);
  found.what.between = race_between::host;
  found.what.message = "the host reads memory before it has waited for kernel fill";
  found.what.parties = {{"writes 4 bytes", "fill", {"fill.cu", 3, "x[i] = 7;", ""}, true, {}, {}}};
  found.what.advice = "Wait first.";
  found.host = {"fill.cu", 12, "use(x[3]);", "main"};
  found.unfinished = {"fill.cu", 11, "fill<<<1, 32>>>(x);", "main"};
  const auto back = parse_json_line(json_line(found));
  REQUIRE(back);
  CHECK(back->what.between == race_between::host);
  CHECK(text_of(*back) ==
        "race in fill: the host reads memory before it has waited for kernel fill\n"
        "  fill.cu:12:  use(x[3]);\n"
        "  fill.cu:3:  x[i] = 7;\n"
        "    thread (1,1,1) of block (1,1,1) writes 4 bytes\n"
        "  launched at fill.cu:11: fill<<<1, 32>>>(x);\n"
        "  help: Wait first.\n");
  // A different access by the host is a different finding.
  std::vector<located_finding> all;
  CHECK(merge_into(all, found).how == merged::as::fresh);
  CHECK(merge_into(all, found).how == merged::as::repeated);
  found.host.line = 14;
  CHECK(merge_into(all, found).how == merged::as::fresh);
  found.unfinished.line = 13;
  CHECK(merge_into(all, found).how == merged::as::fresh);
}

TEST_CASE(
    "a report has the problem, the thread, the place, the number of occurrences, and advice") {
  CHECK(text_of(overrun()) ==
        "out of bounds in sum: a thread reads memory that it must not\n"
        "  sum.cu:12:  total += in[i];\n"
        "    thread (255,0,0) of block (7,0,0) reads 4 bytes\n"
        "    and 1,023 more like it\n"
        "  memory: in[1024], just past the end; in is an allocation of 1,024 elements of\n"
        "    4 bytes\n"
        "  allocated at sum.cu:31: cudaMalloc(&in, n * sizeof(int));\n"
        "  launched at sum.cu:40: sum<<<blocks, 256>>>(in, out, n);\n"
        "  help: Compare the index with n.\n");
}

TEST_CASE("memory that the launch should have passed is reported at the launch") {
  located_finding found = overrun();
  found.what.kind = finding_kind::too_little_shared;
  found.what.message = "the launch passes no dynamic shared memory";
  found.allocated = {};
  CHECK(text_of(found) ==
        "too little shared memory in sum: the launch passes no dynamic shared memory\n"
        "  sum.cu:40:  sum<<<blocks, 256>>>(in, out, n);\n"
        "  sum.cu:12:  total += in[i];\n"
        "    thread (255,0,0) of block (7,0,0) reads 4 bytes\n"
        "    and 1,023 more like it\n"
        "  help: Compare the index with n.\n");
  finding_style style;
  style.folder = "/home/me";
  CHECK(place_of(found, style) == "sum.cu:40");
  std::vector<located_finding> all;
  located_finding elsewhere = found;
  elsewhere.host.line = 41;
  CHECK(merge_into(all, found).how == merged::as::fresh);
  CHECK(merge_into(all, found).how == merged::as::repeated);
  CHECK(merge_into(all, elsewhere).how == merged::as::fresh);
}

TEST_CASE("a finding in hidden code is reported where the memory was freed") {
  finding_style style;
  style.folder = "/home/me";
  style.hidden = {"runner/"};
  located_finding found = overrun();
  found.what.parties.clear();
  found.freed = found.host;
  found.host.file = "runner/call.cpp";
  CHECK(place_of(found, style) == "sum.cu:40");
  found.freed = {};
  CHECK(place_of(found, style) == "sum.cu:31");
}

TEST_CASE("a note explains how to get lines if only a function is shown") {
  finding_style style;
  style.hidden = {"our::"};
  located_finding found = overrun();
  CHECK(missing_lines_note({found}, style).empty());
  found.allocated = {"", 0, "", "our::make"};
  CHECK(missing_lines_note({found}, style).empty());
  found.allocated = {"", 0, "", "make"};
  CHECK(missing_lines_note({overrun(), found}, style).find("-g") != std::string::npos);
}

TEST_CASE("lines do not exceed the width, and control characters are removed") {
  located_finding found = overrun();
  found.what.parties[0].at.text = "\x1b[31m" + std::string(300, 'x');
  found.what.message = std::string(30, 'a') + " " + std::string(30, 'b') + "\n\tc";
  const std::string text = text_of(found, 60);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    CHECK(end - at <= 60);
    at = end + 1;
  }
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find('\t') == std::string::npos);
}

TEST_CASE("the place of an access is given in elements or bytes") {
  located_finding found = overrun();
  finding_object& o = found.what.object;
  const auto says = [&](const char* words) {
    return text_of(found, 140).find(words) != std::string::npos;
  };
  o.offset = -8;
  CHECK(says("in[-2], 2 elements before the start;"));
  o.offset = 4096 + 21 * 4;
  CHECK(says("in[1045], 21 elements past the end;"));
  CHECK(distance_words(o) == "21 elements past the end");
  o.offset = 4096 + 4;
  CHECK(says("in[1025], 1 element past the end;"));
  o.offset = 4096 + 2;
  CHECK(says("byte 4098, 2 bytes past the end;"));
  o.offset = 4;
  CHECK(distance_words(o).empty());
  CHECK(says("in[1]; in is an allocation of 1,024 elements of 4 bytes"));
  o.offset = 6;
  CHECK(says("byte 6; in is an allocation"));
  o.bytes = 13;
  o.offset = 12;
  CHECK(says("in[3]; in is an allocation of 13 bytes"));
  o.name.clear();
  CHECK(says("memory: element 3; allocation of 13 bytes"));
}

TEST_CASE("places in our own code are not shown") {
  located_finding found = overrun();
  found.allocated.file = "/x/runner/buffer.cpp";
  found.host = {"", 0, "", "our::main()"};
  const std::string text = text_of(found);
  CHECK(text.find("allocated") == std::string::npos);
  CHECK(text.find("launched") == std::string::npos);
}

TEST_CASE("the summary counts by kind") {
  CHECK(findings_summary({}) == "no findings");
  CHECK(findings_summary({of_kind(finding_kind::race)}) == "1 finding: 1 race");
  CHECK(findings_summary({of_kind(finding_kind::leak), of_kind(finding_kind::race),
                          of_kind(finding_kind::race)}) == "3 findings: 2 races, 1 memory leak");
}
