// The timeline of a program and of a lab's call: what the runtime recorded, drawn as text, as JSON
// and as a trace.
#include <doctest/doctest.h>

#include <sstream>

#include "grader/cli/tests/cloned_course.hpp"
#include "grader/report/text.hpp"

using namespace stepwise;

namespace {

child_result run_exec(std::vector<std::string> words) {
  words.insert(words.end() - 1, exec_build("with_lines"));
  return exec_program(words);
}

json timeline_of(const std::string& word) {
  const temporary_folder folder(fs::temp_directory_path());
  const std::string file = folder.path() / "report.json";
  CHECK(run_exec({"--profile", "--timeline", "--report", file, word}).end.exit_code == 0);
  const json document = parse_json(*read_if_there(file));
  check_documented(document, "exec");
  return document["timeline"];
}

double real(const json& j, const char* key) { return j.at(key).get<double>(); }
double end_of(const json& j) { return real(j, "start_us") + real(j, "us"); }

}  // namespace

TEST_CASE("exec --timeline: streams overlap if memory is pinned, and wait for events") {
  const json t = timeline_of("pinned");
  const json& a = t["activities"];
  REQUIRE(a.size() == 6);
  CHECK(a[0]["what"] == "copy_to_device");
  CHECK(a[0]["bytes"] == 256 * 256 * 4);
  CHECK(a[0]["pageable"] == false);
  CHECK(a[0]["stream"] == "stream 1");
  CHECK(a[3]["stream"] == "stream 2");
  CHECK(a[1]["what"] == "kernel");
  CHECK(a[1]["name"] == "stride");
  CHECK(real(a[1], "us") > 0);
  CHECK(real(a[1], "start_us") >= end_of(a[0]));
  CHECK(real(a[2], "start_us") >= end_of(a[1]));
  CHECK(real(a[3], "start_us") >= end_of(a[0]));  // because of the event, and of the copy engine
  CHECK(real(a[3], "start_us") < end_of(a[1]));   // overlaps with the first kernel
  CHECK(real(t, "overlap_us") > 0);
  CHECK(real(t, "busy_us") <= real(t, "total_us"));
  bool waits = false, names = false;
  for (const json& call : t["calls"]) {
    waits = waits || (call["name"] == "cudaDeviceSynchronize" && call["waits"] == true);
    names = names || call["name"] == "cudaMemcpyAsync";
  }
  CHECK(waits);
  CHECK(names);
}

TEST_CASE("exec --timeline: memory that is not pinned makes the host wait, and a note says so") {
  const json t = timeline_of("pageable");
  CHECK(real(t, "overlap_us") == doctest::Approx(0));
  CHECK(real(t, "total_us") > 1.5 * real(timeline_of("pinned"), "total_us"));
  const auto shown = run_exec({"--profile", "--timeline", "pageable"});
  CHECK(has(shown.err, "4 asynchronous copies use memory of the host that is not pinned"));
  CHECK(!has(run_exec({"--profile", "--timeline", "pinned"}).err, "not pinned: the host waits"));
}

TEST_CASE("exec --timeline: one row for the host and per stream, as wide as the terminal") {
  const auto shown = run_exec({"--profile", "--timeline", "pinned"});
  const auto begin = shown.err.find("Timeline of ");
  REQUIRE(begin != std::string::npos);
  std::istringstream lines(shown.err.substr(begin));
  std::string first, second;
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK((display_width(line) <= 80 || has(line, "Timeline of")));
    if (line.starts_with("  stream 1")) first = line;
    if (line.starts_with("  stream 2")) second = line;
  }
  CHECK(first.size() == 80);
  CHECK(second.size() == 80);
  CHECK(first.find('>') < second.find('>'));
  CHECK(first.find('A') < first.find('<'));
  CHECK(has(shown.err, "Estimated: copies to and from the host"));
  CHECK(has(shown.err, "modelled, NVIDIA H200: kernel times come from the time"));
}

TEST_CASE("exec --trace: a file of complete events, with one row per stream") {
  const temporary_folder folder(fs::temp_directory_path());
  const std::string file = folder.path() / "trace.json";
  const auto shown = run_exec({"--profile", "--trace", file, "pinned"});
  CHECK(shown.end.exit_code == 0);
  CHECK(!has(shown.err, "Timeline of"));
  const json trace = parse_json(*read_if_there(file));
  int complete = 0, named_rows = 0;
  for (const json& e : trace["traceEvents"]) {
    CHECK(e.contains("pid"));
    CHECK(e.contains("tid"));
    if (e["ph"] == "M" && e["name"] == "thread_name") ++named_rows;
    if (e["ph"] != "X") continue;
    ++complete;
    CHECK(e["dur"].get<double>() >= 0);
    CHECK(e["ts"].get<double>() >= 0);
  }
  CHECK(named_rows == 3);
  CHECK(complete > 6);
  CHECK(has(trace["otherData"]["times"], "modelled"));
}

TEST_CASE("timeline: refused without a profile, without a writable file, or if a kernel failed") {
  CHECK(has(run_exec({"--timeline", "pinned"}).err, "add --profile"));
  CHECK(run_exec({"--timeline", "pinned"}).end.exit_code == 2);
  CHECK(has(run_exec({"--profile", "--trace", "/proc/t.json", "pinned"}).err, "cannot write"));
  const auto failed = run_exec({"--profile", "--timeline", "fail"});
  CHECK(!has(failed.err, "Timeline of"));
  CHECK(has(failed.err, "no times"));
}

TEST_CASE("profile --timeline: a lab's call, and options that do not go with it") {
  const cloned_course c;
  const std::vector<std::string> call = {"profile", "transpose", "03", "--size", "1024x1024"};
  auto words = call;
  words.push_back("--timeline");
  const auto shown = c.lab(words);
  CHECK(shown.end.exit_code == 0);
  CHECK(has(shown.out, "Timeline of 03_element"));
  CHECK(has(shown.out, "  A  transpose_kernel"));
  CHECK(!has(shown.out, "What limits"));
  words.push_back("--json");
  const json document = document_of(c.lab(words));
  check_documented(document, "profile");
  CHECK(document["timeline"]["untimed"] == 0);
  CHECK(document["time_kind"] == "modelled");
  words.back() = "--csv";
  CHECK(c.lab(words).end.exit_code == 2);
  words = call;
  const fs::path trace = c.root() / "trace.json";
  words.insert(words.end(), {"--trace", trace.string()});
  CHECK(has(c.lab(words).out, "ui.perfetto.dev"));
  CHECK(fs::exists(trace));
}
