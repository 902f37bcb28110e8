// The tables as text for programs: tab-separated, with a header row, a record a
// line. Numbers are in full, and the same in every locale.
#pragma once

#include <string>

#include "top/model.h"

namespace gt::top {

// The header row: "time", "kind" and the names of all columns.
std::string batch_header();
// The rows of gt-route, its workers, ops and clients. `time`: seconds since
// 1970, with a fraction.
std::string batch_rows(const Model& model, double time);

}  // namespace gt::top
