/* c_names.h - which words mean something already to those who use what infc emits. */
#ifndef INFC_C_NAMES_H
#define INFC_C_NAMES_H
#include <stdbool.h>

bool infc_c_keyword(const char *word); /* of C or C++, any version */
/* Replaced wherever it stands: a macro of the C library, of a compiler, or one that looks like a macro. */
bool infc_c_macro(const char *word);
bool infc_c_header(const char *word);   /* <word.h> or <word> */
bool infc_c_library(const char *word);  /* -lword is linked without being asked for */
bool infc_cmake_word(const char *word); /* cannot be a target or project */

#endif
