#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "log/colors.h"
#include "log/escape.h"
#include "log/plot.h"

namespace gt::log {
namespace {

constexpr double kPlotWidth = 760;
constexpr double kHeight = 420;
constexpr double kLeft = 72;
constexpr double kRightMargin = 24;  // at the right
constexpr double kAxis = 60;         // for each axis there
constexpr double kLegend = 44;       // the position of its first line
constexpr double kBottom = 46;
constexpr size_t kMostDots = 80;  // up to this many steps, each has a dot

std::string number_text(double value) { return fmt::format("{:.5g}", value); }

class PlotPicture {
 public:
  PlotPicture(const std::vector<Series>& series, const PlotOptions& options)
      : series_(series),
        options_(options),
        scales_(PlotScale::make(series, options)) {
    right_ = kPlotWidth - kRightMargin -
             kAxis * static_cast<double>(scales_.size() - 1);
  }

  std::string draw() {
    const std::string legend = this->legend();
    out_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
        "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        kPlotWidth, kHeight);
    axes();
    for (size_t i = 0; i < series_.size(); ++i) line(i);
    for (size_t i = 0; i < series_.size(); ++i) marks(series_[i], color_of(i));
    return out_ + legend + "</svg>\n";
  }

 private:
  double x_of(double step) const {
    return kLeft + scales_[0].x(step) * (right_ - kLeft);
  }
  double y_at(double y) const {
    return top_ + (1 - y) * (kHeight - top_ - kBottom);
  }
  double y_of(const Series& series, double value) const {
    return y_at(scales_[options_.own_scale ? series.scale() : 0].y(value));
  }

  void axes() {
    for (const PlotScale::Tick& tick : scales_[0].y_ticks(6)) {
      out_ += fmt::format(
          "<line x1=\"{:.0f}\" y1=\"{:.1f}\" x2=\"{:.0f}\" y2=\"{:.1f}\" "
          "stroke=\"#e4e7eb\"/>\n",
          kLeft, y_at(tick.at), right_, y_at(tick.at));
    }
    for (size_t i = 0; i < scales_.size(); ++i) values(i);
    const double bottom = kHeight - kBottom;
    for (const PlotScale::Tick& tick : scales_[0].x_ticks(8)) {
      const double x = kLeft + tick.at * (right_ - kLeft);
      out_ += fmt::format(
          "<line x1=\"{0:.1f}\" y1=\"{1:.0f}\" x2=\"{0:.1f}\" y2=\"{2:.0f}\" "
          "stroke=\"#9aa5b1\"/>\n"
          "<text x=\"{0:.1f}\" y=\"{3:.0f}\" text-anchor=\"middle\" "
          "fill=\"#52606d\">{4}</text>\n",
          x, bottom, bottom + 4, bottom + 17, tick.label);
    }
    out_ += fmt::format(
        "<line x1=\"{0:.0f}\" y1=\"{1:.0f}\" x2=\"{2:.0f}\" y2=\"{1:.0f}\" "
        "stroke=\"#9aa5b1\"/>\n"
        "<text x=\"{3:.0f}\" y=\"{4:.0f}\" text-anchor=\"middle\" "
        "fill=\"#52606d\">step</text>\n",
        kLeft, bottom, right_, (kLeft + right_) / 2, kHeight - 10);
  }

  // Writes the numbers of a scale: those of the first at the left, others at
  // the right. The axis of a single series has the colour of the series.
  void values(size_t scale) {
    const bool is_left = scale == 0;
    const double x = is_left
                         ? kLeft - 8
                         : right_ + 10 + kAxis * static_cast<double>(scale - 1);
    const char* color = color_of_scale(scale);
    for (const PlotScale::Tick& tick : scales_[scale].y_ticks(6)) {
      out_ += fmt::format(
          "<text x=\"{:.0f}\" y=\"{:.1f}\"{} fill=\"{}\">{}</text>\n", x,
          y_at(tick.at) + 4, is_left ? " text-anchor=\"end\"" : "", color,
          tick.label);
    }
  }

