// `lab watch` next to an editor: all kinds of saves, and the output after each.
#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "grader/cli/tests/cloned_course.hpp"

namespace stepwise {
namespace {

void pause_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

// Overwrites an existing file in place, as many editors do.
void overwrite(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }

int times_in(const std::string& text, std::string_view what) {
  int times = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++times;
  return times;
}

// Waits until the program has printed `what` that many times. Returns false after a minute.
bool prints(child& watching, std::string_view what, int times = 1) {
  for (int tenths = 0; tenths < 600; ++tenths) {
    if (watching.wait(0.1) == child::event::ended) break;
    if (times_in(watching.output().text(), what) >= times) return true;
  }
  return times_in(watching.output().text(), what) >= times;
}

TEST_CASE("watch answers every save, whatever the editor, and the newest save wins") {
  const cloned_course c;
  const fs::path file = c.root() / "try.cu";
  const std::string right = *read_if_there(c.root() / "solutions/launch/03_ilp.cu");
  const std::string broken = "int x = ;\n" + right;
  overwrite(file, right);
  child watching(c.command({"watch", "launch", "--file", "try.cu", "--device", "emulated"}));
  REQUIRE(prints(watching, "next"));
  CHECK(has(watching.output().text(), "  right    "));
  CHECK(has(watching.output().text(), "modelled, NVIDIA H200"));
  CHECK(has(watching.output().text(), "  limiter  "));

  write_atomically(file, broken);  // by renaming
  REQUIRE(prints(watching, "save 2"));
  REQUIRE(prints(watching, "before: PASS"));
  CHECK(has(watching.output().text(), "  COMPILE  "));
  CHECK(has(watching.output().text(), "try.cu:1"));
  CHECK(has(watching.output().text(), "lost: "));

  fs::remove(file);
  pause_ms(100);
  overwrite(file, "");  // emptied, then written: one save
  pause_ms(100);
  overwrite(file, right);
  REQUIRE(prints(watching, "as fast as before"));
  CHECK(has(watching.output().text(), "save 3"));
  CHECK(has(watching.output().text(), "before: COMPILE"));

  // The text is unchanged, so this is not a save.
  fs::last_write_time(file, fs::file_time_type::clock::now());
  pause_ms(150);
  overwrite(file, right + "// one more\n");
  pause_ms(250);  // it is being compiled
  overwrite(file, broken);
  REQUIRE(prints(watching, "  COMPILE  ", 2));
  // The interrupted attempt printed no answer.
  CHECK(times_in(watching.output().text(), "  right    ") == 2);

  kill(watching.id(), SIGINT);
  CHECK(watching.wait(10) == child::event::ended);
  const auto& end = watching.end(child_end::cause::deadline);
  CHECK(end.how == child_end::cause::exited);
  CHECK(end.exit_code == 130);
  CHECK_FALSE(has(watching.errors().text(), "lab: interrupted"));
}

TEST_CASE("watch --once answers for the file as it is now") {
  const cloned_course c;
  const auto result = c.lab({"watch", "first", "--once", "--json"});
  CHECK(result.end.exit_code == 1);  // the skeleton is wrong
  const json document = document_of(result);
  check_documented(document, "watch");
  CHECK(document.at("class") == "WRONG");
  CHECK(document.at("time_ms").is_null());
  CHECK(c.lab({"watch", "first", "--json"}).end.exit_code == 2);
  CHECK(c.lab({"watch", "first", "--file", "nowhere.cu"}).end.exit_code == 2);
}

}  // namespace
}  // namespace stepwise
