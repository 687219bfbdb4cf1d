// lab dev slides: the lectures' decks, built by the Python module slides/builder, which replaces
// this process.
#include "grader/cli/context.hpp"
#include "grader/cli/python/python_module.hpp"
#include "grader/cli/verb.hpp"
#include "grader/course/given.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {
namespace {

struct slides_options {
  std::vector<std::string> decks;
  std::string out;
  bool no_pdf = false, check = false, serve = false, topics = false, rehearse = false;
  int port = 8000;
};

int slides(context& c, const slides_options& o) {
  need_solutions(c.where.root, "dev slides");
  std::vector<std::string> words = o.decks;
  if (!o.out.empty()) words.insert(words.end(), {"--out", fs::absolute(o.out)});
  if (o.no_pdf) words.push_back("--no-pdf");
  if (o.check) words.push_back("--check");
  if (o.serve) words.insert(words.end(), {"--serve", std::to_string(o.port)});
  if (o.topics) words.push_back("--topics");
  if (o.rehearse) words.push_back("--rehearse");
  become_python_module(c, "slides", "slides.builder", words);
}

const verb slides_verb(
    {verb_place::group::dev, 50}, "slides", "the lectures' decks: HTML, PDF, checks",
    "  ./lab dev slides                   all decks into build/slides: HTML, and PDF by Chromium\n"
    "  ./lab dev slides 04 --serve        deck 04 on this machine's port 8000, rebuilt as you "
    "write\n"
    "  ./lab dev slides 04 --check        find overflow, small text, weak contrast\n"
    "  ./lab dev slides 04 --rehearse     the speaking time of each slide, from its notes\n"
    "  ./lab dev slides --topics          the lectures' topics, and the slide that has each",
    [](arguments& takes, slides_options& o) {
      takes.add("DECK", o.decks, "decks by number or name (all)");
      takes.add("--out", o.out, "the output folder (build/slides)");
      takes.flag("--no-pdf", o.no_pdf, "HTML only");
      takes.flag("--check", o.check,
                 "instead of a PDF, look for overflow, small text and weak contrast");
      takes.flag("--serve", o.serve,
                 "show the decks in a browser, and rebuild when you save a file");
      takes.add("--port", o.port, "for --serve: the port (8000)").positive();
      takes.flag("--topics", o.topics, "print the lectures' topics, and the slides that have them");
      takes.flag("--rehearse", o.rehearse, "print the speaking time of each slide, and its plan");
    },
    slides);

}  // namespace
}  // namespace stepwise::cli
