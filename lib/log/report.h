// The reports that gt-log makes of its input in place of passing it on.
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
  double peak = 0;  // of a summary, see Summary
  TimelineOptions timeline;
  PlotReportOptions plot;
};

// Reads these files, "-" and none at all being standard input, and writes one
// report. `selection` chooses the lines that it is about; null: all. What is
// wrong, or was left out, goes to `say`. Returns the status.
Exit report(const std::vector<std::string>& paths, const ReportOptions& options,
            const Selection* selection, Writer& out, const Say& say);

}  // namespace gt::log
