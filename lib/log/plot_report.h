// gt-log --plot: reads results and draws the numbers that were printed under
// some names, once or, while the input grows, again and again.
#pragma once

#include <string>
#include <vector>

#include "base/exit.h"
#include "base/writer.h"
#include "log/input.h"
#include "log/plot.h"

namespace gt::log {

struct PlotReportOptions {
  std::string names;     // names of printed values, separated by commas
  bool as_text = false;  // draw with characters; else as SVG
  // Draw what there is, and again when the input has grown: standard input
  // until its end, files until the process is ended.
  bool follow = false;
  bool is_terminal = false;  // then a picture replaces the one before
  TextPlotOptions look;
};

// Reads these files, where "-" or no path is standard input, and draws. Status
// kFailed: one of the names was not printed; otherwise the status of Input.
Exit plot(const std::vector<std::string>& paths,
          const PlotReportOptions& options, Writer& out, const Say& say);

}  // namespace gt::log
