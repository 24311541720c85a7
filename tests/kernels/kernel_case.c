/* kernel_case.c - dims for each kind of kernel: a table of shapes with an edge each, then random small ones. */
#include "keep_case.h"
#include <string.h>

enum { RANDOM_CASES = 60, MAX_WORK = 40000 };

typedef struct image { /* a tensor [n, c, h, w] in plain layout or in blocks of 16 channels */
    ptrdiff_t batch, block, lane, row, col, count;
} image;

static image image_of(ptrdiff_t n, ptrdiff_t c, ptrdiff_t h, ptrdiff_t w, bool blocked) {
    if (blocked) {
        const ptrdiff_t blocks = (c + 15) / 16;
        return (image){blocks * h * w * 16, h * w * 16, 1, w * 16, 16, n * blocks * h * w * 16};
    }
    return (image){c * h * w, 16 * h * w, h * w, w, 1, n * c * h * w};
}

static ptrdiff_t out_size(ptrdiff_t in, ptrdiff_t before, ptrdiff_t after, ptrdiff_t k,
                          ptrdiff_t stride, ptrdiff_t dil) {
    const ptrdiff_t room = in + before + after - dil * (k - 1) - 1;
    return room < 0 ? 0 : room / stride + 1;
}

static ptrdiff_t pick(uint64_t *state, const ptrdiff_t *values, size_t n) {
    return values[kernel_random(state) % n];
}
#define PICK(state, ...) \
    pick(state, (const ptrdiff_t[]){__VA_ARGS__}, sizeof((const ptrdiff_t[]){__VA_ARGS__}) / sizeof(ptrdiff_t))

/* A window over an image: shared by conv and pool. c: input channels; o: output channels. */
typedef struct window {
    ptrdiff_t batch, groups, c, o, ih, iw, kh, kw, sh, sw, ph, pw, eh, ew, dh, dw;
} window;

static const window windows[] = {
    {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1},  /* the least */
    {1, 1, 1, 16, 8, 8, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1}, /* a first layer on a gray image */
    {1, 1, 3, 17, 9, 11, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1}, /* colour, stride, one channel beyond a block */
    {2, 1, 16, 32, 4, 8, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},   /* whole blocks, batch */
    {1, 1, 17, 15, 3, 5, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},   /* a second block of one input channel */
    {1, 1, 33, 33, 2, 31, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1},  /* 1x1, a row of several tiles */
    {1, 1, 2, 31, 3, 33, 3, 3, 1, 1, 0, 2, 2, 0, 1, 1},   /* uneven padding */
    {1, 1, 5, 16, 7, 7, 7, 7, 1, 1, 3, 3, 3, 3, 1, 1},    /* a window as large as the image */
    {1, 1, 4, 16, 3, 3, 5, 5, 1, 1, 4, 4, 4, 4, 1, 1},    /* some outputs see padding only */
    {1, 1, 3, 16, 9, 17, 3, 3, 1, 1, 2, 2, 2, 2, 2, 2},   /* dilation */
    {1, 1, 2, 20, 10, 21, 2, 3, 3, 4, 0, 1, 0, 1, 3, 2},  /* strides beyond the window, dilation */
    {1, 17, 17, 17, 6, 9, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},  /* depthwise */
    {2, 32, 32, 32, 3, 19, 5, 3, 1, 2, 2, 1, 2, 1, 1, 1}, /* depthwise, wide, stride */
    {1, 4, 8, 12, 4, 4, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},    /* groups of less than a block */
    {1, 2, 32, 32, 3, 6, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},   /* groups of whole blocks */
    {1, 2, 34, 32, 2, 3, 1, 3, 1, 1, 0, 1, 0, 1, 1, 1},   /* groups whose input straddles blocks */
    {3, 1, 20, 10, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1}, /* single pixels: a plain image has stride 1 here */
    {1, 20, 20, 20, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1}, /* the same, depthwise */
    {1, 1, 1, 16, 1, 29, 1, 5, 1, 1, 0, 2, 0, 2, 1, 1},  /* one row */
    {1, 1, 1, 16, 29, 1, 5, 1, 1, 1, 2, 0, 2, 0, 1, 1},  /* one column */
};
enum { N_WINDOWS = sizeof windows / sizeof *windows, WIDTHS = 28 };

/* Each width of a tile, over two blocks of channels and over one and a part of one; the window reaches beyond both ends
 * of a row and over two blocks of inputs. */
