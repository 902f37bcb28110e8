// Series: what gt-log --plot draws: the numbers that a program printed under
// some names, over its steps, read from a stream of results. In a long series
// neighbouring steps are joined, so that memory stays small.
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

// Neighbouring steps: the range and the sum of the values that are numbers.
struct Bin {
  double low = INFINITY;
  double high = -INFINITY;
  double sum = 0;
  uint64_t count = 0;   // how many numbers
  uint64_t step = 0;    // the step of the first number
  bool breaks = false;  // one of the steps has no number
  bool empty() const { return count == 0; }
  double mean() const { return sum / static_cast<double>(count); }
};

// A step whose value has no place on the axis: nan, inf, -inf or a failure.
struct Mark {
  enum class Kind : uint8_t { kNan, kInf, kMinusInf, kFail };
  uint64_t step;
  Kind kind;
};

class Series {
 public:
  static constexpr size_t kMaxBins = 4096;  // even
  static constexpr size_t kMaxMarks = 1024;

  // Series with the same `scale` share an axis if each scale has one
  // (PlotOptions::own_scale).
  explicit Series(std::string name, size_t scale = 0)
      : name_(std::move(name)), scale_(scale) {}

  // Adds the value at a step. Steps count from 1, and must not decrease.
  void add(uint64_t step, double value);
  void add_failure(uint64_t step) { mark(step, Mark::Kind::kFail); }

  const std::string& name() const { return name_; }
  size_t scale() const { return scale_; }
  uint64_t steps() const { return steps_; }    // the last one
  uint64_t prints() const { return prints_; }  // how often it was printed
  // True if some bins stand for more than one number.
  bool is_joined() const { return is_joined_; }
  // Returns the step at which a bin's mean is drawn.
  double middle(const Bin& bin) const;
  const std::vector<Bin>& bins() const { return bins_; }
  // Returns what is drawn at each bin: its mean, NaN if it is empty; with
  // `smooth`, from 0 to below 1, the weighted mean of all numbers up to it, in
  // which a number weighs `smooth` times as much as the next one.
  std::vector<double> values(double smooth) const;
  const std::vector<Mark>& marks() const { return marks_; }
  uint64_t unmarked() const { return unmarked_; }  // marks beyond kMaxMarks
  // low() and high() are the range of the numbers; low > high if there is none.
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
  uint64_t width_ = 1;  // the number of steps in a bin
  bool is_joined_ = false;
  std::vector<Bin> bins_;
  std::vector<Mark> marks_;
  uint64_t unmarked_ = 0;
  Bin all_;
  double last_ = NAN;
  double least_positive_ = INFINITY;
};

// The series of each name in each file. A new step of a file begins when a name
// is printed again that was already printed in this step; so a name that is
// printed less often than others has values at the steps at which it was
// printed.
class SeriesSet {
 public:
  // `names` are separated by commas. `files` are the names of the files in the
  // order in which they are read; if there are none, there is one file without
  // a name.
  SeriesSet(std::string_view names, const std::vector<std::string>& files);

  // Takes the line that the input is at, if it is a result under one of the
  // names. If it is not a single number, that is reported, once for each
  // series.
  void take(Input& input);

  // Returns the series file by file, those of a file in the order of the names.
  const std::vector<Series>& all() const { return all_; }
  const std::vector<std::string>& names() const { return names_; }
  // Returns some names that were printed but not asked for, for a message.
  const std::vector<std::string>& others() const { return others_; }

 private:
  struct Steps {
    uint64_t now = 0;
    std::vector<bool> has;  // indexed by name: the step has a value
  };
  void note_other(std::string_view name);
  uint64_t step_of(size_t file, size_t name);

  std::vector<std::string> names_;
  std::vector<Series> all_;
  std::vector<Steps> steps_;  // indexed by file
  std::vector<std::string> others_;
  std::vector<bool> told_;  // indexed by series: reported to be no scalar
};

}  // namespace gt::log
