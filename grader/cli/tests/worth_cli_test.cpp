// lab worth-it through the built program: with recorded, modelled and theoretical times.
//
// LAB_BUILD is the build folder, LAB_ROOT the clone.
#include <doctest/doctest.h>

#include <algorithm>

#include "grader/cli/tests/cloned_course.hpp"

using namespace stepwise;

TEST_CASE("worth-it: a lab's call or your own numbers; a malformed number is refused") {
  const cloned_course c;
  const auto shown = c.lab({"worth-it", "reduction", "--size", "1048576"});
  CHECK(shown.end.exit_code == 0);
  CHECK(has(shown.out, "reduction, size 1048576: 4.19 MB over the link"));
  CHECK(has(shown.out, "recorded, "));
  CHECK(has(shown.out, "The GPU's time is the course's recorded time of "));
  CHECK(has(shown.out, "The link"));
  CHECK(has(shown.out, "Not worth it in this form"));
  const auto printed =
      c.lab({"worth-it", "matmul", "--size", "4096", "--link", "nvlink-c2c", "--calls", "2",
             "--cpu-flops", "1T", "--cpu-bandwidth", "100G", "--json"});
  REQUIRE(printed.end.exit_code == 0);
  const json document = document_of(printed);
  check_documented(document, "worth-it");
  CHECK(document["bytes"] == 3 * 4 * 4096.0 * 4096);
  CHECK(document["flops"] == 2 * 4096.0 * 4096 * 4096);
  CHECK(document["transfer_ms"] == doctest::Approx(3 * 4 * 4096.0 * 4096 / 450e9 * 1e3));
  CHECK(document["cpu"]["call_ms"] == doctest::Approx(2 * 4096.0 * 4096 * 4096 / 1e12 * 1e3));
  CHECK(document["gpu"]["limit"] == "arithmetic");
  CHECK(document["gpu"]["call_from"] == "recorded");
  CHECK(document["gpu"]["call_ms"] > document["gpu"]["theoretical_ms"].get<double>());
  CHECK(document["cpu"]["call_from"] == "theoretical");  // the user's own CPU
  const json recorded = document_of(c.lab({"worth-it", "reduction", "--json"}));
  check_documented(recorded, "worth-it");
  CHECK(recorded["step"] == "10_one_launch");
  CHECK(recorded["cpu"]["call_from"] == "recorded");
  CHECK(has(recorded["recorded_cpu"].get<std::string>(), "threads"));
  CHECK(document["break_even_calls"] == 1);
  // A size without a record is modelled.
  const json modelled = document_of(c.lab({"worth-it", "launch", "--size", "300000", "--json"}));
  check_documented(modelled, "worth-it");
  CHECK(modelled["gpu"]["call_from"] == "modelled");
  CHECK(modelled["step"] == "05_vector");
  CHECK(modelled["cpu"]["call_from"] == "theoretical");
  // For another GPU, the last step that runs on that GPU is compiled for it.
  const json other =
      document_of(c.lab({"worth-it", "transpose", "--size", "512x256", "--gpu", "t4", "--json"}));
  CHECK(other["gpu"]["call_from"] == "modelled");
  CHECK(other["gpu"]["name"] == "NVIDIA T4");
  CHECK(other["gpu"]["call_ms"] > other["gpu"]["theoretical_ms"].get<double>());
  CHECK(has(other["note"].get<std::string>(), other["step"].get<std::string>()));
  const json numbers =
      document_of(c.lab({"worth-it", "--bytes", "800M", "--flops", "200G", "--json"}));
  CHECK(numbers["gpu"]["call_from"] == "theoretical");
  CHECK(numbers["step"].is_null());
  CHECK(numbers["note"] == "");
  using words = std::vector<std::string>;
  for (const auto& [wrong, said] : std::vector<std::pair<words, std::string>>{
           {{}, "--bytes 800M --flops 200G"},
           {{"--bytes", "800M"}, "--bytes 800M --flops 200G"},
           {{"--bytes", "-1", "--flops", "1"}, "--bytes -1"},
           {{"--bytes", "1G", "--flops", "many"}, "--flops many"},
           {{"--bytes", "0", "--flops", "0"}, "nothing to compare"},
           {{"--bytes", "1", "--flops", "1", "--calls", "1.5"}, "a whole number"},
           {{"--bytes", "1", "--flops", "1", "--calls", "0"}, "--calls 0"},
           {{"--bytes", "1", "--flops", "1", "--link", "isa"}, "pcie5"},
           {{"--bytes", "1", "--flops", "1", "--gpu", "abacus"}, "h200"},
           {{"--bytes", "1", "--flops", "1", "--cpu-flops", "1G"},
            "give both --cpu-flops and --cpu-bandwidth"},
           {{"--bytes", "1", "--flops", "1", "--size", "7"}, "--size needs a lab"},
           {{"reduction", "--bytes", "1"}, "leave out --bytes and --flops"},
           {{"reduction", "--size", "0"}, "--size 0"},
           {{"reductoin"}, "did you mean"}}) {
    words arguments = {"worth-it"};
    arguments.insert(arguments.end(), wrong.begin(), wrong.end());
    check_refused(c.lab(arguments), 2, said);
  }
}

TEST_CASE("worth-it: if a program is not built, the message has the command that builds it") {
  const cloned_course c;
  fs::remove(c.root() / "build/solutions");  // a link
  fs::create_directory(c.root() / "build/solutions");
  const std::string why = "05_vector is not built yet, so its time is not modelled; ",
                    command = "`./lab walk launch --step 05_vector` builds it.";
  auto shown = c.lab({"worth-it", "launch", "--size", "300000"});
  CHECK(shown.end.exit_code == 0);
  std::replace(shown.out.begin(), shown.out.end(), '\n', ' ');
  while (has(shown.out, "  ")) shown.out.erase(shown.out.find("  "), 1);  // undoes the wrapping
  CHECK(has(shown.out, why + command));
  const json theoretical = document_of(c.lab({"worth-it", "launch", "--size", "300000", "--json"}));
  check_documented(theoretical, "worth-it");
  CHECK(theoretical["gpu"]["call_from"] == "theoretical");
  CHECK(theoretical["step"].is_null());
  CHECK(has(theoretical["note"], why + command));
  // Recorded times do not need a program.
  const json recorded = document_of(c.lab({"worth-it", "launch", "--json"}));
  CHECK(recorded["gpu"]["call_from"] == "recorded");
}
