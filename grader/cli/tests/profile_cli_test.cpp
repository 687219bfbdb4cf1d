// The guided analysis through the built program. The expected findings are those that the headers
// of the steps name (`watch`).
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>

#include "common/device/gpu.hpp"
#include "common/report/timing.hpp"
#include "grader/cli/tests/cloned_course.hpp"
#include "grader/report/text.hpp"

using namespace stepwise;

namespace {

// The access to fix first.
const json& first_access(const json& document) {
  return document.at("analysis").at("accesses").at(0);
}

bool fits(const std::string& text, std::size_t width) {
  for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    if (display_width(text.substr(at, end - at)) <= width) continue;
    MESSAGE(text.substr(at, end - at));
    return false;
  }
  return true;
}

}  // namespace

TEST_CASE("profile: in a sampled launch, blocks without work move no bytes") {
  const cloned_course c;
  std::string text = *read_if_there(c.root() / "solutions/launch/03_ilp.cu");
  // This launches 4x the blocks.
  replace_all(text, "ceil_div(n, threads * items)", "ceil_div(n, threads)");
  write_atomically(c.root() / "mine.cu", text);
  const json document =
      document_of(c.lab({"profile", "launch", "--file", "mine.cu", "--size", "2^24", "--json"}));
  CHECK(document.at("correct") == true);
  const json& timing = document.at("kernels").at(0).at("timing");
  REQUIRE(timing.at("counted") < 0.5);
  const double least = 3.0 * (1 << 24) * sizeof(float) / 32;
  CHECK(timing.at("traffic").at("l1_sectors").get<double>() ==
        doctest::Approx(least).epsilon(0.02));
}

TEST_CASE("profile: a call without a time shows the counters of the blocks that ran") {
  const cloned_course c;
  std::string text = *read_if_there(c.root() / "solutions/reduction/05_unroll_warp.cu");
  replace_all(text, "ceil_div(n, 2 * block_size)", "ceil_div(n, block_size)");
  write_atomically(c.root() / "mine.cu", text);
  const auto result = c.lab({"profile", "reduction", "--file", "mine.cu"});
  CHECK(result.end.exit_code != 0);
  CHECK(has(result.out, "The call has no time."));
  CHECK(has(result.out, "grids from 65536 to 1, block 256, 3 launches"));
  CHECK(has(one_line(result.err), "mine.cu has no time at n = 16777216"));
}

TEST_CASE("profile: allocations in a loop are not reported as copies") {
  const cloned_course c;
  const auto outside_of = [&](int allocations) {
    std::string text = *read_if_there(c.root() / "labs/first/tests/correct/linear.cu");
    const auto body = text.find("{\n", text.find("void mirror("));
    REQUIRE(body != std::string::npos);
    text.insert(body + 2, fmt::format("  for (int i = 0; i < {}; ++i) {{\n"
                                      "    void* p;\n    cudaMalloc(&p, 1024);\n"
                                      "    cudaFree(p);\n  }}\n",
                                      allocations));
    write_atomically(c.root() / "mine.cu", text);
    return one_line(c.lab({"profile", "first", "--file", "mine.cu"}).out);
  };
  CHECK(has(outside_of(0), "mostly in copies between host and device"));
  CHECK(has(outside_of(200), "mostly in 202 allocations of device memory"));
}

TEST_CASE("profile: double arithmetic in a kernel of floats is named, with its line") {
  const cloned_course c;
  std::string text = *read_if_there(c.root() / "labs/neighbour/tests/correct/element.cu");
  replace_all(text, "const float dx =", "const double dx =");
  replace_all(text, "const float d =", "const double d =");
  replace_all(text, "fmaf(dz, dz, fmaf(dy, dy, dx * dx))", "dx * dx + dy * dy + dz * dz");
  write_atomically(c.root() / "mine.cu", text);
  const auto result =
      one_line(c.lab({"profile", "neighbour", "--file", "mine.cu", "--size", "65536x0"}).out);
  CAPTURE(result);
  CHECK(has(result, "Main cause: double arithmetic"));
  CHECK(has(result, "Most of it is in line 1"));
}

TEST_CASE("profile: reduction 02 leads to its bank conflicts, and to the step without them") {
  const cloned_course c;
  const std::vector<std::string> typed = {"profile", "reduction", "02", "--json"};
  const auto result = c.lab(typed);
  REQUIRE(result.end.exit_code == 0);
  const json document = document_of(result);
  check_documented(document, "profile");
  CHECK(document["step"] == "02_strided");
  CHECK(document["time_kind"] == "modelled");
  CHECK(document["time_ms"].get<double>() > 0);
  CHECK(document["recorded_ms"].get<double>() > 0);
  const json& line = first_access(document);
  CHECK(has(line["text"].get<std::string>(), "partial[left] += partial[left + s]"));
  CHECK(line["access"] == "shared_load");
  CHECK(line["wasteful"] == true);
  CHECK(line["per_request"].get<double>() > 2 * line["ideal_per_request"].get<double>());
  CHECK(document["advice"]["causes"][0]["cause"] == "bank_conflicts");
  CHECK(document["advice"]["causes"][0]["gain"].get<double>() > 1);
  CHECK(has(document["advice"]["causes"][0]["words"].get<std::string>(), "Bank conflicts"));
  CHECK(has(document["analysis"]["says"].get<std::string>(), "both are bottlenecks"));
  CHECK(document["advice"]["next"]["step"] == "03_sequential");
  CHECK(document["advice"]["fixed_by"]["step"] == "03_sequential");
  CHECK(document["advice"]["fixed_by"]["after"] == 0);
  // A second run prints the same bytes.
  CHECK(c.lab(typed).out == result.out);
}

