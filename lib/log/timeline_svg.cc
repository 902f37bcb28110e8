// Draws a timeline as one SVG picture: a lane for each rank and queue, with
// time to the right, from 0 at the left. Under a lane stand bands that say of
// which pass and microbatch, and of which signal, its events are. In its gaps
// stands for whom it waits. Events narrower than a pixel are drawn together
// with their neighbours, so that the size of the picture does not grow with the
// trace.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/units.h"
#include "log/axis.h"
#include "log/escape.h"
#include "log/steps.h"
#include "log/timeline.h"
#include "log/timeline_colors.h"

namespace gt::log {
namespace {

using Event = Timeline::Event;

constexpr double kWidth = 1200;
constexpr double kRight = 20;
constexpr double kTop = 64;
constexpr double kBand = 13;  // height of a band under a lane
constexpr double kGap = 10;
constexpr size_t kMaxTransfers = 2000;  // with more, they would be a grey field
constexpr double kNarrow = 1;           // pixels
constexpr double kLetter = 6.2;         // approximate width of a letter
constexpr double kSmallLetter = 5.2;    // of a band
constexpr size_t kMaxRows = 400;        // the most lanes that are drawn
constexpr const char* kWaitColor = "#f6d5d5";

// The colour of a pass in the bands: pale, since text stands on it.
const char* color_of(Pass pass) {
  switch (pass) {
    case Pass::kForward:
      return "#cfe2f3";
    case Pass::kBackward:
      return "#fbe0c3";
    case Pass::kWeight:
      return "#d3ead5";
    case Pass::kUpdate:
      return "#e5dbf0";
    case Pass::kNone:
      break;
  }
  return "#ffffff";
}

// Events that are drawn as one box.
struct Box {
  uint64_t start = 0;
  uint64_t end = 0;
  std::vector<uint32_t> events;
};

class Picture {
 public:
  explicit Picture(const Timeline& timeline)
      : timeline_(timeline), steps_(timeline), colors_(timeline) {
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
    pass_band_ = steps_.runs().empty() ? 0 : kBand;
    signal_band_ =
        std::any_of(timeline_.events().begin(), timeline_.events().end(),
                    [this](const Event& event) {
                      return !timeline_.word(event.signal).empty();
                    })
            ? kBand
            : 0;
    const double bottom = kTop + static_cast<double>(lanes_) * pitch();
    std::string body = axis(bottom);
    for (size_t i = 0; i < lanes_; ++i) body += background(i);
    if (timeline_.has_workers()) {
      choose_transfers();
      body += transfers();
    }
    body += waits();
    for (size_t i = 0; i < lanes_; ++i) body += lane(i);
    body += passes();
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
  double pitch() const { return lane_ + pass_band_ + signal_band_ + kGap; }
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
    if (timeline_.begin() > 0) {
      note +=
          fmt::format("; 0 is {} after the run's start",
                      micro(time_text(static_cast<double>(timeline_.begin()))));
    }
    if (timeline_.batches() > 0) {
      note += "; times within messages are estimated";
    }
    const auto add_left_out = [&note](size_t count, const char* what) {
      if (count > 0) note += fmt::format("; {} {} left out", count, what);
    };
    add_left_out(timeline_.left_out(), "more are");
    add_left_out(timeline_.lanes().size() - lanes_, "more lanes are");
    if (drawn_.size() < crossed_) {
      note += fmt::format("; {} of {} values that crossed are drawn",
                          drawn_.size(), crossed_);
    }
    out +=
        fmt::format("<text x=\"{:.0f}\" y=\"42\" fill=\"#52606d\">{}</text>\n",
                    left_, note);
    return out;
  }

  std::string axis(double bottom) const {
    const auto span = static_cast<double>(timeline_.end() - timeline_.begin());
    const double unit = span < 2e3   ? 1
                        : span < 2e6 ? 1e3
                        : span < 2e9 ? 1e6
                                     : 1e9;
    const char* name = unit == 1     ? "ns"
                       : unit == 1e3 ? "\xc2\xb5s"
                       : unit == 1e6 ? "ms"
                                     : "s";
    int digits = 0;
    std::string out;
    for (const double tick : ticks(0, span / unit, 10, digits)) {
      const double x = left_ + tick * unit * scale_;
      out += fmt::format(
          "<line x1=\"{0:.1f}\" y1=\"{1:.0f}\" x2=\"{0:.1f}\" y2=\"{2:.0f}\" "
          "stroke=\"#e4e7eb\"/>\n"
          "<text x=\"{0:.1f}\" y=\"{3:.0f}\" text-anchor=\"middle\" "
          "fill=\"#52606d\">{4:.{5}f} {6}</text>\n",
          x, kTop - 6, bottom, bottom + 14, tick == 0 ? 0 : tick, digits, name);
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
    append_signals(out, lane, y + lane_ + pass_band_ + 2);
    return out;
  }

  // Draws for whom lanes wait, in their gaps.
  std::string waits() const {
    std::string out;
    for (const Steps::Wait& wait : steps_.waits()) {
      const double x = x_of(wait.start);
      const double width = x_of(wait.end) - x;
      if (wait.lane >= lanes_ || width < 2) continue;
      const double y = top_of(wait.lane);
      const std::string text = steps_.label(wait);
      const bool has_worker = wait.maker != Timeline::kNobody;
      const Event& next = timeline_.events()[wait.event];
      out += fmt::format(
          "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.0f}\" "
          "fill=\"{}\"><title>{}</title></rect>\n",
          x, y + lane_ / 4, width, lane_ / 2,
          has_worker ? kWaitColor : "#e4e7eb",
          xml_text(
              text + ", " +
              micro(time_text(static_cast<double>(wait.end - wait.start))) +
              "\n" + timeline_.word(next.text)));
      const std::string brief =
          has_worker ? "for " + timeline_.lanes()[wait.maker].rank : "line";
      append_band_text(out, x, y + lane_ / 2 + 3, width, {text, brief});
    }
    return out;
  }

  // Draws which pass and microbatch the events of a lane are of.
  std::string passes() const {
    std::string out;
    for (const Steps::Run& run : steps_.runs()) {
      const double x = x_of(run.start);
      const double width = x_of(run.end) - x;
      if (run.lane >= lanes_ || width < 1) continue;
      const double y = top_of(run.lane) + lane_ + 2;
      const std::string text = steps_.label(run.pass, run.mb);
      append_band(out, x, y, width, color_of(run.pass), text);
      append_band_text(out, x, y + 8, width, {text, steps_.brief(run)});
    }
    return out;
  }

  static void append_band(std::string& out, double x, double y, double width,
                          const char* color, const std::string& title) {
    out += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.0f}\" "
        "fill=\"{}\" stroke=\"#ffffff\" stroke-width=\"0.5\"><title>{}"
        "</title></rect>\n",
        x, y, width, kBand - 3, color, xml_text(title));
  }

