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
  // From 0 (not) to below 1: the share that the smoothed value of a step has of
  // the one before it, see Series::values().
  double smooth = 0;
};

// Returns a whole SVG file.
std::string plot_svg(const std::vector<Series>& series,
                     const PlotOptions& options);

struct TextPlotOptions : PlotOptions {
  size_t columns = 80;
  size_t rows = 20;
  // In ASCII; else in braille, with eight dots for each character.
  bool ascii = false;
  bool color = false;
};

// Returns lines for a terminal.
std::string plot_text(const std::vector<Series>& series,
                      const TextPlotOptions& options);

// The axes of both pictures: their ranges, their marks, and the position of a
// value.
class PlotScale {
 public:
  static constexpr size_t kAll = SIZE_MAX;

  // The vertical axis is for the values of the series of one scale, or of all
  // series; the horizontal axis is for the steps of all series.
  PlotScale(const std::vector<Series>& series, bool log_scale,
            size_t scale = kAll);
  // Returns one for each scale, or one for all, as the options say.
  static std::vector<PlotScale> make(const std::vector<Series>& series,
                                     const PlotOptions& options);

  // Returns the position of a value, from 0 (bottom) to 1 (top); NaN if it has
  // no place on the axis.
  double y(double value) const;
  // Returns the position of a step, from 0 (left) to 1 (right). Steps count
  // from 1.
  double x(double step) const;

  struct Tick {
    double at;  // the position, as y() or x() returns it
    std::string label;
  };
  std::vector<Tick> y_ticks(int count) const;
  std::vector<Tick> x_ticks(int count) const;
  uint64_t steps() const { return steps_; }

 private:
  bool log_ = false;
  double low_ = 0;  // the ends of the axis; logarithms if log_
  double high_ = 1;
  uint64_t steps_ = 1;
};

const char* word_of(Mark::Kind kind);  // "nan" and so on, for people

}  // namespace gt::log