static window width_window(size_t i, bool conv) {
    const ptrdiff_t width = (ptrdiff_t)i / 2 + 1, o = i % 2 ? 23 : 32;
    return (window){1, 1, conv ? 17 : o, o, 2, width, 1, 3, 1, 1, 0, 1, 0, 1, 1, 1};
}

static window random_window(uint64_t *s, bool conv) {
    window w;
    do {
        const ptrdiff_t sort = conv ? PICK(s, 0, 0, 0, 1, 2) : 0;
        w.batch = PICK(s, 1, 1, 2, 3);
        w.groups = sort == 0 ? 1 : sort == 1 ? PICK(s, 3, 16, 17, 33) : PICK(s, 2, 3);
        w.c = sort == 1 ? w.groups : w.groups * PICK(s, 1, 2, 3, 15, 16, 17, 31, 33);
        w.o = !conv ? w.c : sort == 1 ? w.groups : w.groups * PICK(s, 1, 2, 3, 15, 16, 17, 31, 33);
        w.ih = PICK(s, 1, 2, 3, 5, 8, 9);
        w.iw = PICK(s, 1, 2, 3, 7, 8, 13, 15, 16, 17, 29, 31, 33);
        w.kh = PICK(s, 1, 2, 3, 3, 5);
        w.kw = PICK(s, 1, 2, 3, 3, 5);
        w.sh = PICK(s, 1, 1, 2, 3);
        w.sw = PICK(s, 1, 1, 2, 3);
        w.dh = PICK(s, 1, 1, 1, 2);
        w.dw = PICK(s, 1, 1, 1, 2);
        w.ph = PICK(s, 0, 1, 2);
        w.pw = PICK(s, 0, 1, 2);
        w.eh = PICK(s, 0, 1, 2);
        w.ew = PICK(s, 0, 1, 2);
    } while (w.batch * w.o * (w.c / w.groups) * w.ih * w.iw * w.kh * w.kw > MAX_WORK ||
             out_size(w.ih, w.ph, w.eh, w.kh, w.sh, w.dh) < 1 ||
             out_size(w.iw, w.pw, w.ew, w.kw, w.sw, w.dw) < 1);
    return w;
}

static bool window_case(size_t i, kernel_case *c) {
    const bool conv = c->kind == INFK_conv || c->kind == INFK_iconv || c->kind == INFK_qconv;
    uint64_t state = 1000003 * i + 1;
    const size_t sort = i % 4; /* bit 0: x in blocks, bit 1: y plain */
    i /= 4;
    if (i >= N_WINDOWS + WIDTHS + RANDOM_CASES) return false;
    const window w = i < N_WINDOWS            ? windows[i]
                     : i < N_WINDOWS + WIDTHS ? width_window(i - N_WINDOWS, conv)
                                              : random_window(&state, conv);
    const ptrdiff_t channels = conv ? w.o : w.c;
    const ptrdiff_t oh = out_size(w.ih, w.ph, w.eh, w.kh, w.sh, w.dh),
                    ow = out_size(w.iw, w.pw, w.ew, w.kw, w.sw, w.dw);
    const image x = image_of(w.batch, w.c, w.ih, w.iw, sort & 1),
                y = image_of(w.batch, channels, oh, ow, !(sort & 2));
    c->x_count = x.count;
    c->y_count = y.count;
    c->columns = channels;
    if (conv) {
        c->dims.conv = (infk_conv_dims){
            w.batch, w.groups, w.c / w.groups, w.o,     w.ih,    w.iw,   oh,    ow,      w.kh,
            w.kw,    w.sh,     w.sw,           w.ph,    w.pw,    w.dh,   w.dw,  x.batch, x.block,
            x.lane,  x.row,    x.col,          y.batch, y.block, y.lane, y.row, y.col};
        c->w_panels = (w.o + 15) / 16;
        c->w_inner = kernel_case_steps(c->kind, w.c / w.groups) * w.kh * w.kw;
        c->more[0] = 1; /* the zero point of qconv */
    } else {
        c->dims.pool = (infk_pool_dims){
            w.batch, w.c,     w.ih,    w.iw,   oh,    ow,      w.kh,    w.kw,   w.sh,
            w.sw,    w.ph,    w.pw,    w.dh,   w.dw,  x.batch, x.block, x.lane, x.row,
            x.col,   y.batch, y.block, y.lane, y.row, y.col,   w.eh,    w.ew,   (ptrdiff_t)(i & 1)};
    }
    return true;
}

