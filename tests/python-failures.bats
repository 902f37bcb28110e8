#!/usr/bin/env bats
# What fails in a program that imports gt is told, as an exception or by its exit status, and what a
# killed one leaves is removed.

load helper
load python

@test "a save that failed is an exception at its wait, at sync() and at close()" {
  run -0 --separate-stderr python '
def told(f):
    try:
        f(); print("taken")
    except gt.Failed as e:
        print(e)
x, model = gt.ones(2), gt.nn.Linear(2, 1)
x.save("no/folder/x.npy"); told(gt.sync); told(gt.sync)
for i in range(2):
    told(lambda: model.save("no/folder/m.safetensors"))
for save in lambda: model.save("m.pt"), lambda: model.save("m"), lambda: gt.save({"w": x}, "m"):
    try:
        save()
    except TypeError as e:
        print(e)
told(lambda: gt.save({"w": x}, "no/folder/s.safetensors"))
told(lambda: model.save("m.safetensors"))
told(lambda: x.save("no/folder/x.npy"))
gt.close()
gt.ones(2).save("no/folder/y.npy"); told(gt.close)
gt.ones(2).tolist()'
  [[ ${lines[0]} == '<string>:9: save: '*'no/folder'*': No such file or directory' && ${lines[1]} == taken ]]
  [[ ${lines[2]} == '<string>:11: '*'No such file or directory' && ${lines[3]} == '<string>:11: '*'was not saved: '* ]]
  [[ ${lines[4]} == "save: expected a path that ends with .safetensors, "*"; found 'm.pt'" ]]
  [[ ${lines[5]} == *"; found 'm'" && ${lines[6]} == *"; found 'm'" ]]
  [[ ${lines[7]} == *'No such file or directory' ]]
  [[ ${lines[8]} == taken && ${lines[9]} == *'was not saved'* && ${lines[10]} == '<string>:21: save: '* ]]
  [ -s m.safetensors ] && [ "$(echo m*)" = m.safetensors ]
}

@test "a save to a full disk is an exception" {
  [[ -w /dev/full ]] || skip "there is no /dev/full"
  run -1 python 'gt.ones(2).save("/dev/full"); gt.sync(); print("taken")'
  [[ $output == *'gt.Failed: <string>:2: save: /dev/full'* && $output != *taken* ]]
}

@test "what failed and nobody saw ends the process with status 1" {
  local code
  for code in 'gt.ones(2, 3) @ gt.ones(2, 3)' 'gt.load("nothing.npy")' 'gt.ones(1).save("no/x.npy")' \
    'gt.tensor([1]) // gt.tensor([0])' '(gt.ones(2, 3) @ gt.ones(2, 3)).print_("y")' \
    'x = gt.load("nothing.npy", "f32[2]"); x.requires_grad_(); x.sum().backward(); print(gt.ones(1).item())'; do
    run -1 --separate-stderr python "$code"
    [[ $stderr == *'gt: <string>:2: '*': no exception has shown this, so the process ends with status 1' ]]
  done
  run -1 python 'gt.ones(2, 3) @ gt.ones(2, 3)
gt.sync()'
  [[ $output == *'gt.Failed: <string>:2: matmul: '*'inner sizes 3 and 2 differ'* ]]
  run -0 python '
import atexit, sys
y = gt.ones(2, 3) @ gt.ones(2, 3)
for i in range(3):
    try:
        y.tolist()
    except gt.Failed as e:
        print("seen")
print((gt.ones(2, 3) + 1).sum().item())'
  [[ $output == *$'seen\nseen\nseen\n12.0' ]]
  run -1 python '
import atexit
atexit.register(print, "others end in peace")
gt.ones(2, 3) @ gt.ones(2, 3)'
  [[ $output == *'others end in peace'* ]]
}

@test "a process of multiprocessing ends its session, and its status tells what failed" {
  local how
  cat >children.py <<'END'
import multiprocessing, sys
import gt

def saves(): gt.ones(2).save("child.npy")
def fails(): gt.ones(2, 3) @ gt.ones(2, 3)
def leaves(): fails(); sys.exit(0)
def raises(): fails(); raise ValueError("mine")
def gives(queue): queue.put(gt.ones(3).sum().item()); gt.ones(1).save("no/x.npy")

if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[1])
    queue = multiprocessing.Queue()
    for f, *args in (saves,), (fails,), (leaves,), (raises,), (gives, queue):
        child = multiprocessing.Process(target=f, args=args)
        child.start()
        if args:
            print(queue.get())
        child.join()
        print(f.__name__, child.exitcode)
END
  for how in fork spawn; do
    PYTHONPATH=$GT_ROOT/share/python run -0 --separate-stderr within 60 /usr/bin/python3 -B children.py "$how"
    lines_are $'saves 0\nfails 1\nleaves 1\nraises 1\n3.0\ngives 1'
    [[ $stderr == *'inner sizes 3 and 2 differ'*': no exception has shown this'*'ValueError: mine'*'save: no: '* ]]
    [ -s child.npy ]
    rm child.npy
  done
}

