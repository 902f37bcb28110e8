#include "spmd/mesh.h"

#include <algorithm>
#include <map>

#include "base/message.h"
#include "ops/table.h"
#include "spmd/labels.h"

namespace gt {
namespace {

std::vector<std::string_view> split_at(std::string_view text, char mark) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t at = std::min(text.find(mark), text.size());
    parts.push_back(text.substr(0, at));
    if (at == text.size()) return parts;
    text.remove_prefix(at + 1);
  }
}

// True if a program can have names in the name space, such as c1/w in c1.
bool is_space(std::string_view name) {
  return !name.ends_with('/') && is_name(name_in(name));
}

Error usage(const Line& line, std::string_view wanted) {
  return Error{std::string(line.op) + ": usage: " + std::string(wanted),
               line.op_column};
}

}  // namespace

Status Mesh::add(std::string name, int64_t size) {
  if (this->size() * size > kMaxSize || axes_.size() == kMaxAxes) {
    return Error{"mesh: more than " + std::to_string(kMaxSize) + " ranks or " +
                 std::to_string(kMaxAxes) + " axes"};
  }
  for (MeshAxis& axis : axes_) axis.stride *= size;
  axes_.push_back({{size, 1}, std::move(name)});
  return ok_status();
}

int64_t Mesh::size() const {
  int64_t n = 1;
  for (const MeshAxis& axis : axes_) n *= axis.size;
  return n;
}

std::string Mesh::describe() const {
  std::string out;
  for (const MeshAxis& axis : axes_) {
    out +=
        (out.empty() ? "" : " ") + axis.name + "=" + std::to_string(axis.size);
  }
  return out;
}

std::string Mesh::describe_all() const {
  std::string out = describe();
  for (const Flattened& f : flattened_) {
    out += " " + f.name + "=";
    for (const std::string& part : f.parts) {
      out += (&part == f.parts.data() ? "" : "*") + part;
    }
  }
  return out;
}

std::vector<std::string> Mesh::flattened_names() const {
  std::vector<std::string> names;
  for (const Flattened& f : flattened_) names.push_back(f.name);
  return names;
}

Result<std::vector<const MeshAxis*>> Mesh::resolve(
    std::string_view over) const {
  std::vector<const MeshAxis*> found;
  const auto add = [&](std::string_view name) {
    for (const MeshAxis& axis : axes_) {
      if (axis.name != name) continue;
      if (std::find(found.begin(), found.end(), &axis) != found.end()) {
        return Status(Error{"axis " + std::string(name) + " is named twice"});
      }
      found.push_back(&axis);
      return ok_status();
    }
    std::vector<std::string_view> known;
    for (const MeshAxis& axis : axes_) known.push_back(axis.name);
    for (const Flattened& f : flattened_) known.push_back(f.name);
    return Status(Error{"no axis '" + excerpt(name) + "' in mesh " +
                        describe() + did_you_mean(name, known)});
  };
  for (const std::string_view name : split_at(over, '+')) {
    const auto flat =
        std::find_if(flattened_.begin(), flattened_.end(),
                     [&](const Flattened& f) { return f.name == name; });
    if (flat == flattened_.end()) {
      if (Status s = add(name); !s.ok()) return s.error();
      continue;
    }
    for (const std::string& part : flat->parts) {
      if (Status s = add(part); !s.ok()) return s.error();
    }
  }
  return found;
}

const Mesh* Meshes::of(const Line& line) const { return of(space_name(line)); }

const Mesh* Meshes::of(std::string_view name) const {
  const Nest* nest = spaces_.of(name);
  return nest == nullptr || nest->open.empty() ? nullptr : &nest->open.back();
}

std::vector<const Mesh*> Meshes::all_of(std::string_view name) const {
  std::vector<const Mesh*> all;
  const Nest* nest = spaces_.of(name);
  if (nest == nullptr) return all;
  for (const Mesh& mesh : nest->open) all.insert(all.begin(), &mesh);
  return all;
}

