// A table by declared name space. A name space is what stands before a '/' of
// names: "c1" of "c1/w", and also "c1/act" of "c1/act/h". A name is in each
// space that it begins with, and the innermost, the longest, that is in the
// table counts for it; if none is, that of names without a prefix, "", does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gt {

// What is known of each name space, in the order in which the spaces were
// added. A program has few of them, so they are searched one by one. Returned
// pointers and references are valid until the next obtain() or erase().
template <typename T>
class Spaces {
 public:
  struct Space {
    std::string name;
    T value;
  };

  // Returns the value of the space of this name; null if it is not here.
  T* find(std::string_view name) {
    for (Space& space : spaces_) {
      if (space.name == name) return &space.value;
    }
    return nullptr;
  }
  const T* find(std::string_view name) const {
    return const_cast<Spaces*>(this)->find(name);
  }
  // Does the same, but adds the space with an empty value if it is not here.
  T& obtain(std::string_view name) {
    T* found = find(name);
    if (found != nullptr) return *found;
    return spaces_.emplace_back(Space{std::string(name), {}}).value;
  }
  // Removes the space of this name. Returns false if it is not here.
  bool erase(std::string_view name) {
    return std::erase_if(spaces_, [&](const Space& space) {
             return space.name == name;
           }) > 0;
  }

  // Returns the innermost space here that the name is in, as a view into the
  // name; "" if there is none, even if the space "" is not here.
  std::string_view space_of(std::string_view name) const {
    if (spaces_.empty()) return {};
    for (size_t slash = name.rfind('/'); slash != std::string_view::npos;
         slash = name.rfind('/')) {
      name = name.substr(0, slash);
      if (find(name) != nullptr) return name;
    }
    return {};
  }
  // Returns the value of that space; null if it is not here.
  const T* of(std::string_view name) const { return find(space_of(name)); }

  auto begin() const { return spaces_.begin(); }
  auto end() const { return spaces_.end(); }

 private:
  std::vector<Space> spaces_;
};

}  // namespace gt
