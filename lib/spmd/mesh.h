// Device meshes: named axes over the ranks, as `mesh`, `axis` and `endmesh`
// lines declare them; and rank sets as parts of a mesh.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "spmd/spaces.h"
#include "stream/line.h"

namespace gt {

// An axis of a mesh: how many coordinates it has, and by how much the numbers
// of two ranks differ that are neighbours along it. An axis is identified by
// these two alone: two names with the same size and stride, in one mesh or in
// two, are one axis.
struct Axis {
  int64_t size = 1;
  int64_t stride = 1;  // ranks from one coordinate to the next

  int64_t coordinate(int64_t rank) const { return rank / stride % size; }
  // Returns the rank at coordinate 0 that differs from this one along the axis
  // alone.
  int64_t origin(int64_t rank) const {
    return rank - coordinate(rank) * stride;
  }
  // True if ranks that differ along the axis alone are among the same n: ranks
  // 0 to n - 1, or n to 2 n - 1, ...
  bool is_within(int64_t n) const { return n % (stride * size) == 0; }
  friend auto operator<=>(const Axis&, const Axis&) = default;
};

struct MeshAxis : Axis {
  std::string name;
};

// A mesh of ranks 0 to size - 1, numbered row-major: the last axis varies
// fastest.
class Mesh {
 public:
  // The largest number of ranks of a mesh, and of axes.
  static constexpr int64_t kMaxSize = int64_t{1} << 16;
  static constexpr size_t kMaxAxes = 32;

  // Adds an axis, as the innermost; no other axis may have its name. Error:
  // more ranks or axes than a mesh can have.
  Status add(std::string name, int64_t size);

  const std::vector<MeshAxis>& axes() const { return axes_; }
  int64_t size() const;
  // Returns the axes that a value of over= stands for, outermost first: "tp",
  // the flattened "world", or "dp+tp". Errors: unknown names, an axis twice.
  Result<std::vector<const MeshAxis*>> resolve(std::string_view over) const;
  // Returns "dp=2 tp=4", for messages.
  std::string describe() const;
  // Returns the same with the flattened axes: "dp=2 tp=4 world=dp*tp".
  std::string describe_all() const;
  // Returns the names of the axes that `axis` lines declared.
  std::vector<std::string> flattened_names() const;

 private:
  friend class Meshes;
  struct Flattened {
    std::string name;
    std::vector<std::string> parts;
  };
  std::vector<MeshAxis> axes_;
  std::vector<Flattened> flattened_;
};

// The meshes that the lines of a stream have declared. Each name space ("c1" of
// "c1/w") has its own. A new mesh is nested in the ones that are open, and is
// the current one until its endmesh; then the one around it is current again.
// Name spaces are nested as well ("c1/a" in "c1"): for a name, the innermost
// space that has a mesh counts. Returned pointers are valid until the next
// take().
class Meshes {
 public:
  // Takes a line whose op is mesh, axis or endmesh. Errors say what is wrong
  // with the line.
  Status take(const Line& line);
  // Returns the current mesh of the line's name space; null if there is none.
  const Mesh* of(const Line& line) const;
  // Does the same for a line whose first name (space_name(), labels.h) is
  // `name`.
  const Mesh* of(std::string_view name) const;
  // Returns all open meshes of the name's name space, the current one first.
  std::vector<const Mesh*> all_of(std::string_view name) const;
  // Returns the name space in which of(name) finds its mesh, as space= has it,
  // as a view into `name`; "" for the space of names without a prefix.
  std::string_view space_of(std::string_view name) const;
  // Returns the name space of each open mesh, once for each endmesh that the
  // mesh still needs.
  std::vector<std::string> open_spaces() const;
  // Returns everything that later lines can depend on, as text, for Replay.
  std::string describe() const;
  // Returns a number that grows with every declaration that changes anything.
  uint64_t version() const { return version_; }

 private:
  static constexpr size_t kMaxDepth = 64;
  // The open meshes of one name space.
  struct Nest {
    std::vector<Mesh> open;  // innermost last
    // For each open mesh, how often the same mesh was declared within itself,
    // from 1 to kMaxDepth.
    std::vector<size_t> depth;
  };
  Status declare_mesh(const Line& line, const std::string& space);
  Status declare_axis(const Line& line, Nest& nest);

  Spaces<Nest> spaces_;
  uint64_t version_ = 0;
};

// A set of ranks within a mesh: those on which a line runs. Along an axis only
// the coordinates that occur in the set count.
class Grid {
 public:
  // `mesh` may be null: then no axis is known, and only the whole set can be a
  // group. Errors: a rank outside the mesh.
  static Result<Grid> make(const Mesh* mesh, std::vector<int64_t> ranks);

  const std::vector<int64_t>& ranks() const { return ranks_; }
  size_t size() const { return ranks_.size(); }
  const Mesh* mesh() const { return mesh_; }

  // The place of each rank along an axis or along several ("dp+tp").
  struct Along {
    std::vector<uint32_t> index;  // from 0, by position in ranks()
    uint32_t count = 1;           // how many places there are
  };
  // Errors: no mesh, an unknown axis.
  Result<Along> along(std::string_view over) const;

  // Returns the groups of a collective over some axes: a group has the ranks
  // that differ along these axes alone. A group is a list of positions in
  // ranks(), in the order of the ranks' coordinates. If `over` is "", all ranks
  // are one group, in the order of ranks(). Errors: no mesh; an unknown axis; a
  // group lacks ranks that the others have.
  Result<std::vector<std::vector<uint32_t>>> groups(
      std::string_view over) const;

 private:
  int64_t coordinate(const MeshAxis& axis, size_t position) const {
    return ranks_[position] / axis.stride % axis.size;
  }

  const Mesh* mesh_ = nullptr;
  std::vector<int64_t> ranks_;
};

}  // namespace gt
