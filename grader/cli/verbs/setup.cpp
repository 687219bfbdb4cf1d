// lab setup, lab editor, lab test: the launcher (.lab/launcher) runs them. They are here so that
// the help lists and explains them.
#include "grader/cli/context.hpp"
#include "grader/cli/verb.hpp"
#include "grader/system/failure.hpp"

namespace stepwise::cli {
namespace {

[[noreturn]] void refuse_without_launcher(const std::string& name) {
  throw failure(exit_code::usage, "only the launcher can run this command; type ./lab " + name);
}

int setup(context&) { refuse_without_launcher("setup"); }

const verb setup_verb(
    {verb_place::group::more, 10}, "setup", "set up and build everything, including the tests",
    "  ./lab setup            build everything; Debian packages only as root or in CI\n"
    "  ./lab setup --unpack   unpack Debian packages into .packages/, without root\n"
    "  ./lab setup --no-tests everything except what only tests need\n"
    "  ./lab setup --first    only what the first answer needs: a minute or two",
    setup);

int editor(context&) { refuse_without_launcher("editor"); }

const verb editor_verb({verb_place::group::more, 10}, "editor",
                       "write .clangd and .vscode/ for this machine",
                       "  ./lab editor   files that you have changed are kept", editor);

struct test_options {
  std::vector<std::string> suites;
};

int test(context&, const test_options&) { refuse_without_launcher("test"); }

const verb test_verb(
    {verb_place::group::more, 10}, "test", "run the course's own tests",
    "  ./lab test                     all tests that this machine can run\n"
    "  ./lab test unit                one suite\n"
    "  ./lab test launcher 'lab exec' tests by name",
    [](arguments& takes, test_options& o) {
      takes.add("SUITE", o.suites, "suites or tests by name");
    },
    test);

}  // namespace
}  // namespace stepwise::cli
