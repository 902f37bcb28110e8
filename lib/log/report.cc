#include "log/report.h"

#include "log/graph.h"
#include "log/run_summary.h"
#include "log/summary.h"

namespace gt::log {
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
    // No output is better than a picture of nothing.
    if (!input_.has_file()) return input_.status();
    switch (options_.kind) {
      case Kind::kNone:
        break;
      case Kind::kSummary:
      case Kind::kSummaryTsv:
        summary();
        break;
      case Kind::kRehearsal:
      case Kind::kRehearsalTsv:
        rehearsal();
        break;
      case Kind::kDot:
        dot();
        break;
      case Kind::kTimelineSvg:
      case Kind::kTimelineChrome:
        timeline();
        break;
      case Kind::kPlot:
        break;
    }
    return input_.status();
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
    Summary summary(selection_, options_.peak);
    RunSummary run;
    while (out_.ok() && input_.next()) {
      if (is_log_row() && selection_ == nullptr) run.take(input_.log_row());
      if (input_.kind() == Input::Kind::kInstruction) summary.take(input_);
    }
    const bool tsv = options_.kind == Kind::kSummaryTsv;
    out_.write(tsv ? summary.tsv() : summary.text());
    if (run.is_run()) out_.write(tsv ? run.tsv() : run.text());
    if (options_.peak > 0 && !summary.is_timed()) {
      say_(
          "gt-log: --peak: lines have no times here, so no share of it; "
          "gt-work --trace FILE writes them\n");
    }
  }

  void rehearsal() {
    Rehearsal rehearsal(options_.rehearsal);
    while (next_instruction()) rehearsal.take(input_);
    const std::string lack = rehearsal.lack();
    if (!lack.empty()) return input_.complain(lack, Exit::kRejected);
    out_.write(options_.kind == Kind::kRehearsalTsv ? rehearsal.tsv()
                                                    : rehearsal.text());
  }

  void dot() {
    Graph graph(selection_, out_);
    while (next_instruction()) graph.take(input_);
    graph.finish();
    if (!graph.is_by_scope()) return;
    say_("gt-log: --dot: " + std::to_string(graph.lines()) +
         " lines are too many for a graph, so it is one of their scopes; "
         "--signal, --name and --op choose lines\n");
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
        input_.complain(input_.form() == Input::Form::kLog
                            ? "this log says what was sent, not when it ran; "
                              "gt-work --trace "
                              "FILE or gt-route --trace FILE writes that"
                            : "not a trace; gt-work --trace FILE makes one",
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
    if (timeline.batches() > 0) {
      say_(
          "gt-log: the log of a run has times of messages; those of the "
          "instructions in a message are estimated; for measured ones draw "
          "what "
          "gt-route --trace FILE writes\n");
    }
    if (options_.kind == Kind::kTimelineSvg) {
      out_.write(timeline_svg(timeline));
    } else {
      write_chrome_trace(timeline, out_);
    }
  }

  const ReportOptions& options_;
  const Selection* selection_;
  Writer& out_;
  const Say& say_;
  Input input_;
};

}  // namespace

Exit report(const std::vector<std::string>& paths, const ReportOptions& options,
            const Selection* selection, Writer& out, const Say& say) {
  if (options.kind == Kind::kPlot) return plot(paths, options.plot, out, say);
  return Reporter(paths, options, selection, out, say).run();
}

}  // namespace gt::log
