"""All names of gt, for programs that import them from here: `from gt.client import nn`."""
import sys

import gt
from .. import nn

for _part in "nn nn.functional".split():
    sys.modules[f"{__name__}.{_part}"] = sys.modules[f"gt.{_part}"]


def __getattr__(name):
    return getattr(gt, name)


tensor = sys.modules[f"{__name__}.tensor"] = sys.modules[__name__]  # from gt.client.tensor import randn
