#!/usr/bin/env bats
# scripts/docs writes all pages as HTML, which needs no server and loads nothing
# from elsewhere.

load helper

setup_file() {
  export site=$BATS_FILE_TMPDIR/site missing=
  local tool
  for tool in mandoc cmark-gfm xmllint; do
    command -v "$tool" >/dev/null || missing=$tool
  done
  [[ -n $missing ]] || "$GT_ROOT/scripts/docs" -o "$site"
}

setup() {
  cd "$BATS_TEST_TMPDIR" || return
  [[ -n $missing ]] || return 0
  [[ -z ${GT_NO_SKIPS:-} ]] || { echo "$missing is not here (GT_NO_SKIPS is set)" && return 1; }
  skip "$missing is not here; scripts/packages install test"
}

# check_site FOLDER checks the site in that folder.
check_site() {
  /usr/bin/python3 "$GT_ROOT/tests/tools/check_site.py" "$1"
}

# sources prints the names of all pages, as files of the site.
sources() {
  (cd "$GT_ROOT" && printf '%s\n' *.md man/*.[1-9] gt-ops.7) |
    sed 's,.*/,,; s/\.md$//; s/$/.html/' | sort -u
}

@test "every page of the source is a page of the site, and the index names it" {
  local page
  for page in $(sources); do
    grep -q '<h1>' "$site/$page"
    grep -q "<dt><a href=\"$page\">" "$site/index.html" || { echo "$page"; return 1; }
  done
  [ "$(find "$site" -name '*.html' | wc -l)" -eq $(($(sources | wc -l) + 1)) ]
}

@test "no link or anchor is dead, nothing is loaded from elsewhere, and the search knows each page" {
  run -0 check_site "$site"
  lines_are "$(($(sources | wc -l) + 1)) pages are sound"
}

@test "the check of the site names what is wrong" {
  cp -r "$site" broken
  cat >>broken/index.html <<'HTML'
<a href="nowhere.html">a</a> <a href="gt.7.html#nowhere">b</a> <p id="site-text">
<img src="https://example.org/x.png"> <script src="//example.org/x.js"></script>
HTML
  echo 'p { background: url(x.png) }' >>broken/style.css
  sed -i 's/"gt.7.html"/"gone.html"/' broken/search-index.js
  run -1 check_site broken
  [[ $output == *'index.html: nowhere.html: there is no such file'* ]]
  [[ $output == *'index.html: gt.7.html#nowhere: there is no such anchor'* ]]
  [[ $output == *'index.html: the anchor site-text stands twice'* ]]
  [[ $output == *'index.html: https://example.org/x.png is loaded'* ]]
  [[ $output == *'index.html: //example.org/x.js is loaded'* ]]
  [[ $output == *'style.css: url(x.png) is loaded'* ]]
  [[ $output == *'search-index.js: gone.html: there is no such file'* ]]
  [[ $output == *'search-index.js: nothing is said of gt.7.html'* ]]
}

@test "pages are HTML" {
  # xmllint knows only the elements of HTML 4, but it checks how elements nest and
  # end.
  run xmllint --html --noout "$site"/*.html
  run ! grep 'error :' <(grep -v ' : Tag [a-z]* invalid$' <<<"$output")
}

@test "the search has each op, term and section under its name" {
  # entry FILE ANCHOR NAME checks that the index has this entry.
  entry() {
    /usr/bin/python3 -c 'import json, sys
text = open(sys.argv[1]).read()
data = json.loads(text[text.index("(") + 1:text.rindex(")")])
for page, anchor, name, *_ in data["entries"]:
    print(data["pages"][page][0], anchor, name)' "$site/search-index.js"
  }
  entry >entries
  grep -qx 'gt-ops.7.html matmul matmul' entries
  grep -qx 'gt-ops.7.html all_reduce all_reduce' entries
  grep -qx 'gt-config.5.html schedule schedule' entries
  grep -qx 'gt-shard.1.html Schedules Schedules' entries
  local op
  for op in $(gt-emit --ops=list | sed -n 's/^[a-z. ,]* = \([a-z0-9_]*\) .*/\1/p'); do
    grep -qx "gt-ops.7.html $op $op" entries || { echo "$op"; return 1; }
  done
}

# make_tree copies all that the site is made of, so that its pages may be changed.
make_tree() {
  mkdir tree
  ln -s "$GT_ROOT"/* tree/
  rm tree/scripts tree/man tree/*.md
  cp -r "$GT_ROOT"/{scripts,man} "$GT_ROOT"/*.md tree/
}

@test "mentions of pages, and of their sections, are links" {
  make_tree
  cat >>tree/man/gt-cmp.1 <<'END'
.Pp
See
.Dq Plug-ins
in
.Xr gt-work 1 ,
.Xr gt-shard 1 ,
.Dq Schedules ,
.Xr tee 1 ,
and README.md, which is
.Pa README.md .
.Pp
This is
.Pa share/pictures/ranks.svg .
END
  cat >>tree/README.md <<'END'

See `man/gt-shard.1`, "Products in
chunks", gt-ops(7), seed(7), [this](man/gt.7#GLOSSARY) and
![](share/pictures/digits.svg).
END
  run -0 tree/scripts/docs -o made
  check_site made
  # has PAGE TEXT checks that the paragraph that was added became TEXT.
  has() {
    tr -s '\n ' ' ' <"made/$1.html" | grep -qF -- "$2" ||
      { grep -A6 '<p.*>See' "made/$1.html"; return 1; }
  }
  has gt-cmp.1 'See <a href="gt-work.1.html#Plug-ins">“Plug-ins”</a> in <a class="Xr" href="gt-work.1.html">gt-work(1)</a>,'
  has gt-cmp.1 '>gt-shard(1)</a>, <a href="gt-shard.1.html#Schedules">“Schedules”</a>, <span class="Xr">tee(1)</span>,'
  has gt-cmp.1 'and README.md, which is <a href="README.html"><span class="Pa">README.md</span></a>.'
  has gt-cmp.1 'ranks.svg</span>.</p> <p><a href="share/pictures/ranks.svg"><img src="share/pictures/ranks.svg" alt="share/pictures/ranks.svg"></a></p>'
  [ -s made/share/pictures/ranks.svg ]
  has README 'See <a href="gt-shard.1.html"><code>man/gt-shard.1</code></a>, <a href="gt-shard.1.html#Products_in_chunks">'
  has README '<a class="Xr" href="gt-ops.7.html">gt-ops(7)</a>, seed(7), <a href="gt.7.html#GLOSSARY">this</a>'
  has README '<img src="share/pictures/digits.svg"'
  [ -s made/share/pictures/digits.svg ]
}

@test "an example shows its commands and what they print" {
  make_tree
  cat >>tree/README.md <<'END'

```console
$ printf 'a < %s' \
    b
a < b
$ cat <<X
> c
> X
c
```
END
  run -0 tree/scripts/docs -o made
  diff - <(sed -n '/printf .a/,/<\/pre>/p' made/README.html) <<'END'
<pre tabindex="0" class="session"><span class="prompt">$ </span><span class="command">printf 'a &lt; %s' \</span>
<span class="command">    b</span>
<span class="output">a &lt; b
</span><span class="prompt">$ </span><span class="command">cat &lt;&lt;X</span>
<span class="prompt">&gt; </span><span class="command">c</span>
<span class="prompt">&gt; </span><span class="command">X</span>
<span class="output">c
</span></pre>
END
}

@test "a mention of a page or section that does not exist is reported" {
  make_tree
  cat >>tree/man/gt-cmp.1 <<'END'
.Pp
See
.Dq A new thing
in
.Xr gt-work 1 ,
.Xr gt-nothing 7
and
.Sx Another .
END
  echo 'See `man/gt-none.1` and [that](no/file).' >>tree/README.md
  run -1 --separate-stderr tree/scripts/docs -o made
  [[ $stderr == *'docs: gt-cmp.1: gt-work(1) has no section "A new thing"'* ]]
  [[ $stderr == *'docs: gt-cmp.1: there is no page gt-nothing.7'* ]]
  [[ $stderr == *'docs: gt-cmp.1: it has no section "Another"'* ]]
  [[ $stderr == *'docs: README.md: there is no page gt-none.1'* ]]
  [[ $stderr == *'docs: README.md: there is no file no/file'* ]]
  # A mention that is wrong is not made a link.
  check_site made
}

@test "a folder with other files is left alone, an earlier result replaced" {
  mkdir -p mine && echo text >mine/file
  run -2 "$GT_ROOT/scripts/docs" -o mine
  lines_are "docs: mine holds other files than these pages: name an empty folder or one that is not there"
  [ "$(ls mine)" = file ]
  cp -r "$site" again
  : >again/gone.1.html
  run -0 "$GT_ROOT/scripts/docs" -o again
  lines_are again/index.html
  diff -r "$site" again
  run -2 "$GT_ROOT/scripts/docs" -b mine -o none
  lines_are 'docs: no mine/gt-emit: run scripts/build release programs'
  [ ! -e none ]
}
