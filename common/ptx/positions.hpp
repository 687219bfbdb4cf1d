// The .loc records of one function, with the chain of calls through which a line was inlined.
//
// idea    A record states the place where its function was inlined only as "file line column". The
//         record of that call is somewhere before this record, because the compiler writes each
//         call once.
// watch   Two calls may have the same position, for example in a template that calls its next
//         instance. In that case, the function name decides. If a function's record once followed
//         its caller's record directly, we assume that the same function calls it again.
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

  // Add a record, without and with the call at which it was inlined. Both return the record's
  // index. `directly_after`: there is no instruction between this record and the previous one.
  std::int32_t add(place at);
  std::int32_t add_inlined(place at, std::string_view function, place call, bool directly_after);

 private:
  struct key {
    place at;
    const char* function;  // names are views into one text, so equal names have equal addresses
    std::int32_t inlined_at;
    bool operator==(const key&) const = default;
  };
  struct hash {
    std::size_t operator()(const key& k) const;
  };

  std::int32_t record(place at, std::string_view function, std::int32_t inlined_at);
  std::int32_t caller(std::string_view function, place call, bool directly_after);

  std::vector<source_position>& out_;
  std::int32_t last_ = -1;
  std::unordered_map<key, std::int32_t, hash> index_;  // every record, by its content
  // The latest record at a place, for one function or, with inlined_at = -2, for any function.
  std::unordered_map<key, std::int32_t, hash> latest_;
  // The caller's name, if a record has stated it, by callee and place of the call.
  std::unordered_map<key, const char*, hash> callers_;
};

}  // namespace stepwise::ptx
