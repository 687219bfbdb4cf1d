// Reading lab.toml and steps.txt, and what is refused in them.
#include "grader/course/lab.hpp"

#include <doctest/doctest.h>

#include "grader/system/failure.hpp"

using namespace stepwise;

namespace {

const std::string good_toml = R"(title = "T"
order = 2
function = "f"
contract = "t.hpp"
skeleton = "00_a"
[sizes]
check = [[1], [33]]
bench = [[100]]
emulated = [[10]]
[[goals]]
name = "right"
kind = "correct"
points = 40
[[goals]]
name = "fast"
kind = "speedup"
over = "00_a"
at_least = 1.5
points = 2.5
)";

std::string message_of(const std::string& toml) {
  try {
    parse_lab(toml, "lab.toml", "t");
  } catch (const failure& error) {
    CHECK(error.code() == exit_code::ours);
    return error.what();
  }
  return "no error";
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  text.replace(text.find(what), what.size(), with);
  return text;
}

}  // namespace

TEST_CASE("lab.toml is read") {
  const lab l = parse_lab(good_toml, "lab.toml", "t");
  CHECK(l.title == "T");
  CHECK(l.check == std::vector<lab_size>{{1}, {33}});
  REQUIRE(l.goals.size() == 2);
  CHECK(l.goals[1].what == goal::kind::speedup);
  CHECK(l.goals[1].limit == 1.5);
  CHECK(l.points() == 42.5);
}

TEST_CASE("errors in lab.toml name file, line and key") {
  CHECK(message_of(replaced(good_toml, "order = 2\n", "")) == "lab.toml: missing key `order`");
  CHECK(message_of(replaced(good_toml, "order = 2", "order = \"2\"")) ==
        "lab.toml:2: `order` has the wrong type");
  CHECK(
      message_of(replaced(good_toml, "\"speedup\"", "\"speed\""))
          .starts_with("lab.toml:14: goal \"fast\": unknown kind \"speed\"; known are correct, "));
  CHECK(message_of(replaced(good_toml, "[[1], [33]]", "[1, 33]"))
            .starts_with("lab.toml:7: a size is"));
  CHECK(message_of(replaced(good_toml, "points = 40", "points = 0")).find("positive") !=
        std::string::npos);
  CHECK(message_of("title = \n").starts_with("lab.toml:1: "));
}

TEST_CASE("a range to draw sizes from is its smallest and its largest") {
  const auto with = [](const std::string& line) {
    return replaced(good_toml, "[[goals]]", line + "\n[[goals]]");
  };
  CHECK(parse_lab(with("ragged = [[3], [99]]"), "lab.toml", "t").ragged ==
        std::vector<lab_size>{{3}, {99}});
  CHECK(parse_lab(good_toml, "lab.toml", "t").ragged.empty());
  for (const char* wrong : {"ragged = [[99], [3]]", "ragged = [[3]]", "ragged = [[3], [9, 9]]"})
    CHECK(message_of(with(wrong)) ==
          "lab.toml: sizes.ragged is the smallest and the largest size "
          "to draw: [[2], [1000]]");
  CHECK(message_of(with("hidden = [[3, 3], [9, 9]]")) ==
        "lab.toml: sizes.hidden and sizes.ragged have as many numbers as sizes.check");
}

