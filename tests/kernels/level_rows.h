/* level_rows.h - the kernels of the level that a file is compiled for (LEVEL: its token): ROWS, N_ROWS of them. */
#ifndef LEVEL_ROWS_H
#define LEVEL_ROWS_H
#include "templates/reference.h"

#define JOIN2(a, b, c) a##b##c
#define JOIN(a, b, c) JOIN2(a, b, c)
#define QUOTE2(x) #x
#define QUOTE(x) QUOTE2(x)
#define ROWS JOIN(infk_, LEVEL, _rows)
#define N_ROWS JOIN(infk_, LEVEL, _n)
extern const infk_reference_row ROWS[];
extern const size_t N_ROWS;

#endif
