// The .loc records of one function, with the chain of calls that a line was inlined through.
//
// idea    A record says where its function was inlined only as "file line column"; the record of
//         that call came before, perhaps long before, as the compiler names each call once.
// watch   Two calls may stand at one position (a template that calls its next instance from one
//         line). Then the function name decides: a function that was once seen right after its
//         caller's record is taken to be called from that same function again.
// source  PTX ISA 9.0, ".loc"; the order of records as nvcc 13.0 writes them.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/ptx/ast.hpp"

namespace stepwise::ptx {

class position_list {
 public:
  explicit position_list(std::vector<source_position>& out) : out_(out) {}

  struct place {
    std::uint32_t file = 0, line = 0, column = 0;
    bool operator==(const place&) const = default;
  };

  // A record without, and one with a call that it was inlined at. Both give the record's index.
  // `directly_behind`: no instruction stands between this record and the one before.
  std::int32_t add(place at);
  std::int32_t add_inlined(place at, std::string_view function, place call, bool directly_behind);

 private:
  struct key {
    place at;
    const char* function;  // names are views into one text: equal names, equal address
    std::int32_t inlined_at;
    bool operator==(const key&) const = default;
  };
  struct hash {
    std::size_t operator()(const key& k) const;
  };

  std::int32_t record(place at, std::string_view function, std::int32_t inlined_at);
  std::int32_t caller(std::string_view function, place call, bool directly_behind);

  std::vector<source_position>& out_;
  std::int32_t last_ = -1;
  std::unordered_map<key, std::int32_t, hash> index_;  // every record, by its content
  // Latest record at a place, with the function of that record or (inlined_at = -2) of any.
  std::unordered_map<key, std::int32_t, hash> latest_;
  // By callee and place of the call: the caller's name, once a record stated it.
  std::unordered_map<key, const char*, hash> callers_;
};

}  // namespace stepwise::ptx
