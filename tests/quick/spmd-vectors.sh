#!/usr/bin/env bash
# Checks the conformance vectors of sharded types, and further ones.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
tests/spmd-vectors <(cat tests/spmd-vectors.tsv tests/spmd-vectors-more.tsv)
