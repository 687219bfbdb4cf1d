// lab site: the course as static pages, built by the Python module slides/site/builder, which runs
// in our place.
#include "grader/cli/context.hpp"
#include "grader/cli/python/python_module.hpp"
#include "grader/cli/verb.hpp"
#include "grader/course/given.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {
namespace {

struct site_options {
  std::string out, record;
  bool serve = false, students = false;
  int port = 8000;
};

int site(context& c, const site_options& o) {
  need_solutions(c.where.root, "site");
  std::vector<std::string> words;
  if (!o.out.empty()) words.insert(words.end(), {"--out", fs::absolute(o.out)});
  if (!o.record.empty()) words.insert(words.end(), {"--record", o.record});
  if (o.students) words.push_back("--students");
  if (o.serve) words.insert(words.end(), {"--serve", std::to_string(o.port)});
  become_python_module(c, "site", "slides.site.builder", words);
}

const verb site_verb(
    {verb_place::group::solutions, 85}, "site",
    "the course as pages for a browser: handouts, versions, differences, charts",
    "  ./lab site                     into build/site; open index.html, no network is needed\n"
    "  ./lab site --serve             and show it on this machine's port 8000\n"
    "  ./lab site --out DIR --students\n"
    "                                 for students: without answers and steps",
    [](arguments& takes, site_options& o) {
      takes.add("--out", o.out, "the folder for the pages (build/site)");
      takes.add("--record", o.record,
                "a lab: profile its steps on the emulator, and record that for the pages");
      takes.flag("--students", o.students, "leave out answers, steps and what was measured");
      takes.flag("--serve", o.serve, "show the pages on this machine until Ctrl-C");
      takes.add("--port", o.port, "of --serve (8000)").positive();
    },
    site);

}  // namespace
}  // namespace stepwise::cli
