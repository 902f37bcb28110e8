// What a worker has used and done so far, as it tells gt-route while somebody
// watches. It is the body of a message `state`, in records (record.h):
//
//     use time= busy= waited= lines= memory= peak= in= out= exchanges=
//     exchanging= op name= count= ns=
//
// All numbers except `memory` only grow while the worker lives. Those of ops
// count from when the worker was first watched, the others from when it was
// attached.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/record.h"

namespace gt::net {

// What the instructions of one op have used.
struct OpUsed {
  std::string op;
  uint64_t count = 0;  // instructions
  uint64_t ns = 0;     // time that they took
};

// What a worker has used.
struct Used {
  uint64_t time = 0;        // ns since the worker was attached, by its clock
  uint64_t busy = 0;        // ns in which compute ran
  uint64_t waited = 0;      // ns in which compute waited for other workers
  uint64_t lines = 0;       // instructions that compute has run
  uint64_t memory = 0;      // bytes of values, now
  uint64_t peak = 0;        // the most bytes of values so far
  uint64_t in = 0;          // bytes that exchanges read from other workers
  uint64_t out = 0;         // bytes that others could read from this worker
  uint64_t exchanges = 0;   // exchanges that have ended
  uint64_t exchanging = 0;  // ns they took, from each one's first input on
  uint64_t cpu = 0;         // ns of the process on all cores
  uint64_t resident = 0;    // bytes of memory of the process; 0: not known
  std::vector<OpUsed> ops;
};

// The most bytes of a body.
inline constexpr size_t kMaxUsed = size_t{64} << 10;

// Appends a body: the record of what was used, and those of ops.
void append_used(std::string& body, const Used& used);
// Append one of these records, with a field worker= if `worker` is set.
void append_use(std::string& body, const Used& used,
                std::optional<uint32_t> worker = {});
void append_op(std::string& body, const OpUsed& op,
               std::optional<uint32_t> worker = {});
// Parses a body. Errors: a record is malformed or lacks a number, or the body
// is longer than kMaxUsed.
Result<Used> parse_used(std::string_view body);
// Adds the contents of a `use` or `op` record to `used`; other records are
// skipped. Error: the record lacks a number.
Status take_used(const Record& record, Used& used);

}  // namespace gt::net
