// gt-log --plot: series as a picture, or as characters.
#pragma once

#include <string>
#include <vector>

#include "log/series.h"

namespace gt::log {

struct PlotOptions {
  std::string title;  // "": none
  bool log_scale = false;
  bool own_scale = false;  // an axis for each Series::scale()
};

std::string plot_svg(const std::vector<Series>& series,
                     const PlotOptions& options);

struct TextPlotOptions : PlotOptions {
  size_t columns = 80;
  size_t rows = 20;
  bool ascii = false;  // else braille, eight dots a character
  bool color = false;
};

std::string plot_text(const std::vector<Series>& series,
                      const TextPlotOptions& options);

// What both draw: the axes, and where a value stands on them.
class PlotScale {
 public:
  static constexpr size_t kAll = SIZE_MAX;

  // The values of the series of one scale count, or those of all; and the steps
  // of all.
  PlotScale(const std::vector<Series>& series, bool log_scale,
            size_t scale = kAll);
  // One for each scale, or one for all.
  static std::vector<PlotScale> make(const std::vector<Series>& series,
                                     const PlotOptions& options);

  // 0 (bottom) to 1 (top); of what the axis does not hold NaN.
  double y(double value) const;
  // 0 (left) to 1 (right) of a step, from 1.
  double x(double step) const;
  double step_at(double x) const;

  struct Tick {
    double at;  // as y() gives
    std::string label;
  };
  std::vector<Tick> y_ticks(int count) const;
  std::vector<Tick> x_ticks(int count) const;
  uint64_t steps() const { return steps_; }

 private:
  bool log_ = false;
  double low_ = 0;  // of the axis; logarithms if log_
  double high_ = 1;
  uint64_t steps_ = 1;
};

const char* word_of(Mark::Kind kind);  // "nan"

}  // namespace gt::log