// A name such as act/h has a slash, but belongs to no declared space.
std::string_view Meshes::space_of(std::string_view name) const {
  return spaces_.space_of(name);
}

std::vector<std::string> Meshes::open_spaces() const {
  std::vector<std::string> out;
  for (const auto& [name, nest] : spaces_) {
    for (const size_t times : nest.depth) out.insert(out.end(), times, name);
  }
  return out;
}

std::string Meshes::describe() const {
  std::string out;
  for (const auto& [name, nest] : spaces_) {
    for (size_t i = 0; i < nest.open.size(); ++i) {
      out += "mesh " + nest.open[i].describe_all() + " space=" + name + " " +
             std::to_string(nest.depth[i]) + "\n";
    }
  }
  return out;
}

Status Meshes::take(const Line& line) {
  const Statement statement = statement_of(line.op);
  std::string name;
  for (const Key& key : line.keys) {
    if (key.key != "space") continue;
    name = unquote(key.value);
    if (name.empty() || is_space(name)) continue;
    return Error{std::string(line.op) +
                     ": space= takes what stands before a '/' of "
                     "names, got " +
                     excerpt(key.value),
                 key.column};
  }
  if (!line.results.empty() || !line.operands.empty()) {
    return usage(line, statement == Statement::kMesh
                           ? "mesh axis=size... [space=name]"
                       : statement == Statement::kAxis
                           ? "axis name=axis*axis... [space=name]"
                           : "endmesh [space=name]");
  }
  if (statement == Statement::kMesh) return declare_mesh(line, name);
  Nest* nest = spaces_.find(name);
  if (nest == nullptr || nest->open.empty()) {
    return Error{std::string(line.op) + ": no mesh stands here" +
                     (name.empty() ? "" : " in name space " + name),
                 line.op_column};
  }
  if (statement == Statement::kAxis) return declare_axis(line, *nest);
  for (const Key& key : line.keys) {
    if (key.key != "space") return usage(line, "endmesh [space=name]");
  }
  if (--nest->depth.back() > 0) return ok_status();
  nest->open.pop_back();
  nest->depth.pop_back();
  if (nest->open.empty()) spaces_.erase(name);
  ++version_;
  return ok_status();
}

Status Meshes::declare_mesh(const Line& line, const std::string& space) {
  Mesh mesh;
  for (const Key& key : line.keys) {
    if (key.key == "space") continue;
    const auto size = parse_number(key.value);
    if (!size || size->kind != Number::Kind::kInteger || size->integer < 1 ||
        size->integer > Mesh::kMaxSize) {
      return Error{
          "mesh: axis " + std::string(key.key) + " needs a size from 1 to " +
              std::to_string(Mesh::kMaxSize) + ", got " + excerpt(key.value),
          key.column};
    }
    if (Status s = mesh.add(std::string(key.key), size->integer); !s.ok()) {
      return Error{s.error().message, key.column};
    }
  }
  if (mesh.axes_.empty()) return usage(line, "mesh axis=size... [space=name]");
  Nest& nest = spaces_.obtain(space);
  // A loop that declares its mesh in each round changes nothing after a while.
  if (!nest.open.empty() && nest.open.back().describe() == mesh.describe()) {
    nest.depth.back() = std::min(nest.depth.back() + 1, kMaxDepth);
    return ok_status();
  }
  if (nest.open.size() == kMaxDepth) {
    nest.open.erase(nest.open.begin());
    nest.depth.erase(nest.depth.begin());
  }
  nest.open.push_back(std::move(mesh));
  nest.depth.push_back(1);
  ++version_;
  return ok_status();
}