  // Writes the first of some texts for which there is room.
  static void append_band_text(std::string& out, double x, double y,
                               double width,
                               const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      if (width < kSmallLetter * static_cast<double>(text.size()) + 4) continue;
      out += fmt::format(
          "<text x=\"{:.2f}\" y=\"{:.1f}\" text-anchor=\"middle\" "
          "font-size=\"9\" fill=\"#3e4c59\" pointer-events=\"none\">{}"
          "</text>\n",
          x + width / 2, y, xml_text(text));
      return;
    }
  }

  // Chooses which transfers are drawn: of too many some from every part of the
  // picture, so that no part looks as if nothing crossed there.
  void choose_transfers() {
    std::vector<const Timeline::Flow*> all;
    for (const Timeline::Flow& flow : timeline_.flows()) {
      const Event& from = timeline_.events()[flow.from];
      const Event& to = timeline_.events()[flow.to];
      if (flow.is_drawn && from.lane < lanes_ && to.lane < lanes_ &&
          !is_one_worker(from, to)) {
        all.push_back(&flow);
      }
    }
    crossed_ = all.size();
    if (all.size() > kMaxTransfers) {
      std::ranges::stable_sort(all, {}, [this](const Timeline::Flow* flow) {
        return timeline_.events()[flow->to].start;
      });
    }
    const size_t count = std::min(all.size(), kMaxTransfers);
    for (size_t i = 0; i < count; ++i) {
      drawn_.push_back(all[i * all.size() / count]);
    }
  }

  // Draws the transfers, from the worker that made a value to the one that
  // reads it, as thin curves from lane to lane under the events.
  std::string transfers() const {
    std::string out =
        "<g fill=\"none\" stroke=\"#3a6ea5\" "
        "stroke-opacity=\"0.35\" stroke-width=\"0.8\">\n";
    for (const Timeline::Flow* flow : drawn_) {
      const Event& from = timeline_.events()[flow->from];
      const Event& to = timeline_.events()[flow->to];
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
      append_band(out, x, y, width, "#dde5ee", name);
      append_band_text(out, x, y + 8, width, {name});
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
    const uint64_t since =
        event.start - std::min(event.start, timeline_.begin());
    std::string out = timeline_.word(event.text) + "\n" +
                      (event.is_estimated ? "about " : "") +
                      micro(time_text(static_cast<double>(event.length()))) +
                      " from " + micro(time_text(static_cast<double>(since)));
    if (!event.is_estimated) {
      out += "; " + bytes_text(static_cast<double>(event.bytes));
    }
    if (event.flops > 0) out += ", " + count_text(event.flops) + " flops";
    const std::string pass = steps_.label(event.pass, event.mb);
    if (!pass.empty()) out += "\n" + pass;
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
    std::set<Pass> passes;
    for (const Steps::Run& run : steps_.runs()) passes.insert(run.pass);
    const bool waits = std::ranges::any_of(
        steps_.waits(),
        [](const auto& wait) { return wait.maker != Timeline::kNobody; });
    if (!passes.empty() || waits) {
      x = left_;
      y += 18;
    }
    for (const Pass pass : passes) entry(color_of(pass), word_of(pass));
    if (waits) entry(kWaitColor, "waits for another worker");
    legend_end_ = y + 12;
    return out;
  }

  const Timeline& timeline_;
  const Steps steps_;
  const OpColors colors_;
  double left_ = 0;
  double scale_ = 0;  // pixels per nanosecond
  double height_ = 0;
  double legend_end_ = 0;
  double lane_ = 0;  // height of a lane
  double pass_band_ = 0;
  double signal_band_ = 0;
  size_t lanes_ = 0;
  size_t crossed_ = 0;  // values, from worker to worker
  std::vector<const Timeline::Flow*> drawn_;
};

}  // namespace

std::string timeline_svg(const Timeline& timeline) {
  return Picture(timeline).draw();
}

}  // namespace gt::log
