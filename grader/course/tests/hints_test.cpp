// The topics of hints.md and their parts.
#include "grader/course/hints.hpp"

#include <doctest/doctest.h>

using namespace stepwise;

TEST_CASE("hints: topics with parts, topics with a single part, and code, which has no headings") {
  const auto all = parse_hints(R"(# Hints

Words before the first.

## Banks

### A nudge

Look at the banks.

### Nearly the code

```cuda
## no topic
```

## Wider

All of it.
More of it.
)");
  REQUIRE(all.size() == 2);
  CHECK(all[0].title == "Banks");
  REQUIRE(all[0].parts.size() == 2);
  CHECK(all[0].parts[0].title == "A nudge");
  CHECK(all[0].parts[0].lines == std::vector<std::string>{"Look at the banks."});
  CHECK(all[0].parts[1].lines == std::vector<std::string>{"```cuda", "## no topic", "```"});
  REQUIRE(all[1].parts.size() == 1);
  CHECK(all[1].parts[0].title.empty());
  CHECK(all[1].parts[0].lines == std::vector<std::string>{"All of it.", "More of it."});
  CHECK(find_hint(all, "Wider") == 2);
  CHECK(find_hint(all, "wider") == 0);
  CHECK(parse_hints("nothing").empty());
}
