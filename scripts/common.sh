# shellcheck shell=bash
# What the scripts beside this file share. Sourced by them, from the top of the checkout.

say() { printf '%s\n' "$*" >&2; }

# step TEXT COMMAND...   run COMMAND, saying TEXT and the seconds it took; its output is shown only if it fails
step() {
  local text=$1 start=$SECONDS log status=0 ticker=""
  shift
  log=$(mktemp)
  if [ -t 2 ]; then
    while sleep 1 && kill -0 $$ 2>/dev/null; do printf '\r  %s … %d s' "$text" $((SECONDS - start)) >&2; done &
    ticker=$!
  else
    say "  $text …"
  fi
  "$@" >"$log" 2>&1 </dev/null || status=$?
  if [ -n "$ticker" ]; then
    kill "$ticker" && wait "$ticker" 2>/dev/null || true
    printf '\r' >&2
  fi
  if [ "$status" = 0 ]; then
    say "  $text: done in $((SECONDS - start)) s"
  else
    say "  $text: FAILED (exit status $status). The end of what it said:"
    tail -n 25 "$log" | sed 's/^/    | /' >&2
  fi
  rm -f "$log"
  return "$status"
}

# pip_install ARGUMENT...   into .venv, with uv where there is one
pip_install() {
  if command -v uv >/dev/null; then
    uv pip install --python .venv/bin/python "$@"
  else
    .venv/bin/python -m pip install --disable-pip-version-check "$@"
  fi
}
