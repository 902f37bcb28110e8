// Draws a timeline as one SVG picture: a lane for each rank and queue, with
// time to the right. Events narrower than a pixel are drawn together with their
// neighbours, so that the size of the picture does not grow with the trace.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "log/axis.h"
#include "log/escape.h"
#include "log/timeline.h"
#include "log/timeline_colors.h"

namespace gt::log {
namespace {

using Event = Timeline::Event;

constexpr double kWidth = 1200;
constexpr double kRight = 20;
constexpr double kTop = 64;
constexpr double kBand = 13;  // height of the signals under a lane
constexpr double kGap = 10;
constexpr size_t kMaxTransfers = 2000;  // with more, they would be a grey field
constexpr double kNarrow = 1;           // pixels
constexpr double kLetter = 6.2;         // approximate width of a letter
constexpr size_t kMaxRows = 400;        // the most lanes that are drawn

// Events that are drawn as one box.
struct Box {
  uint64_t start = 0;
  uint64_t end = 0;
  std::vector<uint32_t> events;
};

class Picture {
 public:
  explicit Picture(const Timeline& timeline)
      : timeline_(timeline), colors_(timeline) {
    size_t longest = 0;
    for (const Timeline::Lane& lane : timeline.lanes()) {
      longest = std::max(longest, lane_name(lane).size());
    }
    left_ =
        std::clamp(24 + kLetter * static_cast<double>(longest), 60.0, 220.0);
    scale_ =
        (kWidth - left_ - kRight) / static_cast<double>(std::max<uint64_t>(
                                        timeline.end() - timeline.begin(), 1));
  }

  std::string draw() {
    lanes_ = std::min(timeline_.lanes().size(), kMaxRows);
    lane_ = lanes_ <= 4 ? 44 : 28;
    band_ = std::any_of(timeline_.events().begin(), timeline_.events().end(),
                        [this](const Event& event) {
                          return !timeline_.word(event.signal).empty();
                        })
                ? kBand
                : 0;
    const double bottom = kTop + static_cast<double>(lanes_) * pitch();
    std::string body = axis(bottom);
    for (size_t i = 0; i < lanes_; ++i) body += background(i);
    if (timeline_.has_workers()) body += transfers();
    for (size_t i = 0; i < lanes_; ++i) body += lane(i);
    body += legend(bottom + 34);
    height_ = legend_end_ + 14;
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" "
               "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
               "font-family=\"Helvetica, Arial, sans-serif\" "
               "font-size=\"11\">\n"
               "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
               kWidth, height_) +
           title() + body + "</svg>\n";
  }

 private:
  double pitch() const { return lane_ + band_ + kGap; }
  double x_of(uint64_t time) const {
    const auto since = static_cast<double>(
        std::clamp(time, timeline_.begin(), timeline_.end()) -
        timeline_.begin());
    return left_ + since * scale_;
  }

  std::string lane_name(const Timeline::Lane& lane) const {
    const std::string owner = timeline_.owner(lane);
    return owner.empty() ? lane.queue : owner + " " + lane.queue;
  }

  // Returns a time such as "12 us" with the sign for micro.
  static std::string micro(std::string text) {
    if (text.ends_with(" us")) text.replace(text.size() - 2, 1, "\xc2\xb5");
    return text;
  }

  std::string title() const {
    const auto span = static_cast<double>(timeline_.end() - timeline_.begin());
    const std::string& given = timeline_.options().title;
    std::string out = fmt::format(
        "<text x=\"{:.0f}\" y=\"24\" font-size=\"15\" font-weight=\"bold\" "
        "fill=\"#1f2933\">{}</text>\n",
        left_, xml_text(given.empty() ? "What ran and when" : given));
    std::string note = fmt::format("{} instructions in {}", timeline_.rows(),
                                   micro(time_text(span)));
    const auto add_left_out = [&note](size_t count, const char* what) {
      if (count > 0) note += fmt::format("; {} {} left out", count, what);
    };
    add_left_out(timeline_.left_out(), "more are");
    add_left_out(timeline_.lanes().size() - lanes_, "more lanes are");
    out +=
        fmt::format("<text x=\"{:.0f}\" y=\"42\" fill=\"#52606d\">{}</text>\n",
                    left_, note);
    return out;
  }

