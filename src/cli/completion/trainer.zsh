#compdef trainer
# Completion of trainer for zsh, made by `trainer completion zsh`.
# The program says what could stand at the cursor; files are completed by zsh.
_trainer() {
  local line text help typed="${(Q)PREFIX}" program="${words[1]/#\~\//$HOME/}" paths=""
  local -a complete part typed_words
  (( CURRENT > 2 )) && typed_words=("${(@Q)words[2,CURRENT-1]}")
  # What comes before the value of --flag=value and key=value is not shown again.
  local before=""
  if [[ $typed == *=* ]]; then
    before="${typed%%=*}="
    compset -P 1 '*='
  fi
  for line in "${(@f)$("$program" __complete zsh "${typed_words[@]}" "$typed" 2>/dev/null)}"; do
    if [[ $line == :* ]]; then
      paths="${line#:}"
      continue
    fi
    [[ -z $line ]] && continue
    text="${${${line#?}%%$'\t'*}#$before}"
    help="${line#*$'\t'}"
    text="${${text//\\/\\\\}//:/\\:}${help:+:$help}"
    [[ $line == -* ]] && part+=("$text") || complete+=("$text")
  done
  (( $#complete )) && _describe -t words 'trainer' complete
  (( $#part )) && _describe -t parts 'trainer' part -S ''
  case $paths in
    files) _files ;;
    folders) _files -/ ;;
    checkpoints) _files -g '*.pt(-.)' ;;
  esac
}
# As a file of $fpath this is the body of the function; sourced, it is a definition.
if [[ $funcstack[1] == _trainer ]]; then
  _trainer "$@"
else
  compdef _trainer trainer
fi