/* ---- matmul, reductions ----------------------------------------------------------------------------------- */

static bool matmul_case(size_t i, const char *w_type, kernel_case *c) {
    static const ptrdiff_t shapes[][4] = {
        /* batch, m, n, k */
        {1, 1, 1, 1},    {1, 1, 10, 64}, {1, 1, 129, 33}, {1, 1, 256, 7},  {1, 2, 48, 5},
        {1, 3, 33, 17},  {1, 5, 64, 31}, {1, 6, 65, 3},   {1, 7, 16, 16},  {1, 13, 17, 15},
        {1, 14, 31, 64}, {1, 15, 32, 2}, {1, 29, 33, 65}, {1, 31, 47, 5},  {2, 3, 17, 4},
        {3, 1, 40, 6},   {2, 33, 15, 1}, {1, 4, 5, 130},  {1, 1, 16, 128}, {1, 2, 33, 1057},
        {1, 67, 17, 40}, {1, 2, 300, 9}}; /* beyond parts of k, of rows, of columns */
    enum { N = sizeof shapes / sizeof *shapes, HEIGHTS = 28 };
    uint64_t state = 7919 * i + 3;
    if (i >= N + HEIGHTS + RANDOM_CASES) return false;
    ptrdiff_t batch, m, n, k;
    if (i < N) {
        batch = shapes[i][0], m = shapes[i][1], n = shapes[i][2], k = shapes[i][3];
    } else if (i < N + HEIGHTS) { /* each height of a tile of two and of one panel, a step beyond whole ones */
        batch = 1, m = (ptrdiff_t)(i - N) / 2 + 1, n = i % 2 ? 31 : 47, k = 17;
    } else {
        batch = PICK(&state, 1, 1, 2, 3);
        m = PICK(&state, 1, 1, 2, 3, 4, 5, 7, 13, 15, 16, 17, 27, 29, 31);
        n = PICK(&state, 1, 2, 15, 16, 17, 31, 33, 63, 65, 100);
        k = PICK(&state, 1, 2, 3, 4, 5, 15, 16, 17, 31, 33, 64, 65);
    }
    const bool shared_a = batch > 1 && i % 3 == 1, shared_w = batch > 1 && i % 3 == 2;
    const ptrdiff_t gap = i % 2 ? 3 : 0; /* rows of a and y need not touch */
    c->w_panels = (shared_w ? 1 : batch) * ((n + 15) / 16);
    c->w_inner = kernel_case_steps(c->kind, k);
    c->more[0] = c->more[1] = 1; /* zero points of qmatmul */
    const ptrdiff_t w_batch = shared_w ? 0 : kernel_case_w_count(c, w_type) / batch;
    c->x_count = (shared_a ? 1 : batch) * m * (k + gap) - gap;
    c->y_count = batch * m * (n + gap) - gap;
    c->columns = n;
    c->dims.matmul = (infk_matmul_dims){
        batch, m, n, k, shared_a ? 0 : m * (k + gap), k + gap, w_batch, m * (n + gap), n + gap};
    return true;
}

static bool along_case(size_t i, kernel_case *c) {
    static const ptrdiff_t sizes[] = {1, 2, 3, 15, 16, 17, 31, 32, 33, 50, 130};
    enum { N = sizeof sizes / sizeof *sizes };
    const bool softmax = c->kind == INFK_softmax, running = c->kind == INFK_running_sum;
    const ptrdiff_t lanes = (ptrdiff_t)(i % 2);
    if (i >= 2 * N * N) return false;
    const ptrdiff_t r = sizes[i / 2 % N], inner = sizes[i / 2 / N], outer = 1 + (ptrdiff_t)(i % 3);
    c->x_count = outer * r * inner;
    c->y_count = softmax || running ? c->x_count : outer * inner;
    c->columns = softmax || running ? r * inner : inner;
    const ptrdiff_t k = i % 3 ? 1 : r < 4 ? r : 4;
    if (c->kind == INFK_top) c->dims.top = (infk_top_dims){outer, r, inner, k, lanes, i / 2 % 2};
    if (c->kind == INFK_top) c->y_count = outer * k * inner, c->columns = k * inner;
    else if (running) c->dims.running = (infk_running_dims){outer, r, inner, lanes, i / 2 % 2};
    else if (softmax) c->dims.softmax = (infk_softmax_dims){outer, r, inner};
    else c->dims.reduce = (infk_reduce_dims){outer, r, inner, lanes};
    return true;
}