  std::string axis(double bottom) const {
    const auto begin = static_cast<double>(timeline_.begin());
    const auto end = static_cast<double>(timeline_.end());
    const double unit = end - begin < 2e3   ? 1
                        : end - begin < 2e6 ? 1e3
                        : end - begin < 2e9 ? 1e6
                                            : 1e9;
    const char* name = unit == 1     ? "ns"
                       : unit == 1e3 ? "\xc2\xb5s"
                       : unit == 1e6 ? "ms"
                                     : "s";
    int digits = 0;
    std::string out;
    for (const double tick : ticks(begin / unit, end / unit, 10, digits)) {
      const double x = left_ + (tick * unit - begin) * scale_;
      out += fmt::format(
          "<line x1=\"{0:.1f}\" y1=\"{1:.0f}\" x2=\"{0:.1f}\" y2=\"{2:.0f}\" "
          "stroke=\"#e4e7eb\"/>\n"
          "<text x=\"{0:.1f}\" y=\"{3:.0f}\" text-anchor=\"middle\" "
          "fill=\"#52606d\">{4:.{5}f} {6}</text>\n",
          x, kTop - 6, bottom, bottom + 14, tick, digits, name);
    }
    return out;
  }

  double top_of(size_t lane) const {
    return kTop + static_cast<double>(lane) * pitch();
  }

  // Draws a lane's name and background.
  std::string background(size_t i) const {
    const Timeline::Lane& lane = timeline_.lanes()[i];
    const double y = top_of(i);
    const auto span = static_cast<double>(timeline_.end() - timeline_.begin());
    std::string out = fmt::format(
        "<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\" "
        "fill=\"#1f2933\">{}</text>\n"
        "<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\" font-size=\"9\" "
        "fill=\"#7b8794\">{} % busy</text>\n",
        left_ - 8, y + lane_ / 2 - 1, xml_text(lane_name(lane)), left_ - 8,
        y + lane_ / 2 + 10,
        decimal(span > 0 ? 100 * static_cast<double>(lane.busy) / span : 0, 0));
    out += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" "
        "fill=\"#f5f7fa\"/>\n",
        left_, y, kWidth - left_ - kRight, lane_);
    return out;
  }

  std::string lane(size_t i) const {
    const Timeline::Lane& lane = timeline_.lanes()[i];
    const double y = top_of(i);
    std::string out;
    Box box;
    for (const uint32_t e : lane.events) {
      const Event& event = timeline_.events()[e];
      const bool narrow =
          static_cast<double>(event.length()) * scale_ < kNarrow;
      // A box takes narrow events until it is a pixel wide.
      const bool fits =
          !box.events.empty() && narrow &&
          static_cast<double>(event.end - box.start) * scale_ < 2 * kNarrow;
      if (!fits) {
        append_box(out, box, y);
        box = Box{event.start, event.end, {}};
      }
      box.end = event.end;
      box.events.push_back(e);
      if (!narrow) {
        append_box(out, box, y);
        box = Box{};
      }
    }
    append_box(out, box, y);
    append_signals(out, lane, y + lane_ + 2);
    return out;
  }

  // Draws the transfers, from the worker that made a value to the one that
  // reads it, as thin curves from lane to lane under the events.
  std::string transfers() const {
    std::string out =
        "<g fill=\"none\" stroke=\"#3a6ea5\" "
        "stroke-opacity=\"0.35\" stroke-width=\"0.8\">\n";
    size_t drawn = 0;
    for (const Timeline::Flow& flow : timeline_.flows()) {
      const Event& from = timeline_.events()[flow.from];
      const Event& to = timeline_.events()[flow.to];
      if (from.lane >= lanes_ || to.lane >= lanes_) continue;
      if (is_one_worker(from, to)) continue;
      if (++drawn > kMaxTransfers) break;
      const bool down = from.lane < to.lane;
      const double x0 = x_of(std::min(from.end, to.start));
      const double x1 = x_of(to.start);
      const double y0 = top_of(from.lane) + (down ? lane_ : 0);
      const double y1 = top_of(to.lane) + (down ? 0 : lane_);
      const double bend = (y1 - y0) / 2;
      out += fmt::format(
          "<path d=\"M{:.2f} {:.1f}C{:.2f} {:.1f} {:.2f} {:.1f} {:.2f} "
          "{:.1f}\">"
          "<title>{}</title></path>\n",
          x0, y0, x0, y0 + bend, x1, y1 - bend, x1, y1, tooltip(to));
    }
    return out + "</g>\n";
  }

  // A value that a worker reads from itself is no transfer.
  bool is_one_worker(const Event& a, const Event& b) const {
    return timeline_.lanes()[a.lane].rank == timeline_.lanes()[b.lane].rank;
  }

