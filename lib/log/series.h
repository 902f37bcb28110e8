// Printed scalars over steps, out of a stream of results: what gt-log --plot
// draws. Of a long series neighbours are joined, so that memory stays small.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "log/input.h"

namespace gt::log {

// Neighbouring steps: their range and mean; of those that have a number.
struct Bin {
  double low = INFINITY;
  double high = -INFINITY;
  double sum = 0;
  uint64_t count = 0;
  uint64_t step = 0;    // of the first number
  bool breaks = false;  // a step without a number is among them
  bool empty() const { return count == 0; }
  double mean() const { return sum / static_cast<double>(count); }
};

// A step without a place on the axis: nan, inf, -inf or fail.
struct Mark {
  enum class Kind : uint8_t { kNan, kInf, kMinusInf, kFail };
  uint64_t step;
  Kind kind;
};

class Series {
 public:
  static constexpr size_t kMaxBins = 4096;  // even
  static constexpr size_t kMaxMarks = 1024;

  // `scale`: those of one number may be drawn over one axis of their own.
  explicit Series(std::string name, size_t scale = 0)
      : name_(std::move(name)), scale_(scale) {}

  // The value at a step, from 1, that is no earlier than the last one.
  void add(uint64_t step, double value);
  void add_failure(uint64_t step) { mark(step, Mark::Kind::kFail); }

  const std::string& name() const { return name_; }
  size_t scale() const { return scale_; }
  uint64_t steps() const { return steps_; }    // the last one
  uint64_t prints() const { return prints_; }  // that it was printed
  // Some bins stand for more than one number.
  bool is_joined() const { return is_joined_; }
  // Where a bin's mean stands.
  double middle(const Bin& bin) const;
  const std::vector<Bin>& bins() const { return bins_; }
  const std::vector<Mark>& marks() const { return marks_; }
  uint64_t unmarked() const { return unmarked_; }  // marks beyond kMaxMarks
  // The range of the numbers; low > high when there is none.
  double low() const { return all_.low; }
  double high() const { return all_.high; }
  double last() const { return last_; }
  double least_positive() const { return least_positive_; }

 private:
  void mark(uint64_t step, Mark::Kind kind);
  Bin& bin_of(uint64_t step);

  std::string name_;
  size_t scale_;
  uint64_t steps_ = 0;
  uint64_t prints_ = 0;
  uint64_t width_ = 1;  // steps of a bin
  bool is_joined_ = false;
  std::vector<Bin> bins_;
  std::vector<Mark> marks_;
  uint64_t unmarked_ = 0;
  Bin all_;
  double last_ = NAN;
  double least_positive_ = INFINITY;
};

// The series of the names in each of the files. A step of a file ends where a
// name that it has is printed again, so a name that is printed less often than
// others, or after them, stands where it was printed.
class SeriesSet {
 public:
  // `names` with commas; `files` as they are read, or none: one.
  SeriesSet(std::string_view names, const std::vector<std::string>& files);

  // Takes the line at hand; what is not about one of the names is passed over.
  void take(Input& input);

  // File by file, with the names of each in order.
  const std::vector<Series>& all() const { return all_; }
  const std::vector<std::string>& names() const { return names_; }
  // Some names that were printed though nobody asked for them, for a message.
  const std::vector<std::string>& others() const { return others_; }

 private:
  struct Steps {
    uint64_t now = 0;
    std::vector<bool> has;  // by name: the step has it
  };
  void note_other(std::string_view name);
  uint64_t step_of(size_t file, size_t name);

  std::vector<std::string> names_;
  std::vector<Series> all_;
  std::vector<Steps> steps_;  // by file
  std::vector<std::string> others_;
  std::vector<bool> told_;  // by series: it is no scalar
};

}  // namespace gt::log
