// lab profile --source ncu, with a script in place of ncu that prints a captured page.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include "grader/cli/tests/cloned_course.hpp"

using namespace stepwise;

namespace {

// Output of ncu 2025.3.1 on an NVIDIA H200, with fewer columns: transpose 03_element, 4096 x 4096.
constexpr const char* captured_page =
    R"page(==PROF== Connected to process 2036 (transpose-03_element)
"ID","Kernel Name","Block Size","Grid Size","dram__bytes_read.sum","gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed","gpu__time_duration.sum","l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum","l1tex__throughput.avg.pct_of_peak_sustained_active","launch__occupancy_limit_blocks","launch__occupancy_limit_registers","launch__occupancy_limit_shared_mem","launch__occupancy_limit_warps","launch__registers_per_thread","lts__t_sectors_srcunit_tex.sum","lts__throughput.avg.pct_of_peak_sustained_elapsed","sm__warps_active.avg.pct_of_peak_sustained_active","smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio","smsp__inst_executed.sum","smsp__issue_active.avg.pct_of_peak_sustained_active"
"","","","","byte","%","ns","","sector","%","block","block","block","block","register/thread","sector","%","%","inst","inst","%"
"0","transpose_kernel(const float *, float *, int, int)","(32, 32, 1)","(128, 128, 1)","69,072,128","9.92","250,464","524,288","2,097,152","53.30","32","4","8","2","16","18,874,366","84.67","56.11","59.40","11,010,048","4.46"
)page";

constexpr const char* script = R"sh(#!/bin/sh
if [ "$1" = --version ]; then echo "Version 2025.3.1.0 (build 1)"; exit 0; fi
folder=$(dirname "$0"); log=; metrics=; import=; page=
for word; do [ "$word" = --import ] && import=yes; done
while [ $# -gt 2 ]; do
  [ "$1" = --log-file ] && log=$2
  [ "$1" = --metrics ] && metrics=$2
  [ "$1" = --page ] && page=$2
  shift
done
[ -n "$import" ] && { cat "$folder/$page" > "$log"; exit 0; }
echo "$metrics" >> "$folder/asked"
case "$metrics" in
  *op_fp64*) [ -f "$folder/trouble" ] && { cat "$folder/trouble" > "$log"; exit 1; } ;;
esac
[ -f "$folder/refusal" ] && { cat "$folder/refusal" > "$log"; exit 1; }
exec "$1" "$2"
)sh";

// The source page of the same launch, with fewer columns and rows.
constexpr const char* captured_source_page =
    R"page("File Path","/course/solutions/transpose/03_element.cu"
"Function Name","transpose_kernel(const float *, float *, int, int)"
"Line No","Source","Address","Source","Instructions Executed","Predicated-On Thread Instructions Executed","Address Space","Access Operation","L1 Tag Requests Global","L2 Theoretical Sectors Global","L2 Theoretical Sectors Global Ideal","stall_long_sb"
"23","if (row < rows && col < cols) out[col * rows + row] = in[row * cols + col];","-","-","5242880","167772160","Global(2)","Load,Store","1048576","18874368","4194304","900"
"","","0x7f006b7ac2b0","      LDG.E R0, desc[UR8][R2.64]","524288","16777216","Global","Load","524288","2097152","2097152","1"
"","","0x7f006b7ac2c0","      STG.E desc[UR8][R4.64], R0","524288","16777216","Global","Store","524288","16777216","2097152","899"
)page";

class place_with_ncu {
 public:
  place_with_ncu() : folder_(fs::temp_directory_path()) {
    write("ncu", script);
    chmod((folder_.path() / "ncu").c_str(), 0755);
    write("raw", captured_page);
    write("source", captured_source_page);
  }
  void write(const std::string& name, const std::string& text) const {
    write_atomically(folder_.path() / name, text);
  }
  const cloned_course& course() const { return course_; }
  std::string asked() const { return read_if_there(folder_.path() / "asked").value_or(""); }
  child_result profile(const std::vector<std::string>& more, bool with_ncu = true) const {
    return lab({"profile"}, more, with_ncu);
  }
  child_result lab(std::vector<std::string> words, const std::vector<std::string>& more,
                   bool with_ncu = true) const {
    words.insert(words.end(), {"transpose", "03", "--size", "1024x1024"});
    words.insert(words.end(), more.begin(), more.end());
    auto command = course_.command(words);
    if (with_ncu)
      command.environment.push_back("PATH=" + folder_.path().string() + ":" + std::getenv("PATH"));
    return run_child(command, 120);
  }

 private:
  cloned_course course_;
  temporary_folder folder_;
};

}  // namespace

