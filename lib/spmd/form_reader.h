// The implementation of group_form() (group_form.h), its only user: reads the
// keys of a collective's call and checks them against the pieces. group_form.cc
// interprets the ends, and form_sizes.cc works out how sizes are cut.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spmd/group_form.h"

namespace gt {

// Is made for one group, and read() is called once.
class FormReader {
 public:
  FormReader(const Call& call, const GroupShapes& group)
      : call_(call), group_(group), n_(group.pieces.size()) {}
  Result<GroupForm> read();

 private:
  using Kind = GroupForm::Kind;

  const Type& type() const { return group_.pieces[0]; }
  size_t rank() const { return type().shape.size(); }
  Status is(Kind kind) {
    form_.kind = kind;
    return ok_status();
  }
  // need_alike() returns an error unless all pieces have one type;
  // need_alike_but() lets them differ in one dimension.
  Status need_alike() const;
  Status need_alike_but(size_t dim) const;

  // group_form.cc: the ops, by their ends.
  Status by_op();
  Status by_ends();
  // Checks that the op connects src= and dst=, that their dimensions exist, and
  // that no other key contradicts them.
  Status check_ends();
  Status check_use();
  std::string ends() const {
    return "src=" + std::string(call_.key("src")) +
           " dst=" + std::string(call_.key("dst"));
  }
  Status combined();
  Status read_dtype(const char* key, std::optional<Dtype>& dtype) const;
  Status all_reduce();
  Status with_root(Kind kind);
  Status convert();
  Status redistribute();
  static bool is_one_of(char letter, std::string_view letters) {
    return letters.find(letter) != std::string_view::npos;
  }

  // form_sizes.cc: what is gathered, cut and exchanged, and where.
  static Result<size_t> dimension(int64_t dim, size_t dims);
  // Returns the dimension, given by the key or 0, along which slices of a V are
  // stacked or taken apart.
  Result<size_t> stacked(const char* key, size_t dims) const;
  Status read_slices(const char* key);
  Status all_gather();
  Status gather_slices(Kind kind);
  Status gather_chunks(Kind kind);
  // Refuses pieces of different sizes, unless split= or split_sizes= says that
  // they are meant.
  Status check_gathered(size_t d) const;
  // Returns the sizes of split_sizes=2+3+1; an empty list without the key.
  Result<std::vector<int64_t>> listed_sizes() const;
  static Result<std::vector<int64_t>> parse_sizes(std::string_view text);
  // Returns where each member's chunk of dimension d, which has `size` indices,
  // starts, and the end of the last.
  Result<std::vector<int64_t>> chunks(size_t d, int64_t size) const;
  Status scatter(Kind kind);
  Status reduce_scatter();
  Status all_to_all();
  Status exchange_slices();
  // Reads an exchange of S0 to S0: split_sizes=1+2,0+3 says how many rows each
  // rank sends to each.
  Status exchange_rows(size_t d);

  const Call& call_;
  const GroupShapes& group_;
  const size_t n_;
  End src_, dst_;
  EndsUse use_ = EndsUse::kConnected;
  GroupForm form_;
};

}  // namespace gt
