#!/usr/bin/env bash
# Each call of small runs of all programs fails in turn; of the thousands of
# allocations every tenth or so.
exec "$(dirname "${BASH_SOURCE[0]}")/../oracle/fault_loops.sh" 1000
