"""A small GPT-2 from the transformers package, its values as safetensors.

Writes model.safetensors (the weights, at random) and expected.safetensors to
the folder named: inputs and labels of each step; logits, loss and gradients of
the first; the losses of all, and the weights after them. What is expected was
computed in f64 and rounded to f32. The text that it prints says how far
PyTorch's own f32 strays from that, the yardstick for ours.

Needs torch, transformers and safetensors from PyPI; scripts/oracle runs it.
"""
import os
import sys

import torch
import transformers
from safetensors.torch import save_file

STEPS = 10
BATCH = 2
TOKENS = 12
# adamw divides a gradient by its own size. A gradient that is 0 but for
# rounding, as that of the keys' bias, would with a tiny eps decide the sign of
# a step by chance.
ADAMW = {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-5, "weight_decay": 0.01}
CONFIG = {
    "vocab_size": 50, "n_positions": 16, "n_embd": 24, "n_layer": 2,
    "n_head": 3, "activation_function": "gelu_new",
    "layer_norm_epsilon": 1e-5, "embd_pdrop": 0.0, "attn_pdrop": 0.0,
    "resid_pdrop": 0.0, "bos_token_id": 0, "eos_token_id": 0,
}


def make_model():
    torch.manual_seed(7)
    config = transformers.GPT2Config(**CONFIG)
    config._attn_implementation = "eager"
    model = transformers.GPT2LMHeadModel(config)
    # No value is zero or one, so that a mistake in any of them shows.
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.normal_(0, 0.2)
            if ".ln_" in name and name.endswith("weight"):
                weight.add_(1)
    return model


def data():
    generator = torch.Generator().manual_seed(8)
    shape = (STEPS, BATCH, TOKENS)
    size = CONFIG["vocab_size"]
    inputs = torch.randint(size, shape, generator=generator)
    labels = torch.randint(size, shape, generator=generator)
    return inputs, labels


def train(model, inputs, labels):
    found = {}
    losses = []
    optimizer = torch.optim.AdamW(model.parameters(), foreach=False, **ADAMW)
    for step in range(STEPS):
        optimizer.zero_grad()
        out = model(input_ids=inputs[step], labels=labels[step])
        out.loss.backward()
        losses.append(out.loss.detach())
        if step == 0:
            found["logits"] = out.logits.detach().clone()
            found["loss"] = out.loss.detach().clone()
            for name, weight in model.named_parameters():
                found["grad/" + name] = weight.grad.clone()
        optimizer.step()
    found["losses"] = torch.stack(losses)
    for name, weight in model.named_parameters():
        found["after/" + name] = weight.detach().clone()
    return found


def strays(found, exact):
    """The largest difference, relative to the largest magnitude of its
    tensor."""
    worst = (0, "")
    for name, value in exact.items():
        scale = value.abs().max().clamp(min=1e-30)
        far = ((found[name].double() - value).abs().max() / scale).item()
        worst = max(worst, (far, name))
    return worst


def main():
    folder = sys.argv[1]
    model = make_model()
    weights = {n: w.detach().clone() for n, w in model.named_parameters()}
    inputs, labels = data()
    exact = train(make_model().double(), inputs, labels)
    far, name = strays(train(model, inputs, labels), exact)
    print(f"PyTorch's f32 strays by {far:.1e} of a tensor's largest value, "
          f"in {name}")
    about = {
        "source": f"transformers {transformers.__version__}, "
                  f"torch {torch.__version__.split('+')[0]}, scripts/oracle",
        "adamw": str(ADAMW),
    }
    os.makedirs(folder, exist_ok=True)
    save_file(weights, f"{folder}/model.safetensors", about)
    expected = {n: v.float().contiguous() for n, v in exact.items()}
    expected.update(inputs=inputs, labels=labels)
    save_file(expected, f"{folder}/expected.safetensors", about)


main()
