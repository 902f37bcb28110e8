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

Status check_operands(const Call& call, Attention& a) {
  for (size_t i = 0; i < 3; ++i) {
    if (call.type(i).shape.size() < 2) {
      return Error{call.describe(i) + " must have at least 2 dimensions"};
    }
    if (call.type(i).dtype != call.type(0).dtype) {
      return Error{call.describe(0) + " and " + call.describe(i) +
                   " must have one dtype"};
    }
  }
  const Shape& q = call.type(0).shape;
  const Shape& k = call.type(1).shape;
  const Shape& v = call.type(2).shape;
  if (q.back() != k.back()) {
    return sizes_differ(call, 0, 1, q.back(), k.back());
  }
  a.rows = size_before_last(q);
  a.columns = size_before_last(k);
  if (a.columns != size_before_last(v)) {
    return sizes_differ(call, 1, 2, a.columns, size_before_last(v));
  }
  a.lead = lead_of(q);
  for (size_t i = 1; i < 3; ++i) {
    const Shape other = lead_of(call.type(i).shape);
    const auto joined = broadcast(a.lead, other);
    if (!joined) {
      return Error{call.describe(0) + " and " + call.describe(i) +
                   " do not broadcast"};
    }
    a.lead = *joined;
  }
  return ok_status();
}

Status divide_heads(const Call& call, Attention& a) {
  if (!call.has_key("heads")) return ok_status();
  a.heads = call.integer("heads");
  for (const size_t i : {size_t{0}, size_t{2}}) {
    const int64_t size = call.type(i).shape.back();
    if (a.heads >= 1 && size % a.heads == 0) continue;
    return Error{"heads=" + std::string(call.key("heads")) +
                 " does not divide the last dimension of " + call.describe(i)};
  }
  return need(a.lead.size() + 3 <= Shape::kMaxRank,
              "heads= needs one dimension more than the " +
                  std::to_string(Shape::kMaxRank) + " there are");
}

}  // namespace

Result<Attention> attention_of(const Call& call) {
  Attention a;
  if (Status s = check_operands(call, a); !s.ok()) return s.error();
  if (Status s = divide_heads(call, a); !s.ok()) return s.error();
  a.depth = call.type(0).shape.back() / a.heads;
  a.width = call.type(2).shape.back() / a.heads;
  a.causal = call.flag("causal");
  a.scale = call.has_key("scale") ? call.number("scale")
                                  : 1 / std::sqrt(static_cast<double>(a.depth));
  // Known once the result is: part= speaks of o, or of gq's rows.
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
