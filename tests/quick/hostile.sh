#!/usr/bin/env bash
# Peers that say what is wrong: no hang, no crash, nothing false in the output.
exec "$(dirname "${BASH_SOURCE[0]}")/../oracle/hostile.sh" 60 1