  const char* color_of_scale(size_t scale) const {
    const char* out = "#52606d";
    if (!options_.own_scale) return out;
    size_t count = 0;
    for (size_t i = 0; i < series_.size(); ++i) {
      if (series_[i].scale() == scale && ++count == 1) out = color_of(i);
    }
    return count == 1 ? out : "#52606d";
  }

  // Draws the values of a series, and with smoothing also the smoothed ones,
  // over the others, which are pale then.
  void line(size_t i) {
    const Series& series = series_[i];
    const bool many = series.is_joined() || series.prints() > 4 * kMostDots;
    const bool is_smooth = options_.smooth > 0;
    if (many) range(i);
    polyline(i, series.values(0), is_smooth ? 0.25 : 1);
    if (is_smooth) polyline(i, series.values(options_.smooth), 1);
    if (!many && !is_smooth && series.prints() <= kMostDots) dots(i);
  }

  void polyline(size_t i, const std::vector<double>& values, double opacity) {
    const Series& series = series_[i];
    std::string points;
    size_t count = 0;
    double single_x = 0;
    double single_y = 0;
    const auto end_run = [&] {
      if (count == 1) {
        out_ += dot(single_x, single_y, color_of(i), "");
      } else if (count > 1) {
        out_ += fmt::format(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" "
            "stroke-width=\"1.8\" stroke-linejoin=\"round\"{}/>\n",
            points, color_of(i),
            opacity < 1 ? fmt::format(" stroke-opacity=\"{}\"", opacity) : "");
      }
      points.clear();
      count = 0;
    };
    for (size_t b = 0; b < values.size(); ++b) {
      const Bin& bin = series.bins()[b];
      const double y = bin.empty() ? NAN : y_of(series, values[b]);
      if (std::isnan(y)) {
        if (bin.breaks || !bin.empty()) end_run();
        continue;
      }
      single_x = x_of(series.middle(bin));
      single_y = y;
      points += fmt::format("{}{:.1f},{:.1f}", count == 0 ? "" : " ", single_x,
                            single_y);
      ++count;
    }
    end_run();
  }

  // Draws each step as a dot, with its value as a tooltip.
  void dots(size_t i) {
    const Series& series = series_[i];
    for (const Bin& bin : series.bins()) {
      if (bin.empty() || std::isnan(y_of(series, bin.sum))) continue;
      out_ += dot(x_of(static_cast<double>(bin.step)), y_of(series, bin.sum),
                  color_of(i),
                  fmt::format("{} {}: {}", xml_text(series.name()), bin.step,
                              number_text(bin.sum)));
    }
  }

  static std::string dot(double x, double y, const char* color,
                         const std::string& title) {
    return fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.4\" fill=\"{}\">{}"
        "</circle>\n",
        x, y, color, title.empty() ? "" : "<title>" + title + "</title>");
  }

  // Draws the range of neighbouring steps as a pale band.
  void range(size_t i) {
    const Series& series = series_[i];
    const std::vector<Bin>& bins = series.bins();
    // Each group is about two pixels wide.
    const size_t group = std::max<size_t>(bins.size() / 330, 1);
    std::string upper;
    std::string lower;
    for (size_t b = 0; b < bins.size(); b += group) {
      double low = INFINITY;
      double high = -INFINITY;
      double x = NAN;
      for (size_t k = b; k < std::min(b + group, bins.size()); ++k) {
        if (bins[k].empty()) continue;
        if (std::isnan(x)) x = x_of(series.middle(bins[k]));
        low = std::min(low, bins[k].low);
        high = std::max(high, bins[k].high);
      }
      const double top = y_of(series, high);
      double bottom = y_of(series, low);
      if (std::isnan(bottom)) bottom = y_at(0);  // below a logarithm's axis
      if (low > high || std::isnan(top)) continue;
      upper += fmt::format("{:.1f},{:.1f} ", x, top);
      lower = fmt::format("{:.1f},{:.1f} ", x, bottom) + lower;
    }
    if (upper.empty()) return;
    out_ += fmt::format(
        "<polygon points=\"{}{}\" fill=\"{}\" fill-opacity=\"0.18\"/>\n", upper,
        lower, color_of(i));
  }

