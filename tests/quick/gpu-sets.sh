#!/usr/bin/env bash
# Runs some tests of workers, routes and collectives on the fake device. The full
# tier runs all of them, and with more GPUs.
exec "$(dirname "${BASH_SOURCE[0]}")/../oracle/gpu_sets.sh" 4 \
  many placed losses
