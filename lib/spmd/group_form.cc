#include "spmd/group_form.h"

#include <utility>

#include "base/message.h"
#include "spmd/form_reader.h"
#include "spmd/group_program.h"

namespace gt {

Region GroupForm::part(const Shape& shape, size_t from, size_t to) const {
  const auto& at = row_cuts.empty() ? cuts : row_cuts[from];
  Region region;
  for (size_t d = 0; d < shape.size(); ++d) {
    region.start.push_back(d == dim ? at[to] : 0);
    region.count.push_back(d == dim ? at[to + 1] - at[to] : shape[d]);
  }
  return region;
}

Result<GroupForm> FormReader::read() {
  if (Status s = by_op(); !s.ok()) return s.error();
  return std::move(form_);
}

Status FormReader::by_op() {
  switch (call_.op->row->collective) {
    case Collective::kReduce:
      if (Status s = with_root(Kind::kReduce); !s.ok()) return s;
      return combined();
    case Collective::kBroadcast:
      return with_root(Kind::kRoot);
    case Collective::kRemesh:
      return is(Kind::kSame);
    default:
      return by_ends();
  }
}

Status FormReader::need_alike() const {
  for (size_t i = 1; i < n_; ++i) {
    if (group_.pieces[i] == type()) continue;
    return Error{"the pieces must have one type; found " + to_string(type()) +
                 " and " + to_string(group_.pieces[i])};
  }
  return ok_status();
}

Status FormReader::need_alike_but(size_t dim) const {
  for (const Type& piece : group_.pieces) {
    Type same = piece;
    if (piece.shape.size() == rank()) same.shape[dim] = type().shape[dim];
    if (same == type()) continue;
    return Error{"the pieces may differ in dimension " + std::to_string(dim) +
                 " alone; found " + to_string(type()) + " and " +
                 to_string(piece)};
  }
  return ok_status();
}

Status FormReader::read_dtype(const char* key,
                              std::optional<Dtype>& dtype) const {
  const std::string_view text = call_.key(key);
  if (text.empty()) return ok_status();
  dtype = parse_dtype(text);
  if (dtype.has_value()) return ok_status();
  return Error{std::string(key) + "=" + excerpt(text) + " is no dtype"};
}

Status FormReader::combined() {
  if (Status s = need_alike(); !s.ok()) return s;
  const std::string_view how = call_.key("op");
  form_.is_mean = how == "mean";
  if (form_.is_mean && !is_float(type().dtype)) {
    return Error{"op=mean needs floats, got " + to_string(type())};
  }
  form_.combine = how == "max"    ? "maximum"
                  : how == "min"  ? "minimum"
                  : how == "prod" ? "mul"
                                  : "add";
  if (Status s = read_dtype("acc", form_.acc); !s.ok()) return s;
  if (Status s = read_dtype("out", form_.out); !s.ok() || n_ == 1) return s;
  // Checks that the op can combine two such pieces.
  const Type summed{form_.summed(type().dtype), type().shape};
  ProgramWriter pair;
  pair.give(0, step_of(form_.combine.c_str(), {piece_ref(0), piece_ref(1)}));
  const auto made = program_types(pair.take(1), {summed, summed});
  return made.ok() ? ok_status() : made.error();
}

Status FormReader::all_reduce() {
  form_.kind = Kind::kSum;
  return combined();
}

Status FormReader::with_root(Kind kind) {
  const int64_t r = call_.integer("root");
  if (r < 0 || r >= static_cast<int64_t>(n_)) {
    return Error{"root=" + std::to_string(r) + " is no index in a group of " +
                 std::to_string(n_)};
  }
  form_.root = static_cast<size_t>(r);
  return is(kind);
}

Status FormReader::by_ends() {
  if (call_.op->key_index("src_spec") >= 0) {
    if (call_.has_key("src_spec") || call_.has_key("dst_spec")) {
      return Error{
          "run this through gt-emit, which writes src_spec= and "
          "dst_spec= as steps over one axis each"};
    }
    if (!call_.has_key("src") || !call_.has_key("dst")) {
      return Error{
          "takes src= and dst= on the axis over=, or src_spec= and "
          "dst_spec="};
    }
  }
  const auto src = parse_end(call_.key("src"));
  const auto dst = parse_end(call_.key("dst"));
  if (!src.ok()) return src.error();
  if (!dst.ok()) return dst.error();
  src_ = src.value();
  dst_ = dst.value();
  if (Status s = check_ends(); !s.ok()) return s;
  if (use_ == EndsUse::kKept) return is(Kind::kSame);
  switch (call_.op->row->collective) {
    case Collective::kAllReduce:
      return all_reduce();
    case Collective::kAllGather:
      return all_gather();
    case Collective::kReduceScatter:
      return reduce_scatter();
    case Collective::kAllToAll:
      return all_to_all();
    case Collective::kConvert:
      return convert();
    case Collective::kReinterpret:
    case Collective::kRetype:
      return is(Kind::kSame);
    default:
      return redistribute();
  }
}

Status FormReader::check_ends() {
  for (const End& end : {src_, dst_}) {
    if (end.letter != 'S') continue;
    if (const auto d = dimension(end.dim, rank()); !d.ok()) return d.error();
  }
  if (Status s = check_use(); !s.ok()) return s;
  if (call_.has_key("split_sizes") && src_.letter != 'S' &&
      dst_.letter != 'S') {
    return Error{"split_sizes= are lengths along a dimension, and " + ends() +
                 " names none; say which, as S0 in place of V"};
  }
  const std::pair<const char*, const End*> keys[] = {{"gather_dim", &src_},
                                                     {"concat_dim", &src_},
                                                     {"scatter_dim", &dst_},
                                                     {"split_dim", &dst_}};
  for (const auto& [key, end] : keys) {
    if (!call_.has_key(key) || end->letter != 'S' ||
        normal_axis(call_.integer(key), rank()) ==
            normal_axis(end->dim, rank())) {
      continue;
    }
    return Error{std::string(key) + "=" + std::string(call_.key(key)) +
                 " contradicts " + ends() + "; leave it out"};
  }
  return ok_status();
}

// Checks what the op does with the ends.
Status FormReader::check_use() {
  use_ = use_of_ends(*call_.op, src_, dst_, rank());
  if (use_ == EndsUse::kForeign) {
    return Error{ends() + ": takes " + connected_ends(*call_.op)};
  }
  if (use_ == EndsUse::kUndefined) {
    return Error{ends() + " cannot be known without communication; use " +
                 std::string(op_between(src_, dst_))};
  }
  if (use_ == EndsUse::kGated && !call_.flag("expert")) {
    return Error{ends() + " is rarely meant; if it is, say expert=1"};
  }
  return ok_status();
}

// Changes the type on the axis without communication.
Status FormReader::convert() {
  const char to = dst_.letter;
  if (is_one_of(src_.letter, "RI")) {
    if (is_one_of(to, "RI")) return is(Kind::kSame);
    if (to == 'P') return is(Kind::kFirst);
    return scatter(Kind::kScatter);
  }
  return src_.letter == 'V' ? gather_slices(Kind::kOwnPlace)
                            : gather_chunks(Kind::kOwnPlace);
}

Status FormReader::redistribute() {
  const char from = src_.letter;
  const char to = dst_.letter;
  if (is_one_of(from, "VS") && is_one_of(to, "RI")) return all_gather();
  if (from == 'P' && is_one_of(to, "RI")) return all_reduce();
  if (from == 'P' && is_one_of(to, "VS")) return reduce_scatter();
  if (from == 'S' && to == 'S') return all_to_all();
  return convert();
}

Result<GroupForm> group_form(const Call& call, const GroupShapes& group) {
  return FormReader(call, group).read();
}

}  // namespace gt
