#!/usr/bin/env bash
# Runs every pair of options of gt-route and gt-work over a failing program.
exec "$(dirname "${BASH_SOURCE[0]}")/../oracle/option_pairs.sh" 0 1
