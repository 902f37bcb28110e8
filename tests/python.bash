# shellcheck shell=bash
# What the tests of the module gt share: they `load python` after `load helper`.

# python CODE runs it with gt, by the Python that has NumPy, behind the lines of $before.
python() {
  PYTHONPATH=$GT_ROOT/share/python PYTHONDONTWRITEBYTECODE=1 \
    within 60 /usr/bin/python3 -c "import gt
${before:-}$1"
}

# Lines for $before: told(f, g) prints what f() and g() give, or the exceptions that they raise.
# shellcheck disable=SC2034 # a variable of the tests
told='def told(*calls):
    for f in calls:
        try:
            print("taken:", f())
        except Exception as e:
            print(type(e).__name__, e)
'

# need_module NAMES... skips a test where Python lacks one of them.
need_module() {
  local name
  for name in "$@"; do
    /usr/bin/python3 -c "import $name" 2>/dev/null || skip "/usr/bin/python3 has no $name"
  done
}
