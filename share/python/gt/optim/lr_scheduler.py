"""Step sizes that change from step to step, as torch.optim.lr_scheduler has them."""
import bisect, math


class LRScheduler:
    """Says the lr of each group by how often step() was called. A subclass says by which factor. What
    something else makes of the lr, another schedule or the program itself, stays in it."""

    eta_min = 0.0

    def __init__(self, optimizer, last_epoch=-1):
        self.optimizer, self.last_epoch = optimizer, last_epoch
        for group in optimizer.param_groups:
            group.setdefault("initial_lr", group["lr"])
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self._lrs = list(self.base_lrs) if last_epoch < 0 else self.get_lr()  # what was said last
        self.step()

    def get_lr(self):
        """The lr of each group now."""
        return [base * self._factor(self.last_epoch) for base in self.base_lrs]

    def get_last_lr(self):
        """The lr of each group now."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def step(self, epoch=None):
        """Goes on by one."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        before, self._lrs = self._lrs, self.get_lr()
        for group, old, new in zip(self.optimizer.param_groups, before, self._lrs):
            group["lr"] = new if epoch is not None else self._moved(group["lr"], old, new)

    def _moved(self, lr, old, new):
        """What the lr becomes where the schedule alone would go from old to new."""
        if lr == old:
            return new
        if old == self.eta_min:
            return lr + new - old
        return self.eta_min + (lr - self.eta_min) * (new - self.eta_min) / (old - self.eta_min)

    def state_dict(self):
        """What load_state_dict() goes on from."""
        return {"last_epoch": self.last_epoch, "base_lrs": list(self.base_lrs)}

    def load_state_dict(self, state_dict):
        """Goes on from there."""
        self.last_epoch, self.base_lrs = state_dict["last_epoch"], list(state_dict["base_lrs"])
        self._lrs = self.get_lr()


class LambdaLR(LRScheduler):
    """By the factor that a function gives, of the lr in the beginning."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        count = len(optimizer.param_groups)
        self.lambdas = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * count
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return [base * f(self.last_epoch) for base, f in zip(self.base_lrs, self.lambdas)]

    def _moved(self, lr, old, new):
        return new


class StepLR(LRScheduler):
    """By gamma every step_size steps."""

    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch):
        return self.gamma ** (epoch // self.step_size)


class MultiStepLR(LRScheduler):
    """By gamma at each of the milestones."""

    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        self.milestones, self.gamma = sorted(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch):
        return self.gamma ** bisect.bisect_right(self.milestones, epoch)


class ExponentialLR(LRScheduler):
    """By gamma each step."""

    def __init__(self, optimizer, gamma, last_epoch=-1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch):
        return self.gamma ** epoch


class ConstantLR(LRScheduler):
    """By a factor for total_iters steps, and then by 1."""

    def __init__(self, optimizer, factor=1.0 / 3, total_iters=5, last_epoch=-1):
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch):
        return self.factor if epoch < self.total_iters else 1.0


class LinearLR(LRScheduler):
    """From start_factor to end_factor in total_iters steps."""

    def __init__(self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1):
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch):
        part = min(epoch, self.total_iters) / self.total_iters
        return self.start_factor + (self.end_factor - self.start_factor) * part


class CosineAnnealingLR(LRScheduler):
    """Along half a wave from the lr to eta_min in T_max steps."""

    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        part = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * part for base in self.base_lrs]


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    there = ", ".join(sorted(n for n, v in globals().items() if isinstance(v, type) and n != "LRScheduler"))
    raise AttributeError(f"gt.optim.lr_scheduler has no {name!r}; it has {there}: of these LambdaLR takes any function")
