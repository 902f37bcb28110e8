#!/usr/bin/env bats
# Clients of gt-emit -l with keys: those in the list are let in, and the key of a
# client says which user it is.

load helper
load clients

# serve_with_keys starts gt-emit -l at $at, with the key server.key and the list
# `allowed`, and gt-route behind it.
serve_with_keys() {
  at=tcp://127.0.0.1:$(free_port)
  mkfifo back to_route
  spawn bash -c 'exec gt-emit -l "$0" --back back -v --key server.key --allow allowed --files files >to_route 2>served' "$at"
  spawn bash -c 'exec gt-route -n 1 <to_route >back'
  await 'listens at' served
}

@test "with keys, those in the list are let in, and the key says which user a client is" {
  local name
  umask 077
  for name in server ann bob stranger; do
    gt-key >$name.key
    gt-key --public $name.key >$name.pub
  done
  umask 022
  { sed 's/$/ on her laptop user=ann/' ann.pub; cat bob.pub; } >allowed
  mkdir -p files/ann
  serve_with_keys
  visit_as() { visit --key "$1.key" --server-key "${3:-server.pub}" "${@:4}" "$2"; }
  printf 'x = full f32[2] 3\nsave x "x.npy"\ny = load "x.npy"\nprint y\n' >save.gt
  # The key decides that the client is ann, although --user says bob.
  visit_as ann save.gt server.pub --user bob
  [ "$status" = 0 ]
  [ -s files/ann/x.npy ]
  # Bob's key belongs to no user in the list, so he has no files.
  visit_as bob save.gt server.pub --user ann
  [ "$status" = 3 ]
  grep -q 'knows no user behind this key' err
  visit_as stranger save.gt
  [ "$status" = 4 ]
  grep -q 'does not admit the key' err
  await 'is not one of those to be admitted' served
  # The public key of somebody else is refused as the server's, and so is no key at
  # all.
  status=0
  timeout 15 gt-emit --to "$at" --key ann.key --server-key bob.pub save.gt >out 2>err || status=$?
  [ "$status" = 4 ]
  grep -q 'is --server-key its public key?' err
  visit save.gt
  [ "$status" = 4 ]
  [ ! -s out ]
  # A mistake in a line of the list is reported, and the former list stays in force.
  cp allowed right
  echo "$(cat stranger.pub) user=../ann" >>allowed
  await 'allowed:3: user=../ann: expected .*; until that is mended no key is taken from the list, nor added' served
  visit_as bob save.gt
  [ "$status" = 3 ]
  visit_as stranger save.gt
  [ "$status" = 4 ]
  cp right allowed
  cp allowed right
  echo oops >>allowed
  await 'allowed:.*; until that is mended no key is taken from the list, nor added' served
  visit_as ann save.gt
  [ "$status" = 0 ]
  mv right allowed
  # While the list cannot be read, no new client is let in.
  mv allowed away
  await 'allowed: .*; until it can be read nobody new is let in' served
  visit_as ann save.gt
  [ "$status" = 4 ]
  mv away allowed
  visit_as ann save.gt
  [ "$status" = 0 ]
  # A client whose key is taken from the list is ended, with all that it holds.
  mkfifo in
  spawn bash -c 'gt-emit --to "$0" --key bob.key --server-key server.pub <in >mine 2>bob.err; echo "status $?" >>bob.err' "$at"
  exec 5>in
  printf 'x = ones f32[2]\nprint x\n' >&5
  await '^x = ' mine
  grep ann allowed >less
  mv less allowed
  await 'status 4' bob.err
  exec 5>&-
  grep -q 'its key is no longer one of those to be admitted' bob.err
  visit_as ann save.gt
  [ "$status" = 0 ]
  # A list that stays empty ends all clients.
  spawn bash -c 'gt-emit --to "$0" --key ann.key --server-key server.pub <in >mine 2>ann.err; echo "status $?" >>ann.err' "$at"
  exec 5>in
  printf 'x = ones f32[3]\nprint x\n' >&5
  await '^x = tensor f32.3.' mine
  : >allowed
  await 'status 4' ann.err
  exec 5>&-
  grep -q 'its key is no longer one of those to be admitted' ann.err
}
