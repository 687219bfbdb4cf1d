// Tests the JSON of a program's requests.
#include "common/report/timeline.hpp"

#include <doctest/doctest.h>

using namespace stepwise;

TEST_CASE("the requests are written as JSON and read back without loss") {
  asked_list list;
  list.dropped = 3;
  asked& k = list.all.emplace_back();
  k.what = asked::kind::kernel;
  k.call = 7;
  k.name = "cudaLaunchKernel";
  k.stream = 4;
  k.non_blocking = true;
  k.kernel = "_Z1kv";
  k.grid = {2, 3, 4};
  k.block = {32, 1, 1};
  k.dynamic_shared_bytes = 1024;
  asked& c = list.all.emplace_back();
  c.what = asked::kind::copy_to_host;
  c.bytes = 4096;
  c.pageable = true;
  c.event = 9;
  const std::string text = asked_json(list);
  CHECK(text.find('\n') == std::string::npos);
  const auto read = parse_asked(text);
  REQUIRE(read);
  CHECK(asked_json(*read) == text);
  CHECK(read->dropped == 3);
  CHECK(read->all.at(0).what == asked::kind::kernel);
  CHECK(read->all.at(0).grid.z == 4);
  CHECK(read->all.at(0).non_blocking);
  CHECK(read->all.at(1).pageable);
  CHECK(read->all.at(1).bytes == 4096);
  CHECK(!parse_asked(text.substr(0, 60)));
  CHECK(!parse_asked("{\"asked\": [{\"what\": \"nothing\"}], \"dropped\": 0}"));
  CHECK(!parse_asked("[]"));
}
