// Runs the built program in a copy of the clone, as a user does, and reads what it prints.
//
// LAB_BUILD is the build folder, and LAB_ROOT is the clone.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/formats/json.hpp"
#include "grader/course/source.hpp"
#include "grader/system/files.hpp"
#include "grader/system/process.hpp"

namespace stepwise {

// A clone in which the labs' own files can be changed. Large folders are links.
class cloned_course {
 public:
  // `name` is the name of the clone's folder.
  explicit cloned_course(const std::string& name = {})
      : folder_(fs::temp_directory_path()),
        root_(name.empty() ? folder_.path() : folder_.path() / name) {
    fs::create_directories(root_);
    const fs::path from = std::getenv("LAB_ROOT"), build = std::getenv("LAB_BUILD");
    copy_labs(from / "labs", root() / "labs");
    fs::copy(from / "README.md", root() / "README.md");
    for (const char* name : {"common", "solutions", ".cuda", "grader"}) {
      if (fs::exists(from / name)) fs::create_symlink(from / name, root() / name);
    }
    fs::create_directories(root() / "build" / "grader");
    for (const char* name :
         {"grader/lab", "grader/lab.json", "grader/sandbox-probe", "course.json"}) {
      fs::copy(build / name, root() / "build" / name);
    }
    fs::create_directories(build / "modelled");
    for (const char* name : {"labs", "solutions", "common", "modelled"}) {
      fs::create_symlink(build / name, root() / "build" / name);
    }
    // The copy is as deep as the real clone, whatever its name: the build folder is a child of the
    // root.
    auto config = parse_json(*read_if_there(root() / "build/grader/lab.json"));
    config["source_root"] = "..";
    write_atomically(root() / "build/grader/lab.json", config.dump());
  }
  const fs::path& root() const { return root_; }

  // Copies one lab's solutions, so that their records can be changed.
  void own_solutions(const std::string& lab) const {
    const fs::path from = std::getenv("LAB_ROOT"), to = root() / "solutions";
    fs::remove(to);
    fs::create_directories(to);
    for (const auto& entry : fs::directory_iterator(from / "solutions")) {
      const std::string name = entry.path().filename();
      if (name != lab) fs::create_symlink(entry.path(), to / name);
    }
    fs::copy(from / "solutions" / lab, to / lab, fs::copy_options::recursive);
  }

  // Limits a call to one second instead of ten. An endless call exceeds both limits.
  void limit_calls(const std::string& lab) const {
    change_lab(lab, [](json& entry) { entry["time_limit_s"] = 1; });
  }

  // Changes the lab's settings: `change` gets the lab's entry of build/course.json.
  template <class Change>
  void change_lab(const std::string& lab, Change change) const {
    const fs::path file = root() / "build/course.json";
    json course = parse_json(*read_if_there(file));
    for (json& entry : course["labs"])
      if (entry["name"] == lab) change(entry);
    write_atomically(file, course.dump());
  }

  child_options command(std::vector<std::string> arguments) const {
    child_options options;
    options.command = {(root() / "build/grader/lab").string()};
    options.command.insert(options.command.end(), arguments.begin(), arguments.end());
    options.directory = root();
    options.environment = {"NO_COLOR=1", "LC_ALL=C", "COLUMNS=100"};
    options.keep_bytes = 32 << 20;  // JSON documents are read whole
    return options;
  }
  child_result lab(std::vector<std::string> arguments) const {
    return run_child(command(std::move(arguments)), 120);
  }

 private:
  static void copy_labs(const fs::path& from, const fs::path& to) {
    fs::create_directories(to);
    for (const auto& entry : fs::directory_iterator(from)) {
      const fs::path name = entry.path().filename();
      if (fs::exists(entry.path() / "lab.toml"))
        copy_labs(entry.path(), to / name);
      else if (entry.is_directory())
        fs::create_symlink(entry.path(), to / name);
      else
        fs::copy(entry.path(), to / name);
    }
  }

  temporary_folder folder_;
  fs::path root_;
};

// Undoes the line breaks of wrapped paragraphs.
inline std::string one_line(const std::string& text) {
  std::string line;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\n';
    if (!space || (!line.empty() && line.back() != ' ')) line += space ? ' ' : c;
  }
  return line;
}

inline bool has(const std::string& text, std::string_view what) {
  return text.find(what) != std::string::npos;
}

// Checks that the command ended with this exit code, and that it printed only a message with the
// phrase.
inline void check_refused(const child_result& result, int code, std::string_view phrase) {
  INFO("expected ", std::string(phrase), ", found ", result.out, result.err);
  CHECK(result.end.exit_code == code);
  CHECK(result.out.empty());
  CHECK(has(result.err, phrase));
}

// The path of a build of exec_program.cu, or of another program for the tests of `lab exec`.
inline std::string exec_build(const std::string& name) {
  return (fs::path(std::getenv("EXEC_PROGRAMS")) / ("exec_" + name)).string();
}

// The command ./lab exec with these arguments, run outside any copy of the clone.
inline child_options exec_command(const std::vector<std::string>& words) {
  child_options options;
  options.command = {(fs::path(std::getenv("LAB_BUILD")) / "grader/lab").string(), "exec"};
  options.command.insert(options.command.end(), words.begin(), words.end());
  options.environment = {"NO_COLOR=1", "LC_ALL=C", "STEPWISE_GPU", "COLUMNS=80"};
  return options;
}
inline child_result exec_program(const std::vector<std::string>& words) {
  return run_child(exec_command(words), 60);
}

// The document that a --json run printed. Stdout must contain nothing else.
inline json document_of(const child_result& result) {
  const json document = parse_json_or_null(result.out);
  INFO("stdout: ", result.out, " stderr: ", result.err);
  REQUIRE(document.is_object());
  return document;
}

inline void collect_keys(const json& value, std::set<std::string>& keys) {
  if (value.is_object()) {
    for (const auto& [key, part] : value.items()) {
      keys.insert(key);
      collect_keys(part, keys);
    }
  } else if (value.is_array()) {
    for (const auto& part : value) collect_keys(part, keys);
  }
}

// The text of JSON.md about a command's document: its section or item, and the parts that several
// commands share. Without a command, the whole text.
inline std::string documentation_of(std::string_view verb) {
  const std::string text = *read_if_there(fs::path(std::getenv("LAB_ROOT")) / "grader/JSON.md");
  if (verb.empty()) return text;
  std::string found;
  bool inside = verb == "exec";  // text before the first section
  for (const auto& line : split_lines(text)) {
    if (line.starts_with("## ")) {
      inside = line == "## Parts that recur" || line == "## " + std::string(verb) ||
               (verb == "exec" && line == "## profile") ||
               ((verb == "pack" || verb == "selftest") && line == "## grade");
    } else if (line.starts_with("* **")) {
      inside = line.starts_with("* **" + std::string(verb) + "**");
    }
    if (inside) found += line + "\n";
  }
  return found;
}

// Checks that JSON.md describes every key of the document for this command.
inline void check_documented(const json& document, std::string_view verb = "") {
  const std::string text = documentation_of(verb);
  std::set<std::string> keys;
  collect_keys(document, keys);
  for (const auto& key : keys) {
    INFO("JSON.md on \"", std::string(verb), "\" lacks ", key);
    CHECK(has(text, "`" + key + "`"));
  }
}

}  // namespace stepwise
