// A plot for a terminal: in braille, which has eight dots in a character, or in
// ASCII.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/printable.h"
#include "log/plot.h"

namespace gt::log {
namespace {

constexpr std::string_view kAsciiMarks = "*+ox#@";
// Those of the terminal's own colours that are legible on black and on white.
constexpr const char* kTerminalColors[] = {"\x1b[34m", "\x1b[33m", "\x1b[32m",
                                           "\x1b[35m", "\x1b[36m", "\x1b[31m"};
constexpr const char* kPlain = "\x1b[0m";

char letter_of(Mark::Kind kind) {
  switch (kind) {
    case Mark::Kind::kNan:
      return 'n';
    case Mark::Kind::kInf:
      return '+';
    case Mark::Kind::kMinusInf:
      return '-';
    case Mark::Kind::kFail:
      return 'F';
  }
  return '?';
}

// A grid of dots: a character has 2 by 4 of them in braille, one in ASCII.
class Canvas {
 public:
  Canvas(size_t columns, size_t rows, bool ascii)
      : ascii_(ascii),
        columns_(columns),
        rows_(rows),
        width_(ascii ? columns : 2 * columns),
        height_(ascii ? rows : 4 * rows),
        cells_(columns * rows, 0),
        owners_(columns * rows, 0) {}

  // Draws a line from (x0, y0) to (x1, y1); each is 0 to 1, from the left and
  // from below.
  void line(double x0, double y0, double x1, double y1, size_t owner) {
    const long c0 = column_of(x0);
    const long c1 = column_of(x1);
    const long r0 = row_of(y0);
    const long r1 = row_of(y1);
    const long n = std::max({std::abs(c1 - c0), std::abs(r1 - r0), 1L});
    for (long i = 0; i <= n; ++i) {
      const double t = static_cast<double>(i) / static_cast<double>(n);
      dot(std::lround(static_cast<double>(c0) +
                      t * static_cast<double>(c1 - c0)),
          std::lround(static_cast<double>(r0) +
                      t * static_cast<double>(r1 - r0)),
          owner);
    }
  }

  // Sets all dots of the character at (x, y), since a single one is hardly
  // visible.
  void block(double x, double y, size_t owner) {
    const auto across = static_cast<size_t>(column_of(x));
    const auto down = static_cast<size_t>(row_of(y));
    const size_t cell = cell_of(across, down);
    cells_[cell] = 0xff;
    owners_[cell] = owner;
  }

  // Appends a row, with the blanks at its end if it is padded.
  void append_row(std::string& out, size_t row, bool color,
                  bool is_padded) const {
    const char* last = kPlain;
    size_t blanks = 0;
    for (size_t c = 0; c < columns_; ++c) {
      const uint8_t cell = cells_[row * columns_ + c];
      const size_t owner = owners_[row * columns_ + c];
      if (cell == 0) {
        ++blanks;
        continue;
      }
      out.append(blanks, ' ');
      blanks = 0;
      const char* wanted = kTerminalColors[owner % std::size(kTerminalColors)];
      if (color && wanted != last) out += last = wanted;
      if (ascii_) {
        out += kAsciiMarks[owner % kAsciiMarks.size()];
      } else {  // U+2800 and the dots
        out += '\xe2';
        out += static_cast<char>(0xa0 | (cell >> 6));
        out += static_cast<char>(0x80 | (cell & 0x3f));
      }
    }
    if (color && last != kPlain) out += kPlain;
    if (is_padded) out.append(blanks, ' ');
  }

 private:
  long column_of(double x) const {
    return std::lround(x * static_cast<double>(width_ - 1));
  }
  long row_of(double y) const {
    return std::lround((1 - y) * static_cast<double>(height_ - 1));
  }
  size_t cell_of(size_t column, size_t row) const {
    return ascii_ ? row * columns_ + column : row / 4 * columns_ + column / 2;
  }
  void dot(long column, long row, size_t owner) {
    const auto c = static_cast<size_t>(column);
    const auto r = static_cast<size_t>(row);
    // Braille numbers its dots by columns, but the fourth row was added later.
    static constexpr uint8_t kBraille[4][2] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    const size_t cell = cell_of(c, r);
    cells_[cell] |= ascii_ ? 1 : kBraille[r % 4][c % 2];
    owners_[cell] = owner;
  }