TEST_CASE("profile --source ncu: the report from hardware counters") {
  const place_with_ncu at;
  const auto shown = at.profile({"--source", "ncu"});
  CAPTURE(shown.err);
  REQUIRE(shown.end.exit_code == 0);
  CHECK(has(shown.out, "measured by ncu 2025.3.1.0, NVIDIA "));
  CHECK(has(shown.out, "Memory is the bottleneck: L2 is busy for 85 % of the time."));
  CHECK(has(shown.out, "250 us"));
  CHECK(has(shown.out, "Fix line 23 first: 32.0 sectors per global store, whose bytes fill 4.0"));
  CHECK(has(shown.out, "Next step 04_tiled"));
  CHECK(!has(shown.out, "modelled"));
  const json document = document_of(at.profile({"--source", "ncu", "--json"}));
  check_documented(document, "profile");
  CHECK(document["source"] == "ncu 2025.3.1.0");
  CHECK(document["why_not_ncu"] == nullptr);
  CHECK(document["time_kind"] == "measured");
  CHECK(document["time_ms"].get<double>() == doctest::Approx(0.250464));
  CHECK(document["analysis"]["limiter"] == "memory");
  CHECK(has(at.profile({"--source", "ncu", "--metrics", "achieved_occupancy"}).out, "56.11 %"));
}

TEST_CASE("profile --source ncu: if ncu lacks a metric, only that metric's figure is missing") {
  const place_with_ncu at;
  at.write("trouble", "==ERROR== Failed to find metric smsp__x.sum\n");
  CHECK(at.profile({"--source", "ncu"}).end.exit_code == 0);
  CHECK(has(at.asked(), "op_fp64"));
  CHECK(!has(at.asked().substr(at.asked().find('\n') + 1), "op_fp64"));
}

TEST_CASE("profile --source ncu: one message says what is missing, and the model can step in") {
  const place_with_ncu at;
  at.write("refusal", "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n");
  const auto refused = at.profile({"--source", "ncu"});
  CHECK(refused.end.exit_code == 3);
  CHECK(refused.out.empty());
  CHECK(has(refused.err, "not permitted to read this GPU's counters (ERR_NVGPUCTRPERM)"));
  CHECK(has(refused.err, "NVreg_RestrictProfilingToAdminUsers=0"));
  CHECK(has(refused.err, "--source ncu,model"));
  const auto instead = at.profile({"--source", "ncu,model"});
  CHECK(instead.end.exit_code == 0);
  CHECK(has(instead.out, "ERR_NVGPUCTRPERM"));
  CHECK(has(instead.out, "model's"));
  CHECK(has(instead.out, "modelled, NVIDIA "));
  const json document = document_of(at.profile({"--source", "ncu,model", "--json"}));
  check_documented(document, "profile");
  CHECK(document["source"] == "model");
  CHECK(has(document["why_not_ncu"], "ERR_NVGPUCTRPERM"));
  CHECK(document["time_kind"] == "modelled");
  // On a machine without a GPU, any other error is reported as a missing GPU.
  at.write("refusal", "==ERROR== The driver is not loaded\n");
  const auto none = at.profile({"--source", "ncu"});
  CHECK(none.end.exit_code == 3);
  CHECK((has(none.err, "there is no GPU") || has(none.err, "The driver is not loaded")));
}

TEST_CASE("profile --source: options that exclude each other are refused") {
  const place_with_ncu at;
  CHECK(has(at.profile({"--source", "nvprof"}).err, "expected model, ncu, or ncu,model"));
  for (const char* other : {"--experiment", "--timeline"})
    check_refused(at.profile({"--source", "ncu", other}), 2,
                  "counts one call on this machine's GPU");
}

TEST_CASE("validate --profiles: the model next to ncu's counts, and next to the recorded counts") {
  const place_with_ncu at;
  at.course().own_solutions("transpose");
  fs::remove(at.course().root() / "solutions/transpose/measured/h100.profiles.jsonl");
  const auto none = at.lab({"dev", "validate"}, {"--profiles", "--recorded"});
  CHECK(has(none.err, "nothing is recorded"));
  std::string page = captured_page;
  const std::string shown = "transpose_kernel(const float *, float *, int, int)";
  page.replace(page.find(shown), shown.size(), "_Z16transpose_kernelPKfPfii");
  at.write("raw", page);
  const json live = document_of(at.lab({"dev", "validate"}, {"--profiles", "--record", "--json"}));
  check_documented(live, "validate");
  CHECK(live["source"] == "ncu 2025.3.1.0");
  REQUIRE(live["steps"].size() == 1);
  const json& hardware = live["steps"][0]["hardware"];
  CHECK(hardware["us"].get<double>() == doctest::Approx(250.464));
  CHECK(hardware["occupancy"].get<double>() == doctest::Approx(0.5611));
  CHECK(hardware["l2_bytes"].get<double>() == doctest::Approx(32 * 18874366.0));
  // The captured page has no speed-of-light section, so no unit seems busy.
  CHECK(hardware["limiter"] == "latency");
  CHECK(live["steps"][0]["limits_agree"] == (live["steps"][0]["modelled"]["limiter"] == "latency"));
  const json kept =
      document_of(at.lab({"dev", "validate"}, {"--profiles", "--recorded", "--json"}));
  CHECK(has(kept["source"], ".profiles.jsonl"));
  CHECK(kept["steps"] == live["steps"]);
  const auto text = at.lab({"dev", "validate"}, {"--profiles", "--recorded"});
  CHECK(has(text.out, "limiter: the same for"));
  at.write("raw", captured_page);
  CHECK(has(at.lab({"dev", "validate"}, {"--profiles"}).out, "the model ran other kernels"));
}
