#include "log/plot_report.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <thread>

#include "log/series.h"

namespace gt::log {
namespace {

using Clock = std::chrono::steady_clock;

// The least time that a picture is shown before the next one replaces it.
constexpr auto kFrame = std::chrono::milliseconds(100);
// Between two looks at files at least kLook passes, and kRest times as long as
// reading them took.
constexpr auto kLook = std::chrono::milliseconds(200);
constexpr int kRest = 10;

class PlotReport {
 public:
  PlotReport(const std::vector<std::string>& paths,
             const PlotReportOptions& options, Writer& out, const Say& say)
      : paths_(paths), options_(options), out_(out), say_(say) {}

  Exit run() {
    const bool reads_stdin =
        paths_.empty() || std::ranges::find(paths_, "-") != paths_.end();
    if (!options_.follow || reads_stdin) return read(true);
    return follow_files();
  }

 private:
  // Reads everything and draws it. If `is_last`, also reports what was not
  // found.
  Exit read(bool is_last) {
    SeriesSet series(options_.names, paths_);
    uint64_t taken = 0;
    uint64_t drawn = 0;
    Clock::time_point next{};
    const auto draw_so_far = [&] {
      if (drawn == taken) return;
      std::this_thread::sleep_until(next);
      draw(series, false);
      drawn = taken;
      next = Clock::now() + kFrame;
    };
    std::function<void()> on_idle;
    if (options_.follow && is_last) on_idle = draw_so_far;
    Input input(paths_, say_once(), on_idle);
    while (out_.ok() && input.next()) {
      if (input.kind() != Input::Kind::kInstruction) continue;
      series.take(input);
      ++taken;
    }
    if (!is_last || drawn < taken || drawn == 0) draw(series, is_last);
    return worst(input.status(), status_);
  }

  // Files are small compared to what made them, so they are read again as a
  // whole; it then makes no difference if one was begun anew.
  Exit follow_files() {
    std::vector<struct stat> before;
    for (;;) {
      const Clock::time_point begin = Clock::now();
      std::vector<struct stat> now = look();
      if (changed(before, now)) {
        const Exit status = read(false);
        if (status != Exit::kDone || !out_.ok()) return status;
        before = std::move(now);
      }
      const auto spent = Clock::now() - begin;
      std::this_thread::sleep_for(
          std::max<Clock::duration>(kLook, kRest * spent));
    }
  }

  std::vector<struct stat> look() const {
    std::vector<struct stat> out(paths_.size());
    for (size_t i = 0; i < paths_.size(); ++i) {
      (void)::stat(paths_[i].c_str(), &out[i]);
    }
    return out;
  }

  static bool changed(const std::vector<struct stat>& a,
                      const std::vector<struct stat>& b) {
    const auto same = [](const struct stat& x, const struct stat& y) {
      return x.st_size == y.st_size && x.st_ino == y.st_ino &&
             x.st_mtim.tv_sec == y.st_mtim.tv_sec &&
             x.st_mtim.tv_nsec == y.st_mtim.tv_nsec;
    };
    return !std::ranges::equal(a, b, same);
  }

  // Returns a `say` that reports an error in a file once, not each time the
  // file is read.
  Say say_once() {
    return [this](std::string_view text) {
      if (said_.emplace(text).second) say_(text);
    };
  }

  void draw(const SeriesSet& series, bool is_last) {
    bool any = false;
    for (const Series& one : series.all()) {
      any = any || one.steps() > 0;
      if (one.steps() == 0 && is_last) tell_missing(series, one);
    }
    if (options_.look.log_scale) any = has_logarithms(series, is_last);
    if (!any) return;
    PlotOptions look = options_.look;
    for (const std::string& name : series.names()) {
      if (!options_.look.title.empty()) break;
      look.title += (look.title.empty() ? "" : ", ") + name;
    }
    write(options_.as_text ? plot_text(series.all(), options_.look)
                           : plot_svg(series.all(), look));
  }

  void write(const std::string& picture) {
    if (lines_ > 0) {
      out_.write(options_.is_terminal ? fmt::format("\x1b[{}A\x1b[J", lines_)
                                      : std::string("\n"));
    }
    out_.write(picture);
    out_.flush();
    lines_ = std::ranges::count(picture, '\n');
  }

  void tell_missing(const SeriesSet& series, const Series& one) {
    const std::string& name = series.names()[one.scale()];
    std::string where = "the results";
    if (paths_.size() > 1) {
      const auto at = static_cast<size_t>(&one - series.all().data());
      where = paths_[at / series.names().size()];
    }
    say_("gt-log: --plot: no '" + name + "' in " + where +
         those_there_are(series) + "\n");
    status_ = Exit::kFailed;
  }

  // True if something is left to draw.
  bool has_logarithms(const SeriesSet& series, bool is_last) {
    bool any = false;
    for (const Series& one : series.all()) {
      if (one.steps() == 0) continue;
      const bool some = std::isfinite(one.least_positive());
      any = any || some;
      if (some || !is_last) continue;
      say_("gt-log: --log-scale: '" + one.name() +
           "' has no finite value above 0\n");
      status_ = Exit::kFailed;
    }
    return any;
  }

  static std::string those_there_are(const SeriesSet& series) {
    std::string out;
    for (const std::string& name : series.others()) {
      out += (out.empty() ? "; there are " : ", ") + name;
    }
    return out;
  }

  const std::vector<std::string>& paths_;
  const PlotReportOptions& options_;
  Writer& out_;
  const Say& say_;
  std::set<std::string, std::less<>> said_;
  std::ptrdiff_t lines_ = 0;  // lines of the picture that is shown
  Exit status_ = Exit::kDone;
};

}  // namespace

Exit plot(const std::vector<std::string>& paths,
          const PlotReportOptions& options, Writer& out, const Say& say) {
  return PlotReport(paths, options, out, say).run();
}

}  // namespace gt::log
