// The tables as text for programs: tab-separated, with a header row and a line
// for each record. Numbers are written in full, and the same in every locale.
#pragma once

#include <string>

#include "top/model.h"

namespace gt::top {

// Returns the header row: "time", "kind" and the names of all columns.
std::string batch_header();
// Returns the rows of gt-route, its workers, ops and clients. `time` is in
// seconds since 1970, with a fraction.
std::string batch_rows(const Model& model, double time);

}  // namespace gt::top
