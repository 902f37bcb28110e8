#include "exec/decode/workers_along.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <set>
#include <string>

namespace gt::exec {
namespace {

constexpr size_t kFewAxes = 3;
constexpr size_t kMostFlattened = 32;

// Returns the values of over= to try, those with fewer axes first.
std::vector<std::string> all_overs(const Mesh& mesh) {
  std::vector<std::string> axes;
  for (const MeshAxis& axis : mesh.axes()) {
    if (axis.size > 1) axes.push_back(axis.name);
  }
  std::vector<std::string> out = axes;
  std::vector<std::string> flattened = mesh.flattened_names();
  if (flattened.size() > kMostFlattened) flattened.resize(kMostFlattened);
  out.insert(out.end(), flattened.begin(), flattened.end());
  if (axes.size() > kFewAxes) return out;
  for (int most = 2; most < static_cast<int>(axes.size()); ++most) {
    for (unsigned set = 1; set < 1U << axes.size(); ++set) {
      if (std::popcount(set) != most) continue;
      std::string over;
      for (size_t a = 0; a < axes.size(); ++a) {
        if ((set >> a & 1U) == 0) continue;
        over += (over.empty() ? "" : "+") + axes[a];
      }
      out.push_back(over);
    }
  }
  return out;
}

}  // namespace

std::vector<comm::Workers> workers_along(const Mesh& mesh,
                                         const Hosting& hosting,
                                         std::string_view name) {
  std::vector<int64_t> ranks(static_cast<size_t>(mesh.size()));
  std::iota(ranks.begin(), ranks.end(), int64_t{0});
  std::vector<unsigned> home;
  for (const int64_t rank : ranks) {
    const auto worker = hosting.worker_of(name, rank);
    if (!worker) return {};
    home.push_back(*worker);
  }
  const auto grid = Grid::make(&mesh, std::move(ranks));
  if (!grid.ok()) return {};
  std::vector<comm::Workers> out;
  std::set<comm::Workers> known;
  for (const std::string& over : all_overs(mesh)) {
    const auto groups = grid.value().groups(over);
    if (!groups.ok()) continue;
    for (const std::vector<uint32_t>& group : groups.value()) {
      std::set<unsigned> workers;
      for (const uint32_t position : group) workers.insert(home[position]);
      comm::Workers set(workers.begin(), workers.end());
      if (set.size() > 1 && known.insert(set).second) {
        out.push_back(std::move(set));
      }
    }
  }
  return out;
}

}  // namespace gt::exec
