#!/usr/bin/env bash
# The conformance vectors of sharded types.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
tests/spmd-vectors tests/spmd-vectors.tsv
