# shellcheck shell=bash
# bash completion of gt's programs: the script candidates says what may come next.
# It is installed under the name of each program, for which it then completes.
_gt() {
  local emit
  emit=$(readlink -f "$(command -v gt-emit)") || return
  mapfile -t COMPREPLY < <("${emit%/*}/../share/gt/completions/candidates" \
    "${COMP_LINE:0:COMP_POINT}" 2>/dev/null | cut -f 1)
}
complete -o default -F _gt "${BASH_SOURCE[0]##*/}"
