// gt-log --plot: reads results and draws the numbers printed under some names,
// once or, while the input grows, again and again.
#pragma once

#include <string>
#include <vector>

#include "base/exit.h"
#include "base/writer.h"
#include "log/input.h"
#include "log/plot.h"

namespace gt::log {

struct PlotReportOptions {
  std::string names;     // of what is printed, with commas
  bool as_text = false;  // with characters; else SVG
  // Of an input that grows: draw what there is, and again when there is more;
  // standard input until its end, files until the process is ended.
  bool follow = false;
  bool is_terminal = false;  // a picture then takes the place of the one before
  TextPlotOptions look;
};

// Reads these files, "-" and none at all being standard input, and draws.
// Status kFailed: one of the names is not there; others as of Input.
Exit plot(const std::vector<std::string>& paths,
          const PlotReportOptions& options, Writer& out, const Say& say);

}  // namespace gt::log