  // Draws runs of events with the same signal, if they are wide enough to be
  // seen.
  void append_signals(std::string& out, const Timeline::Lane& lane,
                      double y) const {
    for (size_t i = 0; i < lane.events.size();) {
      const Event& first = timeline_.events()[lane.events[i]];
      uint64_t end = first.end;
      for (++i; i < lane.events.size(); ++i) {
        const Event& next = timeline_.events()[lane.events[i]];
        if (next.signal != first.signal) break;
        end = next.end;
      }
      const std::string& name = timeline_.word(first.signal);
      const double x = x_of(first.start);
      const double width = x_of(end) - x;
      if (name.empty() || width < 2) continue;
      out += fmt::format(
          "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.0f}\" "
          "fill=\"#dde5ee\" stroke=\"#ffffff\" stroke-width=\"0.5\"><title>{}"
          "</title></rect>\n",
          x, y, width, kBand - 3, xml_text(name));
      if (width < 5.2 * static_cast<double>(name.size()) + 4) continue;
      out += fmt::format(
          "<text x=\"{:.2f}\" y=\"{:.1f}\" text-anchor=\"middle\" "
          "font-size=\"9\" fill=\"#3e4c59\" pointer-events=\"none\">{}"
          "</text>\n",
          x + width / 2, y + 8, xml_text(name));
    }
  }

  void append_box(std::string& out, const Box& box, double y) const {
    if (box.events.empty()) return;
    const double x = x_of(box.start);
    const double width = std::max(x_of(box.end) - x, 0.4);
    const Event& first = timeline_.events()[box.events.front()];
    uint64_t busy = 0;
    const uint32_t op = busiest_op(box, busy);
    // A box with idle time in it is drawn paler.
    const double share = box.end > box.start
                             ? static_cast<double>(busy) /
                                   static_cast<double>(box.end - box.start)
                             : 1;
    out += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.0f}\" "
        "fill=\"{}\"{}{}><title>{}</title></rect>\n",
        x, y, width, lane_, colors_.of(op),
        share < 0.95
            ? fmt::format(" fill-opacity=\"{:.2f}\"", std::max(share, 0.25))
            : "",
        width > 3 ? " stroke=\"#ffffff\" stroke-width=\"0.5\"" : "",
        box.events.size() == 1 ? tooltip(first) : tooltip(box, op));
    const std::string& name = timeline_.word(op);
    if (box.events.size() > 1 ||
        width < kLetter * static_cast<double>(name.size()) + 6) {
      return;
    }
    out += fmt::format(
        "<text x=\"{:.2f}\" y=\"{:.1f}\" text-anchor=\"middle\" "
        "fill=\"#ffffff\" pointer-events=\"none\">{}</text>\n",
        x + width / 2, y + lane_ / 2 + 4, xml_text(name));
  }

  uint32_t busiest_op(const Box& box, uint64_t& busy) const {
    std::vector<std::pair<uint32_t, uint64_t>> times;
    for (const uint32_t e : box.events) {
      const Event& event = timeline_.events()[e];
      busy += event.length();
      const auto it =
          std::find_if(times.begin(), times.end(),
                       [&](const auto& t) { return t.first == event.op; });
      if (it == times.end()) {
        times.emplace_back(event.op, event.length());
      } else {
        it->second += event.length();
      }
    }
    return std::max_element(
               times.begin(), times.end(),
               [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
  }

  std::string tooltip(const Event& event) const {
    std::string out = timeline_.word(event.text) + "\n" +
                      micro(time_text(static_cast<double>(event.length()))) +
                      " from " +
                      micro(time_text(static_cast<double>(event.start))) +
                      "; " + bytes_text(static_cast<double>(event.bytes));
    if (event.flops > 0) out += ", " + count_text(event.flops) + " flops";
    if (!timeline_.word(event.signal).empty()) {
      out += "\nsignal " + timeline_.word(event.signal);
    }
    return xml_text(out + "\n" + timeline_.word(event.at));
  }

  std::string tooltip(const Box& box, uint32_t op) const {
    return xml_text(std::to_string(box.events.size()) + " instructions in " +
                    micro(time_text(static_cast<double>(box.end - box.start))) +
                    ", most of it " + timeline_.word(op));
  }

  std::string legend(double top) {
    std::string out;
    double x = left_;
    double y = top;
    const auto entry = [&](const char* color, const std::string& text) {
      const double width = 32 + kLetter * static_cast<double>(text.size());
      if (x + width > kWidth - kRight && x > left_) {
        x = left_;
        y += 18;
      }
      out += fmt::format(
          "<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"10\" height=\"10\" "
          "fill=\"{}\"/>\n<text x=\"{:.0f}\" y=\"{:.0f}\" fill=\"#1f2933\">{}"
          "</text>\n",
          x, y, color, x + 14, y + 9, xml_text(text));
      x += width;
    };
    for (const OpColors::Entry& each : colors_.legend()) {
      entry(each.color, each.text);
    }
    legend_end_ = y + 12;
    return out;
  }

  const Timeline& timeline_;
  const OpColors colors_;
  double left_ = 0;
  double scale_ = 0;  // pixels per nanosecond
  double height_ = 0;
  double legend_end_ = 0;
  double lane_ = 0;  // height of a lane
  double band_ = 0;
  size_t lanes_ = 0;
};

}  // namespace

std::string timeline_svg(const Timeline& timeline) {
  return Picture(timeline).draw();
}

}  // namespace gt::log