static bool norm_case(size_t i, kernel_case *c) {
    static const ptrdiff_t sizes[] = {1, 2, 15, 16, 17, 31, 32, 33, 100, 384};
    enum { N = sizeof sizes / sizeof *sizes };
    if (i >= 4 * N) return false;
    const ptrdiff_t r = sizes[i / 4], outer = 1 + (ptrdiff_t)(i % 3);
    const ptrdiff_t epsilon = i / 4 % 3 ? 0x3727c5ac : 0; /* 1e-5 */
    c->x_count = c->y_count = outer * r;
    c->columns = r;
    c->dims.norm = (infk_norm_dims){outer, r, (ptrdiff_t)(i % 2), epsilon};
    return true;
}

static bool resize_case(size_t i, kernel_case *c) {
    static const ptrdiff_t shapes[][6] = {/* n, c, ih, iw, oh, ow */
                                          {1, 1, 1, 1, 1, 1},  {1, 3, 4, 5, 8, 10},
                                          {2, 17, 5, 4, 7, 9}, {1, 16, 6, 7, 3, 2},
                                          {1, 33, 1, 9, 2, 5}, {2, 20, 8, 8, 1, 17}};
    static const ptrdiff_t picks[] = {0, 1, 2, 3, 4, 0};
    enum { N = sizeof shapes / sizeof *shapes };
    const size_t sort = i % 4; /* bit 0: x in blocks, bit 1: y plain */
    i /= 4;
    if (i >= N * 6 * 5) return false;
    const ptrdiff_t *s = shapes[i % N], pick = picks[i / N % 6], how = (ptrdiff_t)(i / N / 6);
    const image x = image_of(s[0], s[1], s[2], s[3], sort & 1),
                y = image_of(s[0], s[1], s[4], s[5], !(sort & 2));
    /* Step of each axis: in / out from the centres, in / out, (in - 1) / (out - 1); as whole over whole. The first and
     * the last also left to the kernel. */
    const ptrdiff_t by = how < 3 ? 0 : how - 2;
    ptrdiff_t num[2], den[2];
    for (int a = 0; a < 2; a++) {
        const ptrdiff_t in = s[2 + a], out = s[4 + a];
        num[a] = how < 2 ? in : in - 1;
        const float whole = (float)(how < 2 || out == 1 ? out : out - 1);
        uint32_t bits;
        memcpy(&bits, &whole, sizeof bits);
        den[a] = (ptrdiff_t)bits;
    }
    c->x_count = x.count;
    c->y_count = y.count;
    c->columns = s[1];
    c->dims.resize = (infk_resize_dims){.batch = s[0],
                                        .c = s[1],
                                        .ih = s[2],
                                        .iw = s[3],
                                        .oh = s[4],
                                        .ow = s[5],
                                        .h_half = how % 3 == 0,
                                        .w_half = how % 3 == 0,
                                        .h_num = by ? 0 : num[0],
                                        .w_num = by ? 0 : num[1],
                                        .h_den = by ? 0 : den[0],
                                        .w_den = by ? 0 : den[1],
                                        .h_by = by,
                                        .w_by = by,
                                        .h_pick = pick,
                                        .w_pick = pick,
                                        .x_batch = x.batch,
                                        .x_block = x.block,
                                        .x_lane = x.lane,
                                        .x_row = x.row,
                                        .x_col = x.col,
                                        .y_batch = y.batch,
                                        .y_block = y.block,
                                        .y_lane = y.lane,
                                        .y_row = y.row,
                                        .y_col = y.col};
    return true;
}

/* ---- data movement ---------------------------------------------------------------------------------------- */

