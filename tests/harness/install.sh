#!/bin/sh
# Installs the clients into .harness/, at the versions that docs/explanation/clients-seen.md speaks of.
set -eu
cd "$(dirname "$0")/../.."
command -v npm >/dev/null || { echo "The clients come as npm packages: install Node.js 20 or newer." >&2; exit 1; }
mkdir -p .harness
echo '{"private": true}' >.harness/package.json
npm install --prefix .harness --no-save --no-package-lock --no-audit --no-fund --loglevel=error \
  @anthropic-ai/claude-code@2.1.332 @openai/codex@0.171.0 opencode-ai@1.18.33
