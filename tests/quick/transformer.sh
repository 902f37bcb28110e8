#!/usr/bin/env bash
# A small character-level transformer learns: its loss on held-out text falls to at
# most 0.65 of the entropy of a character by its frequency alone, and it writes
# text. (tests/full/transformer.sh trains a larger one.)
exec "$(dirname "${BASH_SOURCE[0]}")/../oracle/transformer.sh" 0.65 200 \
  layers=2 width=64 heads=2 context=64 batch=8 steps=800 rounds=2 held=16384 \
  rate=4e-3 sample=100
