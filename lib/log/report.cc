#include "log/report.h"

#include <cmath>

#include "log/graph.h"
#include "log/run_summary.h"
#include "log/series.h"
#include "log/summary.h"

namespace gt {
namespace {

using Kind = ReportOptions::Kind;

class Reporter {
 public:
  Reporter(const std::vector<std::string>& paths, const ReportOptions& options,
           const Selection* selection, Writer& out, const Say& say)
      : options_(options),
        selection_(selection),
        out_(out),
        say_(say),
        input_(paths, say, nullptr) {}

  Exit run() {
    input_.refuse_empty_pipe();
    switch (options_.kind) {
      case Kind::kNone:
        break;
      case Kind::kSummary:
      case Kind::kSummaryTsv:
        summary();
        break;
      case Kind::kDot:
        dot();
        break;
      case Kind::kTimelineSvg:
      case Kind::kTimelineChrome:
        timeline();
        break;
      case Kind::kPlotSvg:
      case Kind::kPlotText:
        plot();
    }
    return worst(input_.status(), status_);
  }

 private:
  bool next_instruction() {
    while (out_.ok() && input_.next()) {
      if (input_.kind() == Input::Kind::kInstruction) return true;
    }
    return false;
  }

  bool is_log_row() const {
    return input_.form() == Input::Form::kLog &&
           input_.kind() != Input::Kind::kHeader;
  }

  void summary() {
    Summary summary(selection_);
    RunSummary run;
    while (out_.ok() && input_.next()) {
      if (is_log_row() && selection_ == nullptr) run.take(input_.log_row());
      if (input_.kind() == Input::Kind::kInstruction) summary.take(input_);
    }
    const bool tsv = options_.kind == Kind::kSummaryTsv;
    out_.write(tsv ? summary.tsv() : summary.text());
    if (run.is_run()) out_.write(tsv ? run.tsv() : run.text());
  }

  void dot() {
    Graph graph(selection_, out_);
    while (next_instruction()) graph.take(input_);
    graph.finish();
  }

  void timeline() {
    Timeline timeline(selection_, options_.timeline);
    bool is_other = false;
    while (out_.ok() && input_.next()) {
      if (is_log_row()) timeline.take(input_.log_row());
      if (timeline.is_run() && selection_ != nullptr) {
        input_.complain("filters choose lines of a trace, not of a run's log",
                        Exit::kUsage);
        return;
      }
      if (input_.kind() != Input::Kind::kInstruction) continue;
      if (input_.form() == Input::Form::kTrace) {
        timeline.take(input_);
      } else if (!is_other && !(is_log_row() && timeline.is_run())) {
        input_.complain("not a trace; gt-work --trace FILE makes one",
                        Exit::kRejected);
        is_other = true;
      }
    }
    timeline.finish();
    if (timeline.left_out() > 0) {
      say_("gt-log: " + std::to_string(timeline.left_out()) +
           " rows beyond the first " + std::to_string(Timeline::kMaxEvents) +
           " are left out; --from and --to choose others\n");
    }
    if (options_.kind == Kind::kTimelineSvg) {
      out_.write(timeline_svg(timeline));
    } else {
      write_chrome_trace(timeline, out_);
    }
  }

  void plot() {
    SeriesSet series(options_.plot);
    while (next_instruction()) series.take(input_);
    bool any = false;
    for (const Series& one : series.all()) {
      any = any || one.steps() > 0;
      if (one.steps() > 0) continue;
      say_("gt-log: --plot: no '" + one.name() + "' in the results" +
           those_there_are(series) + "\n");
      status_ = Exit::kFailed;
    }
    if (options_.plot_look.log_scale) any = has_logarithms(series);
    if (!any) return;
    out_.write(options_.kind == Kind::kPlotSvg
                   ? plot_svg(series.all(), options_.plot_look)
                   : plot_text(series.all(), options_.plot_look));
  }

  // Whether anything is left to draw.
  bool has_logarithms(const SeriesSet& series) {
    bool any = false;
    for (const Series& one : series.all()) {
      if (one.steps() == 0) continue;
      const bool some = std::isfinite(one.least_positive());
      any = any || some;
      if (some) continue;
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

  const ReportOptions& options_;
  const Selection* selection_;
  Writer& out_;
  const Say& say_;
  Input input_;
  Exit status_ = Exit::kDone;
};

}  // namespace

Exit report(const std::vector<std::string>& paths, const ReportOptions& options,
            const Selection* selection, Writer& out, const Say& say) {
  return Reporter(paths, options, selection, out, say).run();
}

}  // namespace gt
