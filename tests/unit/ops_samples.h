// Calls of every op, for tests that go through the table, and helpers to bind
// text.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ops/call.h"
#include "stream/line.h"

namespace gt {

using TypeMap = std::map<std::string, Type, std::less<>>;

// Parses types, as "x f32[2,3] s i64[]".
TypeMap parse_types(std::string_view text);

// A bound line, with everything that its views need.
class Bound {
 public:
  // If a name in `names` has no type, the call is not bound and status() is an
  // error.
  Bound(std::string text, const TypeMap& names);
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;

  const Status& status() const { return status_; }
  std::string message() const { return status_.ok() ? "" : error().message; }
  const Error& error() const { return status_.error(); }
  const Line& line() const { return line_; }
  Call& call() { return call_; }
  // The types of the results, as "f32[2] i64[2]".
  std::string types() const;

 private:
  std::string text_;
  Line line_;
  std::vector<Type> operand_types_;
  Call call_;
  Status status_ = ok_status();
};

struct Sample {
  std::string line;
  std::string types;    // of its operands
  std::string results;  // "" for tests/ops.tsv, which says none
};

// Each op that can be bound, at least once: the lines of tests/ops.tsv, and
// handwritten ones with keys, sizes 0 and 1, numbers as operands, and negative
// axes.
const std::vector<Sample>& samples();

}  // namespace gt
