"""Optimizers, as torch.optim has them. Each changes the parameters in place, by lines of the program."""

from .._ops import _ops
from .._pipeline import _the
from .._scopes import no_grad
from .._tensor import Tensor, _call, _zero_grads, tensor
from .._words import Error, _is_number
from . import lr_scheduler


class Optimizer:
    """Groups of parameters, each with options of its own, and a state for each parameter."""

    def __init__(self, params, defaults):
        self.defaults, self.param_groups, self.state = defaults, [], {}
        if isinstance(params, Tensor):
            raise TypeError(f"{type(self).__name__}: expected a list of parameters, or of groups of them; found a "
                            "tensor, which a list may have")
        groups = list(params)
        if groups and not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)
        if not self.parameters:
            raise Error(f"{type(self).__name__}: there are no parameters to train; those of a module are what its "
                        "attributes are: Parameters, modules, nn.ModuleLists and tensors that require a gradient")

    def add_param_group(self, param_group):
        """Takes more parameters, with options of their own: {"params": [...], "lr": 0.1}."""
        params = param_group["params"]
        params = [params] if isinstance(params, Tensor) else list(params)
        params = [p[1] if isinstance(p, tuple) else p for p in params]  # of named_parameters()
        unknown = set(param_group) - set(self.defaults) - {"params", "initial_lr"}
        if unknown:
            raise TypeError(f"{type(self).__name__}: expected params and {', '.join(self.defaults)} in a group; found "
                            f"{', '.join(sorted(unknown))}")
        self._check({**self.defaults, **param_group})
        known = {id(p) for group in self.param_groups for p in group["params"]}
        kept = []
        for p in params:
            if not isinstance(p, Tensor):
                raise TypeError(f"{type(self).__name__}: expected tensors as parameters; found {p!r}")
            if p._reach and p._leaf is None:
                raise Error(f"{type(self).__name__}: {p.name} is computed, and only what requires a gradient itself can "
                            "be trained: detach it")
            if id(p) in known:
                raise Error(f"{type(self).__name__}: {p.name} is in two groups")
            if not any(p is q for q in kept):
                kept.append(p)
        self.param_groups.append({**self.defaults, **param_group, "params": kept})

    def _check(self, group):
        """Raises if a number of the group is none that it can be; a tensor's is not known."""
        for name in ("lr", "momentum", "weight_decay", "eps"):
            if _is_number(group.get(name)) and not group[name] >= 0:
                raise ValueError(f"{type(self).__name__}: expected {name} of 0 or more; found {group[name]}")
        for beta in group.get("betas", ()):
            if _is_number(beta) and not 0 <= beta < 1:
                raise ValueError(f"{type(self).__name__}: expected betas from 0 to below 1; found {beta}")

    parameters = property(lambda self: [p for group in self.param_groups for p in group["params"]])

    @property
    def lr(self):
        """The step size of the first group."""
        return self.param_groups[0]["lr"]

    @lr.setter
    def lr(self, value):
        for group in self.param_groups:
            group["lr"] = value

    def zero_grad(self, set_to_none=True):
        """Forgets the gradients."""
        _zero_grads(self.parameters, set_to_none)

    def step(self, closure=None):
        """Changes each parameter that has a gradient; a closure computes them first."""
        loss = closure() if closure is not None else None
        with no_grad():
            self._begin()
            for group in self.param_groups:
                rate = self._rate(group["lr"])
                for p in group["params"]:
                    if p.grad is not None:
                        self._change(p, self._gradient(p, group), rate, group)
        return loss

    def _begin(self):
        pass

    def _gradient(self, p, group):
        """Its gradient, with what is added for weight decay."""
        g = _ops["neg"](p.grad) if group.get("maximize") else p.grad
        return _ops["add"](g, _ops["mul"](p, group["weight_decay"])) if group["weight_decay"] else g

    def _moment(self, p, key, which):
        """A tensor of its state, with zeros at first, and with a name if the parameter has one."""
        state = self.state.setdefault(p, {})
        if key not in state:
            name = f"{which}.{p.name}"
            taken = p.name[0] == "t" and p.name[1:].isdigit() or name in _the().used
            state[key] = _ops["zeros"](p.shape, dtype=p.dtype, name=None if taken else name)
        return state[key]

    def _rate(self, lr):
        if not isinstance(lr, Tensor) and not _is_number(lr):
            raise Error(f"lr: expected a number or a scalar tensor; found {lr!r}")
        return lr

    # States, which gt.save() takes.
    def state_dict(self):
        """{"state": {number of a parameter: its state}, "param_groups": [options]}."""
        numbers = {id(p): i for i, p in enumerate(self.parameters)}
        groups = [{**group, "params": [numbers[id(p)] for p in group["params"]]} for group in self.param_groups]
        return {"state": {numbers[id(p)]: dict(state) for p, state in self.state.items()}, "param_groups": groups}

    def load_state_dict(self, state_dict):
        """Goes on from what a state_dict() has, with copies of its tensors."""
        groups = state_dict["param_groups"]
        sizes = [[len(group["params"]) for group in found] for found in (groups, self.param_groups)]
        if sizes[0] != sizes[1]:
            raise Error(f"load_state_dict: expected groups of {sizes[1]} parameters; found {sizes[0]}")
        for own, group in zip(self.param_groups, groups):
            own.update({k: v for k, v in group.items() if k != "params"})
        ordered = [number for group in groups for number in group["params"]]
        copies = {}  # what several parameters share, they share again
        with no_grad():
            for number, p in zip(ordered, self.parameters):
                found = state_dict["state"].get(number)
                if found is None:
                    self.state.pop(p, None)
                    continue
                for key, value in found.items():
                    if key in self._MOMENTS and isinstance(value, Tensor):
                        self._moment(p, key, self._MOMENTS[key]).copy_(value)
                    elif isinstance(value, Tensor):
                        if id(value) not in copies:
                            copies[id(value)] = _ops["copy"](value)
                        self.state.setdefault(p, {})[key] = copies[id(value)]
                    else:
                        self.state.setdefault(p, {})[key] = value

    _MOMENTS = {}

    def __repr__(self):
        return f"{type(self).__name__} of " + "; ".join(
            f"{len(group['params'])} parameters, " + ", ".join(f"{k}={v}" for k, v in group.items() if k != "params")
            for group in self.param_groups)


