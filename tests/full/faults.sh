#!/usr/bin/env bash
# Runs the test of the quick tier more often, and wants faults to be reported at
# once.
exec "$(dirname "${BASH_SOURCE[0]}")/../oracle/faults.sh" 50 1000 2.5