TEST_CASE("profile: transpose 03 has uncoalesced stores, and the text fits 80 columns") {
  const cloned_course c;
  auto command = c.command({"profile", "transpose", "03"});
  command.environment.back() = "COLUMNS=80";
  const auto result = run_child(command, 120);
  REQUIRE(result.end.exit_code == 0);
  CHECK(has(result.out, "modelled, NVIDIA H200"));
  CHECK(has(result.out, "The course's record of"));
  CHECK(has(result.out, "Memory is the bottleneck"));
  CHECK(has(result.out, "32.0 sectors per global store, whose bytes fill 4.0"));
  CHECK(has(result.out, "Uncoalesced accesses"));
  CHECK(has(result.out, "Next step 04_tiled"));
  CHECK(fits(result.out, 80));
  CHECK(!has(result.out, "\x1b"));
}

TEST_CASE("profile: long lines are wrapped, too") {
  const cloned_course c;
  // Every resource limits its occupancy, and the call's name is long.
  auto command = c.command({"profile", "transpose", "02", "--size", "1000x1000"});
  command.environment.back() = "COLUMNS=80";
  const auto result = run_child(command, 120);
  REQUIRE(result.end.exit_code == 0);
  CHECK(has(result.out, "Latency is the bottleneck"));
  CHECK(has(result.out, "registers, blocks"));
  CHECK(fits(result.out, 80));
}

TEST_CASE("profile: experiments are sorted by their gain") {
  const cloned_course c;
  const auto result =
      c.lab({"profile", "transpose", "03", "--size", "1024x1024", "--experiment", "--json"});
  REQUIRE(result.end.exit_code == 0);
  const json document = document_of(result);
  check_documented(document, "profile");
  const json& experiments = document["analysis"]["experiments"];
  REQUIRE(experiments.size() == stepwise::experiments);
  for (std::size_t n = 1; n < experiments.size(); ++n)
    CHECK(experiments[n]["gain"].get<double>() <= experiments[n - 1]["gain"].get<double>());
  CHECK(experiments[0]["gain"].get<double>() > 1);
  CHECK(has(c.lab({"profile", "transpose", "03", "--size", "1024x1024", "--experiment"}).out,
            "perfect coalescing"));
}

TEST_CASE("profile --compare: what improved, and what the bottleneck is now") {
  const cloned_course c;
  const auto shown = c.lab({"profile", "transpose", "--compare", "03", "06"});
  CHECK(shown.end.exit_code == 0);
  CHECK(has(shown.out, "Better: time"));
  CHECK(has(shown.out, "06_padded: Latency is the bottleneck"));
  CHECK(fits(shown.out, 100));
  const auto result = c.lab({"profile", "transpose", "--compare", "03", "06", "--json"});
  REQUIRE(result.end.exit_code == 0);
  const json document = document_of(result);
  check_documented(document, "profile");
  CHECK(document["before"]["analysis"]["limiter"] == "memory");
  CHECK(document["after"]["analysis"]["limiter"] == "latency");
  for (const json& f : document["figures"])
    if (f["figure"] == "uncoalesced (wasted sectors)") CHECK(f["after"] == 0);
  CHECK(c.lab({"profile", "transpose", "--compare", "03"}).end.exit_code == 2);
}

TEST_CASE("profile: rooflines in the terminal and as SVG, and figures as CSV") {
  const cloned_course c;
  const fs::path picture = c.root() / "roofs.svg";
  const auto shown = c.lab({"profile", "transpose", "03", "--size", "1024x1024", "--roofline",
                            "--svg", picture.string()});
  CHECK(shown.end.exit_code == 0);
  CHECK(has(shown.out, "Instruction roofline of transpose_kernel"));
  CHECK(has(shown.out, "warp instructions / sector"));
  CHECK(fits(shown.out, 100));
  const auto svg = read_if_there(picture);
  REQUIRE(svg);
  CHECK(svg->starts_with("<svg "));
  CHECK(has(*svg, fmt::format("DRAM {:.0f} GB/s", find_gpu("h200")->measured.at("dram_read"))));
  const auto csv = c.lab({"profile", "transpose", "03", "--size", "1024x1024", "--csv"});
  CHECK(csv.out.starts_with("kernel,grid,block,launches,time_us,"));
  CHECK(std::count(csv.out.begin(), csv.out.end(), '\n') == 2);
  const std::size_t second = csv.out.find('\n') + 1;
  CHECK(std::count(csv.out.begin(), csv.out.begin() + static_cast<long>(second), ',') ==
        std::count(csv.out.begin() + static_cast<long>(second), csv.out.end(), ','));
}

