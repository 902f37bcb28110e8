#!/usr/bin/env bash
# Runs the test of the quick tier with other seeds, and many more of them.
exec "$(dirname "${BASH_SOURCE[0]}")/../oracle/hostile.sh" 1500 10000
