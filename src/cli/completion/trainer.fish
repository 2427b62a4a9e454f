# Completion of trainer for fish, made by `trainer completion fish`.
# The program says what could stand at the cursor.
function __trainer_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    # Without its quotes, one of which may be open.
    for end in '' "'" '"'
        if set -l plain (string unescape -- "$typed$end")
            set typed $plain
            break
        end
    end
    set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
    $program __complete fish $words[2..] "$typed" 2>/dev/null
end
complete -c trainer -f -a '(__trainer_complete)'
