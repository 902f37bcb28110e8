#include "emit/gradient_mesh.h"

#include <algorithm>

#include "spmd/split.h"
#include "stream/line.h"
#include "stream/ranks.h"

namespace gt::emit {
namespace {

// Returns "dp+tp" for a flattened axis such as "world".
std::string plain_axes(const Mesh& mesh, const std::string& over) {
  const auto axes = mesh.resolve(unquote(over));
  if (!axes.ok()) return over;
  std::string out;
  for (const MeshAxis* axis : axes.value()) {
    out += (out.empty() ? "" : "+") + axis->name;
  }
  return out;
}

bool speaks_of_axes(const grad::GradientLine& line) {
  return !line.claim.axes.empty() || !line.partial.axes.empty() ||
         !line.type.empty() ||
         std::any_of(line.keys.begin(), line.keys.end(), [](const auto& key) {
           return key.first == "over" || key.first == "split";
         });
}

bool leaves(const grad::GradientLine& line, const Mesh& mesh) {
  const auto ranks = parse_ranks(line.ranks);
  return std::any_of(ranks.value().begin(), ranks.value().end(),
                     [&](int64_t rank) { return rank >= mesh.size(); });
}

}  // namespace

std::string type_notes(const Mesh* mesh, const grad::GradientLine& line) {
  if (mesh == nullptr) return "";
  std::string notes = line.type;
  if (const std::string claim = describe(line.claim, *mesh); !claim.empty()) {
    notes += " #type=" + claim;
  }
  std::string partial;
  for (const MeshAxis& axis : mesh->axes()) {
    if (line.partial.on(axis) != 'P') continue;
    partial += (partial.empty() ? "" : "+") + axis.name;
  }
  if (!partial.empty()) notes += " #partial=" + partial;
  return notes;
}

std::string portable_value(const Ledger& ledger, const grad::GradientLine& line,
                           std::string_view name, const std::string& key,
                           const std::string& value) {
  const Mesh* mesh = ledger.mesh_ids[line.mesh];
  if (mesh == nullptr || (key != "over" && key != "split")) return value;
  const Mesh* now = ledger.meshes.of(name);
  if (now != nullptr && now->describe_all() == mesh->describe_all()) {
    return value;
  }
  if (key == "over") return plain_axes(*mesh, value);
  auto split = parse_split(unquote(value));
  if (!split.ok()) return value;
  for (SplitEntry& e : split.value()) e.axis = plain_axes(*mesh, e.axis);
  return to_string(split.value());
}

std::string enter_mesh(const Ledger& ledger, const grad::GradientLine& line,
                       const std::string& name, std::string& before) {
  const Mesh* mesh = ledger.mesh_ids[line.mesh];
  if (mesh == nullptr) return "";
  const Mesh* now = ledger.meshes.of(name);
  if (now != nullptr && now->describe() == mesh->describe()) return "";
  const bool outside = now != nullptr && leaves(line, *now);
  if (!speaks_of_axes(line) && !outside) return "";
  const std::string space(ledger.meshes.space_of(name));
  const std::string where = space.empty() ? "" : " space=" + space;
  before += "mesh " + mesh->describe() + where + "\n";
  return "endmesh" + where + "\n";
}

}  // namespace gt::emit
