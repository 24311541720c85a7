/* Names that end up in C text, files and licence lines. */
#include "spec_check.h"
#include <ctype.h>
#include <string.h>

enum { NAME_MAX_LENGTH = 48 };

static bool in_list(const char *list, const char *word) {
    size_t n = strlen(word);
    for (const char *p = list; (p = strstr(p, word)); p += n) {
        if ((p == list || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0')) return true;
    }
    return false;
}

/* C23 and C++23. */
static const char keywords[] =
    "alignas alignof and and_eq asm atomic auto bitand bitor bool break case catch char char8_t "
    "char16_t char32_t "
    "class compl concept const consteval constexpr constinit const_cast continue co_await "
    "co_return co_yield "
    "decltype default delete do double dynamic_cast else enum explicit export extern false float "
    "for friend goto "
    "if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq "
    "private protected "
    "public register reinterpret_cast requires restrict return short signed sizeof static "
    "static_assert "
    "static_cast struct switch template this thread_local throw true try typedef typeid typename "
    "typeof "
    "typeof_unqual union unsigned using virtual void volatile wchar_t while xor xor_eq";
/* NAME.h must not hide one of these from whoever compiles with -I of the output folder. */
static const char headers[] = "assert complex ctype dlfcn errno fcntl fenv float inttypes iso646 "
                              "limits locale malloc math memory pthread "
                              "regex sched setjmp signal stdalign stdarg stdatomic stdbool "
                              "stdckdint stddef stdint stdio stdlib stdnoreturn "
                              "string strings tgmath threads time uchar unistd wchar wctype";

/* Null when the name can be used. */
static const char *name_fault(const char *name) {
    static const char *const prefixes[] = {"infc", "infrt", "infk"};
    size_t n = strlen(name);
    if (n == 0 || n > NAME_MAX_LENGTH) return "a name has 1 to 48 characters";
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)name[i];
        if (c >= 0x80 || !(isalnum(c) || c == '_'))
            return "not a C identifier (letters, digits and _)";
    }
    if (isdigit((unsigned char)*name)) return "not a C identifier: it begins with a digit";
    if (*name == '_') return "names that begin with _ are reserved in C";
    if (in_list(keywords, name)) return "a keyword of C or C++";
    if (in_list(headers, name)) return "its header would hide one of the system's";
    if (strcmp(name, "main") == 0 || strcmp(name, "src") == 0)
        return "this name is taken in the output";
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i]);
        if (strncmp(name, prefixes[i], length) == 0 && (name[length] == '_' || !name[length])) {
            return "names of infc's own symbols begin like this";
        }
    }
    return NULL;
}

const char *infc_spec_name_from(infc_arena *arena, const char *text) {
    char name[NAME_MAX_LENGTH + 1];
    size_t n = 0, cut = NAME_MAX_LENGTH - strlen("model_");
    for (const unsigned char *p = (const unsigned char *)text; *p && n < cut; p++) {
        bool good = *p < 0x80 && isalnum(*p);
        if (good) name[n++] = (char)*p;
        else if (n > 0 && name[n - 1] != '_') name[n++] = '_';
    }
    while (n > 0 && name[n - 1] == '_') n--;
    name[n] = '\0';
    if (!name_fault(name)) return infc_arena_copy_string(arena, name, n);
    return infc_arena_printf(arena, n ? "model_%s" : "model%s", name);
}

void infc_spec_check_name(infc_spec_check *check, const char *path, infc_yaml *node) {
    const char *fault = name_fault(node->text);
    if (!fault) return;
    infc_spec_problem(check, node, path, "%s cannot be the name: %s; try %s",
                      infc_yaml_quote(check->cx, node->text), fault,
                      infc_spec_name_from(check->cx->arena, node->text));
}

/* The token at p is an identifier, an operator or a parenthesis; its length, 0 at a character that is none. */
static size_t license_token(const char *p) {
    if (*p == '(' || *p == ')') return 1;
    size_t n = 0;
    while (isalnum((unsigned char)p[n]) || p[n] == '.' || p[n] == '-') n++;
    if (n > 0 && p[n] == '+') n++;
    return n;
}

static bool license_valid(const char *text) {
    bool operand = true; /* expected next */
    int depth = 0;
    for (const char *p = text + strspn(text, " "); *p; p += strspn(p, " ")) {
        size_t n = license_token(p);
        bool joins = (n == 2 && !memcmp(p, "OR", 2)) || (n == 3 && !memcmp(p, "AND", 3)) ||
                     (n == 4 && !memcmp(p, "WITH", 4));
        if (n == 0) return false;
        if (*p == '(' ? !operand : *p == ')' ? operand || depth == 0 : joins == operand)
            return false;
        if (*p == '(') depth++;
        else if (*p == ')') depth--;
        else operand = joins;
        p += n;
    }
    return !operand && depth == 0 && strlen(text) <= 200;
}

void infc_spec_check_license(infc_spec_check *check, const char *path, infc_yaml *node) {
    if (license_valid(node->text)) return;
    infc_spec_problem(check, node, path,
                      "%s is not an SPDX licence expression; write one such as MIT, Apache-2.0 or "
                      "LicenseRef-Proprietary",
                      infc_yaml_quote(check->cx, node->text));
}
