"""Experts: layers of which each token takes some."""
import math

from . import Linear, Module, ModuleDict, Parameter, _check_sizes, functional as F
from .._ops import _ops
from .._scopes import signal


class MoE(Module):
    """A mixture of experts, each down(gelu(up(x))), of which a token takes the top_k that a router
    gives the largest shares of softmax(x @ router.w). Their results are added up by these shares,
    which for top_k above 1 are divided by their sum.

    The tokens are cut into groups. In each of them an expert has places for capacity_factor * top_k /
    experts of the tokens, rounded up, or for all if it is 0; first choices come before second ones,
    earlier tokens before later ones, and who finds no place gets nothing from that expert. shared= is
    the hidden width of an expert that every token takes besides.

    A call returns what x becomes, a loss that is 1 where all experts are chosen alike, and how many
    choices found no place. configs/experts.yaml spreads the experts over ranks."""

    def __init__(self, width, hidden, experts, top_k=1, capacity_factor=1.25, groups=1, shared=0):
        _check_sizes("MoE", width=width, hidden=hidden, experts=experts, top_k=top_k, groups=groups, shared=shared)
        if top_k > experts:
            raise ValueError(f"MoE: expected a top_k of at most {experts}, the number of experts; found {top_k}")
        self.width, self.experts, self.top_k, self.groups = width, experts, top_k, groups
        self.capacity_factor = capacity_factor
        self.router = Linear(width, experts, bias=False)
        self.up = Parameter("randn", (experts, width, hidden), scale=1 / math.sqrt(width))
        self.down = Parameter("randn", (experts, hidden, width), scale=1 / math.sqrt(hidden))
        self.shared = ModuleDict({"up": Linear(width, shared, bias=False),
                                  "down": Linear(shared, width, bias=False)} if shared else {})

    def capacity(self, tokens):
        """How many places an expert has for a group of so many tokens."""
        wanted = self.capacity_factor * self.top_k * tokens / self.experts
        return math.ceil(wanted) if 0 < wanted < tokens else tokens

    def forward(self, x):
        groups, experts, width = self.groups, self.experts, self.width
        tokens, rest = divmod(math.prod(x.shape[:-1]), groups)
        if rest or x.shape[-1] != width:
            raise ValueError(f"MoE: expected tokens of {width} numbers for {groups} equal groups; found the shape "
                             f"{list(x.shape)}")
        places = self.capacity(tokens)
        with signal("router"):
            h = rows = x.reshape(groups, tokens, width)
            share, slot, holder, balance, dropped = self._routed(rows, places)
            h = h.gather(1, holder.expand(-1, -1, width))
        # Between ranks the two exchanges are behind dispatch and before combine: each travels while half of
        # the shared expert is computed, and so do those of the gradients.
        with signal("dispatch"):
            h = h.reshape(groups, experts, places, width)
        if self.shared:
            with signal("hidden"):
                aside = F.gelu(self.shared["up"](rows))
        with signal("experts"):
            h = h.transpose(0, 1).reshape(experts, groups * places, width)
            h = F.gelu(h @ self.up) @ self.down
            h = h.reshape(experts, groups, places, width).transpose(0, 1)
        if self.shared:
            with signal("out"):
                aside = self.shared["down"](aside)
        with signal("combine"):
            h = h.reshape(groups, experts * places, width)
        with signal("router"):
            h = h.gather(1, slot.expand(-1, -1, width)) * share
            h = h.reshape(groups, self.top_k, tokens, width).sum(1)
            return (h + aside if self.shared else h).reshape(x.shape), balance, dropped

    def _routed(self, x, places):
        """Of each choice, [groups, choices, 1]: its share, which is 0 if it found no place, and the number of
        its place among those of all experts. Of each place, [groups, places, 1]: the token that has it;
        a place that nobody took has token 0, and nobody reads what becomes of it. Then the balance
        loss, and how many choices found no place."""
        groups, tokens, k = *x.shape[:2], self.top_k
        shares = F.softmax(self.router(x), -1)
        share, expert = shares.topk(k)
        if k > 1:
            share = share / share.sum(-1, keepdim=True)
        share, expert = (t.transpose(1, 2).reshape(groups, k * tokens, 1) for t in (share, expert))
        queue = F.one_hot(expert.squeeze(-1), self.experts).cumsum(1)
        place, chosen = queue.gather(2, expert) - 1, queue[:, -1]
        balance = (chosen.to(shares.dtype) * shares.mean(1)).sum() * (self.experts / (k * tokens * groups))
        found, slot = place < places, expert * places + place
        last = self.experts * places  # of those that found no place
        token = (_ops["arange"](k * tokens) % tokens).expand(groups, -1)
        holder = _ops["zeros"]((groups, last + 1), dtype="i64").scatter(
            1, _ops["where"](found, slot, last).squeeze(-1), token)[:, :last].unsqueeze(-1)
        return (_ops["where"](found, share, 0), _ops["minimum"](slot, last - 1), holder, balance,
                (chosen - places).clamp(0).sum())
