#!/usr/bin/env bash
# Makes some of the calls of small runs of all programs fail: no program hangs,
# aborts or prints a wrong value. (tests/full/fault-loops.sh makes each call fail.)
exec "$(dirname "${BASH_SOURCE[0]}")/../oracle/fault_loops.sh" 3
