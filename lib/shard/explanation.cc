#include "shard/explanation.h"

#include <algorithm>
#include <cstdio>

namespace gt::shard {

void Explanation::add_choice(const LineWork& work) {
  if (!is_wanted() || work.at.depth > 0) return;
  line_ += work.at.place + ": " + work.shown() + "\n";
  for (const Alternative& a : work.plan().alternatives) {
    char cost[32];
    std::snprintf(cost, sizeof cost, "%.3g us", a.seconds * 1e6);
    line_ += std::string(a.chosen ? "  * " : "    ") + a.axes + ": " + a.what +
             ": " + cost + "\n";
  }
  if (!work.why_ahead.empty()) line_ += "    " + work.why_ahead + "\n";
}

void Explanation::add_chunks(const LineWork& work, const Chunking& chunking) {
  if (!is_wanted() || work.at.depth > 0) return;
  line_ += "    in " + std::to_string(chunking.count) +
           " chunks along dimension " +
           std::to_string(chunking.label.results[0].dim);
  if (chunking.ranks > 1) {
    line_ += ", each with some of all " + std::to_string(chunking.ranks) +
             " parts of it";
  }
  line_ += "\n";
}

void Explanation::add_ring(const std::string& how) {
  if (is_wanted() && !how.empty()) line_ += "    " + how + "\n";
}

void Explanation::add_whole(const LineWork& work, std::string_view why) {
  if (!is_wanted() || work.at.depth > 0) return;
  line_ += "    in one piece: " + std::string(why) + "\n";
}

void Explanation::add_result(const LineWork& work, std::string_view expanded,
                             const ShardValuePtr& result) {
  if (!is_wanted() || work.at.depth > 0) return;
  if (!expanded.empty()) {
    char text[160];
    std::snprintf(text, sizeof text,
                  "    as its expansion, which sends %.6g bytes from each rank "
                  "and not %.6g:\n",
                  *work.planned->bytes_expanded, work.plan().bytes);
    line_ += text;
  } else if (work.plan().sums_halves) {
    line_ += "    in f32, and rounded when its parts are summed\n";
  }
  while (!expanded.empty()) {
    const std::string_view line = expanded.substr(0, expanded.find('\n'));
    line_ += "      | " + std::string(line) + "\n";
    expanded.remove_prefix(std::min(line.size() + 1, expanded.size()));
  }
  if (result == nullptr || result->copies.empty()) return;
  line_ += "    -> " + cluster_.describe(result->layout()) +
           (work.pin ? as_said(work.pin_line) : "") +
           not_as_said(work.claims, result->layout()) + "\n";
}

// Returns text that says who asked for the layout: that line of the config, or
// for 0 the line's own notes or its part=.
std::string Explanation::as_said(size_t line) const {
  return line == 0 ? ", as the line says"
                   : ", as " + config_.place(line) + " says";
}

// Returns text that names the claims if the layout is not as they say, or "" if
// it is.
std::string Explanation::not_as_said(const Claims& claims,
                                     const Layout& layout) const {
  if (claims_hold(claims, cluster_, layout)) return "";
  std::string out = ", not as";
  if (!claims.type.empty()) out += " #type=" + claims.type;
  if (!claims.spec.empty()) out += " #spec=" + claims.spec;
  return out + " says";
}

void Explanation::add_created(const UnwrittenLine& held, const Layout& layout,
                              const std::string& reader) {
  if (!is_wanted()) return;
  const std::string why = held.pin         ? as_said(held.pin_line)
                          : reader.empty() ? ", read by nobody"
                                           : ", as " + reader + " reads it";
  created_ += held.place + ": " + held.text + "\n    -> " +
              cluster_.describe(layout) + why +
              not_as_said(held.claims, layout) + "\n";
}

void Explanation::flush() {
  if (is_wanted() && !(line_.empty() && created_.empty())) {
    say_(line_ + created_);
  }
  line_.clear();
  created_.clear();
}

}  // namespace gt::shard
