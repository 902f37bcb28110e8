#!/usr/bin/env bash
# Runs tests/quick/losses.sh with more losses.
exec "$(dirname "${BASH_SOURCE[0]}")/../quick/losses.sh" 300 2000
