#!/usr/bin/env bash
# As tests/quick/losses.sh, more of them.
exec "$(dirname "${BASH_SOURCE[0]}")/../quick/losses.sh" 300 2000
