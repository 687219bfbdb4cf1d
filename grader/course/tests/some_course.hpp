// A course with one lab, as in build/course.json. Tests change it and write it.
#pragma once

#include "common/formats/json.hpp"
#include "grader/system/files.hpp"

namespace stepwise {

inline json some_course() {
  return parse_json(R"({
  "labs": [{
    "name": "twice", "title": "Doubling", "function": "twice", "contract": "twice.hpp",
    "skeleton": "00_first", "order": 1, "host_bytes": 0, "time_limit_s": 10, "timing_s": 20,
    "published_steps_earn": true, "library_kernels_earn": true, "tensor_cores": false, "least_capability": 0, "hopper": [],
    "own_input": "",
    "sizes": {"check": [[1], [33]], "bench": [[8]], "emulated": [[4]], "modelled": [[4]],
              "hidden": [], "ragged": [[3], [99]], "promised": [[8]], "multiple_of": 1},
    "goals": [
      {"name": "right", "place": "lab.toml:10", "kind": "correct", "points": 40, "hint": "R"},
      {"name": "few", "place": "lab.toml:14", "kind": "counter", "points": 2.5, "hint": "",
       "counter": "kernel_launches", "side": "at_most", "limit": 2, "least_shared": 0,
       "most_active": 0, "needs": "", "size": [4]},
      {"name": "near", "place": "lab.toml:20", "kind": "reach", "points": 57.5, "hint": "",
       "over": "01_next", "limit": 0.9, "modelled": 0}
    ],
    "sweep": {"place": "lab.toml:30", "step": "01_next", "over": ["threads=32..1024"],
              "counter": "occupancy_percent"},
    "experiments": [{"place": "lab.toml:34", "name": "stride", "title": "", "given": false,
                     "over": ["stride=1..32"], "counter": ""}],
    "is_worked": true,
    "case_study": ["01_next"],
    "did_not_help": ["01_next"],
    "steps": [
      {"name": "00_first", "over": "", "at_least": null, "promised": [], "unmeasured": false,
       "idea": "the first", "file": "solutions/twice/00_first.cu"},
      {"name": "01_next", "over": "00_first", "at_least": 1.15, "promised": [[8, 8]],
       "unmeasured": false, "idea": "the next", "file": "solutions/twice/01_next.cu",
       "recording": "launch=2"}
    ],
    "baselines": [{"name": "cpu", "on_cpu": true, "is_right": true, "libraries": [], "what": "a loop"}],
    "limits": [{"step": "01_next", "part": "memory", "what": "loads",
                "file": "solutions/twice/limits/01_next.memory.cu"}],
    "mutants": [{"name": "endless", "verdict": "TIMEOUT", "says": "time limit"}],
    "lectures": [{"gpu": "gtx280", "source": "a talk", "unit": "ms", "size": [64],
                  "size_stated": true, "figures": [{"version": "1", "step": "00_first",
                                                  "kernel": "k", "with": ["tile=16"], "value": 8}]}]
  }],
  "coming": [["later", "2026-10-15"]],
  "terms": [{"name": "warp", "group": "Threads", "aliases": ["warps of threads"], "text": ["32."],
             "picture": [], "taught": [{"lab": "twice", "target": "twice/README.md", "step": ""}],
             "related": ["lane"]}]
})");
}

// A folder that holds such a course.json in build/.
class course_folder {
 public:
  explicit course_folder(const json& course = some_course()) {
    write("build/course.json", course.dump());
  }
  void write(const std::string& file, const std::string& text) const {
    make_folder((folder_.path() / file).parent_path());
    write_atomically(folder_.path() / file, text);
  }
  const fs::path& root() const { return folder_.path(); }
  fs::path build() const { return root() / "build"; }

 private:
  temporary_folder folder_{fs::temp_directory_path()};
};

}  // namespace stepwise
