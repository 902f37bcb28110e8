// A snapshot as metrics for Prometheus: text of its exposition format 0.0.4.
// Names begin with gt_, counters end with _total, and units are seconds and
// bytes. Labels are the worker's number, the op and the user, so that the
// number of series is bounded by the cluster and the op table, whatever names a
// program has and however many clients come.
#pragma once

#include <string>
#include <string_view>

#include "top/snapshot.h"

namespace gt::top {

inline constexpr std::string_view kMetricsType =
    "text/plain; version=0.0.4; charset=utf-8";

// `has_ended` says that the run has ended: the text has its last counts, and
// gt_up is 0.
std::string metrics_text(const Snapshot& now, bool has_ended);

}  // namespace gt::top
