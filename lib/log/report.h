// What gt-log makes of its input beside passing it on: one report a call.
#pragma once

#include <string>
#include <vector>

#include "base/exit.h"
#include "base/writer.h"
#include "log/input.h"
#include "log/plot_report.h"
#include "log/select.h"
#include "log/timeline.h"

namespace gt::log {

struct ReportOptions {
  enum class Kind {
    kNone,
    kSummary,
    kSummaryTsv,
    kDot,
    kTimelineSvg,
    kTimelineChrome,
    kPlot
  };
  Kind kind = Kind::kNone;
  TimelineOptions timeline;
  PlotReportOptions plot;
};

// Reads these files, "-" and none at all being standard input, and writes the
// report. `selection` may be null.
Exit report(const std::vector<std::string>& paths, const ReportOptions& options,
            const Selection* selection, Writer& out, const Say& say);

}  // namespace gt::log
