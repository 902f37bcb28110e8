// The types, placeholders and index rules of attention's rows.
#include <algorithm>
#include <utility>

#include "ops/attention.h"
#include "ops/attention_rows.h"
#include "ops/part.h"
#include "ops/shape_rules.h"

namespace gt {
namespace {

Type result_of(const Call& call, const Attention& a, int64_t rows,
               int64_t last) {
  Type type{call.type(0).dtype, a.lead};
  type.shape.push_back(rows);
  type.shape.push_back(last);
  return type;
}

Type lse_of(const Call& call, const Attention& a) {
  Type type{wide_dtype(call.type(0).dtype), a.lead};
  if (call.has_key("heads")) type.shape.push_back(a.heads);
  type.shape.push_back(a.rows);
  return type;
}

}  // namespace

Status types_attention(Call& call) {
  const auto found = attention_of(call);
  if (!found.ok()) return found.error();
  const Attention& a = found.value();
  call.results.push_back(result_of(call, a, a.rows, a.heads * a.width));
  if (call.result_count > 1) call.results.push_back(lse_of(call, a));
  return ok_status();
}

Status types_attention_grad(Call& call) {
  const auto found = attention_of(call);
  if (!found.ok()) return found.error();
  const Attention& a = found.value();
  const Type o = result_of(call, a, a.rows, a.heads * a.width);
  const Type lse = lse_of(call, a);
  const Type* wanted[] = {&o, &lse, &o, &lse};
  for (size_t i = 3; i < 7; ++i) {
    if (!call.given(i) || call.type(i) == *wanted[i - 3]) continue;
    return Error{call.describe(i) + " must have the type " +
                 to_string(*wanted[i - 3])};
  }
  call.results.push_back(result_of(call, a, a.rows, a.heads * a.depth));
  call.results.push_back(result_of(call, a, a.columns, a.heads * a.depth));
  call.results.push_back(result_of(call, a, a.columns, a.heads * a.width));
  return ok_status();
}

namespace {

// Returns "" if heads= is not given, so that the key is left out.
std::string heads_text(const Call& call, const Attention& a, bool of_key) {
  if (!call.has_key("heads")) return "";
  return std::to_string(of_key ? a.heads / a.group : a.heads);
}

// True if operand i has all leading dimensions, and is not broadcast along
// some.
bool has_all_lead(const Call& call, const Attention& a, size_t i) {
  const Shape& shape = call.type(i).shape;
  return shape.size() == a.lead.size() + 2 &&
         std::equal(a.lead.begin(), a.lead.end(), shape.begin());
}

int64_t all_rows(const Call& call, const Attention& a) {
  return call.has_key("part") ? part_of(call).value().whole.end()[-2] : a.rows;
}

}  // namespace

std::string attention_word(const Call& call, std::string_view name, size_t) {
  if (name == "wide") {
    return std::string(to_string(wide_dtype(call.type(0).dtype)));
  }
  const Attention a = attention_of(call).value();
  if (name == "masked") return a.masked;
  if (name == "bare") return std::string_view(a.masked) == "none" ? "1" : "0";
  if (name == "rows") return std::to_string(a.rows);
  if (name == "columns") return std::to_string(a.columns);
  if (name == "first") return std::to_string(a.first);
  if (name == "factor") return number_text(a.scale);
  if (name == "group") return std::to_string(a.group);
  if (name == "kv_heads") return std::to_string(a.heads / a.group);
  if (name.ends_with(".heads")) {
    return heads_text(call, a, name == "k.heads" || name == "v.heads");
  }
  if (name == "k_lead") return has_all_lead(call, a, 1) ? "all" : "own";
  if (name == "v_lead") return has_all_lead(call, a, 2) ? "all" : "own";
  if (name == "of_rows") return all_rows(call, a) == a.rows ? "all" : "some";
  if (name == "rows_part") {
    return std::to_string(a.first) + "/" + std::to_string(all_rows(call, a));
  }
  return "";
}

Status types_split_heads(Call& call) {
  Type type = call.type(0);
  call.results.push_back(type);
  if (!call.has_key("heads")) return ok_status();
  Shape& shape = call.results[0].shape;
  const int64_t heads = call.integer("heads");
  const size_t rank = type.shape.size();
  if (rank < 2 || rank >= Shape::kMaxRank || heads < 1 ||
      type.shape.back() % heads != 0) {
    return Error{"heads= does not divide " + call.describe(0)};
  }
  shape[rank - 1] /= heads;
  shape.insert(rank - 2, heads);
  return ok_status();
}

Status types_merge_heads(Call& call) {
  Type type = call.type(0);
  const size_t rank = type.shape.size();
  if (call.has_key("heads")) {
    if (rank < 3 || type.shape[rank - 3] != call.integer("heads")) {
      return Error{call.describe(0) +
                   " has not heads=" + std::string(call.key("heads"))};
    }
    type.shape[rank - 1] *= type.shape[rank - 3];
    type.shape.erase(rank - 3);
  }
  call.results.push_back(type);
  return ok_status();
}

// Returns a label for each dimension; with heads=, the last dimension has one
// for its heads. Heads stand side by side in the last dimension of one tensor,
// and before the rows in the other.
std::vector<Label> labels_heads(const Call& call) {
  const bool splits = call.op->name == "split_heads";
  const bool has_heads = call.has_key("heads");
  const Type& flat = splits ? call.type(0) : call.results[0];
  const auto rank = static_cast<int32_t>(flat.shape.size());
  std::vector<Label> labels;
  const auto add = [&](int64_t size, LabelDim in_flat, int32_t apart) {
    Label& label = labels.emplace_back(call, size);
    label.arguments[0] = splits ? in_flat : LabelDim{apart};
    label.results[0] = splits ? LabelDim{apart} : in_flat;
    return &label;
  };
  for (int32_t d = 0; d < rank - (has_heads ? 1 : 0); ++d) {
    const bool moves = has_heads && d + 2 == rank;
    add(flat.shape[static_cast<size_t>(d)], {d}, moves ? d + 1 : d);
  }
  if (has_heads) {
    const int64_t heads = call.integer("heads");
    Label* label = add(heads, {rank - 1, flat.shape.back() / heads}, rank - 2);
    label->needs_split = label->is_never_empty = true;
  }
  return labels;
}

std::string heads_word(const Call& call, std::string_view name, size_t) {
  if (name != "parts" && name != "order") return "";
  const bool splits = call.op->name == "split_heads";
  std::vector<int64_t> parts, order;
  const Shape& shape = splits ? call.results[0].shape : call.type(0).shape;
  for (size_t i = 0; i < shape.size(); ++i) {
    parts.push_back(shape[i]);
    order.push_back(static_cast<int64_t>(i));
  }
  const size_t s = shape.size() - 2;
  std::swap(parts[s], parts[s - 1]);
  std::swap(order[s], order[s - 1]);
  return list_text(name == "parts" ? parts : order);
}

namespace {

bool is_fold(const Call& call) { return call.op->name == "fold_heads"; }

// Which dimension has the heads, in a tensor whose heads repeat_heads repeats:
// the last, in which heads= of them stand side by side, or the one before the
// rows. `unit` is the number of elements that a head has there.
struct HeadDim {
  size_t dim = 0;
  int64_t unit = 1;
  int64_t heads = 0;
};

Result<HeadDim> head_dim(const Call& call) {
  const Shape& shape = call.type(0).shape;
  HeadDim h;
  if (!call.has_key("heads")) {
    if (shape.size() < 3) {
      return Error{call.describe(0) + " must have at least 3 dimensions"};
    }
    h.dim = shape.size() - 3;
    h.heads = shape[h.dim];
    return h;
  }
  // heads= is the smaller number of heads: of those that are repeated, or of
  // those that folding leaves.
  h.heads = call.integer("heads");
  if (is_fold(call) &&
      __builtin_mul_overflow(h.heads, call.integer("size"), &h.heads)) {
    h.heads = 0;
  }
  if (shape.size() < 2 || h.heads < 1 || shape.back() % h.heads != 0) {
    return Error{"heads= does not divide " + call.describe(0)};
  }
  h.dim = shape.size() - 1;
  h.unit = shape.back() / h.heads;
  return h;
}

}  // namespace

Status types_repeat_heads(Call& call) {
  const auto found = head_dim(call);
  if (!found.ok()) return found.error();
  const HeadDim& h = found.value();
  const int64_t group = call.integer("size");
  Type type = call.type(0);
  if (group < 1 || (is_fold(call) && h.heads % group != 0)) {
    return Error{"size= must divide the heads of " + call.describe(0)};
  }
  int64_t& size = type.shape[h.dim];
  if (is_fold(call)) {
    size /= group;
  } else if (__builtin_mul_overflow(size, group, &size)) {
    return Error{"the result is too large"};
  }
  call.results.push_back(type);
  return need(type.shape.size() + 2 <= Shape::kMaxRank,
              "grouped heads need two dimensions more than the " +
                  std::to_string(Shape::kMaxRank) + " there are");
}

std::string repeat_word(const Call& call, std::string_view name, size_t) {
  const HeadDim h = head_dim(call).value();
  if (name != "apart" && name != "wide" && name != "at") return "";
  if (name == "at") return std::to_string(h.dim + 1);
  const int64_t group = call.integer("size");
  Shape shape = call.type(0).shape;
  shape[h.dim] = is_fold(call) ? h.heads / group : h.heads;
  shape.insert(h.dim + 1, name == "wide" ? group : 1);
  if (call.has_key("heads")) shape.push_back(h.unit);
  return list_text(shape);
}

// Returns a label for each dimension; a group of heads goes with the head that
// it shares.
std::vector<Label> labels_repeat_heads(const Call& call) {
  const HeadDim h = head_dim(call).value();
  const int64_t group = call.integer("size");
  std::vector<Label> labels;
  for (size_t d = 0; d < call.type(0).shape.size(); ++d) {
    Label label(call, call.type(0).shape[d]);
    label.arguments[0].dim = label.results[0].dim = static_cast<int32_t>(d);
    if (d == h.dim) {
      label.size = is_fold(call) ? h.heads / group : h.heads;
      label.arguments[0].unit = h.unit * (is_fold(call) ? group : 1);
      label.results[0].unit = h.unit * (is_fold(call) ? 1 : group);
      label.needs_split = label.is_never_empty = call.has_key("heads");
    }
    labels.push_back(std::move(label));
  }
  return labels;
}

namespace {

// Finds the dimensions that all of an attention's tensors share, and where they
// are in each tensor.
class AttentionLabels {
 public:
  explicit AttentionLabels(const Call& call)
      : call_(call),
        a_(attention_of(call).value()),
        has_heads_(call.has_key("heads")),
        backward_(is_attention_gradient(*call.op)),
        lead_(static_cast<int32_t>(a_.lead.size())) {}

