#!/usr/bin/env bash
# Workers, routes and collectives on the fake device; all of them, and with more
# GPUs, are in the full tier.
exec "$(dirname "${BASH_SOURCE[0]}")/../oracle/gpu_sets.sh" 4 \
  many placed losses
