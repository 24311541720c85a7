#!/usr/bin/env bash
# Checks names: committed files name no folder of somebody's machine and no package registry; base names of
# C files are unique, so that a name in a message or an include leads to one file; links in pages lead somewhere.
#
#   .ci/names.sh              all files
#   .ci/names.sh --self-test  that bad samples are found
. "$(dirname "$0")/check.sh"

# Each word has one letter in brackets, so that this file does not contain what it looks for.
# An invented user has a name of one letter.
machine='(^|[^A-Za-z0-9_.])/(roo[t]|wor[k]|hom[e]/[a-z]{2,}|User[s]/[A-Za-z]{2,}|tmp/[w])(/|[^A-Za-z0-9_]|$)'
registry='(de[b]|securit[y]|snapsho[t])\.debian\.org|py[p]i\.org|pythonhoste[d]\.org|registry\.(npmj[s]|yarnpk[g])|crate[s]\.io|proxy\.golan[g]\.org|rep[o]1?\.maven'

bad_words() { # FILE...
    local status=0
    grep -nHIE "$machine" "$@" | sed 's/$/   <- a folder of one machine/' && status=1
    grep -nHIE "$registry" "$@" | sed 's/$/   <- a package registry/' && status=1
    return $status
}
twins() { # names on stdin
    sed 's|.*/||' | sort | uniq -d
}
broken_links() { # PAGE...: relative links to files that are not there
    local page link status=0
    for page in "$@"; do
        while read -r link; do
            [ -z "$link" ] || [ -e "$(dirname "$page")/$link" ] || { echo "$page: link to $link leads nowhere" && status=1; }
        done < <(grep -oE '\]\([^)#: ]+[)#]' "$page" | sed 's/^](//; s/.$//' | sort -u)
    done
    return $status
}
self_test() {
    local sample
    sample=$(mktemp -d)
    trap 'rm -rf "$sample"' RETURN
    printf 'a path: /%s/me/x\n' hom''e >"$sample/a"
    printf 'pip install -i https://py%s.org/simple\n' pi >"$sample/b"
    printf 'lib/%s and ./%s are fine, so is %s.c\n' wor''k roo''t wor''k >"$sample/c"
    for bad in a b; do
        bad_words "$sample/$bad" >/dev/null && { echo "self-test: sample $bad was not found" && exit 1; }
    done
    bad_words "$sample/c" || { echo "self-test: sample c is fine" && exit 1; }
    [ "$(printf 'x/a.c\ny/a.c\ny/b.c\n' | twins)" = a.c ] || { echo "self-test: twins" && exit 1; }
    echo '[here](c), [not](d.md#x), [far](https://example.org/e)' >"$sample/page.md"
    [ "$(broken_links "$sample/page.md")" = "$sample/page.md: link to d.md leads nowhere" ] || { echo "self-test: links" && exit 1; }
    echo "self-test passed"
}

timed
self_test
[ "${1:-}" != --self-test ] || exit 0

status=0
mapfile -t all < <(files '*')
bad_words "${all[@]}" || status=1

# Examples are folders of their own and repeat their roles; the samples of layers.sh imitate the repository.
mapfile -t sources < <(files '*.c' '*.h' '*.c.in' '*.def' | grep -vE '^(examples|tests/layers)/')
for name in $(printf '%s\n' "${sources[@]}" | twins); do
    echo "$name: the base name is used more than once: $(printf '%s\n' "${sources[@]}" | grep -E "(^|/)${name//./\\.}$" | paste -sd' ')"
    status=1
done
mapfile -t pages < <(files '*.md')
broken_links "${pages[@]}" || status=1
echo "${#all[@]} files, ${#sources[@]} C files"
exit $status
