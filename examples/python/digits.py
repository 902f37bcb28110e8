#!/usr/bin/env python3
"""Trains a classifier of handwritten digits, as examples/digits.sh does, from
Python. usage: digits.py [EPOCHS]. Prints each epoch's loss, then the accuracy on
297 images that it never saw."""
import os
import sys

root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(root, "share/python"))
import gt


class Digits(gt.Module):
    def __init__(self):
        self.hidden = gt.Linear(64, 128)
        self.out = gt.Linear(128, 10)

    def forward(self, x):
        with gt.signal("hidden"):
            h = self.hidden(x).relu()
        with gt.signal("out"):
            return self.out(h)


epochs = int(sys.argv[1]) if len(sys.argv) > 1 else 40
images = gt.load(os.path.join(root, "share/digits/images.npy"), name="images")
labels = gt.load(os.path.join(root, "share/digits/labels.npy"), name="labels")
model = Digits()
optimizer = gt.AdamW(model.parameters(), lr=0.003)
row = gt.tensor(0, name="row")


def step():
    with gt.signal("batch"):
        x = images.slice(row, axis=0, size=100)
        y = labels.slice(row, axis=0, size=100)
    loss = model(x).cross_entropy(y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    row.add_(100)
    row.mod_(1500)
    return loss


for epoch in range(epochs):
    for i in range(14):
        step()
    print("loss", step().item())
with gt.no_grad():
    guess = model(images[1500:]).argmax(axis=1)
    print("accuracy", (guess == labels[1500:]).cast("f32").mean().item())
