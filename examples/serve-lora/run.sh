#!/usr/bin/env bash
# One server, a base model and two adapters, switched while it runs: compiles examples/tiny-lm with room for two LoRA
# adapters, starts its server on a free port of this machine, and asks it with curl as any client of OpenAI's API would.
#
#   examples/serve-lora/run.sh
#
# INFC: the compiler (default build/infc, which examples/quickstart.sh makes first when it is not there).
# OUT: where the binary goes (default build).
. "$(dirname "$0")/../../.ci/check.sh"

out=${OUT:-build}
infc=${INFC:-build/infc}
prompt='In the beginning'

say() { printf '\n== %s\n' "$*"; }
json() { python3 -c "import json, sys; a = json.load(sys.stdin); print($1)"; }
# The commands that a reader could type, as they are run.
ask() { # PATH JSON
    curl -sS --max-time 60 "$url$1" -H 'Content-Type: application/json' -d "$2"
}
post() { # PATH JSON
    echo "\$ curl $url$1 -H 'Content-Type: application/json' -d '$2'"
    ask "$1" "$2" && echo
}
answer() { # MODEL
    printf '%-8s' "$1"
    ask /v1/completions '{"model": "'"$1"'", "prompt": "'"$prompt"'", "max_tokens": 24, "temperature": 0}' |
        json '" ".join(a["choices"][0]["text"].split()) if "choices" in a else a["error"]["message"]'
}

.ci/packages.sh examples
[ -x "$infc" ] || examples/quickstart.sh

say "$infc compile examples/tiny-lm --set context=512 --set adapters.max_loaded=2 -o $out/serve-lora"
"$infc" compile examples/tiny-lm --set context=512 --set adapters.max_loaded=2 -o "$out/serve-lora"

say "$out/serve-lora/tiny_lm serve --port 0 --adapter-root examples/tiny-lm/adapters"
log=$(mktemp) told=$(mktemp)
"$out/serve-lora/tiny_lm" serve --port 0 --adapter-root examples/tiny-lm/adapters >"$told" 2>"$log" &
server=$!
trap 'kill $server 2>/dev/null || true; wait $server 2>/dev/null || true; rm -f "$log" "$told"' EXIT
for _ in $(seq 100); do
    url=$(sed -n 's/^listening on //p' "$told")
    [ -z "$url" ] || break
    kill -0 $server 2>/dev/null || { cat "$log" >&2 && die "the server has ended; its last words are above"; }
    sleep 0.1
done
[ -n "$url" ] || die "the server did not say where it listens within 10 s"
cat "$told"

say "the base alone"
answer tiny_lm

say "two adapters, loaded while it runs"
post /v1/load_lora_adapter '{"lora_name": "shout", "lora_path": "shout"}'
post /v1/load_lora_adapter '{"lora_name": "verse", "lora_path": "verse"}'

say "three requests at a time: the base and both adapters share each step, and the base says what it said alone"
answers=$(mktemp -d)
trap 'kill $server 2>/dev/null || true; wait $server 2>/dev/null || true; rm -rf "$log" "$told" "$answers"' EXIT
waiting=()
for name in tiny_lm shout verse; do
    answer $name >"$answers/$name" &
    waiting+=($!)
done
wait "${waiting[@]}"
cat "$answers"/{tiny_lm,shout,verse}

say "the name verse now means the other folder: answers under way end as they began, the next ones shout"
post /v1/unload_lora_adapter '{"lora_name": "shout"}'
post /v1/load_lora_adapter '{"lora_name": "verse", "lora_path": "shout", "load_inplace": true}'
answer verse

say "what there is"
curl -sS "$url/v1/models" | json '"\n".join(m["id"] + (", an adapter of " + m["parent"] if m.get("parent") else "") for m in a["data"])'

say "next"
cat <<END
$out/serve-lora/tiny_lm serve --help        limits, keys, TLS, time between tokens
docs/serving.md                              all routes, and the openai package
END