  std::vector<Label> find() const {
    std::vector<Label> labels;
    for (int32_t d = 0; d < lead_; ++d) labels.push_back(lead_label(d));
    labels.push_back(row_label());
    if (has_heads_) labels.push_back(head_label());
    return labels;
  }

 private:
  static int32_t rank(const Type& type) {
    return static_cast<int32_t>(type.shape.size());
  }
  bool is_mask(size_t i) const { return i == (backward_ ? 7U : 3U); }
  bool is_lse(size_t i) const { return backward_ && (i == 4 || i == 6); }
  // Returns the mask's dimension that corresponds to dimension d of the scores
  // [lead,(heads),rows,columns].
  int32_t mask_dim(size_t i, int32_t d, int64_t size) const {
    const int32_t scores = lead_ + (has_heads_ ? 3 : 2);
    const int32_t dim = d - (scores - rank(call_.type(i)));
    if (dim < 0) return -1;
    return call_.type(i).shape[static_cast<size_t>(dim)] == size ? dim : -1;
  }

  Label lead_label(int32_t d) const {
    const int64_t size = a_.lead[static_cast<size_t>(d)];
    // Without heads= the last leading dimension may be the heads, of which k
    // and v have one for each group.
    const bool grouped = a_.group > 1 && !has_heads_ && d + 1 == lead_;
    Label label(call_, grouped ? size / a_.group : size);
    const int64_t unit = grouped ? a_.group : 1;
    label.is_never_empty = grouped;
    for (size_t i = 0; i < call_.arguments.size(); ++i) {
      if (!call_.given(i)) continue;
      const Shape& shape = call_.type(i).shape;
      const bool of_key = grouped && (i == 1 || i == 2);
      // q, k and v may have fewer leading dimensions.
      int32_t dim = i < 3 ? d - lead_ + rank(call_.type(i)) - 2 : d;
      if (is_mask(i)) dim = mask_dim(i, d, size);
      if (dim >= 0 &&
          shape[static_cast<size_t>(dim)] == (of_key ? label.size : size)) {
        label.arguments[i] = {dim, of_key ? 1 : unit};
      }
    }
    for (LabelDim& place : label.results) place = {d, unit};
    return label;
  }

