// gt-log --summary: how many lines of each op and signal, what they move and
// compute, and how long they took.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "log/input.h"
#include "log/select.h"
#include "log/typing.h"

namespace gt::log {

class Summary {
 public:
  // `selection` may be null: all lines count.
  explicit Summary(const Selection* selection) : selection_(selection) {}

  // Takes the instruction at hand; all of a stream's, in order.
  void take(const Input& input);

  // Tables of ops, of signals and of what each worker ran, for people; or one
  // with tabs.
  std::string text() const;
  std::string tsv() const;

 private:
  struct Total {
    uint64_t lines = 0;
    uint64_t untyped = 0;
    double bytes = 0;
    double flops = 0;
    double nanoseconds = 0;
  };
  using Totals =
      std::unordered_map<std::string, Total, TextHash, std::equal_to<>>;
  using Rows = std::vector<std::pair<std::string_view, Total>>;
  static constexpr size_t kMaxRows = size_t{1} << 16;

  void add(std::string_view op, std::string_view signal, const Total& one);
  static void add_to(Totals& totals, std::string_view name, const Total& one);
  Rows sorted(const Totals& totals) const;
  void append_table(std::string& out, const char* what, const Totals& totals,
                    bool with_total) const;

  const Selection* selection_;
  Typing typing_;
  Totals ops_, signals_;
  Totals workers_;  // ops of each worker: "0 matmul"
  Total all_;
  bool timed_ = false;
  Line line_;
  std::string signal_;
};

}  // namespace gt::log
