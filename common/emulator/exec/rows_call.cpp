// Calls and returns, and calls of the device's runtime library.
//
// idea    Names in angle brackets are not PTX: lowering makes these ops itself.
#include "common/emulator/exec/rows.hpp"
#include "common/emulator/exec/scheduler.hpp"

namespace stepwise::emulator {
namespace {

const op* call(context& x, const op* i) { return x.owner->call(i); }
const op* return_all(context& x, const op* i) { return x.owner->return_lanes(i, x.mask); }

// a: predicate, b: negated.
const op* return_if(context& x, const op* i) {
  const u32 leaving = x.mask & (x.predicate(i->a) ^ (i->b != 0 ? all_lanes : 0));
  return leaving == 0 ? i + 1 : x.owner->return_lanes(i, leaving);
}

const op* call_library(context& x, const op* i) { return x.owner->call_library(i); }

}  // namespace

void call_rows(row_table& t) {
  using enum value_class;
  t.push_back({"<call>", &call, none, none, none, none});
  t.push_back({"<return>", &return_all, none, none, none, none});
  t.push_back({"<return if>", &return_if, none, none, none, none});
  t.push_back({"<library call>", &call_library, none, none, none, none});
}

}  // namespace stepwise::emulator
