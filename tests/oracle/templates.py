"""Lines of the commonest ops over operands of random sizes."""
import numpy
import torch

# Each letter is a size. A dtype may follow a colon, and is f64 otherwise;
# i:LETTER is an index below that size.
TEMPLATES = [
    ("y = matmul a b", "a=mk b=kn"), ("y = matmul a b ta=1", "a=km b=kn"),
    ("y = matmul a b tb=1", "a=mk b=nk"),
    ("y = matmul a b ta=1 tb=1", "a=km b=nk"),
    ("y = matmul a b", "a=zmk b=zkn"), ("y = matmul a b", "a=zmk b=kn"),
    ("y = matmul a b", "a=mk b=zkn"), ("y = matmul a a tb=1", "a=mk"),
    ("y = linear x w b", "x=mk w=kn b=n"), ("y = linear x w", "x=zmk w=kn"),
    ("y = linear x w b", "x=zmk w=kn b=n"), ("y = add a b", "a=mn b=mn"),
    ("y = add a b", "a=mn b=n"), ("y = mul a b", "a=zmn b=mn"),
    ("y = sub a b", "a=m1 b=1n"), ("y = mul a b", "a=mn b="),
    ("y = add a 1", "a=mn"), ("y = mul a 2", "a=mn"), ("y = sub 1 a", "a=m"),
    ("y = sum a", "a=mn"), ("y = sum a axis=0", "a=mn"),
    ("y = sum a axis=1 keepdims=1", "a=zmn"), ("y = sum a axis=0,2", "a=zmn"),
    ("y = cumsum a axis=0", "a=mn"), ("y = relu a", "a=mn"),
    ("y = transpose a", "a=mn"), ("y = transpose a axes=1,2,0", "a=zmn"),
    ("y = flip a axis=0", "a=mn"), ("y = unsqueeze a axis=1", "a=mn"),
    ("y = concat a b axis=0", "a=mn b=kn"), ("y = stack a b axis=1", "a=mn b=mn"),
    ("y = maximum a b", "a=mn b=n"), ("y = reshape a shape=-1", "a=mM"),
    ("y = pad a width=1,1,0,2", "a=mn"), ("y = where c a b", "c=mn:bool a=mn b=n"),
    ("y = embedding t i", "t=Vd i=m:V"), ("y = gather t i axis=0", "t=Vd i=md:V"),
    ("y = scatter_add t i s axis=0", "t=Vd i=md:V s=md"),
    ("y = take t i axis=0", "t=Vd i=mz:V"), ("y = take t i axis=1", "t=zVd i=m:V"),
    ("y = take t i", "t=V i=m:V"), ("y = scatter t i s axis=0", "t=Vd i=md:V s=md"),
    ("y = one_hot i num_classes=17", "i=mz:V"),
    ("w2 = sgd w g 2", "w=mn g=mn"), ("y = copy a", "a=mn"),
    ("y = softmax a", "a=mN"), ("y = softmax a axis=0", "a=Mn"),
    ("y = log_softmax a", "a=mN"), ("y = layer_norm x w b", "x=mN w=N b=N"),
    ("y = rms_norm x w", "x=zmN w=N"), ("y = mean a axis=0", "a=Mn"),
    ("y = mean a", "a=MN"), ("y = var a axis=1", "a=mV"),
    ("y = cross_entropy x t", "x=MV t=M:V"),
    ("y = cross_entropy x t reduction=sum", "x=mV t=m:V"),
    ("y = cross_entropy x t reduction=none", "x=zmV t=zm:V"),
    ("y = cross_entropy x t w reduction=none ignore_index=0 label_smoothing=0.1",
     "x=zmV t=zm:V w=V"),
    ("y = cross_entropy x t ignore_index=0", "x=MV t=M:V"),
    ("y = mse x t", "x=MN t=MN"), ("y = mse x t reduction=none", "x=mn t=mn"),
    ("y = huber x t", "x=MN t=MN"),
    ("y = attention q k v", "q=zmd k=zNd v=zNd"),
    ("y = attention q k v causal=1", "q=zhMD k=zhMD v=zhMD"),
    ("y = rope x", "x=zm4"), ("y = dropout x 0.5 9", "x=mn"),
    ("y = norm a axis=0", "a=Mn"), ("y = div a b", "a=mn b=n"),
    ("y = gelu a", "a=mn"), ("y = exp a", "a=mn"),
]
FLOATING = set("""softmax log_softmax layer_norm rms_norm mean var cross_entropy
mse huber attention rope norm div gelu exp""".split())


class Template:
    """Inputs of random sizes, used in place of a Case."""

    def __init__(self, line, shapes, rng, limit):
        self.line, self.name, self.before = line, "whole", ""
        self.op = line.split(" = ")[1].split()[0]
        self.inputs, self.targets, sizes = {}, [], {}
        numbers = numpy.random.default_rng(rng.randrange(1 << 30))
        for word in shapes.split():
            name, text = word.split("=")
            letters, _, kind = text.partition(":")
            shape = [int(c) if c.isdigit() else self.size(sizes, c, rng, limit)
                     for c in letters]
            if kind == "bool":
                self.inputs[name] = torch.tensor(
                    numbers.integers(0, 2, shape) == 1)
            elif kind:
                self.inputs[name] = torch.tensor(
                    numbers.integers(0, self.size(sizes, kind, rng, limit),
                                     shape))
            else:
                low, high = (1, 5) if self.op in ("div", "norm") else (-3, 4)
                self.inputs[name] = torch.tensor(
                    numbers.integers(low, high, shape)).double()
                self.targets.append(name)
        self.order = 0 if self.op == "sgd" else 1
        self.name = f"{line} {sizes}"
        if self.op not in FLOATING:
            self.name += " whole"
        self.types = None

    def size(self, sizes, letter, rng, limit):
        if letter not in sizes:
            if letter == "D":
                sizes[letter] = 2
            else:  # a capital letter is at least one
                low = (2 if letter == "V" else 1) if letter.isupper() else 0
                sizes[letter] = rng.choice(
                    list(range(low, 6)) + [rng.randint(low, limit)])
        return sizes[letter]

    def results(self):
        return self.line.split(" = ")[0].split()
