# shellcheck shell=bash
# What scripts/test-gpu and scripts/bench-gpu share: where programs and libraries
# are, the GPU that they run on, and the report that they write. They source it
# after common.sh.

fake=              # 1 on the fake device
speed=             # BYTES:FLOPS a nanosecond, if the fake device keeps time
report=            # the file to which the report is written
libraries=$gt_root/libraries  # a folder of libraries, or several with colons
wanted=()          # the rows that were asked for

# gpu_start finds these.
work='' device='' driver='' gpus=0

rows=()            # the rows found so far, as JSON objects
began=$EPOCHSECONDS
whole=450          # seconds for all rows

# gpu_options ARG... takes the options that both scripts have; the rest becomes
# `wanted`.
gpu_options() {
  while (($#)); do
    case $1 in
      -h | --help) usage; exit 0 ;;
      --fake) fake=1 ;;
      --libraries) needs_value "$@"; shift; libraries=$1 ;;
      -o) needs_value "$@"; shift; report=$1 ;;
      -*) bad_usage "$1" ;;
      *) wanted+=("$1") ;;
    esac
    shift
  done
}

# gpu_start finds the programs, the libraries and the GPU. It ends with status 77
# where there is no GPU.
gpu_start() {
  export GT_BIN=${GT_BIN:-$gt_root/build/bin} LC_ALL=C
  export PATH=$GT_BIN:$PATH GT_SOURCE_DIR=$gt_root
  unset GT_BACKEND GT_NO_GRAPHS GT_VERBOSE GT_KEY GT_CONNECT LOCAL_RANK RANK WORLD_SIZE
  [[ -x $GT_BIN/gt-work ]] || die 2 "no programs in $GT_BIN: run scripts/build"
  work=$(mktemp -d "${TMPDIR:-/tmp}/gt-gpu.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  # On a GPU no compiled kernels are there from before; for the fake device they
  # are.
  export XDG_CACHE_HOME=$work/cache
  if [[ -n $fake ]]; then
    export GT_CUDA_PATH=${GT_BIN%/bin}/tests/fake-cuda GT_FAKE_NCCL_HOME=$work
    XDG_CACHE_HOME=${GT_BIN%/bin}/twin/cache
    [[ -e $GT_CUDA_PATH/libcuda.so.1 ]] ||
      no_gpu 'the fake device was not built: the headers of CUDA are not here'
  else
    export LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  fi
  local said
  said=$(gt-work --backend cuda --list-devices 2>&1) || no_gpu "$said"
  device=$(head -n 1 <<<"$said")
  gpus=$(wc -l <<<"$said")
  driver=none
  [[ -n $fake ]] || driver=$(nvidia-smi --query-gpu=driver_version \
    --format=csv,noheader -i 0 2>/dev/null) || driver=unknown
  echo "on $(place): $device, driver $driver"
}

# no_gpu WHY ends the script with the status of a skipped test.
no_gpu() {
  echo "skipped: $*"
  exit 77
}

is_time_left() {
  ((EPOCHSECONDS - began < whole))
}

# is_small: sizes are small, since the fake device computes unless it keeps time.
is_small() { [[ -n $fake && -z $speed ]]; }
# size OF_GPU OF_FAKE prints the size for the device.
size() {
  if is_small; then echo "$2"; else echo "$1"; fi
}

place() {
  if [[ -z $fake ]]; then
    echo 'a GPU'
  else
    echo "the fake device${speed:+ at $speed a nanosecond}"
  fi
}

# json TEXT prints it as a JSON string.
json() {
  local text=${1//\\/\\\\}
  text=${text//\"/\\\"}
  printf '"%s"' "${text//[[:cntrl:]]/ }"
}

# write_report writes the rows and the device they are of, if a file was asked for.
write_report() {
  [[ -n $report ]] || return 0
  {
    printf '{"script": %s, "on": %s, "device": %s, "gpus": %d,\n' \
      "$(json "${0##*/}")" "$(json "$(place)")" "$(json "$device")" "$gpus"
    printf ' "driver": %s, "date": %s, "program": %s, "seconds": %d,\n' \
      "$(json "$driver")" "$(json "$(date -u +%Y-%m-%dT%H:%M:%SZ)")" \
      "$(json "$(gt-work --version)")" $((EPOCHSECONDS - began))
    local IFS=$'\n'
    printf ' "rows": [\n%s\n ]}\n' "$(sed '$!s/$/,/' <<<"${rows[*]}")"
  } >"$report"
}