  void marks(const Series& series, const char* color) {
    for (const Mark& mark : series.marks()) {
      const double x = x_of(static_cast<double>(mark.step));
      const bool up = mark.kind == Mark::Kind::kInf;
      const double y = up ? top_ : kHeight - kBottom;
      const bool infinite = up || mark.kind == Mark::Kind::kMinusInf;
      const double toward = up ? 8 : -8;
      out_ += fmt::format(
          "<path d=\"{}\" fill=\"{}\" stroke=\"{}\" stroke-width=\"1.6\">"
          "<title>{} {}: {}</title></path>\n",
          infinite ? fmt::format("M{:.1f} {:.1f}l4 {:.0f}h-8z", x, y, toward)
                   : fmt::format("M{:.1f} {:.1f}l6 6m0 -6l-6 6", x - 3, y - 9),
          infinite ? color : "none",
          mark.kind == Mark::Kind::kFail ? "#c81e1e" : color,
          xml_text(series.name()), mark.step, word_of(mark.kind));
    }
  }

  // Writes the legend, in as many lines as it needs, and sets where the plot
  // begins.
  std::string legend() {
    std::string out = fmt::format(
        "<text x=\"{:.0f}\" y=\"24\" font-size=\"15\" font-weight=\"bold\" "
        "fill=\"#1f2933\">{}</text>\n",
        kLeft, xml_text(options_.title));
    double x = kLeft;
    double y = kLegend;
    for (size_t i = 0; i < series_.size(); ++i) {
      const std::string text = legend_text(series_[i]);
      const double width = 39 + 6.6 * static_cast<double>(text.size());
      if (x > kLeft && x + width > kPlotWidth) {
        x = kLeft;
        y += 17;
      }
      out += fmt::format(
          "<line x1=\"{:.0f}\" y1=\"{:.0f}\" x2=\"{:.0f}\" y2=\"{:.0f}\" "
          "stroke=\"{}\" stroke-width=\"3\"/>\n"
          "<text x=\"{:.0f}\" y=\"{:.0f}\" fill=\"#1f2933\">{}</text>\n",
          x, y - 4, x + 16, y - 4, color_of(i), x + 21, y, xml_text(text));
      x += width;
    }
    top_ = y + 14;
    return out;
  }

  static std::string legend_text(const Series& series) {
    std::string out = series.name();
    if (series.low() <= series.high()) {
      out += " " + number_text(series.last()) + " at the end";
    }
    for (const Mark::Kind kind : {Mark::Kind::kNan, Mark::Kind::kInf,
                                  Mark::Kind::kMinusInf, Mark::Kind::kFail}) {
      const auto count =
          std::count_if(series.marks().begin(), series.marks().end(),
                        [kind](const Mark& m) { return m.kind == kind; });
      if (count > 0) {
        out += ", " + std::to_string(count) + " " + word_of(kind);
      }
    }
    if (series.unmarked() > 0) {
      out += ", " + std::to_string(series.unmarked()) + " more of these";
    }
    return out;
  }

  const std::vector<Series>& series_;
  const PlotOptions& options_;
  std::vector<PlotScale> scales_;
  double right_ = 0;  // the right end of the plot
  double top_ = 0;    // the top of the plot
  std::string out_;
};

}  // namespace

std::string plot_svg(const std::vector<Series>& series,
                     const PlotOptions& options) {
  return PlotPicture(series, options).draw();
}

}  // namespace gt::log
