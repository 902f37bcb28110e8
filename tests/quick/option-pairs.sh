#!/usr/bin/env bash
# Runs pairs of options of gt-route and gt-work over a failing program, as many as a
# minute allows. (tests/full/option-pairs.sh runs them all.)
exec "$(dirname "${BASH_SOURCE[0]}")/../oracle/option_pairs.sh" 60
