#!/usr/bin/env bash
# The same as in the quick tier, of other seeds and many more of them.
exec "$(dirname "${BASH_SOURCE[0]}")/../oracle/hostile.sh" 1500 10000
