// Tests Tests lab dev validate --times: the model next to the record, as documented JSON. The
// stored times must equal what the model predicts today.
//
// LAB_BUILD is the build folder, LAB_ROOT the clone.
#include <doctest/doctest.h>

#include "common/formats/json_lines.hpp"
#include "common/testing/skip_case.hpp"
#include "grader/cli/tests/cloned_course.hpp"
#include "grader/cli/text/figures_text.hpp"
#include "grader/system/files.hpp"

using namespace stepwise;

namespace {

// Compares today's output of `validate --times` for one step at one size with the stored output in
// the lab's record.
void check_kept(const cloned_course& c, const std::string& lab, const std::string& step,
                const std::string& size) {
  CAPTURE(lab);
  CAPTURE(step);
  const auto result = c.lab({"dev", "validate", lab, step, "--times", "--size", size, "--json"});
  REQUIRE(result.end.exit_code == 0);
  const json now = document_of(result);
  check_documented(now, "validate");
  REQUIRE(now["times"].size() == 1);
  const json& time = now["times"][0];
  const json kept = parse_json_lines(
      *read_if_there(c.root() / "solutions" / lab / "measured" / "h200.modelled.jsonl"));
  std::size_t found = 0;
  for (const auto& t : kept["entries"]) {
    if (t["step"] != time["step"] || t["size"] != time["size"]) continue;
    ++found;
    CHECK(t["modelled_ms"].get<double>() / time["modelled_ms"].get<double>() ==
          doctest::Approx(1).epsilon(0.0005));
  }
  CHECK(found == 1);
}

}  // namespace

// To update the stored times, run ./lab dev validate LAB --times --record.
TEST_CASE("the stored modelled times equal what the model predicts today") {
  const cloned_course c;
  check_kept(c, "reduction", "02_strided", "1048576");
  check_kept(c, "transpose", "09_columns", "4096x4096");
  check_kept(c, "matmul", "24_sliced_k", "1024");
  check_kept(c, "launch", "02_blocks", "1048576");
  check_kept(c, "blur", "11_fused", "1920x1080");
  check_kept(c, "blur", "25_launch_bounds", "1920x1080");  // ptxas moved lines out of the loop
  check_kept(c, "neighbour", "03_shared", "16384x0");
}

TEST_CASE("a modelled call without a time says why") {
  modelled_figures m;
  m.gpu = "NVIDIA H200";
  m.found = {verdict::timeout, "did not end within 60 s"};
  CHECK(m.why_no_time() == m.found.message);
  CHECK(cli::modelled_json(m).at("time_ms").is_null());
  CHECK(cli::modelled_json(m).at("why_no_time") == m.found.message);
  CHECK(cli::modelled_phrase(m) == "no time: " + m.found.message);
  m.found = {};
  CHECK(m.why_no_time() == "no kernel was launched");
  m.kernels.resize(1);
  CHECK(m.why_no_time() == "the model gives no time for it");
  m.time_ms = 2;
  CHECK(m.why_no_time().empty());
  CHECK(cli::modelled_json(m).at("time_ms") == 2);
  CHECK(cli::modelled_json(m).at("why_no_time").is_null());
}

