# shellcheck shell=bash
# What scripts/test sources behind common.sh: which jobs a part of the tests has, and
# how jobs are run, counted and recorded.

# How many jobs run at a time: many tests wait for something for a fifth of their time,
# some for most of it, so there are four more than there are processors.
at_once=${GT_JOBS:-$(($(nproc) + 4))}
job_seconds=1500 # how long a job may take
logs=$gt_root/build/test-logs
record=$gt_root/tests/full/record.tsv

# The parts of each tier, in the order in which they run.
quick_parts=(lint unit bats cases docs quick)
mapfile -t hooks < <(cd "$gt_root/tests" && find full -name '*.sh' | sed 's/\.sh$//' | sort)
full_parts=("${quick_parts[@]}" bats-full alone asan-unit asan-bats asan-cases
  tsan-unit tsan-bats fuzz "${hooks[@]}")

# The environment of all tests. A process that a loaded machine stops, or a sanitizer
# slows down, must not count as lost, hence the long silence.
export BATS_TEST_TIMEOUT=${BATS_TEST_TIMEOUT:-120}
export GT_SILENCE=${GT_SILENCE:-60}
export ASAN_OPTIONS=${ASAN_OPTIONS:-allocator_may_return_null=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-allocator_may_return_null=1 die_after_fork=0 ignore_noninstrumented_modules=1 suppressions=$gt_root/tests/tsan.supp}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}

# ---- the jobs of a part ----------------------------------------------------

# preset_of PART prints the preset that builds what the part runs.
preset_of() {
  case $1 in
    alone) echo debug ;;
    asan-* | tsan-*) echo "${1%%-*}" ;;
    *) echo release ;;
  esac
}

# jobs_of PART prints the part's jobs, one a line: the part, a name, and a command for
# bash, with tabs between them.
jobs_of() {
  local part=$1 preset bin variables
  preset=$(preset_of "$part")
  bin=$(build_dir "$preset")/bin
  variables="GT_BIN=$bin"
  case $preset in asan | tsan) variables+=" GT_SANITIZED=$preset" ;; esac
  # job NAME COMMAND... prints one of them.
  job() {
    printf '%s\t%s\t%s\n' "$part" "$1" "export $variables; ${*:2}"
  }
  case $part in
    lint) scripts/lint --list | for_each 'scripts/lint --lately' ;;
    unit | *-unit) unit_jobs ;;
    bats) printf '%s\n' tests/*.bats | for_each "bats --tap --filter-tags '!full'" ;;
    bats-full) grep -l '^# bats test_tags=full' tests/*.bats | for_each 'bats --tap --filter-tags full' ;;
    *-bats) printf '%s\n' tests/*.bats | for_each 'bats --tap' ;;
    cases | *-cases) (cd tests/cases && printf '%s\n' *) | for_each 'scripts/cases' ;;
    docs) scripts/doc-examples --list | for_each 'scripts/doc-examples' ;;
    quick) printf '%s\n' tests/quick/*.sh | for_each 'bash' ;;
    full/*) job "tests/$part.sh" "bash tests/$part.sh" ;;
    alone) job alone 'scripts/build debug' ;;
    fuzz) job fuzz 'scripts/fuzz -s 120' ;;
  esac
}

# for_each COMMAND prints a job for each line of stdin: the command with the line as
# its argument.
for_each() {
  local argument program=${1%% *}
  while IFS= read -r argument; do
    job "${program##*/} ${argument#tests/}" "$1 '$argument'"
  done
}

# unit_jobs prints the jobs of the programs of unit tests. A job of gt_tests has a share
# of its tests, and of the cases of those that have many a share by commit. gt_cuda_tests
# compiles the CUDA backend's kernels for the host, those of a share of the ops. One thread runs these kernels, so the thread sanitizer has nothing
# to find in them, and its build leaves them out.
unit_jobs() {
  local n shares=8 cuda='Cuda*'
  [[ $preset != tsan ]] || cuda='CudaFake*'
  for ((n = 0; n < shares; n++)); do
    job "gt_tests $n of $shares" "GT_CASE_SHARE='$(share_of 8)' GTEST_TOTAL_SHARDS=$shares GTEST_SHARD_INDEX=$n $bin/gt_tests --gtest_brief=1"
  done
  job gt_client_tests "$bin/gt_client_tests --gtest_brief=1"
  job gt_cuda_tests "GT_CASE_SHARE='$(share_of 40)' $bin/gt_cuda_tests --gtest_brief=1 '--gtest_filter=$cuda'"
}

# ---- running and counting ---------------------------------------------------------

count_line='^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$'

# count LOG STATUS prints how many tests passed, failed and were skipped by the LOG of a
# job: in a line of counts, by GoogleTest, or in the test anything protocol of
# Bats. A log without any is one test; a status that is not 0, one failure.
count() {
  awk -v counts="$count_line" -v status="$2" '
    $0 ~ counts { p = $1; f = $3; s = $5; told = 1 }
    /^\[  PASSED  \] [0-9]+ test/ { p += $4; told = 1 }
    /^\[  FAILED  \] [0-9]+ test/ { f += $4 }
    /^\[  SKIPPED \] [0-9]+ test/ { s += $4 }
    /^1\.\.0$/ { told = 1 }
    /^ok [0-9]+ .*# skip/ { s++; told = 1; next }
    /^ok [0-9]+ / { p++; told = 1 }
    /^not ok [0-9]+ / { f++ }
    END {
      if (status != 0 && f == 0) f = 1
      if (status == 0 && !told) p = 1
      print p + 0, f + 0, s + 0
    }' "$1"
}