static bool strided_case(size_t i, kernel_case *c) {
    static const int perms[][6] = {{0, 1, 2, 3, 4, 5}, {5, 4, 3, 2, 1, 0}, {0, 2, 1, 3, 4, 5},
                                   {0, 1, 2, 3, 5, 4}, {1, 0, 3, 2, 5, 4}, {2, 3, 4, 5, 0, 1}};
    static const ptrdiff_t shapes[][6] = {
        {1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 17, 31}, {2, 3, 4, 5, 3, 2}, {1, 1, 1, 3, 16, 33}};
    if (i >= 3 * 6 * 4) return false;
    const int *perm = perms[i % 6];
    const ptrdiff_t *shape = shapes[i / 6 % 4];
    ptrdiff_t strides[6], n = 1;
    for (int a = 5; a >= 0; a--) {
        strides[a] = n;
        n *= shape[a];
    }
    for (int a = 0; a < 6; a++) {
        c->dims.fields[a] = shape[perm[a]];
        c->dims.fields[6 + a] = strides[perm[a]];
    }
    infk_strided_dims *d = &c->dims.strided;
    const ptrdiff_t inner = d->d2 * d->d3 * d->d4 * d->d5, sort = (ptrdiff_t)i / 24;
    c->x_count = c->columns = n;
    d->y_unit = inner + (sort == 2 ? 5 : 0); /* part of a larger y */
    d->y_base = sort == 2 ? 3 : 0;
    c->y_count = d->y_base + (d->d0 * d->d1 - 1) * d->y_unit + inner;
    if (sort == 1) { /* backwards along the last, the same row again along the first */
        d->base = (d->d5 - 1) * d->s5;
        d->s5 = -d->s5;
        d->s0 = 0;
    }
    return true;
}

/* Heads shared or not, one and several parts of 256 keys, masks of all shapes, columns of a wider tensor. */
static bool attention_case(size_t i, kernel_case *c) {
    static const ptrdiff_t sizes[][7] = {/* batch, heads, groups, queries, keys, d, dv */
                                         {1, 1, 1, 1, 1, 1, 1},     {2, 2, 2, 5, 7, 8, 16},
                                         {1, 2, 1, 17, 16, 16, 8},  {1, 4, 2, 16, 19, 5, 33},
                                         {2, 1, 1, 20, 33, 32, 32}, {1, 2, 2, 3, 257, 9, 20},
                                         {1, 1, 1, 18, 600, 4, 36}, {1, 1, 1, 2, 2, 130, 256}};
    enum { N = sizeof sizes / sizeof *sizes };
    const bool masked = c->kind == INFK_attention_masked;
    if (i >= N * (masked ? 6 : 3)) return false;
    const ptrdiff_t *s = sizes[i % N], how = (ptrdiff_t)(i / N);
    infk_attention_dims *d = &c->dims.attention;
    *d = (infk_attention_dims){
        .batch = s[0], .heads = s[1], .groups = s[2], .m = s[3], .n = s[4], .d = s[5], .dv = s[6]};
    d->q_at = how % 3 == 1 ? 3 : 0;
    d->k_at = how % 3 == 1 ? 5 : 0;
    d->v_at = how % 3 == 1 ? 2 : 0;
    d->q_row = d->heads * d->d + d->q_at;
    d->k_row = d->groups * d->d + d->k_at;
    d->v_row = d->groups * d->dv + d->v_at + how % 2;
    d->scale = 0x3eb504f3; /* 1 / sqrt(8) */
    d->causal = how % 3 == 2;
    d->past = d->n - d->m;
    c->x_count = d->batch * d->m * d->q_row;
    c->w_inner = d->batch * d->n * d->k_row;
    c->more[0] = d->batch * d->n * d->v_row;
    c->y_count = d->batch * d->m * d->heads * d->dv;
    c->columns = d->heads * d->dv;
    if (!masked) return true;
    ptrdiff_t count = 1; /* which of keys, queries, heads, sequences the mask varies with */
    if (how != 5) d->mask_key = count, count *= d->n;
    if (how >= 2) d->mask_row = count, count *= d->m;
    if (how >= 3) d->mask_head = count, count *= d->heads;
    if (how == 1 || how == 4) d->mask_batch = count, count *= d->batch;
    c->more[1] = count;
    return true;
}

static bool gather_case(size_t i, kernel_case *c) {
    static const ptrdiff_t sizes[][3] = {{1, 1, 1}, {1, 17, 3}, {3, 5, 4}, {2, 33, 1}, {1, 1, 9}};
    if (i >= sizeof sizes / sizeof *sizes) return false;
    c->dims.gather = (infk_gather_dims){sizes[i][0], KERNEL_ROWS, sizes[i][1], sizes[i][2]};
    c->w_inner = sizes[i][2];
    c->x_count = sizes[i][0] * KERNEL_ROWS * sizes[i][1];
    c->y_count = c->columns = sizes[i][0] * sizes[i][2] * sizes[i][1];
    return true;
}