TEST_CASE("goals are in the order in which they are judged, whatever the order in lab.toml") {
  const std::string counter =
      "[[goals]]\nname = \"few\"\nkind = \"counter\"\npoints = 5\nsize = [10]\n"
      "counter = \"kernel_launches\"\nat_most = 2\n";
  const std::string reach =
      "[[goals]]\nname = \"near\"\nkind = \"reach\"\npoints = 5\nstep = \"00_a\"\nfraction = 0.9\n";
  const std::string checks = "[[goals]]\nname = \"clean\"\nkind = \"checks\"\npoints = 5\n";
  std::string toml = good_toml;
  toml.insert(toml.find("[[goals]]"), reach + counter);
  const lab l = parse_lab(toml + checks, "lab.toml", "t");
  REQUIRE(l.goals.size() == 5);
  std::string names;
  for (const auto& g : l.goals) names += g.name + " ";
  CHECK(names == "right clean few fast near ");
  CHECK(l.goals[2].side == bound::at_most);
  CHECK(l.goals[2].limit == 2);
  CHECK(l.goals[2].size == lab_size{10});
  CHECK(l.goals[4].over == "00_a");
  CHECK(l.goals[4].limit == 0.9);
  CHECK(l.has(goal::kind::checks));
  CHECK(!parse_lab(good_toml, "lab.toml", "t").has(goal::kind::checks));
}

TEST_CASE("errors in a goal name file, line and goal, and say what is known") {
  const auto message = [](const std::string& goal) {
    return message_of(good_toml + "[[goals]]\nname = \"g\"\npoints = 5\n" + goal);
  };
  const std::string at = "lab.toml:20: goal \"g\": ";
  CHECK(message("kind = \"reach\"\nfraction = 0.9\n") == at + "missing key `step`");
  CHECK(message("kind = \"reach\"\nstep = \"00_a\"\n") == at + "missing key `fraction`");
  for (const char* wrong : {"0", "-0.5", "1.51", "nan", "inf"}) {
    CAPTURE(wrong);
    CHECK(message(std::string("kind = \"reach\"\nstep = \"00_a\"\nfraction = ") + wrong + "\n") ==
          at + "`fraction` must lie in (0, 1.5]");
  }
  CHECK(message("kind = \"reach\"\nstep = \"00_a\"\nfraction = 1.5\n") == "no error");
  CHECK(message("kind = \"reach\"\nstep = \"00_a\"\nfraction = \"1\"\n") ==
        at + "`fraction` has the wrong type");
  CHECK(message("kind = \"reach\"\nstep = \"00_a\"\nfraction = 1\nat_least = 2\n") ==
        at + "unknown key `at_least`; a goal of kind reach has name, kind, points, hint, step, "
             "fraction, "
             "modelled");
  CHECK(message("kind = \"reach\"\nstep = \"00_a\"\nfraction = 1\nmodelled = 0\n") ==
        at + "`modelled` must be positive");
  CHECK(message("kind = \"speedup\"\nover = \"00_a\"\nat_least = 0\n") ==
        at + "`at_least` must be positive");
  CHECK(message("kind = \"checks\"\nsize = [10]\n").starts_with(at + "unknown key `size`"));

  const std::string counter = "kind = \"counter\"\n", launches = "counter = \"kernel_launches\"\n";
  CHECK(message(counter + launches + "size = [10]\n") ==
        at + "needs one of `at_most` and `at_least`");
  CHECK(message(counter + launches + "size = [10]\nat_most = 1\nat_least = 1\n") ==
        at + "needs one of `at_most` and `at_least`");
  CHECK(message(counter + launches + "at_most = 1\n") == at + "missing key `size`");
  CHECK(message(counter + launches + "size = [10, 10]\nat_most = 1\n") ==
        at + "size has 2 numbers, the lab's sizes have 1");
  CHECK(message(counter + launches + "size = [10]\nat_most = -1\n") ==
        at + "a counter's limit must not be negative");
  const std::string unknown = message(counter + "counter = \"kernel_lunches\"\nat_most = 1\n");
  CHECK(unknown.starts_with(at + "unknown counter \"kernel_lunches\"; did you mean "
                                 "\"kernel_launches\"?\nknown are\n  global_load_"));
  for (const auto& c : goal_counters()) CHECK(unknown.find(c.name) != std::string::npos);
  CHECK(message(counter + launches + "size = [10]\nat_most = 1\nneeds = \"other\"\n")
            .find("needs \"other\", which must be a counter goal without `needs`") !=
        std::string::npos);
}