  bool ascii_;
  size_t columns_, rows_;
  size_t width_, height_;
  std::vector<uint8_t> cells_;
  std::vector<size_t> owners_;
};

// A point without a neighbour; x and y are 0 to 1.
struct LonePoint {
  double x, y;
  size_t owner;  // index of its series
};

class TextPlot {
 public:
  TextPlot(const std::vector<Series>& series, const TextPlotOptions& options)
      : series_(series),
        options_(options),
        scales_(PlotScale::make(series, options)),
        rows_(std::max<size_t>(options.rows, 4)) {
    ticks_ = scales_[0].y_ticks(static_cast<int>(rows_ / 4));
    for (const PlotScale::Tick& tick : ticks_) {
      gutter_ = std::max(gutter_, tick.label.size());
    }
    size_t right = 0;
    if (scales_.size() > 1) {
      right_ticks_ = scales_[1].y_ticks(static_cast<int>(rows_ / 4));
      for (const PlotScale::Tick& tick : right_ticks_) {
        right = std::max(right, tick.label.size() + 2);
      }
    }
    const size_t taken = gutter_ + right + 2;
    columns_ = std::max<size_t>(options.columns, taken + 10) - taken;
  }

  std::string draw() {
    Canvas canvas(columns_, rows_, options_.ascii);
    std::vector<LonePoint> lone;
    for (size_t i = 0; i < series_.size(); ++i) put(canvas, i, lone);
    // Drawn after the lines, which would cover them.
    for (const LonePoint& p : lone) canvas.block(p.x, p.y, p.owner);
    if (!options_.title.empty()) out_ += printable(options_.title) + "\n";
    legend();
    for (size_t row = 0; row < rows_; ++row) {
      frame(row);
      canvas.append_row(out_, row, options_.color, !right_ticks_.empty());
      if (!right_ticks_.empty()) right_frame(row);
      out_ += '\n';
    }
    axis();
    marks();
    return out_;
  }

 private:
  // Draws the lines of series i between points that have neighbours, and adds
  // the other points to `lone`.
  void put(Canvas& canvas, size_t i, std::vector<LonePoint>& lone) const {
    const PlotScale& scale =
        scales_[options_.own_scale ? series_[i].scale() : 0];
    std::optional<LonePoint> last;
    bool joined = false;  // the last point is connected with the one before
    const auto end_run = [&] {
      if (last && !joined) lone.push_back(*last);
      last.reset();
      joined = false;
    };
    const std::vector<double> values = series_[i].values(options_.smooth);
    for (size_t b = 0; b < values.size(); ++b) {
      const Bin& bin = series_[i].bins()[b];
      const double y = bin.empty() ? NAN : scale.y(values[b]);
      if (std::isnan(y)) {
        if (bin.breaks || !bin.empty()) end_run();
        continue;
      }
      const double x = scale.x(series_[i].middle(bin));
      if (last) canvas.line(last->x, last->y, x, y, i);
      joined = last.has_value();
      last = {x, y, i};
    }
    end_run();
  }

  void legend() {
    for (size_t i = 0; i < series_.size(); ++i) {
      out_ += i == 0 ? "" : "   ";
      if (series_.size() > 1 || options_.color) {
        if (options_.color) {
          out_ += kTerminalColors[i % std::size(kTerminalColors)];
        }
        out_ += options_.ascii
                    ? std::string(1, kAsciiMarks[i % kAsciiMarks.size()])
                    : "\xe2\x94\x81\xe2\x94\x81";
        out_ += options_.color ? std::string(kPlain) + " " : " ";
      }
      out_ += series_[i].name();
      if (series_[i].low() > series_[i].high()) continue;
      out_ += fmt::format(" {:.5g}", series_[i].last());
      if (options_.own_scale) out_ += range_of(series_[i]);
    }
    out_ += '\n';
  }

