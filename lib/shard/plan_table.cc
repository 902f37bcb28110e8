#include "shard/plan_table.h"

#include <algorithm>
#include <cstdio>

namespace gt::shard {
namespace {

// Returns why the way is not taken; "": it is.
std::string why_not(const Weighed& way, const Weighed& best,
                    const PriceOrder& order) {
  char text[64];
  if (order.excess(way.price) > order.excess(best.price)) {
    std::snprintf(text, sizeof text, "%.4g MB too many",
                  order.excess(way.price) / 1e6);
    return text;
  }
  const double more = way.price.seconds / best.price.seconds - 1;
  if (way.is_estimate && more < 0.005) return "its estimate is no promise";
  if (more < 0.0005) return "as fast";
  std::snprintf(text, sizeof text, "%.3g %% slower", more * 100);
  return text;
}

}  // namespace

std::string plan_table(std::vector<Weighed> all, const PriceOrder& order) {
  std::ranges::stable_sort(all, [&](const Weighed& a, const Weighed& b) {
    return a.is_estimate != b.is_estimate ? b.is_estimate
                                          : order.is_better(a.price, b.price);
  });
  const std::string header[] = {"form", "mesh", "schedule"};
  size_t widths[] = {header[0].size(), header[1].size(), header[2].size()};
  for (const Weighed& way : all) {
    const std::string* texts[] = {&way.form, &way.mesh, &way.schedule};
    for (size_t i = 0; i < 3; ++i) {
      widths[i] = std::max(widths[i], texts[i]->size());
    }
  }
  const auto row = [&](const char* mark, const std::string& form,
                       const std::string& mesh, const std::string& schedule) {
    std::string out = mark;
    out += form + std::string(widths[0] - form.size() + 2, ' ');
    out += mesh + std::string(widths[1] - mesh.size() + 2, ' ');
    return out + schedule + std::string(widths[2] - schedule.size(), ' ');
  };
  std::string out =
      row("  ", header[0], header[1], header[2]) + "           ms  MB a rank\n";
  char text[64];
  for (const Weighed& way : all) {
    const bool is_best = &way == all.data();
    std::snprintf(text, sizeof text, " %s%11.5g %10.5g",
                  way.is_estimate ? "~" : " ", way.price.seconds * 1e3,
                  way.price.bytes / 1e6);
    out += row(is_best ? "* " : "  ", way.form, way.mesh, way.schedule) + text +
           (is_best ? "" : "  " + why_not(way, all.front(), order)) + "\n";
  }
  return out;
}

}  // namespace gt::shard
