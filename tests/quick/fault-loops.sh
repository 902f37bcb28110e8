#!/usr/bin/env bash
# Some of the calls of small runs of all programs fail: none hangs, aborts or
# prints a wrong value. (tests/full/fault-loops.sh makes each of them fail.)
exec "$(dirname "${BASH_SOURCE[0]}")/../oracle/fault_loops.sh" 3
