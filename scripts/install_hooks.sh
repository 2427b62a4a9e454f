#!/usr/bin/env bash
# Makes Git call scripts/hooks in this clone, unless it has hooks of its own, or in CI.
# Usage: scripts/install_hooks.sh
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

[ -z "${CI:-}${TRAINER_SKIP_SETUP:-}" ] || exit 0
# A copy without history, or a folder inside another repository, has nothing to set.
[ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$(pwd -P)" ] || exit 0

path=$(git config core.hooksPath || true)
[ "$path" != scripts/hooks ] || exit 0
own=$(find "$(git rev-parse --git-path hooks)" -type f ! -name '*.sample' 2>/dev/null | head -n 1 || true)
if [ -n "$path$own" ]; then
  say "note: this clone has hooks of its own (${path:-$own}); scripts/hooks is not installed"
  exit 0
fi
git config core.hooksPath scripts/hooks
say "Git now calls scripts/hooks at each commit; back: git config --unset core.hooksPath"
