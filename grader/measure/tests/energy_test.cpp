// Tests the energy measurement: how NVML's counter is found, with our own stand-in for NVML, and
// what a measurement reports for runners that compute nothing.
#include "grader/measure/energy.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "grader/judge/tests/doubling.hpp"
#include "grader/measure/alternate.hpp"
#include "grader/measure/record.hpp"
#include "grader/system/files.hpp"

using namespace stepwise;
using namespace stepwise::tests;

namespace {

// The reason why there is no energy counter. Empty if there is one.
std::string why_not(const std::string& place, const char* wrong = "") {
  const char* const library = std::getenv("FAKE_NVML_LIBRARY");
  REQUIRE_MESSAGE(library != nullptr, "run this test through `meson test`");
  setenv("FAKE_NVML", wrong, 1);
  std::string why;
  const auto counter = find_energy_counter(place, why, library);
  unsetenv("FAKE_NVML");
  CHECK(static_cast<bool>(counter) == why.empty());
  return why;
}

// A runner whose calls take `call_ms` each.
class program {
 public:
  explicit program(const std::string& call_ms) : folder_(fs::temp_directory_path()) {
    write_atomically(file(), "#!/bin/sh\nFAKE_MS=" + call_ms + " FAKE_LOG='" + file().string() +
                                 ".log' exec '" + fake_runner().string() + "' \"$@\"\n");
    fs::permissions(file(), fs::perms::owner_all);
  }
  fs::path file() const { return folder_.path() / "program"; }
  std::string log() const { return read_file(file().string() + ".log", 1); }

 private:
  temporary_folder folder_;
};

std::vector<bench_row> rows_of(const program& p, const energy_counter& energy) {
  return bench(doubling_lab(), doubling(), {{"00_first", p.file()}}, {}, gpu_device(),
               {{1000}, {2000}}, 7, {}, {.energy = energy})
      .rows;
}

}  // namespace

TEST_CASE("the counter belongs to the GPU at the PCI address that CUDA reports") {
  CHECK(why_not("0000:86:00.0") == "");
  CHECK(why_not("0000:06:00.0") == "NVML does not report the energy: Not Supported");
  CHECK(why_not("0000:99:00.0") == "NVML has no GPU at 0000:99:00.0: Not Found");
  CHECK(why_not("") == "the CUDA driver does not report the GPU's PCI address");
  CHECK(why_not("0000:86:00.0", "no driver") == "NVML does not start: Driver Not Loaded");
  CHECK(why_not("0000:86:00.0", "denied") ==
        "NVML does not report the energy: Insufficient Permissions");
  CHECK(why_not("0000:86:00.0", "divided").find("(MIG)") != std::string::npos);
  std::string why;
  CHECK(!find_energy_counter("0000:86:00.0", why, "libno-such-library.so"));
  CHECK(why == "the machine has no libno-such-library.so");
  CHECK(!find_energy_counter("0000:86:00.0", why, "libdl.so.2"));
  CHECK(why == "libdl.so.2 is too old: it has no energy counter");
}

TEST_CASE("the counter counts, and gives no value if it fails") {
  std::string why;
  const auto counter = find_energy_counter("0000:86:00.0", why, std::getenv("FAKE_NVML_LIBRARY"));
  REQUIRE(counter);
  const auto before = counter(), after = counter();
  REQUIRE(before);
  REQUIRE(after);
  CHECK(*after - *before == 250000);
  setenv("FAKE_NVML", "denied", 1);
  CHECK(!counter());
  unsetenv("FAKE_NVML");
}

TEST_CASE("energy is reported per call, from back-to-back calls at the last size") {
  const program p("0.5");
  std::uint64_t counted = 7;
  const auto rows = rows_of(p, [&] { return counted += 400000; });  // 400 J between two readings
  REQUIRE(rows.size() == 1);
  REQUIRE(rows[0].found.ok());
  REQUIRE(rows[0].cells.size() == 2);
  CHECK(!rows[0].cells[0].energy);
  REQUIRE(rows[0].cells[1].energy);
  // The runner was busy for 1 s, which is 2000 calls.
  CHECK(rows[0].cells[1].energy->calls == 2000);
  CHECK(rows[0].cells[1].energy->joules_per_call == doctest::Approx(0.2));
  CHECK(rows[0].cells[1].energy->average_watts == doctest::Approx(400));
  // Buffers stay on the device until the check. On a GPU without room for all buffers, the check
  // frees them.
  const std::string log = p.log();
  CHECK(log.find("n = 2000, reused, uploaded, warm, 0 + 1, busy 200\n"
                 "n = 2000, reused, warm, 0 + 1, busy 1000\nn = 2000, fresh") != std::string::npos);
  CHECK(log.find("n = 1000, reused") == std::string::npos);
}

TEST_CASE("without a counter, or if it stands still, no energy is reported") {
  const program p("0.5");
  const auto rows = rows_of(p, {});
  CHECK(!rows[0].cells[1].energy);
  CHECK(p.log().find("busy") == std::string::npos);
  CHECK(!rows_of(p, [] { return std::nullopt; })[0].cells[1].energy);
  CHECK(!rows_of(p, [] { return 5; })[0].cells[1].energy);  // the counter stands still
}

TEST_CASE("a record and the table of results show energy only if it was measured") {
  const program p("0.5");
  lab l = doubling_lab();
  std::uint64_t counted = 0;
  for (const bool counts : {false, true}) {
    const auto rows =
        counts ? rows_of(p, [&] { return counted += 400000; }) : rows_of(p, energy_counter{});
    const std::string date = "2026-01-02T00:00:00Z";
    const auto record = record_of(l, gpu_device(), rows, {}, date, "./lab dev bench");
    const auto document = bench_json(l, gpu_device(), rows, {}, date, "./lab dev bench");
    const auto& cell = record.at("entries").at(1);
    CHECK(cell.contains("energy") == counts);
    CHECK(document.at("steps").at(0).at("sizes").at(1).contains("energy") == counts);
    CHECK((document.at("method").get<std::string>().find("energy") != std::string::npos) == counts);
    const temporary_folder root(fs::temp_directory_path());
    write_record(root.path() / "solutions/doubling/measured/fake.jsonl", record);
    const std::string table = energy_markdown(root.path(), l);
    CHECK((table.find("energy per call, mean power |") != std::string::npos) == counts);
    CHECK((table.find("| 200 mJ, 400 W |") != std::string::npos) == counts);
    if (!counts) continue;
    CHECK(cell.at("energy").at("joules_per_call") == doctest::Approx(0.2));
    CHECK(cell.at("energy").at("average_watts") == doctest::Approx(400));
    CHECK(cell.at("energy").at("calls") == 2000);
  }
}