TEST_CASE("a time that is too short for a whole call is dropped, and idle blocks are counted") {
  modelled_figures m;
  m.work.bytes = 1e6;
  m.peak_bytes_per_s = 1e12;
  m.time_ms = 0.002;
  m.kernels.resize(1);
  m.drop_doubtful_time();
  CHECK(m.time_ms == 0.002);
  kernel_profile& k = m.kernels[0];
  k.kernel = "add";
  k.launches = 1;
  k.grid = {100, 1, 1};
  k.total.global_load.sectors = 1;
  k.timing.traffic.emplace().l1_sectors = 1e4;
  k.timing.idle_blocks = 15;
  CHECK(idle_blocks_text(m.kernels).empty());
  k.timing.idle_blocks = 75;
  CHECK(idle_blocks_text(m.kernels).starts_with("about 75 of the 100 blocks of add write nothing"));
  CHECK(doubles_text(m.kernels).empty());
  kernel_profile wide = k;
  const auto of = [&](ptx::pipe p) -> auto& {
    return wide.total.instructions[static_cast<int>(p)].warps;
  };
  wide.total.global_load.requests = 10;
  wide.total.global_load.ideal_sectors = 40;
  wide.total.shared_store.requests = wide.total.shared_store.ideal_wavefronts = 10;
  of(ptx::pipe::conversion) = 10;
  CHECK(doubles_text({wide}).empty());  // floats in shared memory
  wide.total.shared_store.ideal_wavefronts = 20;
  CHECK(doubles_text({wide}).ends_with("global memory. Is the array a double?"));
  wide.total.global_load.ideal_sectors = 10;
  CHECK(doubles_text({wide}).empty());  // not made of floats
  wide.total.global_load.ideal_sectors = 40;
  wide.total.async.tensor_instructions = 1;
  CHECK(doubles_text({wide}).empty());  // float sums of narrower operands
  wide.total.async.tensor_instructions = 0;
  of(ptx::pipe::conversion) = 0;
  CHECK(doubles_text({wide}).empty());  // vectors of two floats
  of(ptx::pipe::fp64) = 1;
  CHECK(doubles_text({wide}).starts_with("add computes in double. Is a variable a double"));
  modelled_figures partial = m;
  partial.drop_doubtful_time();
  CHECK(partial.why_no_time().starts_with("the blocks that were run move 0.32 of the bytes"));
  k.timing.traffic->l1_sectors = 1e5;
  m.time_ms = 0.0009;
  m.drop_doubtful_time();
  CHECK(!m.timed());
  CHECK(m.why_no_time().find("the GPU's memory moves its bytes in") != std::string::npos);
}

TEST_CASE("walk --json: a step without a time has a reason, and a step with a time has none") {
  const cloned_course c;
  // Its blocks have 1024 threads.
  const auto none =
      document_of(c.lab({"walk", "transpose", "--step", "06", "--gpu", "gtx280", "--json"}));
  check_documented(none, "walk");
  const json& step = none.at("steps").at(0);
  CHECK(step.at("time_ms").is_null());
  CHECK(has(step.at("why_no_time"), "exceeds the limits of an NVIDIA GeForce GTX 280: "));
  const auto timed =
      document_of(c.lab({"walk", "launch", "--step", "03", "--gpu", "h200", "--json"}));
  check_documented(timed, "walk");
  CHECK(timed.at("steps").at(0).at("time_ms") > 0);
  CHECK(timed.at("steps").at(0).at("why_no_time").is_null());
}

TEST_CASE("if a call's arrays are on the host, its time includes the copies, and a note says so") {
  const cloned_course c;
  CHECK(has(one_line(c.lab({"run", "first", "--step", "03", "--gpu", "h200"}).out),
            "its copies to and from the host are estimated"));
  CHECK(!has(c.lab({"run", "launch", "--step", "02", "--gpu", "h200"}).out, "its copies"));
  const auto time_of = [&](const std::string& step) {
    const auto run =
        document_of(c.lab({"walk", "first", "--step", step, "--gpu", "h200", "--json"}));
    check_documented(run, "walk");
    return run.at("steps").at(0).at("time_ms").get<double>();
  };
  // 2 MB go over the link each way. PCI Express 5 has at most 63 GB/s.
  const double at_least = 2 * 1920 * 1080 / 63e6;
  CHECK(time_of("03") > at_least);
  // Memory that is not pinned is copied at 5 GB/s or more. The allocations take less than 0.3 ms.
  CHECK(time_of("03") < 2 * 1920 * 1080 / 5e6 + 0.3);
  CHECK(time_of("01") > 10 * time_of("03"));
  // worth-it counts the link separately, so it must not use a time that includes the link.
  const auto worth = document_of(c.lab({"worth-it", "first", "--json"}));
  CHECK(worth.at("gpu").at("call_from") == "theoretical");
  CHECK(has(worth.at("note"), "would count the link twice"));
  CHECK(c.lab({"limits", "first"}).end.exit_code == 2);
}

TEST_CASE("a size without a measurement cannot be compared") {
  const cloned_course c;
  check_refused(c.lab({"dev", "validate", "reduction", "--times", "--size", "12345"}), 2,
                "no such times are recorded");
}