TEST_CASE("steps.txt is read, comments and empty lines aside") {
  const auto steps =
      parse_steps("# comment\n\n00_a  -  -  the first idea\n01_b  00_a  1.15  the second: more\n",
                  "steps.txt", "dir");
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].over.empty());
  CHECK(!steps[0].at_least);
  CHECK(steps[1].at_least == 1.15);
  CHECK(steps[1].idea == "the second: more");
  CHECK(steps[1].file == "dir/01_b.cu");
}

TEST_CASE("limits.txt is read; a line that lacks a column is named") {
  const auto parts = parse_limits("# step part what\n01_a memory  loads, and\n01_a compute adds\n",
                                  "limits.txt", "solutions/x/limits");
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].part == "memory");
  CHECK(parts[0].what == "loads, and");
  CHECK(parts[0].file == "solutions/x/limits/01_a.memory.cu");
  CHECK(parts[1].program() == "limit-01_a-compute");
  CHECK_THROWS_WITH(parse_limits("01_a memory\n", "limits.txt", ""),
                    "limits.txt:1: expected three columns: step part what");
}

TEST_CASE("peers.txt is read; what is no peer names its line") {
  const auto peers = parse_peers(
      "# comment\n\ncopy  gpu  -  other  moves as much\nblas  gpu  cublas  right  a library: "
      "NVIDIA's\ncv  cpu  a,b  other  another\n",
      "peers.txt");
  REQUIRE(peers.size() == 3);
  CHECK(!peers[1].on_cpu);
  CHECK(peers[2].on_cpu);
  CHECK(peers[2].what == "another");
  CHECK(!peers[0].is_right);
  CHECK(peers[1].is_right);
  CHECK(peers[1].what == "a library: NVIDIA's");
  CHECK(parse_peers("", "peers.txt").empty());
  CHECK_THROWS_WITH(parse_peers("copy gpu - right\n", "peers.txt"),
                    "peers.txt:1: expected five columns: name gpu|cpu libraries right|other what");
  CHECK_THROWS_AS(parse_peers("\ncopy gpu - wrong x\n", "peers.txt"), failure);
  CHECK_THROWS_AS(parse_peers("copy - right what moves\n", "peers.txt"), failure);
}

TEST_CASE("errors in steps.txt name the line") {
  const auto message = [](const std::string& text) {
    try {
      parse_steps(text, "steps.txt", "dir");
    } catch (const failure& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  CHECK(message("00_a - -\n") == "steps.txt:1: expected four columns: name over at_least idea");
  CHECK(message("00_a - - x\n00_a - - x\n") == "steps.txt:2: step 00_a is listed twice");
  CHECK(message("00_a 01_b - x\n").find("not listed before it") != std::string::npos);
  CHECK(message("00_a - fast x\n").find("found \"fast\"") != std::string::npos);
  CHECK(message("# nothing\n") == "steps.txt: lists no step");
}

TEST_CASE("steps are found by name, number or word; the nearest is suggested") {
  lab l;
  l.name = "t";
  l.steps = parse_steps("00_pairs - - x\n01_strided 00_pairs - y\n", "steps.txt", "dir");
  CHECK(find_step(l, "01_strided").name == "01_strided");
  CHECK(find_step(l, "01").name == "01_strided");
  CHECK(find_step(l, "pairs").name == "00_pairs");
  try {
    find_step(l, "01_stridde");
    FAIL("found");
  } catch (const failure& error) {
    CHECK(error.code() == exit_code::usage);
    CHECK(std::string(error.what()).find("did you mean \"01_strided\"?") != std::string::npos);
  }
}

TEST_CASE("nearest suggests what is likely meant, or nothing") {
  const std::vector<std::string> labs = {"matmul", "reduction", "transpose"};
  CHECK(nearest("reductoin", labs) == "reduction");
  CHECK(nearest("transp", labs) == "transpose");
  CHECK(nearest("wlak", {"run", "walk"}) == "walk");
  CHECK(nearest("blur", labs).empty());
  CHECK(nearest("x", {}).empty());
}