  // The numbers at the left are those of the first name alone, those at the
  // right of the second.
  static std::string range_of(const Series& series) {
    if (series.scale() == 0) return " (left)";
    if (series.scale() == 1) return " (right)";
    return fmt::format(" ({:.5g} to {:.5g})", series.low(), series.high());
  }

  std::string label_of(const std::vector<PlotScale::Tick>& ticks,
                       size_t row) const {
    const auto height = static_cast<double>(rows_ - 1);
    std::string label;
    for (const PlotScale::Tick& tick : ticks) {
      if (std::lround((1 - tick.at) * height) == static_cast<long>(row)) {
        label = tick.label;
      }
    }
    return label;
  }

  // Writes the axis at the right, and a row's label if it has a tick.
  void right_frame(size_t row) {
    const std::string label = label_of(right_ticks_, row);
    if (options_.ascii) {
      out_ += label.empty() ? "|" : "+ " + label;
    } else {
      out_ += label.empty() ? "\u2502" : "\u251c " + label;
    }
  }

  // Writes a row's label, if it has a tick, and the axis.
  void frame(size_t row) {
    const std::string label = label_of(ticks_, row);
    out_ += std::string(gutter_ - label.size(), ' ') + label + ' ';
    if (options_.ascii) {
      out_ += label.empty() ? '|' : '+';
    } else {
      out_ += label.empty() ? "\xe2\x94\x82" : "\xe2\x94\xa4";
    }
  }

  void axis() {
    out_ += std::string(gutter_ + 1, ' ');
    std::vector<bool> has_tick(columns_);
    std::string labels(columns_ + 12, ' ');
    size_t free_from = 0;
    for (const PlotScale::Tick& tick :
         scales_[0].x_ticks(static_cast<int>(columns_ / 12))) {
      const auto at = static_cast<size_t>(
          std::lround(tick.at * static_cast<double>(columns_ - 1)));
      const size_t half = tick.label.size() / 2;
      const size_t begin = at < half ? 0 : at - half;
      if (begin < free_from) continue;
      has_tick[at] = true;
      labels.replace(begin, tick.label.size(), tick.label);
      free_from = begin + tick.label.size() + 1;
    }
    out_ += options_.ascii ? "+" : "\xe2\x94\x94";
    for (const bool tick : has_tick) {
      if (options_.ascii) {
        out_ += tick ? '+' : '-';
      } else {
        out_ += tick ? "\xe2\x94\xb4" : "\xe2\x94\x80";
      }
    }
    labels.erase(labels.find_last_not_of(' ') + 1);
    out_ += '\n' + std::string(gutter_ + 2, ' ') + labels + '\n';
  }

  // Writes the steps without a place on the axis, in a row of their own.
  void marks() {
    std::string row(columns_, ' ');
    std::string letters;
    std::string told;
    for (const Series& series : series_) {
      for (const Mark& mark : series.marks()) {
        const auto at = static_cast<size_t>(
            std::lround(scales_[0].x(static_cast<double>(mark.step)) *
                        static_cast<double>(columns_ - 1)));
        const char letter = letter_of(mark.kind);
        if (row[at] == ' ') row[at] = letter;
        if (letters.find(letter) == std::string::npos) {
          letters += letter;
          told += std::string(told.empty() ? "" : ", ") + letter + " " +
                  word_of(mark.kind);
        }
      }
    }
    if (told.empty()) return;
    row.erase(row.find_last_not_of(' ') + 1);
    out_ += std::string(gutter_ + 2, ' ') + row + '\n' +
            std::string(gutter_ + 2, ' ') + "(" + told + ")\n";
  }

  const std::vector<Series>& series_;
  const TextPlotOptions& options_;
  std::vector<PlotScale> scales_;
  size_t rows_;
  size_t columns_ = 0;
  size_t gutter_ = 0;
  std::vector<PlotScale::Tick> ticks_;
  std::vector<PlotScale::Tick> right_ticks_;  // of the second scale, if any
  std::string out_;
};

}  // namespace

std::string plot_text(const std::vector<Series>& series,
                      const TextPlotOptions& options) {
  return TextPlot(series, options).draw();
}

}  // namespace gt::log
