// gt-log --summary: counts the lines of each op and of each signal, the bytes
// that they read and write and the operations that they take; for a trace, also
// how long they took, and how long GPUs had nothing to do.
#pragma once

#include <map>
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
  // If `selection` is null, all lines count. `peak` is the number of operations
  // per second that the device could do, to which shares refer; 0: no shares
  // are written.
  explicit Summary(const Selection* selection, double peak = 0)
      : selection_(selection), peak_(peak) {}
  // True if lines had times, as those of a trace do.
  bool is_timed() const { return timed_; }

  // Takes the instruction that the input is at. To be called for all
  // instructions of a stream, in order, since types follow from the lines
  // before.
  void take(const Input& input);

  // text() is for people: a table of ops, one of signals, one of what each
  // worker ran, and one of GPUs. tsv() (--tsv) has all of it in one table, with
  // tabs and a header.
  std::string text() const;
  std::string tsv() const;

 private:
  struct Total {
    uint64_t lines = 0;
    uint64_t untyped = 0;  // lines whose types do not follow from the text
    double bytes = 0;
    double flops = 0;
    double nanoseconds = 0;
  };
  // The rows of a worker's queue gpu, whether selected or not; they do not
  // overlap.
  struct Gpu {
    uint64_t lines = 0;
    uint64_t first = 0;  // start of the first one
    uint64_t last = 0;
    double busy = 0;  // nanoseconds, as all times
    double idle() const { return static_cast<double>(last - first) - busy; }
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
  void take_gpu(const TraceRow& row);
  void append_gpus(std::string& out) const;

  const Selection* selection_;
  double peak_;
  Typing typing_;
  Totals ops_, signals_;
  Totals workers_;  // ops of each worker: "0 matmul"
  std::map<std::string, Gpu, std::less<>> gpus_;  // by worker
  Total all_;
  bool timed_ = false;
  Line line_;
  std::string signal_;
};

}  // namespace gt::log
