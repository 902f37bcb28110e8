#!/usr/bin/env bash
# Makes each call of small runs of all programs fail in turn; of the thousands of
# allocations it makes about every tenth fail.
exec "$(dirname "${BASH_SOURCE[0]}")/../oracle/fault_loops.sh" 1000
