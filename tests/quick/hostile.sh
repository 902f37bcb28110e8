#!/usr/bin/env bash
# With peers that say wrong things no program hangs or crashes, or prints anything
# false.
exec "$(dirname "${BASH_SOURCE[0]}")/../oracle/hostile.sh" 60 1