@test "programs that cannot start are an exception, or the exit status" {
  GT_WORKERS=abc run -1 python 'gt.ones(2)'
  [[ $output == *"'abc' is neither a number"* && $output == *'gt: the program that runs the lines is gone: '*'gt-route ended with status 2'* ]]
  GT_CONFIG=nothing.yaml run -1 python 'gt.ones(2).print_()'
  [[ $output == *'cannot read nothing.yaml'* && $output == *'gt-shard ended with status 2'* ]]
  GT_CONFIG=nothing.yaml run -1 python 'print(gt.ones(2).tolist())'
  [[ $output == *'gt.Lost: '* ]]
}

@test "a traceback is no cut stream for the next program, and its status goes on" {
  local code
  for code in 'import gt; 1 / 0' 'import gt; gt.ones(2).exp(); 1 / 0'; do
    run -1 bash -o pipefail -c 'export GT_CONNECT=- PYTHONPATH=$0/share/python
      /usr/bin/python3 -B -c "$1" | { gt-work; echo "status $?"; }' "$GT_ROOT" "$code"
    [[ $output == *'ZeroDivisionError'* && $output == *'status 1' && $output != *'cut short'* ]]
  done
  run -0 bash -o pipefail -c 'export GT_CONNECT=- PYTHONPATH=$0/share/python
    /usr/bin/python3 -B -c "import gt" | gt-work' "$GT_ROOT"
  lines_are ''
}

@test "a mistake before the first line is told alone, and is no failure once it is caught" {
  run -1 python '
gt.tensor("a")'
  [[ ${lines[-1]} == "gt.Error: tensor: expected a number; found 'a'" && $output != *'cut short'* ]]
  run -0 python '
try:
    gt.tensor("a")
except gt.Error as e:
    print(e)'
  lines_are "tensor: expected a number; found 'a'"
  run -1 bash -o pipefail -c 'export GT_CONNECT=- PYTHONPATH=$0/share/python
    /usr/bin/python3 -B -c "import gt; gt.tensor(\"a\")" 2>/dev/null | { gt-work; echo "status $?"; }' "$GT_ROOT"
  lines_are 'status 1'
}

@test "what a signal ends leaves no files, and what kill -9 left is swept by the next" {
  local signal
  mkdir files
  export TMPDIR=$PWD/files
  for signal in TERM HUP KILL; do
    rm -f ready
    spawn env PYTHONPATH="$GT_ROOT/share/python" /usr/bin/python3 -B -c '
import gt, time
x = gt.tensor([1.0] * 5000)
(x + 1).sum().item()
open("ready", "w").close()
time.sleep(60)'
    local pid=$!
    until [[ -e ready ]]; do sleep 0.02; done
    [[ $(ls files) == gt-python.* ]]
    kill -s "$signal" "$pid"
    status=0
    wait "$pid" || status=$?
    [[ $status == "$((128 + $(kill -l "$signal")))" ]]
    [[ $signal == KILL || -z $(ls files) ]]
  done
  [[ $(ls files) == gt-python.*."$pid".* ]]
  mkdir "files/gt-python.$(id -u).$$.alive" "files/gt-other.$(id -u).$pid.x"
  run -0 python 'print(gt.ones(2).tolist())'
  [[ $(ls files) == "gt-other.$(id -u).$pid.x"$'\n'"gt-python.$(id -u).$$.alive" ]]
}

@test "a program's own handler of a signal stays" {
  run -0 python '
import os, signal, time
signal.signal(signal.SIGTERM, lambda *a: print("mine", flush=True))
gt.tensor([1.0] * 5000).sum().item()
os.kill(os.getpid(), signal.SIGTERM)
time.sleep(0.1)
print(gt.ones(2).sum().item())'
  lines_are $'mine\n2.0'
}

@test "a failure whose message is not understood ends the process with status 1, too" {
  mkdir bin
  ln -s "$GT_BIN"/* bin
  rm bin/gt-route
  printf '#!/bin/bash\n"%s/gt-route" "$@" 2> >(sed s/gt-work:/mumbled/ >&2)\n' "$GT_BIN" >bin/gt-route
  chmod +x bin/gt-route
  GT_BIN=$PWD/bin run -1 python 'gt.tensor([1]) // gt.tensor([0])'
  [[ $output == *mumbled*'the program that runs the lines is gone: gt-route ended with status 1'* ]]
  GT_BIN=$PWD/bin run -0 python '
try:
    (gt.tensor([1]) // gt.tensor([0])).item()
except gt.Failed as e:
    print("seen")
gt.close()'
  [[ $output == *seen* ]]
}
