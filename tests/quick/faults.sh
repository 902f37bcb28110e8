#!/usr/bin/env bash
# A process of a running pipeline dies or stops: never a hang. How soon it is
# said is for the full tier, since other work may have the cores here.
exec "$(dirname "${BASH_SOURCE[0]}")/../oracle/faults.sh" 10 1 30
