// lab setup, lab editor: the launcher's own (.lab/). They stand here to be listed and explained.
#include "grader/cli/context.hpp"
#include "grader/cli/verb.hpp"
#include "grader/system/failure.hpp"

namespace stepwise::cli {
namespace {

int setup(context&) { throw failure(exit_code::usage, "setup is the launcher's: say ./lab setup"); }

const verb setup_verb(
    {verb_place::group::more, 10}, "setup", "set up and build everything, the tests too",
    "  ./lab setup            Debian packages are installed only as root or in CI\n"
    "  ./lab setup --unpack   they are unpacked into .packages/, without root\n"
    "  ./lab setup --no-tests without what only tests need\n"
    "  ./lab setup --first    what the first answer needs: a minute or two",
    setup);

int editor(context&) {
  throw failure(exit_code::usage, "editor is the launcher's: say ./lab editor");
}

const verb editor_verb({verb_place::group::more, 10}, "editor",
                       "writes .clangd and .vscode/ for this machine",
                       "  ./lab editor   files that you changed stay as they are", editor);

}  // namespace
}  // namespace stepwise::cli