  Label row_label() const {
    Label rows(call_, a_.rows);
    rows.needs_split = a_.causal;
    for (size_t i = 0; i < call_.arguments.size(); ++i) {
      if (!call_.given(i) || i == 1 || i == 2) continue;
      const int32_t last = rank(call_.type(i)) - 1;
      if (is_mask(i)) {
        rows.arguments[i].dim =
            mask_dim(i, lead_ + (has_heads_ ? 1 : 0), a_.rows);
      } else {
        rows.arguments[i].dim = is_lse(i) ? last : last - 1;
      }
    }
    for (size_t r = 0; r < call_.results.size(); ++r) {
      if (backward_ && r > 0) {
        rows.is_summed = true;
        continue;
      }
      const int32_t last = rank(call_.results[r]) - 1;
      rows.results[r].dim = !backward_ && r == 1 ? last : last - 1;
    }
    return rows;
  }

  // The label of a head of k and v, with the group that shares it.
  Label head_label() const {
    const int64_t count = a_.heads / a_.group;
    Label heads(call_, count);
    heads.is_never_empty = heads.needs_split = true;
    const auto part = [&](const Type& type) {
      return LabelDim{rank(type) - 1, type.shape.back() / count};
    };
    for (size_t i = 0; i < call_.arguments.size(); ++i) {
      if (!call_.given(i)) continue;
      if (is_mask(i)) {
        heads.arguments[i] = {mask_dim(i, lead_, a_.heads), a_.group};
      } else {
        heads.arguments[i] =
            is_lse(i) ? LabelDim{lead_, a_.group} : part(call_.type(i));
      }
    }
    for (size_t r = 0; r < call_.results.size(); ++r) {
      heads.results[r] = !backward_ && r == 1 ? LabelDim{lead_, a_.group}
                                              : part(call_.results[r]);
    }
    return heads;
  }

  const Call& call_;
  const Attention a_;
  bool has_heads_, backward_;
  int32_t lead_;
};

}  // namespace

std::vector<Label> labels_attention(const Call& call) {
  return AttentionLabels(call).find();
}

}  // namespace gt
