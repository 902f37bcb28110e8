// gt-log: reads a stream, and writes the same stream, some of its lines, or a
// report.
#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <tuple>

#include "arguments.h"
#include "base/colors.h"
#include "log/filter.h"
#include "log/report.h"
#include "log/tee.h"
#include "log/why.h"
#include "program.h"

namespace {

constexpr const char* kFooter =
    R"(Reads FILE... in order ('-' or none: standard input): streams, logs made by
-o, traces made by gt-work --trace, and for --plot results. Without options it
passes a stream on.

Commands:
  why    whom a run waits for: gt-log why --help

Exit status: 0 done; 1 nothing was printed under a name to plot; 2 usage or
local I/O; 3 a log or trace that is none; 4 the stream was cut short; the
largest of these and of the stages before. See gt-log(1), gt-log(5).

Examples:
  gt-emit model.gt | gt-log -o model.log | gt-work
  gt-emit model.gt | gt-log --op matmul --name 'w*'
  gt-emit model.gt | gt-log --summary
  gt-emit model.gt | gt-work | gt-log --plot loss > loss.svg
  gt-log why run.log)";

constexpr const char* kWhyFooter =
    R"(Reads FILE, the log that gt-route --log writes, also while it is written ('-':
standard input). A line says of each worker what it is at; the last one, whom
the run waits for in the end.
Exit status: 0 something is stalled, for a second or more; 1 nothing is;
2 usage or local I/O; 3 not such a log. See gt-log(1), gt-log(5).

Example:
  gt-log why run.log)";

struct Options {
  std::vector<std::string> files;
  std::string log;
  gt::log::SelectOptions select;
  bool summary = false;
  bool tsv = false;
  bool dot = false;
  std::string timeline;
  std::string from, to;
  std::string title;
  bool text = false;
  gt::log::ReportOptions report;
};

void add_filters(gt::Arguments& args, gt::log::SelectOptions& select) {
  args.list("--op", select.ops, "GLOB,...", "lines of these ops");
  args.list("--name", select.names, "GLOB,...",
            "lines that define or read such a name");
  args.list("--signal", select.signals, "GLOB,...",
            "lines with such a #signal");
  args.list("--rank", select.ranks, "SET",
            "lines on one of these ranks, as 0-3");
  args.list("--client", select.clients, "GLOB,...", "lines of these clients");
  args.flag("-v", select.invert, "all lines but those");
}

void add_reports(gt::Arguments& args, Options& options) {
  const auto read_machine = [&options](const std::string& text) -> std::string {
    auto machine = gt::parse_machine(text);
    if (!machine.ok()) return machine.error().message;
    options.report.rehearsal.machine = std::move(machine.value());
    return "";
  };
  const gt::Option summary =
      args.flag("--summary", options.summary,
                "lines, bytes, flops and, of a trace, time by op and signal");
  args.flag("--tsv", options.tsv,
            "the summary or rehearsal with tabs, numbers in full");
  args.positive("--peak", options.report.peak,
                "with --summary of a trace: the flops a second that the "
                "device could do, as 989e12, for a column with the share")
      .type("FLOPS")
      .needs(summary);
  const gt::Option rehearsal =
      args.read("--rehearsal", read_machine,
                "of a placed stream and the trace of its rehearsal: the "
                "predicted times of a step beside those it took")
          .type("FIGURE=NUMBER,...");
  args.text("--step", options.report.rehearsal.step,
            "what is printed at a step's end; else what is printed first")
      .type("NAME")
      .needs(rehearsal);
  args.flag("--dot", options.dot, "the program as a graph for Graphviz");
  const gt::Option timeline =
      args.text("--timeline", options.timeline,
                "a trace as a picture (svg) or for Perfetto (chrome)")
          .type("svg|chrome")
          .one_of({"svg", "chrome"});
  args.text("--from", options.from, "the timeline's beginning, as 1.5 or 20ms")
      .type("TIME")
      .needs(timeline);
  args.text("--to", options.to, "the timeline's end")
      .type("TIME")
      .needs(timeline);
  const gt::Option plot =
      args.text("--plot", options.report.plot.names,
                "printed numbers over steps, as a picture; on a terminal "
                "as characters")
          .type("NAME,...");
  args.flag("--text", options.text, "the plot as characters").needs(plot);
  args.flag("--ascii", options.report.plot.look.ascii,
            "the plot as characters that every terminal has")
      .needs(plot);
  args.flag("--log-scale", options.report.plot.look.log_scale,
            "the plot's values by their logarithms")
      .needs(plot);
  args.flag("--own-scale", options.report.plot.look.own_scale,
            "the plot with an axis for each name")
      .needs(plot);
  args.number<double>("--smooth", options.report.plot.look.smooth, 0, 0.9999,
                      "the plot's values as means in which a number weighs "
                      "so many times as much as the next, as 0.9")
      .type("WEIGHT")
      .needs(plot);
  args.flag("-f,--follow", options.report.plot.follow,
            "draw the plot again as its input grows; as characters")
      .needs(plot);
  args.text("--title", options.title, "what to write over a picture");
}