static bool scatter_case(size_t i, kernel_case *c) {
    static const ptrdiff_t sizes[][2] = {{1, 1}, {17, 3}, {5, 20}, {33, 1}, {4, 9}};
    if (i >= 4 * (sizeof sizes / sizeof *sizes)) return false;
    const ptrdiff_t inner = sizes[i / 4][0], n = sizes[i / 4][1];
    c->dims.scatter = (infk_scatter_dims){KERNEL_ROWS, inner, n, 8, 1 + (ptrdiff_t)(i % 4)};
    c->w_inner = n;
    c->more[0] = n * (c->columns = inner);
    c->x_count = c->y_count = KERNEL_ROWS * inner;
    return true;
}

static bool sample_case(size_t i, kernel_case *c) {
    const ptrdiff_t n = (ptrdiff_t)i;
    c->dims.sample = (infk_sample_dims){1 + n % 2, 3, 4, 1 + n, 2, 5, n % 3, n / 3 % 3, n / 9};
    const infk_sample_dims *d = &c->dims.sample;
    c->w_inner = d->batch * d->oh * d->ow * 2;
    c->x_count = d->batch * d->c * d->ih * d->iw;
    c->y_count = d->batch * d->c * d->oh * d->ow;
    c->columns = d->c;
    return i < 18;
}

static bool choose_case(size_t i, kernel_case *c) {
    c->x_count = c->more[0] = c->y_count = c->columns = (ptrdiff_t)(1 + i * 15), c->w_inner = 1;
    c->dims.choose.n = c->x_count;
    return i < 5;
}

static bool pad_case(size_t i, kernel_case *c) {
    static const ptrdiff_t shapes[][12] = {
        /* x, before, after */
        {1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0},  {2, 3, 5, 7, 0, 0, 0, 0, 0, 0, 0, 0},
        {3, 4, 5, 17, 0, 0, 1, 2, 0, 0, 2, 1}, {1, 1, 1, 33, 0, 0, 0, 4, 0, 0, 0, 3},
        {2, 3, 4, 5, 1, 2, 3, 4, 1, 1, 0, 0},  {1, 6, 1, 3, 0, 5, 0, 2, 0, 5, 0, 2}};
    if (i >= 3 * 6) return false;
    const ptrdiff_t *s = shapes[i / 3];
    infk_pad_dims *d = &c->dims.pad;
    c->x_count = c->y_count = 1;
    for (int a = 0; a < 4; a++) {
        c->dims.fields[a] = s[a] + s[4 + a] + s[8 + a];
        c->dims.fields[4 + a] = s[a];
        c->dims.fields[8 + a] = s[4 + a];
        c->x_count *= s[a];
        c->y_count *= c->dims.fields[a];
    }
    d->mode = (ptrdiff_t)(i % 3);
    d->fill = 0x7f80a55a;
    c->columns = c->y_count;
    return true;
}

static bool relayout_case(size_t i, const char *type, kernel_case *c) {
    static const ptrdiff_t sizes[] = {1, 3, 15, 16, 17, 33, 70};
    enum { N = sizeof sizes / sizeof *sizes };
    if (i >= N * N * 2) return false;
    const ptrdiff_t batch = 1 + (ptrdiff_t)(i % 2), ch = sizes[i / 2 % N], other = sizes[i / 2 / N];
    infk_relayout_dims *d = &c->dims.relayout;
    const bool integer = kernel_case_step(c->kind) > 1;
    if (c->kind == INFK_pack_conv || c->kind == INFK_pack_matmul || integer) {
        const bool conv = c->kind == INFK_pack_conv || c->kind == INFK_ipack_conv || c->kind == INFK_qpack_conv;
        *d = (infk_relayout_dims){conv ? 1 : batch, ch, other, conv ? batch * batch : 1};
        c->w_panels = d->batch * ((ch + 15) / 16);
        c->w_inner = kernel_case_steps(c->kind, other) * d->hw;
        c->x_count = d->batch * ch * other * d->hw;
        c->y_count = kernel_case_w_count(c, type);
        if (integer) c->w_starts = ch; /* the second operand */
    } else {
        const ptrdiff_t plain = batch * ch * other, blocked = batch * ((ch + 15) / 16) * 16 * other;
        *d = (infk_relayout_dims){batch, ch, 0, other};
        c->x_count = c->kind == INFK_to_c16 ? plain : blocked;
        c->y_count = c->kind == INFK_to_c16 ? blocked : plain;
    }
    return true;
}

