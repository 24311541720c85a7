#!/usr/bin/env bash
# Checks who may include whom (docs/architecture.md) and what only one place may do.
#
#   .ci/layers.sh                  the repository
#   .ci/layers.sh --root DIR       another tree laid out alike
#   .ci/layers.sh --self-test      that the bad sample in tests/layers/ is found out, all of it
#
# Base names are unique (.ci/names.sh), so an include leads to its layer by its base name alone.
. "$(dirname "$0")/check.sh"

# layer: path prefixes (the longest match decides) : layers whose headers it may include.
# `files` is the part of the runtime that reads and writes tensors: infc has it too, so that both take the same files.
# `values` is the part of ir/ without MLIR: types, tensors, weights, the reference evaluator.
table='
abi:      runtime/include/infc_abi.h                 :
runtime:  runtime/                                   : runtime files prepare tokens abi
prepare:  runtime/prepare/                           : prepare abi
tokens:   runtime/text/ runtime/core/utf8.h          : tokens abi
files:    runtime/include/infrt.h runtime/core/infrt_status runtime/app/tensor_ runtime/app/zip_ runtime/app/stb_decode runtime/app/jpeg_check runtime/app/output_file : files prepare abi
base:     compiler/base/                             : base abi
targets:  targets/                                   : targets base
kernels:  templates/                                 : kernels targets abi
values:   compiler/ir/type compiler/ir/access compiler/ir/weights compiler/ir/eval compiler/ir/ops.def : values ir kernels base abi
ir:       compiler/ir/                               : ir values kernels base abi
spec:     compiler/frontend/spec                     : spec targets base abi
frontend: compiler/frontend/                         : frontend spec ir values base tokens abi
passes:   passes/                                    : passes spec ir values base abi
calibrate: passes/calibrate                          : calibrate passes spec ir values kernels base tokens abi
lowering: passes/layout passes/fuse passes/pipeline  : passes lowering spec ir values kernels targets base abi
plan:     compiler/plan/                             : plan passes spec ir values kernels targets base abi
check:    templates/emulator/                        : check abi
skeleton: templates/model/                           : runtime files prepare check abi
text:     compiler/emit/embedded compiler/emit/expand compiler/emit/kernel_text : text kernels base abi
emit:     compiler/emit/                             : emit text plan spec values kernels targets base prepare tokens abi
driver:   compiler/driver/                           : driver emit text plan passes spec frontend ir values kernels targets files base tokens abi
'

# word (extended regex) : where it is forbidden : where it is allowed after all : why
rules='
(v?f?printf|puts|fputs|putc|putchar|fputc|perror|vprintf|fwrite) *\( : compiler/ passes/ targets/ runtime/core/ : compiler/driver/main.c : only driver/main.c prints
(exit|_exit|abort|quick_exit) *\(  : compiler/ passes/ targets/ runtime/core/ : compiler/driver/main.c compiler/base/subprocess.c compiler/base/arena.c : only driver/main.c exits
(malloc|calloc|realloc|strdup|strndup|v?asprintf|aligned_alloc) *\( : compiler/ passes/ targets/ : compiler/base/arena.c : only base/arena.c allocates
free *\( : compiler/ passes/ targets/ : compiler/base/ : only base/ frees, what libc handed out
(malloc|calloc|realloc|free|strdup|alloca|printf|memcpy|memset|getenv|expf?|logf?|sqrtf?|tanhf?) *\( : templates/kernels/ templates/simd/ : - : kernels call no libc
'

violations() { # in the current folder
    # Comments and strings go, lines stay: path:line:code. Include lines keep their names.
    mapfile -t sources < <("$@")
    [ ${#sources[@]} -gt 0 ] || return 0
    awk -v table="$table" -v rules="$rules" '
    function prefixed(path, prefixes,   list, n, i, best) {
        n = split(prefixes, list, " "); best = 0
        for (i = 1; i <= n; i++) if (index(path, list[i]) == 1 && length(list[i]) > best) best = length(list[i])
        return best
    }
    function layer_of(path,   i, len, best, found) {
        best = 0; found = ""
        for (i = 1; i <= n_layers; i++) { len = prefixed(path, where[i]); if (len > best) { best = len; found = i } }
        return found
    }
    function trim(s) { gsub(/^ +| +$/, "", s); return s }
    function say(text) { printf "%s:%d: %s\n", FILENAME, FNR, text; bad = 1 }
    BEGIN {
        n = split(table, lines, "\n")
        for (i = 1; i <= n; i++) if (split(lines[i], part, ":") == 3) {
            name[++n_layers] = trim(part[1]); where[n_layers] = trim(part[2]); may[n_layers] = " " trim(part[3]) " "
        }
        n = split(rules, lines, "\n")
        for (i = 1; i <= n; i++) if (split(lines[i], part, " : ") == 4) {
            word[++n_rules] = "(^|[^A-Za-z0-9_.>])" trim(part[1]); forbidden[n_rules] = trim(part[2])
            exempt[n_rules] = trim(part[3]); why[n_rules] = trim(part[4])
        }
        for (i = 1; i < ARGC; i++) { base = ARGV[i]; sub(/.*\//, "", base); path_of[base] = ARGV[i] }
    }
    FNR == 1 { in_comment = 0; own = layer_of(FILENAME); if (!own) say("in no layer of .ci/layers.sh") }
    {
        text = $0
        if (in_comment) { if (!sub(/^.*\*\//, "", text)) next; in_comment = 0 }
        if (text !~ /^ *# *include/) gsub(/"([^"\\]|\\.)*"/, "\"\"", text)
        gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, " ", text)
        sub(/\/\/.*/, "", text)
        if (text ~ /\/\*/) { sub(/\/\*.*/, "", text); in_comment = 1 }
    }
    text ~ /^ *# *include/ {
        target = text; sub(/^[^"<]*["<]/, "", target); sub(/[">].*/, "", target)
        if (target ~ /^mlir-c\// && FILENAME !~ /^compiler\/ir\//) say("only compiler/ir includes MLIR: " target)
        sub(/.*\//, "", target)
        if (own && target in path_of) {
            other = layer_of(path_of[target])
            if (other && index(may[own], " " name[other] " ") == 0)
                say(name[own] " may not include " name[other] ": " path_of[target])
        }
        next
    }
    {
        for (r = 1; r <= n_rules; r++)
            if (text ~ word[r] && prefixed(FILENAME, forbidden[r]) && !prefixed(FILENAME, exempt[r]))
                say(why[r] ": " trim(text))
    }
    END { exit bad }' "${sources[@]}"
}

sources() {
    files '*.c' '*.h' '*.def' '*.c.in' | grep -E '^(compiler|passes|targets|templates|runtime)/' || true
}
sample() {
    find compiler passes targets templates runtime -type f 2>/dev/null | sort
}
self_test() {
    local found
    found=$(cd tests/layers && violations sample || true)
    diff <(cat tests/layers/expected.txt) <(echo "$found") || { echo "self-test: the sample's faults differ from expected.txt" && exit 1; }
    echo "self-test passed: $(wc -l <tests/layers/expected.txt) faults of the sample found"
}

timed
case ${1:-} in
    --self-test) self_test ;;
    --root)
        cd "${2:?--root DIR}"
        violations sample
        ;;
    '')
        self_test
        violations sources
        echo "$(sources | wc -l) files keep to their layers"
        ;;
    *) misused "unknown argument $1" ;;
esac
