#compdef gt-check gt-cluster gt-cmp gt-emit gt-key gt-log gt-route gt-shard gt-top gt-work
# zsh completion of gt's programs: the script candidates says what may come next.
local -a found
found=(${(f)"$(${commands[gt-emit]:A:h}/../share/gt/completions/candidates \
  "${words[1,CURRENT-1]} $PREFIX" 2>/dev/null)"})
compset -P '*='
if ((!$#found)); then
  _files
else
  found=(${found//:/\\:})
  found=(${found/$'\t'/:})
  _describe 'option or value' found
fi
