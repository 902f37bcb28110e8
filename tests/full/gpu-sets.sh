#!/usr/bin/env bash
# Runs the tests of workers, routes and collectives on the fake device, with one GPU
# for all workers and with several, and with rounds that are not recorded as CUDA
# graphs.
exec "$(dirname "${BASH_SOURCE[0]}")/../oracle/gpu_sets.sh" '1 2 4 8 no-graphs 1 4' \
  gt-work gt-route wire placed many rounds short stalls ends pipeline losses \
  sync resume clients client-peers kept-clients client-losses numbers ops \
  gt-shard gt-shard-parallel gt-shard-meaning attention-gradients \
  gradient-extremes input meant run-trace client-files examples elsewhere