void add_options(gt::Arguments& args, Options& options) {
  args.files("FILE", options.files, "what to read, '-' for standard input");
  args.text("-o", options.log,
            "pass the stream on and write a log of it to FILE")
      .type("FILE");
  add_filters(args, options.select);
  add_reports(args, options);
}

// Parses "1.5" (seconds) or "20ms".
bool parse_time(const std::string& text, uint64_t& nanoseconds) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [next, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || !(value >= 0)) return false;
  const std::string unit(next, end);
  const double factor = unit.empty() || unit == "s" ? 1e9
                        : unit == "ms"              ? 1e6
                        : unit == "us"              ? 1e3
                        : unit == "ns"              ? 1
                                                    : 0;
  if (factor == 0 || value * factor > 9e18) return false;
  nanoseconds = static_cast<uint64_t>(value * factor);
  return true;
}

// True if the terminal supports UTF-8, by the locale's name.
bool has_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    return std::strstr(value, "UTF-8") != nullptr ||
           std::strstr(value, "utf8") != nullptr;
  }
  return false;
}

void fit_to_terminal(gt::log::TextPlotOptions& look) {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return;
  if (size.ws_col > 0) look.columns = size.ws_col;
  // Leaves room for axes, names and the prompt.
  if (size.ws_row > 0) look.rows = std::clamp(size.ws_row - 6, 6, 24);
}

// Returns what is wrong with options that need or exclude each other; "" if
// nothing is.
std::string wrong_combination(const gt::Arguments& args,
                              const Options& options) {
  std::string jobs;
  for (const char* name :
       {"-o", "--summary", "--rehearsal", "--dot", "--timeline", "--plot"}) {
    if (!args.has(name)) continue;
    if (!jobs.empty()) {
      return jobs + " and " + name + " are two jobs; run gt-log once for each";
    }
    jobs = name;
  }
  if (jobs == "-o" && options.log.empty()) return "-o: '' is no file's name";
  const std::string& plotted = options.report.plot.names;
  if (jobs == "--plot" && plotted.find_first_not_of(',') == plotted.npos) {
    return "--plot: '" + plotted + "' names nothing";
  }
  if (options.tsv && jobs != "--summary" && jobs != "--rehearsal") {
    return "--tsv needs --summary or --rehearsal";
  }
  const bool is_of_all = jobs == "-o" || jobs == "--plot";
  if (options.select.any() && (is_of_all || jobs == "--rehearsal")) {
    return jobs + " and filters are two jobs" +
           (is_of_all ? "; put one gt-log after another" : "");
  }
  if (options.select.invert && !options.select.any()) {
    return "-v needs a filter such as --op";
  }
  if (!options.title.empty() && jobs != "--timeline" && jobs != "--plot") {
    return "--title needs --timeline or --plot";
  }
  if (!options.title.empty() && options.timeline == "chrome") {
    return "--title is written over a picture; --timeline chrome is none";
  }
  return "";
}

// Returns what is wrong with --from and --to; "" if nothing is.
std::string read_times(const gt::Arguments& args, const Options& options,
                       gt::log::TimelineOptions& timeline) {
  for (const auto& [name, text, time] :
       {std::tuple{"--from", &options.from, &timeline.from},
        std::tuple{"--to", &options.to, &timeline.to}}) {
    if (args.has(name) && !parse_time(*text, *time)) {
      return std::string(name) + ": '" + *text +
             "' is not a time such as 1.5 or 20ms";
    }
  }
  return timeline.from >= timeline.to ? "--to is not after --from" : "";
}

void prepare_plot(const Options& options, gt::log::PlotReportOptions& plot) {
  gt::log::TextPlotOptions& look = plot.look;
  plot.is_terminal = ::isatty(STDOUT_FILENO) == 1;
  plot.as_text = plot.is_terminal || options.text || look.ascii || plot.follow;
  look.title = options.title;
  look.ascii = look.ascii || !has_utf8();
  look.color = gt::takes_color(STDOUT_FILENO);
  if (plot.is_terminal) fit_to_terminal(look);
}

