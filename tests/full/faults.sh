#!/usr/bin/env bash
# The same as in the quick tier, more often, and said at once.
exec "$(dirname "${BASH_SOURCE[0]}")/../oracle/faults.sh" 50 1000 2.5
