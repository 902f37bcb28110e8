// The reports that gt-log makes of its input instead of passing it on.
#pragma once

#include <string>
#include <vector>

#include "base/exit.h"
#include "base/writer.h"
#include "log/input.h"
#include "log/plot_report.h"
#include "log/rehearsal.h"
#include "log/select.h"
#include "log/timeline.h"

namespace gt::log {

struct ReportOptions {
  enum class Kind {
    kNone,
    kSummary,
    kSummaryTsv,
    kRehearsal,
    kRehearsalTsv,
    kDot,
    kTimelineSvg,
    kTimelineChrome,
    kPlot
  };
  Kind kind = Kind::kNone;
  double peak = 0;  // for a summary, see Summary
  RehearsalOptions rehearsal;
  TimelineOptions timeline;
  PlotReportOptions plot;
};

// Reads these files, where "-" or no path is standard input, and writes one
// report. `selection` chooses the lines that it is about; if null, all. Errors,
// and what was left out, are reported to `say`. Returns the status.
Exit report(const std::vector<std::string>& paths, const ReportOptions& options,
            const Selection* selection, Writer& out, const Say& say);

}  // namespace gt::log
