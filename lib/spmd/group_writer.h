// Writes the lines of one group (collective.h): an object a group. What is
// summed, what is exchanged and what is converted have a file each.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/shape_rules.h"
#include "spmd/collective.h"

namespace gt {

class GroupWriter {
 public:
  GroupWriter(const Call& call, const GroupShapes& group)
      : call_(call), group_(group), n_(group.pieces.size()) {}
  Result<GroupProgram> write();

 private:
  const Type& type() const { return group_.pieces[0]; }
  size_t rank() const { return type().shape.size(); }
  void line(std::string text) { program_.lines.push_back(std::move(text)); }
  std::string fresh() { return "t" + std::to_string(next_++); }
  Status need_alike() const;
  // The pieces' one value: a fixed tree, so that sums have the same bits
  // whatever carries them.
  Result<std::string> combine(std::string_view how);
  std::string tree(const std::vector<std::string>& names, size_t begin,
                   size_t end, const char* op);
  std::string cast_out(const std::string& value);
  void give_all(const std::string& value) {
    for (size_t i = 0; i < n_; ++i) line(result(i) + " = copy " + value);
  }
  Status same() {
    for (size_t i = 0; i < n_; ++i) line(result(i) + " = copy " + piece(i));
    return ok_status();
  }
  Status all_reduce();
  Result<size_t> root() const;
  Status reduce();
  Status broadcast();
  Error no_such_ends(const std::string& wanted) const {
    return Error{"src=" + std::string(call_.key("src")) +
                 " dst=" + std::string(call_.key("dst")) + ": takes " + wanted};
  }
  // all_gather, reduce_scatter, all_to_all, convert, reinterpret and
  // redistribute.
  Status by_ends();
  static bool is_one_of(char letter, std::string_view letters) {
    return letters.find(letter) != std::string_view::npos;
  }
  // A dimension of a tensor with `dims` dimensions.
  static Result<size_t> dimension(int64_t dim, size_t dims);
  // The dimension that V stacks or takes apart.
  Result<size_t> stacked(const char* key, size_t dims) const {
    const std::string_view text = call_.key(key);
    return dimension(text.empty() ? 0 : call_.integer(key), dims);
  }
  Status all_gather();
  // Pieces of different sizes must be so on purpose.
  Status check_gathered(size_t d) const;
  // split_sizes=2+3+1; empty without the key.
  Result<std::vector<int64_t>> listed_sizes() const;
  static Result<std::vector<int64_t>> parse_sizes(std::string_view text);
  // How long each member's chunk of dimension d is, of `size`.
  Result<std::vector<int64_t>> chunks(size_t d, int64_t size) const;
  // Member i's chunk of `value(i)`, for all.
  Status scatter(const std::function<std::string(size_t)>& value);
  Status reduce_scatter();
  Status all_to_all();
  Status exchange_slices();
  // S0 to S0: split_sizes=1+2,0+3 says how many rows each rank sends to each.
  Status exchange_rows(size_t d);
  bool is_expert() const { return call_.flag("expert"); }
  Error gated() const;
  Error undefined(const std::string& instead) const;
  Status convert();
  Status convert_known();
  Status first_only();
  // [s] to [n,s]: its own place, zeros elsewhere.
  Status own_slice();
  Status own_chunk();
  void pad(size_t i, const std::string& value, size_t dims, size_t d,
           int64_t before, int64_t after);
  Status reinterpret();
  Status redistribute();
  Status summed();
  const Call& call_;
  const GroupShapes& group_;
  const size_t n_;
  End src_, dst_;
  GroupProgram program_;
  size_t next_ = 0;

  // Names of the group's pieces and results.
  static std::string piece(size_t i) { return "a" + std::to_string(i); }
  static std::string result(size_t i) { return "r" + std::to_string(i); }
  // Operands of `slice` that take `what` of one dimension: a range, or an
  // index, which drops it.
  static std::string along(size_t dims, size_t dim, const std::string& what);
  static std::string range(int64_t begin, int64_t end) {
    return std::to_string(begin) + ":" + std::to_string(end);
  }
};

}  // namespace gt