static bool recurrent_case(size_t i, kernel_case *c) {
    static const ptrdiff_t hidden[] = {1,  3,  15, 16, 17,  32, 33,
                                       48, 60, 70, 90, 110, 130}; /* 1 to 9 panels */
    enum { N = sizeof hidden / sizeof *hidden };
    uint64_t s = 104729 * i + 5;
    if (i >= 4 * N + RANDOM_CASES) return false;
    const int gates = c->kind == INFK_lstm  ? 4
                      : c->kind == INFK_gru ? 3
                                            : 1,
              states = gates == 4 ? 2 : 1;
    infk_recurrent_dims *d = &c->dims.recurrent;
    d->t = PICK(&s, 1, 2, 3, 5);
    d->batch = PICK(&s, 1, 1, 2, 3);
    d->dirs = PICK(&s, 1, 1, 2);
    d->reverse = d->dirs == 1 && PICK(&s, 0, 1);
    d->h = hidden[i % N];
    d->extra = gates > 1 && PICK(&s, 0, 1);
    d->coupled = PICK(&s, 0, 1);
    d->rounded = gates == 4 && PICK(&s, 0, 0, 1);
    d->hp = (d->h + 15) / 16 * 16;
    for (int k = 0; k < 9; k += 3) { /* codes with 0.5 and 0.25 for parameters */
        (&d->f)[k] = i < 2 * N ? (k > 0) : PICK(&s, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
        (&d->f)[k + 1] = 0x3f000000;
        (&d->f)[k + 2] = 0x3e800000;
    }
    d->clip = PICK(&s, 0, 0, 0x3f000000);
    const ptrdiff_t rows = d->dirs * d->batch;
    c->x_count = d->t * rows * gates * d->hp;
    c->w_panels = d->dirs * gates * d->hp / 16;
    c->w_inner = d->h;
    ptrdiff_t *more = c->more;
    for (int k = 0; k < states; k++) *more++ = rows * d->h;
    if (gates > 1) *more++ = d->extra ? d->dirs * (gates == 4 ? 3 : 1) * d->hp : 1;
    *more = d->batch;
    c->lengths = d->t;
    c->y_count = (d->t + states) * rows * d->h;
    c->columns = d->h;
    return true;
}

bool kernel_case_get(infk_kind kind, size_t i, const char *w_type, kernel_case *out) {
    memset(out, 0, sizeof *out);
    out->kind = kind;
    if (keep_case_is(kind)) return keep_case_get(i, out);
    switch (infk_exact(kind)) {
    case INFK_conv:
    case INFK_iconv:
    case INFK_qconv:
    case INFK_pool_max:
    case INFK_pool_avg: return window_case(i, out);
    case INFK_imatmul:
    case INFK_qmatmul:
    case INFK_qmatmul_both:
    case INFK_matmul: return matmul_case(i, w_type, out);
    case INFK_reduce_sum:
    case INFK_reduce_max:
    case INFK_top:
    case INFK_running_sum:
    case INFK_softmax: return along_case(i, out);
    case INFK_scatter:
    case INFK_scatter_join: return scatter_case(i, out);
    case INFK_sample: return sample_case(i, out);
    case INFK_norm: return norm_case(i, out);
    case INFK_resize: return resize_case(i, out);
    case INFK_lstm:
    case INFK_gru:
    case INFK_rnn: return recurrent_case(i, out);
    case INFK_strided: return strided_case(i, out);
    case INFK_attention:
    case INFK_attention_masked: return attention_case(i, out);
    case INFK_gather: return gather_case(i, out);
    case INFK_choose: return choose_case(i, out);
    case INFK_pad: return pad_case(i, out);
    case INFK_to_c16:
    case INFK_from_c16:
    case INFK_pack_conv:
    case INFK_pack_matmul:
    case INFK_ipack_conv:
    case INFK_ipack_matmul:
    case INFK_qpack_conv:
    case INFK_qpack_matmul: return relayout_case(i, w_type, out);
    default: return linear_case_get(i, out);
    }
}
