#!/bin/sh
# Builds digits from its emitted sources alone in every way that docs/abi.md names, in a folder with a blank in its
# name, and classifies the seven of examples/digits/main.c with each result.
#   emitted_builds.sh INFC SOURCE_DIR WORK_DIR
set -eu
infc=$1 source=$2 work="$3/with blank"
rm -rf "$3"
mkdir -p "$work"
cd "$work"
"$infc" compile "$source/examples/digits/spec.yaml" --stop-after emit -o digits
cp "$source/examples/digits/main.c" .
passed=0
is_seven() { # WHAT COMMAND...
    what=$1
    shift
    answer=$("$@" | head -1)
    case $answer in 7*) passed=$((passed + 1)) ;; *) echo "FAILED: $what says $answer" && exit 1 ;; esac
    echo "ok: $what"
}

for cc in gcc clang-22; do
    command -v $cc >/dev/null || continue
    CC=$cc sh digits/src/build.sh "by $cc" >log || { cat log && exit 1; }
    is_seven "build.sh with $cc" "by $cc/digits" run --input image="$source/examples/digits/7.png"
done

CC=cc sh digits/src/build.sh >log || { cat log && exit 1; }
cc -std=c11 main.c -I digits digits/libdigits.a -o one_line
is_seven "one cc line" ./one_line

if command -v pkg-config >/dev/null; then
    cp -r digits plain && mv plain "$3/plain" # pkg-config splits at blanks
    flags=$(PKG_CONFIG_PATH="$3/plain" pkg-config --cflags --libs digits)
    cc -std=c11 main.c $flags -o by_pkg_config
    is_seven "pkg-config" ./by_pkg_config
fi

mkdir user whole
cat >user/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(user C)
find_package(digits CONFIG REQUIRED PATHS ${FOLDER} NO_DEFAULT_PATH)
add_executable(user ../main.c)
target_link_libraries(user digits::digits)
END
cat >whole/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(whole C)
add_subdirectory(${FOLDER}/src digits)
add_executable(whole ../main.c)
target_link_libraries(whole digits::digits)
END
for way in user whole; do
    cmake -S $way -B $way/build -DFOLDER="$work/digits" >log && cmake --build $way/build >>log || { cat log && exit 1; }
    is_seven "CMake: $way" $way/build/$way
done
is_seven "CMake: the program" whole/build/digits/digits run --input image="$source/examples/digits/7.png"
echo "$passed passed, 0 failed"
