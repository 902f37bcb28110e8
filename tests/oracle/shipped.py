"""Makes placed streams of every example under every config of configs/, in
small sizes.

They print what the examples print, and at the end all weights and the moments
of optimizers, which show what happened to each gradient.
"""
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
UNUSED = re.compile(
    r"is used by no line|matches no tensor's name|cuts no tensor over|"
    r"there is nothing to order")
SIZES = ("width=8 heads=2 context=4 batch=4 length=400 held=20 steps=2 "
         "warmup=1 rounds=1 sample=1").split()


def text_of(*names):
    return "".join((EXAMPLES / name).read_text(encoding="utf-8")
                   for name in names)


def trained(text):
    """The names that optimizers write, in the order of the text."""
    found = {}
    for line in text.splitlines():
        if re.search(r"= (adamw|sgd) ", line):
            for name in line.split(" = ")[0].split():
                found[name] = None
    return list(found)


def with_prints(text):
    """The program with prints of what was trained; of one rank, if it is
    placed."""
    prints = []
    for name in trained(text):
        name, placed, _ = name.partition("@")
        if not placed:
            prints.append(f"print {name}")
    return text + "\n".join(prints) + "\n"


def novel(folder, length):
    """Writes text.npy, characters for the transformer."""
    text = (ROOT / "share/novel/pride-and-prejudice.txt").read_bytes()
    header = ("{'descr': '|u1', 'fortran_order': False, 'shape': (%d,), }"
              % length)
    (folder / "text.npy").write_bytes(
        b"\x93NUMPY\x01\x00\x76\x00" + b"%-117s\n" % header.encode() +
        text[:length])


def transformer(layers, fused):
    made = subprocess.run(
        [EXAMPLES / "transformer", "text=text.npy", *SIZES,
         f"layers={layers}", f"fused={fused}"],
        capture_output=True, text=True, check=True)
    return with_prints(made.stdout)


def programs(layers):
    """Name and text of all examples."""
    step = text_of("digits.gt") + "print loss\n"
    # There are fewer held-out images, and a product of fewer numbers.
    test = text_of("digits-test.gt").replace("1500:", "1700:")
    experts = text_of("experts.gt") + "print total\nprint dropped\n"
    quick = text_of("quickstart.gt").replace("1000", "12")
    return {
        "transformer0": transformer(layers, 0),
        "transformer1": transformer(layers, 1),
        "digits": with_prints(text_of("digits-init.gt") + 2 * step) + test,
        "linear": with_prints(text_of("linear-init.gt") +
                              2 * text_of("linear.gt")),
        "experts": with_prints(text_of("experts-init.gt") + 2 * experts),
        "quickstart": quick,
        "tape": text_of("tape.gt"),
    }


def filtered(text, *command):
    """What a filter makes of the text. Entries of a config that are for other
    programs are not counted as faults."""
    done = subprocess.run(command, input=text, capture_output=True, text=True,
                          check=False)
    said = done.stderr.splitlines()
    if done.returncode == 3 and said and all(map(UNUSED.search, said)):
        return done.stdout.replace("\n#end 3\n", "\n#end 0\n")
    if done.returncode != 0:
        raise SystemExit(f"{command}: {done.stderr}")
    return done.stdout


def stream_of(program):
    return filtered(program, "gt-emit", "--no-at")


def shipped(folder):
    """Name and text of all placed streams. They are to be run in the folder,
    which gets the files that they load."""
    novel(folder, 400)
    if not (folder / "share").exists():
        (folder / "share").symlink_to(ROOT / "share")
    streams = {}
    for config in sorted((ROOT / "configs").glob("*.yaml")):
        # A pipeline needs a layer for each stage.
        layers = 2 if config.stem == "pipeline" else 1
        for name, program in programs(layers).items():
            streams[f"{name}.{config.stem}"] = filtered(
                stream_of(program), "gt-shard", "-c", str(config))
    placed = text_of("digits-tp2-init.gt", "digits-tp2.gt")
    placed += "print loss@0 as=loss\n" + text_of("digits-tp2.gt")
    placed += "".join(
        f"print {name}@0-1 split=tp:{0 if name.endswith('w2') else -1} "
        f"as={name}\n" for name in ("w1", "m.w1", "w2", "m.w2"))
    placed += "print b2@0 as=b2\nprint m.b2@0 as=m.b2\n"
    placed += text_of("digits-tp2-test.gt").replace("1500:", "1700:")
    streams["digits-tp2"] = stream_of(placed)
    return streams
