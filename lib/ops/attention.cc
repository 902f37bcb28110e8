#include "ops/attention.h"

#include <cmath>

#include "ops/part.h"
#include "ops/shape_rules.h"

namespace gt {
namespace {

Shape lead_of(const Shape& shape) {
  return Shape(std::span<const int64_t>(shape.begin(), shape.size() - 2));
}

int64_t size_before_last(const Shape& shape) { return shape[shape.size() - 2]; }

Error sizes_differ(const Call& call, size_t i, size_t j, int64_t m, int64_t n) {
  return Error{call.describe(i) + " and " + call.describe(j) + ": sizes " +
               std::to_string(m) + " and " + std::to_string(n) + " differ"};
}

Status check_ranks(const Call& call) {
  for (size_t i = 0; i < 3; ++i) {
    if (call.type(i).shape.size() < 2) {
      return Error{call.describe(i) + " must have at least 2 dimensions"};
    }
    if (call.type(i).dtype != call.type(0).dtype) {
      return Error{call.describe(0) + " and " + call.describe(i) +
                   " must have one dtype"};
    }
  }
  return ok_status();
}

// Finds how many heads of q share one of the `own` heads that operand i has. A
// rank may have no head at all, of any of them.
Status find_group(const Call& call, int64_t own, int64_t all, size_t i,
                  Attention& a) {
  const bool has_none = own == 0 && all == 0;
  if (!has_none && (own < 1 || all % own != 0)) {
    return Error{"enable_gqa=1: the " + std::to_string(own) + " heads of " +
                 call.describe(i) + " do not divide the " +
                 std::to_string(all) + " of " + call.describe(0)};
  }
  const int64_t group = has_none ? 1 : all / own;
  if (i == 2 && group != a.group) {
    return Error{call.describe(1) + " and " + call.describe(2) +
                 " must have as many heads"};
  }
  a.group = group;
  return ok_status();
}

// Divides the last dimension into heads. The number heads= is that of q; with
// enable_gqa=1 k and v may have fewer, of the same depth.
Status divide_heads(const Call& call, Attention& a) {
  const bool grouped = call.flag("enable_gqa");
  const int64_t depth = call.type(0).shape.back();
  if (call.has_key("heads")) {
    a.heads = call.integer("heads");
    for (const size_t i : {size_t{0}, size_t{2}}) {
      const int64_t size = call.type(i).shape.back();
      if (a.heads >= 1 && (size % a.heads == 0 || (grouped && i == 2))) {
        continue;
      }
      return Error{"heads=" + std::string(call.key("heads")) +
                   " does not divide the last dimension of " +
                   call.describe(i)};
    }
    if (a.lead.size() + 3 > Shape::kMaxRank) {
      return Error{"heads= needs one dimension more than the " +
                   std::to_string(Shape::kMaxRank) + " there are"};
    }
  }
  a.depth = depth / a.heads;
  if (!grouped) return ok_status();
  if (!call.has_key("heads")) {
    for (const size_t i : {size_t{1}, size_t{2}}) {
      const Shape& shape = call.type(i).shape;
      const Shape& q = call.type(0).shape;
      if (shape.size() < 3 || q.size() < 3) {
        return Error{
            "enable_gqa=1 needs heads= or a dimension of heads before "
            "the rows of q, k and v"};
      }
      const Status s =
          find_group(call, shape[shape.size() - 3], q[q.size() - 3], i, a);
      if (!s.ok()) return s;
    }
    return ok_status();
  }
  const int64_t size = call.type(1).shape.back();
  if (a.depth == 0 || size % a.depth != 0) {
    return Error{"enable_gqa=1: the last dimension of " + call.describe(1) +
                 " is no number of heads of " + std::to_string(a.depth)};
  }
  return find_group(call, size / a.depth, a.heads, 1, a);
}

// Returns the leading dimensions of operand i, as if each head were there
// `group` times.
Shape repeated_lead(const Call& call, size_t i, const Attention& a) {
  Shape lead = lead_of(call.type(i).shape);
  if (i > 0 && !call.has_key("heads") && !lead.empty()) {
    lead[lead.size() - 1] *= a.group;
  }
  return lead;
}

Status join_leads(const Call& call, Attention& a) {
  for (size_t i = 1; i < 3; ++i) {
    const auto joined = broadcast(a.lead, repeated_lead(call, i, a));
    if (!joined) {
      const bool may_group =
          !call.flag("enable_gqa") && call.op->key_index("enable_gqa") >= 0;
      return Error{call.describe(0) + " and " + call.describe(i) +
                   " do not broadcast" +
                   (may_group ? "; enable_gqa=1 lets heads of q share those of "
                                "k and v"
                              : "")};
    }
    a.lead = *joined;
  }
  return ok_status();
}

Status check_sizes(const Call& call, const Attention& a) {
  const Shape& q = call.type(0).shape;
  const Shape& k = call.type(1).shape;
  const Shape& v = call.type(2).shape;
  const int64_t kv_heads =
      call.has_key("heads") ? a.heads / a.group : int64_t{1};
  if (k.back() != kv_heads * a.depth) {
    return sizes_differ(call, 0, 1, q.back(), k.back());
  }
  if (a.columns != size_before_last(v)) {
    return sizes_differ(call, 1, 2, a.columns, size_before_last(v));
  }
  return need(v.back() % kv_heads == 0,
              "the last dimension of " + call.describe(2) + " does not hold " +
                  std::to_string(kv_heads) + " heads");
}

// Checks the mask, if there is one: it is bool or of q's dtype, and broadcasts
// to the scores.
Status check_mask(const Call& call, Attention& a) {
  const size_t i = operand_named(call, "mask");
  if (i >= call.arguments.size() || !call.given(i)) return ok_status();
  if (Status s = need_name(call, i); !s.ok()) return s;
  const Type& mask = call.type(i);
  if (mask.dtype != Dtype::kBool && mask.dtype != call.type(0).dtype) {
    return Error{call.describe(i) + " must be bool, or of the dtype of " +
                 call.describe(0) + ", to which it is added"};
  }
  a.masked = mask.dtype == Dtype::kBool ? "bool" : "float";
  Shape scores = a.lead;
  if (call.has_key("heads")) scores.push_back(a.heads);
  scores.push_back(a.rows);
  scores.push_back(a.columns);
  const auto joined = broadcast(mask.shape, scores);
  return need(joined && *joined == scores,
              call.describe(i) + " does not broadcast to the scores [" +
                  to_string(scores) + "]");
}

}  // namespace

bool is_attention(const Op& op) { return op.name == "attention"; }

bool is_attention_gradient(const Op& op) { return op.name == "attention_grad"; }

Result<Attention> attention_of(const Call& call) {
  Attention a;
  if (Status s = check_ranks(call); !s.ok()) return s.error();
  a.rows = size_before_last(call.type(0).shape);
  a.columns = size_before_last(call.type(1).shape);
  a.lead = lead_of(call.type(0).shape);
  if (Status s = divide_heads(call, a); !s.ok()) return s.error();
  if (Status s = check_sizes(call, a); !s.ok()) return s.error();
  if (Status s = join_leads(call, a); !s.ok()) return s.error();
  if (Status s = check_mask(call, a); !s.ok()) return s.error();
  const int64_t kv_heads = call.has_key("heads") ? a.heads / a.group : 1;
  a.width = call.type(2).shape.back() / kv_heads;
  a.causal = call.flag("causal");
  a.scale = call.has_key("scale") ? call.number("scale")
                                  : 1 / std::sqrt(static_cast<double>(a.depth));
  // Only once the results are known: part= is about o, or about gq's rows.
  if (call.has_key("part") && !call.results.empty()) {
    const auto part = part_of(call);
    if (!part.ok()) return part.error();
    if (part.value().start.size() >= 2) {
      a.first = size_before_last(part.value().start);
    }
  }
  return a;
}

}  // namespace gt
