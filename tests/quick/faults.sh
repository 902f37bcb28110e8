#!/usr/bin/env bash
# A process of a running pipeline dies or stops, and the pipeline never hangs. The
# full tier tests how soon that is reported, since here other work may have the
# cores.
exec "$(dirname "${BASH_SOURCE[0]}")/../oracle/faults.sh" 10 1 30
