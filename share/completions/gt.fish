# fish completion of gt's programs: the script candidates says what may come next.
# It is installed under the name of each program, for which it then completes.
function __gt_candidates
    set -l bin (dirname (realpath (command -s gt-emit)))
    set -l token (commandline -ct)
    set -l found ($bin/../share/gt/completions/candidates (commandline -cp) 2>/dev/null)
    if test (count $found) = 0
        __fish_complete_path $token
    else
        # fish takes a whole word, so the option stands before its value.
        set -l option (string match -r -- '^-.*=' $token; or echo)
        printf '%s\n' $option$found
    end
end
complete -c (basename (status filename) .fish) -f -a '(__gt_candidates)'