class SGD(Optimizer):
    """w -= lr * gradient, with momentum. lr is a number or a scalar tensor."""

    _MOMENTS = {"momentum_buffer": "v"}

    def __init__(self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, maximize=False,
                 foreach=None, differentiable=False, fused=None):
        if nesterov and (momentum <= 0 or dampening):
            raise ValueError("SGD: nesterov expects a momentum, and no dampening")
        super().__init__(params, {"lr": lr, "momentum": momentum, "dampening": dampening,
                                  "weight_decay": weight_decay, "nesterov": nesterov, "maximize": maximize})

    def _change(self, p, g, rate, group):
        mu, damped = group["momentum"], group["dampening"]
        if not mu:
            _call("sgd", [p, g, rate], into=[p])
            return
        first = "momentum_buffer" not in self.state.get(p, ())
        v = self._moment(p, "momentum_buffer", "v")
        if not group["nesterov"] and not damped:
            _call("sgd", [p, g, v, rate], {"momentum": mu}, 2, into=[p, v])
            return
        part = g if first or not damped else _ops["mul"](g, 1 - damped)
        _ops["add"](_ops["mul"](v, mu), part, into=v)
        _call("sgd", [p, _ops["add"](g, _ops["mul"](v, mu)) if group["nesterov"] else v, rate], into=[p])


class AdamW(Optimizer):
    """Adam with decoupled weight decay. Each parameter counts its own steps, as those that got their
    first gradient later are corrected otherwise."""

    _MOMENTS = {"exp_avg": "m", "exp_avg_sq": "v"}
    _decoupled = True

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, amsgrad=False, *,
                 maximize=False, foreach=None, capturable=False, differentiable=False, fused=None):
        if amsgrad:
            raise TypeError(f"{type(self).__name__}: amsgrad is not here")
        super().__init__(params, {"lr": lr, "betas": tuple(betas), "eps": eps, "weight_decay": weight_decay,
                                  "maximize": maximize})

    def _begin(self):
        """Counts a step of each parameter that has a gradient. Those that have always stepped together share
        a counter, which one line counts on."""
        stepping, others = {}, set()
        for p in self.parameters:
            step = self.state.get(p, {}).get("step")
            if p.grad is None:
                others.add(id(step))
            else:
                stepping.setdefault(id(step), (step, []))[1].append(p)
        for key, (step, members) in stepping.items():
            if step is None:
                step = tensor(0)
                _call("add", [step, 1], into=[step], type=("i64", ()))
            elif key in others:  # which does not step for all
                step = _ops["add"](step, 1)
            else:
                _call("add", [step, 1], into=[step], type=("i64", ()))
            for p in members:
                self.state.setdefault(p, {})["step"] = step

    def _gradient(self, p, group):
        return super()._gradient(p, {**group, "weight_decay": 0} if self._decoupled else group)

    def _change(self, p, g, rate, group):
        m, v = self._moment(p, "exp_avg", "m"), self._moment(p, "exp_avg_sq", "v")
        keys = {"beta1": group["betas"][0], "beta2": group["betas"][1], "eps": group["eps"],
                "decay": group["weight_decay"] if self._decoupled else 0}
        _call("adamw", [p, g, m, v, self.state[p]["step"], rate], keys, 3, into=[p, m, v])


class Adam(AdamW):
    """Adam, whose weight decay is added to the gradient."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *,
                 maximize=False, foreach=None, capturable=False, differentiable=False, fused=None,
                 decoupled_weight_decay=False):
        self._decoupled = decoupled_weight_decay
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"gt.optim has no {name!r}; it has SGD, Adam, AdamW and lr_scheduler; a step of another "
                         "is p.sub_(...) under gt.no_grad()")
