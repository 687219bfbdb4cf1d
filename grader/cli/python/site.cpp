// lab dev site: the course as static pages, built by the Python module slides/site/builder, which
// replaces this process.
#include "grader/cli/context.hpp"
#include "grader/cli/python/python_module.hpp"
#include "grader/cli/verb.hpp"
#include "grader/course/given.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {
namespace {

struct site_options {
  std::string out, record;
  bool serve = false, students = false, i_trust_these_files = false;
  int port = 0;
};

int site(context& c, const site_options& o) {
  need_solutions(c.where.root, "dev site");
  std::vector<std::string> words;
  if (!o.out.empty()) words.insert(words.end(), {"--out", fs::absolute(o.out)});
  if (!o.record.empty()) words.insert(words.end(), {"--record", o.record});
  if (o.students) words.push_back("--students");
  if (o.serve) words.insert(words.end(), {"--serve", std::to_string(o.port)});
  if (o.i_trust_these_files) words.push_back("--i-trust-these-files");
  become_python_module(c, "site", "slides.site.builder", words);
}

const verb site_verb(
    {verb_place::group::dev, 40}, "site",
    "build the course as web pages: handouts, versions, differences, charts",
    "  ./lab dev site                     into build/site; open index.html, no network needed\n"
    "  ./lab dev site --serve             also serve it, with sources to edit and run in a "
    "browser\n"
    "  ./lab dev site --out DIR --students\n"
    "                                 for students: without answers and steps",
    [](arguments& takes, site_options& o) {
      takes.add("--out", o.out, "the folder for the pages (build/site)");
      takes.add("--record", o.record,
                "a lab: profile its steps on the emulator and record the profiles for the pages");
      takes.flag("--students", o.students, "leave out answers, steps and measurements");
      takes.flag("--serve", o.serve,
                 "serve the pages and a playground on this machine until Ctrl-C");
      takes.add("--port", o.port, "for --serve: the port (8000, or the next free one)").positive();
      takes.flag("--i-trust-these-files", o.i_trust_these_files,
                 "for --serve: run sources even where the sandbox is incomplete");
    },
    site);

}  // namespace
}  // namespace stepwise::cli
