// lab run --image and --points as users see them: which files are written, what is printed, and
// which input is refused. Runs in a copy of the clone; needs nvcc and the emulator.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/lab/picture.hpp"
#include "grader/cli/tests/cloned_course.hpp"

using namespace stepwise;

namespace {

const char* const spheres = "labs/blur/pictures/spheres.png";

picture picture_in(const fs::path& file) {
  const auto content = read_if_there(file);
  REQUIRE_MESSAGE(content.has_value(), file.string());
  return decode(std::as_bytes(std::span(*content)));
}

bool is_black(const picture& p) {
  for (std::size_t i = 0; i < p.pixels.size(); ++i)
    if (i % 4 != 3 && p.pixels[i] != std::byte{0}) return false;
  return true;
}

std::vector<std::string> on_emulator(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--device", "emulated"});
  return arguments;
}

// The names of all files in the folder, to check that none was left behind.
std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

TEST_CASE("a correct result is written in every format, together with every stage") {
  const cloned_course c;
  const picture edges = picture_in(c.root() / "labs/blur/pictures/spheres/edges.png");
  for (const char* out : {"edges.png", "edges.ppm", "edges.PGM"}) {
    const auto result =
        c.lab(on_emulator({"run", "blur", "--step", "01", "--image", spheres, "--out", out}));
    CAPTURE(result.err);
    CHECK(result.end.exit_code == 0);
    CHECK(has(result.out, "correct  spheres.png, 320 x 213"));
    CHECK(has(result.out, std::string("wrote    ") + out));
    CHECK(picture_in(c.root() / out) == edges);
  }
  CHECK(read_if_there(c.root() / "edges.ppm")->starts_with("P6\n320 213\n255\n"));
  CHECK(read_if_there(c.root() / "edges.PGM")->starts_with("P5\n320 213\n255\n"));
  const auto result = c.lab(on_emulator({"run", "blur", "--step", "11", "--image", spheres, "--out",
                                         "out.png", "--stages", "stages/", "--json"}));
  CHECK(result.end.exit_code == 0);
  const json document = document_of(result);
  check_documented(document, "run");
  CHECK(document["class"] == "PASS");
  CHECK(document["picture"]["width"] == 320);
  CHECK(document["picture"]["wrong_pixels"] == 0);
  CHECK(document["picture"]["has_alpha"] == false);
  CHECK(document["seed"].is_null());
  CHECK(document["written"].size() == 7);
  const fs::path stages = c.root() / "stages";
  CHECK(names_in(stages) == std::vector<std::string>{"blurred.png", "difference.png", "edges.png",
                                                     "found.png", "grey.png", "input.png"});
  CHECK(picture_in(stages / "found.png") == edges);
  CHECK(picture_in(stages / "edges.png") == edges);
  CHECK(picture_in(stages / "input.png") == picture_in(c.root() / spheres));
  CHECK(is_black(picture_in(stages / "difference.png")));
}

TEST_CASE("a wrong result is written and reported as wrong; the difference shows where") {
  const cloned_course c;
  const std::vector<std::string> command =
      on_emulator({"run", "blur", "--file", "labs/blur/tests/mutants/no_edges.cu", "--image",
                   spheres, "--out", "out.png", "--stages", "stages"});
  const auto result = c.lab(command);
  CHECK(result.end.exit_code == 1);
  CHECK(has(result.out, "WRONG"));
  CHECK(has(result.out, "(spheres.png, 320 x 213)"));
  CHECK(has(result.out, "the result was written although "));
  const picture found = picture_in(c.root() / "out.png");
  CHECK(found == picture_in(c.root() / "stages/found.png"));
  CHECK(found != picture_in(c.root() / "stages/edges.png"));
  CHECK(!is_black(picture_in(c.root() / "stages/difference.png")));
  auto as_json = command;
  as_json.push_back("--json");
  const json document = document_of(c.lab(as_json));
  check_documented(document, "run");
  CHECK(document["class"] == "WRONG");
  CHECK(document["picture"]["wrong_pixels"] > 0);
  CHECK(document["picture"]["largest_difference"] > 0);
}

TEST_CASE("a file that does not compile writes nothing") {
  const cloned_course c;
  write_atomically(c.root() / "mine.cu", "nonsense\n");
  const auto result = c.lab(on_emulator({"run", "blur", "--file", "mine.cu", "--image", spheres,
                                         "--out", "out.png", "--stages", "stages", "--json"}));
  CHECK(result.end.exit_code == 1);
  const json document = document_of(result);
  check_documented(document, "run");
  CHECK(document["class"] == "COMPILE");
  CHECK(document["written"].empty());
  CHECK(!fs::exists(c.root() / "out.png"));
  CHECK(!fs::exists(c.root() / "stages"));
}

TEST_CASE("a picture of one pixel, and a transparent picture") {
  const cloned_course c;
  write_atomically(c.root() / "one.ppm", "P6\n1 1\n255\nabc");
  const auto one =
      c.lab(on_emulator({"run", "blur", "--step", "11", "--image", "one.ppm", "--out", "one.pgm"}));
  CHECK(one.end.exit_code == 0);
  CHECK(read_if_there(c.root() / "one.pgm") == std::string("P5\n1 1\n255\n\0", 12));
  // A PNG with grey and alpha. Its only pixel has grey 64 and alpha 0.
  const std::string clear(
      "\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x01"
      "\x00\x00\x00\x01\x08\x04\x00\x00\x00\xb5\x1c\x0c\x02\x00\x00\x00\x0b\x49\x44\x41"
      "\x54\x78\xda\x63\x70\x60\x00\x00\x00\x83\x00\x41\xc0\x5b\x26\xbf\x00\x00\x00\x00"
      "\x49\x45\x4e\x44\xae\x42\x60\x82",
      68);
  write_atomically(c.root() / "clear.png", clear);
  const auto result = c.lab(on_emulator({"run", "blur", "--step", "11", "--image", "clear.png"}));
  CAPTURE(result.err);
  CHECK(result.end.exit_code == 0);
  CHECK(has(result.out, "alpha channel is ignored"));
  CHECK(has(result.out, "--out FILE saves the result, --stages FOLDER saves every stage"));
}

TEST_CASE("bad pictures and names: one clear message, the correct exit code, and no file written") {
  struct row {
    std::vector<std::string> arguments;
    int code;
    const char* says;
  };
  const cloned_course c;
  const std::string whole = *read_if_there(c.root() / spheres);
  const auto put = [&](const char* name, const std::string& content) {
    write_atomically(c.root() / name, content);
  };
  std::string huge = whole, damaged = whole;
  for (const std::size_t at : {16, 20}) huge.replace(at, 4, std::string("\0\x01\x86\xa0", 4));
  damaged[whole.size() / 2] ^= 1;
  put("cut.png", whole.substr(0, whole.size() / 2));
  put("damaged.png", damaged);
  put("huge.png", huge);
  put("text.png", "this is no picture\n");
  put("empty.png", "");
  put("photo.jpg", "\xff\xd8\xff\xe0 JFIF");
  put("cut.ppm", "P6\n10 10\n255\nabc");
  put("large.ppm", "P6\n40000 25000\n255\n");
  put("mine.png", whole);
  fs::create_directory(c.root() / "folder.png");
  fs::create_symlink("/dev/full", c.root() / "full.png");
  fs::create_symlink("mine.png", c.root() / "same.png");
  const auto before = names_in(c.root());
  const auto image = [](const char* name) {
    return std::vector<std::string>{"--image", name, "--out", "out.png"};
  };
  const auto out = [](const char* name) {
    return std::vector<std::string>{"--image", "mine.png", "--out", name};
  };
  for (const row& r : std::vector<row>{
           {image("cut.png"), 2, "cannot read cut.png: this PNG is truncated"},
           {image("damaged.png"), 2, "cannot read damaged.png: this PNG is damaged: the checksum"},
           {image("huge.png"), 2, "huge.png has 100000 x 100000 pixels; blur: a size is width x"},
           {image("large.ppm"), 2,
            "cannot read large.ppm: it has 40000 x 25000 pixels; the most is"},
           {image("text.png"), 2, "cannot read text.png: it is not a picture format"},
           {image("empty.png"), 2, "cannot read empty.png: it is empty: expected a PNG"},
           {image("photo.jpg"), 2, "cannot read photo.jpg: it is a JPEG: expected a PNG, a PPM"},
           {image("cut.ppm"), 2, "cannot read cut.ppm: it is truncated: 10 x 10 pixels take 300"},
           {image("nowhere.png"), 2, "cannot read nowhere.png: there is no such file"},
           {image("labs"), 2, "cannot read labs: it is a folder"},
           {image("/dev/null"), 2, "cannot read /dev/null: it is not a regular file"},
           {image(""), 2, "there is no such file"},
           {out("edges.jpg"), 2, "--out edges.jpg: use a name that ends in .png, .ppm or"},
           {out("/dev/full"), 2, "--out /dev/full: use a name that ends in"},
           {out("edges"), 2, "--out edges: use a name that ends in"},
           {out("no/where.png"), 2, "--out no/where.png: there is no folder "},
           {out("folder.png"), 2, "--out folder.png: it is a folder"},
           {out("full.png"), 2, "--out full.png: it exists, and is not a regular file"},
           {out("mine.png"), 2, "--out mine.png: this is the input file"},
           {out("./labs/../mine.png"), 2, "this is the input file"},
           {out("same.png"), 2, "--out same.png: this is the input file"},
           {out("/proc/edges.png"), 3, "cannot write"},
           {{"--out", "out.png"}, 2, "--image FILE or --points FILE"},
           {{"--stages", "stages"}, 2, "--image FILE or --points FILE"},
           {{"--image", "mine.png", "--size", "8x8"}, 2, "--size excludes --image"},
           {{"--image", "mine.png", "--seed", "8"}, 2, "--seed excludes --image"},
           {{"--image", "mine.png", "--points", "text.png"}, 2, "--image excludes --points"},
           {{"--image", "mine.png", "--counters"}, 2, "--counters excludes --image"},
           {{"--image", "mine.png", "--stages", "mine.png"},
            2,
            "--stages mine.png: it is not a folder"},
           {{"--image", "mine.png", "--stages", "no/where"}, 2, "there is no folder "},
           {{"--image", "mine.png", "--stages", "stages", "--out", "stages/grey.png"},
            2,
            "there is no folder "},
           {{"--image", "mine.png", "--stages", ".", "--out", "grey.png"},
            2,
            "--stages ./grey.png: --out names the same file"},
       }) {
    std::vector<std::string> arguments = {"run", "blur", "--step", "11", "--device", "emulated"};
    arguments.insert(arguments.end(), r.arguments.begin(), r.arguments.end());
    std::string typed;
    for (const auto& argument : r.arguments) typed += argument + " ";
    CAPTURE(typed);
    const auto result = c.lab(arguments);
    CAPTURE(result.out);
    CAPTURE(result.err);
    CHECK(result.end.exit_code == r.code);
    CHECK(has(result.err, r.says));
    CHECK(result.err.starts_with("lab: "));
    CHECK(names_in(c.root()) == before);
    arguments.push_back("--json");
    const json document = document_of(c.lab(arguments));
    CHECK(document["exit_code"] == r.code);
    CHECK(has(document["error"].get<std::string>(), r.says));
  }
  CHECK(read_if_there(c.root() / "mine.png") == whole);
}

TEST_CASE("an input in the folder of the stages is not overwritten") {
  const cloned_course c;
  fs::create_directory(c.root() / "stages");
  fs::copy_file(c.root() / spheres, c.root() / "stages/input.png");
  check_refused(c.lab(on_emulator({"run", "blur", "--step", "11", "--image", "stages/input.png",
                                   "--stages", "stages"})),
                2, "--stages stages/input.png: this is the input file");
  CHECK(names_in(c.root() / "stages").size() == 1);
}

TEST_CASE("your own points: one line per point, and one line per answer") {
  const cloned_course c;
  write_atomically(c.root() / "points.csv", "# x,y,z\n1,1,0\n2,1,0\n3,1,0\n4,4,0\n2,3,0\n");
  const auto result = c.lab(on_emulator(
      {"run", "neighbour", "--step", "06", "--points", "points.csv", "--out", "nearest.txt"}));
  CAPTURE(result.err);
  CHECK(result.end.exit_code == 0);
  CHECK(has(result.out, "correct  points.csv, n = 5"));
  CHECK(read_if_there(c.root() / "nearest.txt") == "1\n0\n1\n4\n1\n");
  const json document = document_of(
      c.lab(on_emulator({"run", "neighbour", "--step", "01", "--points", "points.csv", "--json"})));
  check_documented(document, "run");
  CHECK(document["class"] == "PASS");
  CHECK(document["points"]["count"] == 5);
  CHECK(document["written"].empty());
}

TEST_CASE("points that have no nearest point, and malformed files") {
  const cloned_course c;
  std::string all_nan, one_nan;
  for (int i = 0; i < 100000; ++i) {
    all_nan += "nan nan nan\n";
    one_nan += i == 77776 ? "1 NaN 3\n" : std::to_string(i) + " 2 3\n";
  }
  write_atomically(c.root() / "all.xyz", all_nan);
  write_atomically(c.root() / "one.xyz", one_nan);
  write_atomically(c.root() / "good.xyz", "1 2 3\n");
  write_atomically(c.root() / "short.xyz", "1 2 3\n1 2\n");
  write_atomically(c.root() / "empty.xyz", "");
  const auto before = names_in(c.root());
  struct row {
    std::vector<std::string> arguments;
    const char* says;
  };
  for (const row& r : std::vector<row>{
           {{"--points", "all.xyz"}, "cannot read all.xyz: line 1: \"nan\" is not a finite number"},
           {{"--points", "one.xyz"}, "one.xyz: line 77777: \"NaN\" is not a finite number"},
           {{"--points", "short.xyz"}, "line 2: expected three numbers, found \"1 2\""},
           {{"--points", "empty.xyz"}, "it has no points"},
           {{"--points", "nowhere.xyz"}, "there is no such file"},
           {{"--points", "labs"}, "it is a folder"},
           {{"--points", "good.xyz", "--out", "good.xyz"}, "this is the input file"},
           {{"--points", "good.xyz", "--out", "no/where"}, "there is no folder"},
           {{"--points", "good.xyz", "--stages", "stages"}, "--stages works only with --image"},
           {{"--points", "good.xyz", "--size", "8x0"}, "--size excludes --points"},
       }) {
    std::vector<std::string> arguments = {"run", "neighbour", "--step",
                                          "01",  "--device",  "emulated"};
    arguments.insert(arguments.end(), r.arguments.begin(), r.arguments.end());
    check_refused(c.lab(arguments), 2, r.says);
    CHECK(names_in(c.root()) == before);
  }
}

TEST_CASE("a lab that accepts no picture, or no points, says which labs do") {
  const cloned_course c;
  CHECK(has(c.lab({"run", "blur", "--points", "mine.xyz"}).err,
            "the lab blur does not accept points; these labs do: neighbour"));
  check_refused(c.lab({"run", "reduction", "--image", spheres, "--out", "out.png"}), 2,
                "the lab reduction does not accept a picture; these labs do: first, blur");
}
