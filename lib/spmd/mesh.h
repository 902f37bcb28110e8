// Named axes over ranks: meshes as `mesh`, `axis` and `endmesh` lines declare
// them, and rank sets as parts of a mesh.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "stream/line.h"

namespace gt {

// The ranks that differ in one coordinate alone. An axis is its layout: two
// names of one layout are one axis.
struct Axis {
  int64_t size = 1;
  int64_t stride = 1;  // ranks from one coordinate to the next

  int64_t coordinate(int64_t rank) const { return rank / stride % size; }
  // The rank beside it at coordinate 0.
  int64_t origin(int64_t rank) const {
    return rank - coordinate(rank) * stride;
  }
  friend auto operator<=>(const Axis&, const Axis&) = default;
};

struct MeshAxis : Axis {
  std::string name;
};

// Ranks 0 to size - 1, row-major, the last axis varying fastest.
class Mesh {
 public:
  // Largest number of ranks of a mesh, and of axes.
  static constexpr int64_t kMaxSize = int64_t{1} << 16;
  static constexpr size_t kMaxAxes = 32;

  // An axis within all others, named as none of them. Error: more ranks or axes
  // than a mesh can have.
  Status add(std::string name, int64_t size);

  const std::vector<MeshAxis>& axes() const { return axes_; }
  int64_t size() const;
  // The axes that a word of over= means, outermost first: "tp", the flattened
  // "world", "dp+tp". Errors: unknown names, an axis twice.
  Result<std::vector<const MeshAxis*>> resolve(std::string_view over) const;
  // "dp=2 tp=4", for messages.
  std::string describe() const;
  // The same and the flattened axes: "dp=2 tp=4 world=dp*tp".
  std::string describe_all() const;
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

// The meshes in force, by name space, as the stream declares them.
class Meshes {
 public:
  // Takes a line whose op is mesh, axis or endmesh. A mesh stands until its
  // endmesh or the next mesh. Errors name what is wrong with the line.
  Status take(const Line& line);
  // The mesh of the line's name space; null when there is none.
  const Mesh* of(const Line& line) const;
  // Of the line whose first name this is.
  const Mesh* of(std::string_view name) const;
  // All open ones of its name space, the one in force first.
  std::vector<const Mesh*> all_of(std::string_view name) const;
  // The name space whose mesh that is, as in space=; "" for none.
  std::string_view space_of(std::string_view name) const;
  // All that later lines can depend on, as text.
  std::string describe() const;
  // Changes with every declaration that changes anything.
  uint64_t version() const { return version_; }

 private:
  static constexpr size_t kMaxDepth = 64;
  struct Space {
    std::string name;
    std::vector<Mesh> open;  // innermost last
    // As many of an open mesh stand within each other, from 1 to kMaxDepth.
    std::vector<size_t> depth;
  };
  Status declare_mesh(const Line& line, const std::string& space);
  Status declare_axis(const Line& line, Space& space);
  Space* find(std::string_view name);
  const Space* find(std::string_view name) const;

  std::vector<Space> spaces_;
  uint64_t version_ = 0;
};

// A rank set within a mesh. An axis counts the coordinates that occur in it.
class Grid {
 public:
  // `mesh` may be null; then only the whole set is a group. Errors: a rank
  // outside the mesh.
  static Result<Grid> make(const Mesh* mesh, std::vector<int64_t> ranks);

  const std::vector<int64_t>& ranks() const { return ranks_; }
  size_t size() const { return ranks_.size(); }
  const Mesh* mesh() const { return mesh_; }

  // Where each rank stands along an axis (or a sum of axes, "dp+tp"): a number
  // from 0 by position in ranks(), and how many there are.
  struct Along {
    std::vector<uint32_t> index;
    uint32_t count = 1;
  };
  Result<Along> along(std::string_view over) const;

  // The groups of a collective: positions in ranks(), in coordinate order.
  // Without `over` all ranks are one group, in the order given. Errors: no
  // mesh; groups of different sizes.
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