Status Meshes::declare_axis(const Line& line, Nest& nest) {
  Mesh& mesh = nest.open.back();
  for (const Key& key : line.keys) {
    if (key.key == "space") continue;
    Mesh::Flattened flat{std::string(key.key), {}};
    std::string over;
    const std::string product = unquote(key.value);
    for (const std::string_view part : split_at(product, '*')) {
      flat.parts.emplace_back(part);
      over += (over.empty() ? "" : "+") + std::string(part);
    }
    for (const MeshAxis& axis : mesh.axes_) {
      if (axis.name == flat.name) {
        return Error{"axis: the mesh has an axis " + flat.name + " already",
                     key.column};
      }
    }
    const auto parts = mesh.resolve(over);
    if (!parts.ok()) {
      return Error{"axis: " + parts.error().message, key.column};
    }
    flat.parts.clear();
    for (const MeshAxis* axis : parts.value()) flat.parts.push_back(axis->name);
    auto& all = mesh.flattened_;
    const auto same = std::find_if(
        all.begin(), all.end(),
        [&](const Mesh::Flattened& f) { return f.name == flat.name; });
    if (same != all.end()) {
      if (same->parts == flat.parts) continue;
      *same = flat;
    } else {
      all.push_back(flat);
    }
    ++version_;
  }
  return line.keys.empty() ? Status(usage(line, "axis name=axis*axis..."))
                           : ok_status();
}

Result<Grid> Grid::make(const Mesh* mesh, std::vector<int64_t> ranks) {
  Grid grid;
  grid.mesh_ = mesh;
  grid.ranks_ = std::move(ranks);
  if (mesh == nullptr) return grid;
  for (const int64_t rank : grid.ranks_) {
    if (rank < mesh->size()) continue;
    return Error{"rank " + std::to_string(rank) + " is outside mesh " +
                 mesh->describe() + ", whose ranks are 0 to " +
                 std::to_string(mesh->size() - 1)};
  }
  return grid;
}

Result<Grid::Along> Grid::along(std::string_view over) const {
  if (mesh_ == nullptr) {
    return Error{"axis '" + excerpt(over) +
                 "' has no mesh; declare one before, as in: mesh dp=2 tp=2"};
  }
  const auto axes = mesh_->resolve(over);
  if (!axes.ok()) return axes.error();
  // Numbers the places row-major by coordinates, then renumbers those that
  // occur.
  size_t most = 1;
  for (const MeshAxis* axis : axes.value()) {
    most *= static_cast<size_t>(axis->size);
  }
  std::vector<bool> occurs(most);
  Along out;
  for (size_t p = 0; p < ranks_.size(); ++p) {
    int64_t number = 0;
    for (const MeshAxis* axis : axes.value()) {
      number = number * axis->size + coordinate(*axis, p);
    }
    out.index.push_back(static_cast<uint32_t>(number));
    occurs[static_cast<size_t>(number)] = true;
  }
  std::vector<uint32_t> places(most);
  out.count = 0;
  for (size_t n = 0; n < most; ++n) places[n] = occurs[n] ? out.count++ : 0;
  for (uint32_t& index : out.index) index = places[index];
  return out;
}

Result<std::vector<std::vector<uint32_t>>> Grid::groups(
    std::string_view over) const {
  std::vector<std::vector<uint32_t>> groups;
  if (over.empty()) {
    std::vector<uint32_t>& all = groups.emplace_back();
    for (uint32_t p = 0; p < ranks_.size(); ++p) all.push_back(p);
    return groups;
  }
  const auto place = along(over);
  if (!place.ok()) return place.error();
  const auto axes = mesh_->resolve(over);
  // The ranks of a group have all other coordinates in common.
  std::map<int64_t, std::vector<uint32_t>> by_rest;
  for (uint32_t p = 0; p < ranks_.size(); ++p) {
    int64_t rest = ranks_[p];
    for (const MeshAxis* axis : axes.value()) {
      rest -= coordinate(*axis, p) * axis->stride;
    }
    by_rest[rest].push_back(p);
  }
  for (auto& [rest, members] : by_rest) {
    std::sort(members.begin(), members.end(), [&](uint32_t a, uint32_t b) {
      return place.value().index[a] < place.value().index[b];
    });
    if (members.size() != place.value().count) {
      return Error{"the ranks are no whole groups over " + std::string(over) +
                   " of mesh " + mesh_->describe()};
    }
    groups.push_back(std::move(members));
  }
  return groups;
}

}  // namespace gt