# run_job JOB runs a job and prints its counts; if it failed, also all that it printed,
# and else why tests were skipped. It adds a row to $work/rows: part, name, passed,
# failed, skipped, seconds, and seconds of processors.
run_job() {
  local part name command log p f s cpu status=0 start=$SECONDS
  IFS=$'\t' read -r part name command <<<"$1"
  log=$logs/$(tr -c 'a-zA-Z0-9\n' - <<<"$part $name")
  TIMEFORMAT='%U %S'
  cpu=$({ time timeout -k 5 "$job_seconds" bash -c "$command" >"$log" 2>&1 </dev/null; } 2>&1) ||
    status=$?
  cpu=$(awk '{ print int($1 + $2) }' <<<"$cpu")
  ((status < 124)) || echo "it ended with status $status after $((SECONDS - start)) s" >>"$log"
  read -r p f s < <(count "$log" "$status")
  {
    flock 8
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$part" "$name" "$p" "$f" "$s" \
      $((SECONDS - start)) "$cpu" >&8
    printf '%-50s %5d passed %4d failed %4d skipped %4d s\n' "$name" "$p" "$f" "$s" \
      $((SECONDS - start))
    if ((f > 0)); then sed 's/^/    /' "$log"; else grep -E '# skip|^skipped: |^warning: ' "$log" | sed 's/^/    /'; fi
  } 8>>"$work/rows"
}

# in_turn leaves out, of the jobs on stdin that tests/turns lets take turns, those whose
# turn is not this commit's.
in_turn() {
  local share shares
  read -r share shares < <(share_of 2520) # a multiple of each number up to 10
  awk -F '\t' -v share="$share" -v shares="$shares" '
    /^#/ && NR == FNR { next }
    NR == FNR { for (i = 1; i <= NF; i++) { group[$i] = FNR; at[$i] = i - 1; size[$i] = NF }; next }
    shares == 1 || !($2 in group) || (share + group[$2]) % size[$2] == at[$2]
  ' "$gt_root/tests/turns" -
}

# in_order prints the jobs on stdin, those first that tests/longest names.
in_order() {
  awk -F '\t' '
    NR == FNR { if ($0 !~ /^#/) at[$0] = ++longest; next }
    { print ($2 in at ? at[$2] : longest + 1) "\t" $0 }' "$gt_root/tests/longest" - |
    sort -s -n -k 1,1 | cut -f 2-
}

# run_parts PART... runs all jobs of these parts as one queue. Their rows are in
# $work/rows.
run_parts() {
  local part
  : >"$work/rows"
  mkdir -p "$logs"
  for part in "$@"; do jobs_of "$part"; done | in_turn | in_order >"$work/jobs"
  export work logs job_seconds count_line
  export -f run_job count
  # shellcheck disable=SC2016 # expanded by the shell that is started
  tr '\n' '\0' <"$work/jobs" | xargs -0 -r -n 1 -P "$at_once" bash -c 'run_job "$0"'
}

# total [PART] prints sums over the jobs of a part, or of all: jobs, passed, failed,
# skipped, seconds, seconds of processors. A job without a row counts as a failure.
total() {
  awk -F '\t' -v part="${1:-}" '
    part != "" && $1 != part { next }
    FILENAME ~ /jobs$/ { jobs++; next }
    { rows++; p += $3; f += $4; s += $5; t += $6; cpu += $7 }
    END { print jobs + 0, p + 0, f + jobs - rows, s + 0, t + 0, cpu + 0 }' "$work/jobs" "$work/rows"
}

# ---- the record of the full tier -------------------------------------------------

# state prints the tree's commit, with a + if files differ from it.
state() {
  local commit
  commit=$(git rev-parse --short=12 HEAD 2>/dev/null || echo none)
  git diff --quiet HEAD -- . ":!${record#"$gt_root"/}" 2>/dev/null || commit+=+
  echo "$commit"
}

# row_of PART prints the part's row of the record: commit, date, seconds, passed, failed,
# skipped.
row_of() {
  [[ ! -e $record ]] || awk -F '\t' -v OFS='\t' -v part="$1" \
    '$1 == part { print $2, $3, $4, $5, $6, $7 }' "$record"
}

# is_current COMMIT tells whether the commit's files are those of the tree. The record
# does not count.
is_current() {
  [[ $1 != *+ && $1 != none ]] &&
    git diff --quiet "$1" -- . ":!${record#"$gt_root"/}" 2>/dev/null
}

# has_passed PART tells whether the part has passed on the files of the tree.
has_passed() {
  local commit failed
  IFS=$'\t' read -r commit _ _ _ failed _ <<<"$(row_of "$1")"
  [[ -n $commit && $failed == 0 ]] && is_current "$commit"
}

# write_record PART COMMIT SECONDS PASSED FAILED SKIPPED replaces the part's row.
write_record() {
  local new=$record.new part=$1
  {
    printf '# part\tcommit\tdate\tseconds\tpassed\tfailed\tskipped\n'
    {
      [[ ! -e $record ]] || awk -F '\t' -v part="$part" '!/^#/ && $1 != part' "$record"
      printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$part" "$2" "$(date -u +%Y-%m-%dT%H:%MZ)" "${@:3}"
    } | sort
  } >"$new"
  mv "$new" "$record"
}

# list_record prints a line for each part of the full tier.
list_record() {
  local part row commit date seconds passed failed skipped word
  for part in "${full_parts[@]}"; do
    row=$(row_of "$part")
    if [[ -z $row ]]; then
      printf '%-22s never\n' "$part"
      continue
    fi
    IFS=$'\t' read -r commit date seconds passed failed skipped <<<"$row"
    word='other files'
    ! is_current "$commit" || word='these files'
    printf '%-22s %s  %-13s %5d s  %6d passed %3d failed %3d skipped  %s\n' "$part" \
      "$date" "$commit" "$seconds" "$passed" "$failed" "$skipped" "$word"
  done
}
