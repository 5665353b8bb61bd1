#!/bin/sh
# Run what compose.yaml runs, in its order and with its settings, but as processes of this machine: a real
# PostgreSQL and Valkey, nginx (which has to be installed), two web processes and a worker. Then
# use it, restart it under load and print what was seen. Needs `make dev-packages`.
set -eu
cd "$(dirname "$0")/.."
exec .venv/bin/python -m benchmarks.deployment "$@"