TEST_CASE("profile --gpu: another GPU is modelled, and labelled as never compared with hardware") {
  const cloned_course c;
  const auto a100 = c.lab({"profile", "transpose", "03", "--size", "1024x1024", "--gpu", "a100"});
  CHECK(a100.end.exit_code == 0);
  CHECK(has(a100.out, "modelled, NVIDIA A100"));
  CHECK(has(a100.out, "published figures of the NVIDIA A100-SXM4-80GB, not compared"));
  CHECK(!has(a100.out, "The course's record of"));
}

TEST_CASE("profile: a student's file, and files that fail") {
  const cloned_course c;
  const fs::path file = c.root() / "try.cu";
  const auto write = [&](const std::string& body) {
    write_atomically(file, "#include \"labs/launch/launch.hpp\"\n" + body);
  };
  SUBCASE("a kernel: the report names a step that was recorded as faster") {
    const auto result =
        c.lab({"profile", "launch", "--file",
               (c.root() / "solutions/launch/01_tiny_blocks.cu").string(), "--json"});
    REQUIRE(result.end.exit_code == 0);
    const json document = document_of(result);
    CHECK(document["step"] == nullptr);
    CHECK(document["recorded_ms"] == nullptr);
    CHECK(document["analysis"]["limiter"] == "latency");
    CHECK(document["advice"]["next"]["step"] == "02_blocks");
    CHECK(document["advice"]["causes"][0]["cause"] == "short_blocks");
  }
  SUBCASE("no kernel") {
    write("void add(const float*, const float*, float*, int) {}\n");
    const auto result = c.lab({"profile", "launch", "--file", file.string()});
    CHECK(result.end.exit_code == 1);
    CHECK(has(result.err, "launches no kernel"));
    CHECK(!has(result.out, "us"));
  }
  SUBCASE("a file that does not compile") {
    write("void add(const float*, const float*, float*, int) { return 1 }\n");
    const auto result = c.lab({"profile", "launch", "--file", file.string(), "--json"});
    CHECK(result.end.exit_code == 1);
    CHECK(document_of(result)["class"] == "COMPILE");
  }
  SUBCASE("a kernel that fails has no time") {
    write(
        "#include \"common/lab/check.hpp\"\n"
        "__global__ void k(float* c) { c[1ull << 40] = 1; }\n"
        "void add(const float*, const float*, float* c, int) {\n"
        "  k<<<1, 32>>>(c);\n  check(cudaDeviceSynchronize());\n}\n");
    const auto result = c.lab({"profile", "launch", "--file", file.string(), "--json"});
    CHECK(result.end.exit_code == 1);
    const json document = document_of(result);
    CHECK(document["time_ms"] == nullptr);
    CHECK(document["message"] != "");
    CHECK(!document.contains("analysis"));
  }
}

TEST_CASE("profile: an unknown name is refused, and the known ones are listed") {
  const cloned_course c;
  const auto refused = [&](std::vector<std::string> words, const char* what) {
    words.insert(words.begin(), "profile");
    check_refused(c.lab(words), 2, what);
  };
  refused({"reduction", "99"}, "02_strided");
  refused({"reduction", "02", "--gpu", "h2000"}, "h200");
  refused({"reduction", "02", "--file", "x.cu"}, "exclude each other");
  refused({"reduction", "02", "--device", "gpu"}, "ncu");
  refused({}, "name a lab");
}

TEST_CASE("profile --glossary: the table equals GLOSSARY.md, with the model's names of stalls") {
  const cloned_course c;
  const auto text = read_if_there(c.root() / "grader/GLOSSARY.md");
  REQUIRE(text);
  CHECK(c.lab({"profile", "--markdown"}).out == *text);
  const json document = document_of(c.lab({"profile", "--glossary", "--json"}));
  check_documented(document, "profile");
  std::size_t rows = 0;
  for (const std::string& line : split_lines(*text)) rows += line.starts_with("| ");
  REQUIRE(document["glossary"].size() + 1 == rows);
  const json& replayed = document["glossary"][4];
  CHECK(replayed["name"] == "replayed instructions");
  CHECK(replayed["older"] == "inst_replay_overhead");
  CHECK(replayed["ncu"] == nullptr);
  CHECK(replayed["formula"].get<std::string>().starts_with("(issued - executed) / executed: on"));
  CHECK(replayed["ours"] == "sectors and wavefronts beyond the ideal; stalls: memory throttle");
  auto command = c.command({"profile", "--glossary"});
  command.environment.back() = "COLUMNS=80";
  const std::string shown = run_child(command, 120).out;
  CHECK(fits(shown, 80));
  for (int n = 0; n < stalls; ++n) {
    const std::string name = stepwise::name_of(static_cast<stall>(n));
    CAPTURE(name);
    CHECK(has(shown, name));
  }
}
