// gt-log --plot: draws series (series.h) as a picture, or with characters.
#pragma once

#include <string>
#include <vector>

#include "log/series.h"

namespace gt::log {

struct PlotOptions {
  std::string title;  // "": none
  bool log_scale = false;
  bool own_scale = false;  // a vertical axis for each Series::scale()
};

// A whole SVG file.
std::string plot_svg(const std::vector<Series>& series,
                     const PlotOptions& options);

struct TextPlotOptions : PlotOptions {
  size_t columns = 80;
  size_t rows = 20;
  bool ascii = false;  // else braille, eight dots a character
  bool color = false;
};

// Lines for a terminal.
std::string plot_text(const std::vector<Series>& series,
                      const TextPlotOptions& options);

// The axes that both draw: their ranges, their marks, and where a value stands.
class PlotScale {
 public:
  static constexpr size_t kAll = SIZE_MAX;

  // The vertical axis is for the values of the series of one scale, or of all
  // series; the horizontal one is for the steps of all series.
  PlotScale(const std::vector<Series>& series, bool log_scale,
            size_t scale = kAll);
  // One for each scale, or one for all, as the options say.
  static std::vector<PlotScale> make(const std::vector<Series>& series,
                                     const PlotOptions& options);

  // From 0 (bottom) to 1 (top); NaN of a value that has no place on the axis.
  double y(double value) const;
  // 0 (left) to 1 (right) of a step, from 1.
  double x(double step) const;
  double step_at(double x) const;

  struct Tick {
    double at;  // as y() or x() gives
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

const char* word_of(Mark::Kind kind);  // "nan", as people are told

}  // namespace gt::log
