#!/usr/bin/env bash
# Tests the commit-msg hook, and when scripts/install_hooks.sh sets the hooks of a clone.
# Usage: tests/scripts/hooks_test.sh
# shellcheck source=tests/scripts/house.sh
source "$(dirname "$0")/house.sh"

# The repository whose hook runs this test would be changed instead of the one made here.
while IFS= read -r name; do unset "$name"; done < <(git rev-parse --local-env-vars)
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
unset CI TRAINER_SKIP_SETUP

message() {  # message NAME STATUS TEXT LINE...: what the hook says of a message
  put message "${@:4}"
  expect_of "$1" "$2" "$3" "$root/scripts/hooks/commit-msg" "$house/message"
}

fifty=$(printf 'x%.0s' {1..50})
seventy_two=$(printf 'y%.0s' {1..72})
message "a good message" 0 "" "$fifty" "" "$seventy_two" "" "More."
message "letters count, not bytes" 0 "" "${fifty//x/ä}" "" "Why."
message "comments and the diff do not count" 0 "" "Title" "" "Why." "# $seventy_two $seventy_two" \
  "# ------------------------ >8 ------------------------" "$seventy_two $seventy_two"
message "a long title" 1 "commit-msg: line 1: expected a title of at most 50 characters, got 51" \
  "x$fifty" "" "Why."
message "no blank line" 1 "commit-msg: line 2: expected a blank line between title and body, got \"Why.\"
commit-msg: expected a body that says what changed and why, got none" "Title" "Why."
message "a long line" 1 "commit-msg: line 3: expected at most 72 characters, got 73" \
  "Title" "" "y$seventy_two"
message "no body" 1 "commit-msg: expected a body that says what changed and why, got none" "Title"
message "nothing" 1 "commit-msg: line 1: expected a title, got nothing
commit-msg: expected a body that says what changed and why, got none" ""
message "a merge" 0 "" "Merge branch 'a-rather-long-name-of-a-feature' into main"

git init --quiet "$house/clone"
mkdir "$house/clone/scripts"
cp "$root/scripts/common.sh" "$root/scripts/install_hooks.sh" "$house/clone/scripts"
install() { "$house/clone/scripts/install_hooks.sh"; }
hooks_path() { git -C "$house/clone" config core.hooksPath; }

CI=true expect_of "not in CI" 0 "" install
expect_of "no hooks in CI" 1 "" hooks_path
echo "exit 0" >"$house/clone/.git/hooks/pre-push"
expect_of "a user's own hook stays" 0 "install_hooks: note: this clone has hooks of its own \
(.git/hooks/pre-push); scripts/hooks is not installed" install
expect_of "no hooks beside a user's own" 1 "" hooks_path
rm "$house/clone/.git/hooks/pre-push"
git -C "$house/clone" config core.hooksPath mine
expect_of "a user's own folder stays" 0 "install_hooks: note: this clone has hooks of its own \
(mine); scripts/hooks is not installed" install
git -C "$house/clone" config --unset core.hooksPath
expect_of "a new clone" 0 "install_hooks: Git now calls scripts/hooks at each commit; back: git config \
--unset core.hooksPath" install
expect_of "the hooks are set" 0 "scripts/hooks" hooks_path
expect_of "the second time" 0 "" install

finish
