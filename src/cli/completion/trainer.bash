# Completion of trainer for bash 3.2 and newer, made by `trainer completion bash`.
# The program says what could stand at the cursor, and writes spaces and quotes itself.
_trainer() {
  local candidate program=${1/#\~\//$HOME/}
  COMPREPLY=()
  while IFS= read -r candidate; do
    COMPREPLY+=("$candidate")
  done < <("$program" __complete bash "${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null)
}
complete -o nospace -F _trainer trainer
