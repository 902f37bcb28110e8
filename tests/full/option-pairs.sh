#!/usr/bin/env bash
<<<<<<< HEAD
# Every pair of options of gt-route and gt-work over a failing program.
exec "$(dirname "${BASH_SOURCE[0]}")/../oracle/option_pairs.sh" 0 1
=======
# Runs every pair of options of gt-route and gt-work over a failing program.
exec "$(dirname "${BASH_SOURCE[0]}")/../oracle/option_pairs.sh" 0
>>>>>>> prose
