// A mixture of experts. Its lines carry the signals router, dispatch, experts
// and combine, by which configs/experts.yaml shards the experts over ranks, and
// those of the MLP that every token takes besides.
#pragma once

#include <optional>

#include <gt/transformer.h>

namespace gt::inline v1 {
namespace nn {

struct MoEOptions {
  int64_t top_k = 1;  // how many experts a token takes
  // In each group of tokens an expert has places for capacity_factor * top_k /
  // experts of them, rounded up; 0: for all. First choices come before second
  // ones, and earlier tokens before later ones.
  double capacity_factor = 1.25;
  int64_t groups = 1;
  // Hidden width of an expert that every token takes besides; 0: there is none.
  int64_t shared = 0;
};
// Experts, each down(gelu(up(x))), of which a token takes the top_k that a
// router gives the largest shares of softmax(x router.w). Their results are
// added up by these shares, which for a top_k above 1 are divided by their sum.
// up is [experts,width,hidden], and down is [experts,hidden,width].
class MoE : public Module {
 public:
  struct Result {
    Tensor y;
    Tensor balance;  // a loss that is 1 where all experts are chosen alike
    Tensor dropped;  // how many choices found no place, and count as 0
  };

  MoE(Module* parent, const std::string& name, int64_t width, int64_t hidden,
      int64_t experts, const MoEOptions& options = {}, At at = At::here())
      : Module(parent, name),
        router(this, "router", detail::checked("MoE: width", width, 1, at),
               detail::checked("MoE: experts", experts, 1, at), {.bias = false},
               at),
        up(parameter(
            "up",
            {experts, width, detail::checked("MoE: hidden", hidden, 1, at)},
            fan_in(width), at)),
        down(parameter("down", {experts, hidden, width}, fan_in(hidden), at)),
        options_(options) {
    detail::checked("MoE: groups", options.groups, 1, at);
    detail::checked("MoE: top_k", options.top_k, 1, at);
    detail::checked("MoE: experts", experts, options.top_k, at);
    if (detail::checked("MoE: shared", options.shared, 0, at) > 0) {
      shared.emplace(this, "shared", width, options.shared, MLPOptions{}, at);
    }
  }

  // Between ranks the two exchanges are behind "dispatch" and before "combine":
  // each travels while half of the shared expert is computed, and so do those
  // of the gradients.
  Result operator()(const Tensor& input, At at = At::here()) const {
    const int64_t experts = up.size(0), width = up.size(1);
    const int64_t groups = options_.groups, all = input.elements(at) / width;
    if (input.size(-1, at) != width || all % groups != 0) {
      detail::refuse("MoE: expected tokens of " + std::to_string(width) +
                         " numbers for " + std::to_string(groups) +
                         " equal groups; found " + input.type(at).text(),
                     at);
    }
    const int64_t places = capacity(all / groups), last = experts * places;
    Tensor x, h, aside;
    Routes to;
    {
      const Signal signal("router");
      x = input.reshape({groups, -1, width}, at);
      to = routed(x, places, at);
      h = Mixed::of(x, at).gather(to.holder.expand({groups, last, width}, at),
                                  {.axis = 1}, at);
    }
    {
      const Signal signal("dispatch");
      h = h.reshape({groups, experts, places, width}, at);
    }
    if (shared) {
      const Signal signal("hidden");
      aside = gelu(shared->up(x, at), {}, at);
    }
    {
      const Signal signal("experts");
      h = h.transpose({.axes = {1, 0, 2, 3}}, at)
              .reshape({experts, groups * places, width}, at);
      h = gelu(matmul(h, Mixed::of(up, at), {}, at), {}, at);
      h = matmul(h, Mixed::of(down, at), {}, at)
              .reshape({experts, groups, places, width}, at)
              .transpose({.axes = {1, 0, 2, 3}}, at);
    }
    if (shared) {
      const Signal signal("out");
      aside = shared->down(aside, at);
    }
    {
      const Signal signal("combine");
      h = h.reshape({groups, last, width}, at);
    }
    const Signal signal("router");
    h = h.gather(to.slot.expand({groups, -1, width}, at), {.axis = 1}, at);
    h = mul(h, to.share, at)
            .reshape({groups, options_.top_k, all / groups, width}, at)
            .sum({.axis = 1}, at);
    if (shared) h = add(h, aside, at);
    return {h.reshape(input.shape(at), at), to.balance, to.dropped};
  }

  Linear router;
  Tensor up, down;
  std::optional<MLP> shared;

 private:
  // Of each choice, [groups,choices,1]: its share, which is 0 if it found no
  // place, and the number of its place among those of all experts. Of each
  // place, [groups,places,1]: the token that has it. A place that nobody took
  // has token 0, and nobody reads what becomes of it.
  struct Routes {
    Tensor share, slot, holder, balance, dropped;
  };

  static Init fan_in(int64_t in) {
    return init::normal(1 / detail::root(static_cast<double>(in)));
  }
  // Returns how many places an expert has for a group of so many tokens.
  int64_t capacity(int64_t tokens) const {
    const auto all = static_cast<double>(tokens);
    const double wanted = options_.capacity_factor *
                          static_cast<double>(options_.top_k) * all /
                          static_cast<double>(up.size(0));
    const bool is_bound = wanted > 0 && wanted < all;
    return is_bound ? static_cast<int64_t>(__builtin_ceil(wanted)) : tokens;
  }
  Routes routed(const Tensor& x, int64_t places, At at) const {
    const int64_t groups = x.size(0), tokens = x.size(1), k = options_.top_k;
    const int64_t choices = k * tokens, experts = up.size(0);
    const Tensor wide = detail::as_wide(x, router.w, at);  // also under Mixed
    const Tensor shares = softmax(matmul(wide, router.w, {}, at), {}, at);
    auto [share, expert] = topk(shares, k, {}, at);
    if (k > 1) {
      share = div(share, share.sum({.axis = -1, .keepdims = true}, at), at);
    }
    for (Tensor* t : {&share, &expert}) {
      *t = t->transpose({.axes = {0, 2, 1}}, at)
               .reshape({groups, choices, 1}, at);
    }
    const Tensor queue =
        expert.squeeze({.axis = -1}, at).one_hot(experts, at).cumsum(1, at);
    const Tensor place = sub(queue.gather(expert, {.axis = 2}, at), 1, at);
    const Tensor chosen = queue(_, -1);
    const Tensor each = mul(cast(chosen, shares.dtype(at), at),
                            shares.mean({.axis = 1}, at), at);
    const Tensor found = lt(place, places, at);
    const Tensor slot = add(mul(expert, places, at), place, at);
    const int64_t last = experts * places;  // of those that found no place
    const Tensor token = mod(arange({{choices}, i64}, at), tokens, at);
    const Tensor holder =
        zeros({{groups, last + 1}, i64}, at)
            .scatter(where(found, slot, last, at).squeeze({.axis = -1}, at),
                     token.expand({groups, choices}, at), {.axis = 1}, at);
    return {where(found, share, 0, at), minimum(slot, last - 1, at),
            holder(_, Range(0, last)).unsqueeze(-1, at),
            mul(each.sum({}, at),
                static_cast<double>(experts) /
                    static_cast<double>(choices * groups),
                at),
            maximum(sub(chosen, places, at), 0, at).sum({}, at)};
  }

  MoEOptions options_;
};

}  // namespace nn
}  // namespace gt::inline v1