// Chooses the report that was asked for. Returns why there is none; "" if there
// is.
std::string choose_report(const gt::Arguments& args, Options& options) {
  using Kind = gt::log::ReportOptions::Kind;
  gt::log::ReportOptions& report = options.report;
  if (options.summary) {
    report.kind = options.tsv ? Kind::kSummaryTsv : Kind::kSummary;
  } else if (args.has("--rehearsal")) {
    report.kind = options.tsv ? Kind::kRehearsalTsv : Kind::kRehearsal;
  } else if (options.dot) {
    report.kind = Kind::kDot;
  } else if (!options.timeline.empty()) {
    report.kind =
        options.timeline == "svg" ? Kind::kTimelineSvg : Kind::kTimelineChrome;
    report.timeline.title = options.title;
    return read_times(args, options, report.timeline);
  } else if (args.has("--plot")) {
    report.kind = Kind::kPlot;
    prepare_plot(options, report.plot);
  }
  return "";
}

// True if a report was wanted. Otherwise the next stage expects a stream.
bool wants_report(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    for (const std::string_view name :
         {"--summary", "--rehearsal", "--dot", "--timeline", "--plot"}) {
      if (word.starts_with(name)) return true;
    }
  }
  return false;
}

int usage(const std::string& message, bool marks) {
  if (marks) gt::write_empty_stream(gt::Exit::kUsage);
  return gt::usage_error("gt-log", message);
}

int tee(const Options& options) {
  int log = -1;
  bool is_lost = false;
  if (!options.log.empty()) {
    const std::string wrong = gt::wrong_side_file(options.log, options.files);
    if (!wrong.empty()) return usage("-o: " + wrong, true);
    const auto made = gt::create_side_file(options.log, options.files);
    // The stream matters more than its log.
    is_lost = !made.ok();
    if (is_lost) gt::say("gt-log: " + made.error().message + "\n");
    if (made.ok()) log = made.value();
  }
  gt::log::Tee tee(STDOUT_FILENO, log, options.log, gt::say);
  if (is_lost) tee.lose_log();
  return static_cast<int>(tee.run(options.files));
}

// Runs gt-log why FILE.
int why(int argc, char** argv) {
  gt::Arguments args("gt-log why", "Say what a run waits for.", kWhyFooter);
  std::string file, now;
  args.text("FILE", file, "the log of a run").required();
  args.text("--now", now,
            "as of this time, in seconds since 1970; else the clock's")
      .type("TIME");
  int status = 0;
  if (!args.parse(argc, argv, status)) return status;
  uint64_t nanoseconds = 0;
  if (args.has("--now") &&
      (!parse_time(now, nanoseconds) || nanoseconds == 0)) {
    return usage("--now: '" + now + "' is not a time such as 1763654400.5",
                 false);
  }
  gt::Writer out(STDOUT_FILENO);
  const gt::Exit done = gt::log::why(file, nanoseconds, out, gt::say);
  return gt::finish("gt-log", out, done);
}

}  // namespace

int main(int argc, char** argv) {
  const gt::ProcessGuard guard;
  if (argc > 1 && std::string_view(argv[1]) == "why") {
    return why(argc - 1, argv + 1);
  }
  gt::Arguments args("gt-log", "Record, filter, summarise or draw a stream.",
                     kFooter);
  Options options;
  add_options(args, options);
  int status = 0;
  const bool marks = !wants_report(argc, argv);
  if (!args.parse(argc, argv, status)) {
    if (status != 0 && marks) gt::write_empty_stream(gt::Exit::kUsage);
    return status;
  }
  std::string wrong = wrong_combination(args, options);
  if (wrong.empty()) wrong = choose_report(args, options);
  if (!wrong.empty()) return usage(wrong, marks);
  const auto selection = gt::log::Selection::make(options.select);
  if (!selection.ok()) return usage(selection.error().message, marks);
  const bool reports =
      options.report.kind != gt::log::ReportOptions::Kind::kNone;
  if (!reports && !options.select.any()) return tee(options);
  gt::Writer out(STDOUT_FILENO);
  const gt::Exit done =
      reports
          ? gt::log::report(options.files, options.report,
                            options.select.any() ? &selection.value() : nullptr,
                            out, gt::say)
          : gt::log::filter(options.files, selection.value(), out, gt::say);
  return gt::finish("gt-log", out, done);
}
