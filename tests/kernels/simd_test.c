/* simd_test.c - the vocabulary of one level (LEVEL_HEADER): every v_x gives the bits of s_x in each lane, on all
 * pairs of special values and on random bits; fma is exact; the functions of poly.h are within their bounds of the true
 * value; tails touch their lanes only. */
#include LEVEL_HEADER
#include "level_here.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static long failures;

static bool same(float a, float b) { return (isnan(a) && isnan(b)) || s_bits(a) == s_bits(b); }

static void check(bool ok, const char *what, float a, float b, float c, float got, float want) {
    if (ok || failures++ >= 20) return;
    printf("FAILED %s(%a, %a, %a): %a, expected %a\n", what, (double)a, (double)b, (double)c,
           (double)got, (double)want);
}

static uint64_t random_state = 1;
static uint32_t random_bits(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 32);
}

/* All functions of three arguments, of which some use fewer. */
/* clang-format off */
#define FUNCTIONS(X)                                                                                        \
    X(add, (a, b)) X(sub, (a, b)) X(mul, (a, b)) X(div, (a, b)) X(max, (a, b)) X(min, (a, b))               \
    X(max_nan, (a, b)) X(neg, (a)) X(abs, (a)) X(sqrt, (a)) X(copysign, (a, b)) X(select_gt0, (a, b, c))    \
    X(select_gt, (a, b, c, a)) X(fma, (a, b, c)) X(exp, (a)) X(tanh, (a)) X(select_eq, (a, b, c, a))        \
    X(exponent, (a)) X(mantissa, (a)) X(round, (a)) X(floor, (a)) X(ceil, (a)) X(expm1_neg, (a))            \
    X(log, (a)) X(softplus, (a)) X(pow, (a, b)) X(erf, (a)) X(sin, (a)) X(cos, (a)) X(mish, (a))         \
    X(gelu_tanh, (a)) X(silu, (a)) X(exp_share, (a))
/* clang-format on */

static void check_lanes(const float *a16, const float *b16, const float *c16) {
    float got[16];
#define X(name, args)                                                         \
    {                                                                         \
        const vf16x a = v_load(a16), b = v_load(b16), c = v_load(c16);        \
        v_store(got, v_##name args);                                          \
        (void)b;                                                              \
        (void)c;                                                              \
    }                                                                         \
    for (int i = 0; i < 16; i++) {                                            \
        const float a = a16[i], b = b16[i], c = c16[i], want = s_##name args; \
        check(same(got[i], want), #name, a, b, c, got[i], want);              \
    }
    FUNCTIONS(X)
#undef X
}

#if defined(__wasm__)
/* The C library's fmaf goes by the mode of rounding, and WebAssembly has but one. Here: the nearer of the two floats
 * around the sum in double; halfway between them what that sum lost decides. */
static float exact_fma(float a, float b, float c) {
    const double product = (double)a * b, sum = product + c, of_c = sum - product,
                 lost = (product - (sum - of_c)) + (c - of_c);
    const float near = (float)sum, beyond = nextafterf(near, sum > near ? INFINITY : -INFINITY);
    const double at = isinf(near) ? copysign(0x1p128, sum) : near;
    if (!isfinite(sum) || sum == at || at - sum != sum - beyond) return near;
    return lost != 0 && (lost > 0) != (at > sum) ? beyond : near;
}
#else
static float exact_fma(float a, float b, float c) { return fmaf(a, b, c); }
#endif

/* Against an exact fma, the rules in words, and a tree written out. */
static void check_scalar(float a, float b, float c) {
    const float sum = exact_fma(a, b, c);
    check(same(s_fma(a, b, c), sum), "s_fma", a, b, c, s_fma(a, b, c), sum);
    check(same(s_sqrt(a), sqrtf(a)), "s_sqrt", a, 0, 0, s_sqrt(a), sqrtf(a));
    check(same(s_max(a, b), a > b ? a : b), "s_max", a, b, 0, s_max(a, b), a > b ? a : b);
    const float most = isnan(a) || isnan(b) ? NAN : b > a ? b : a;
    check(same(s_max_nan(a, b), most), "s_max_nan", a, b, 0, s_max_nan(a, b), most);
}

/* Sums just beside the middle of two floats, denormals too: what is beside is lost in a double. Every lane apart. */
static void check_midway(void) {
    for (int i = 0; i < 2000; i++) {
        float a[16], b[16], c[16];
        for (int l = 0; l < 16; l++) {
            const int exponent = random_bits() % 2 ? -149 : (int)(random_bits() % 270) - 149,
                      half = exponent - 1;
            const float x = l % 2 ? 0x1.000002p+0f : 0x1.fffffcp-1f; /* 1 + 2^-23, 1 - 2^-23: their product 1 - 2^-46 */
            const float y = l % 4 < 2 ? 0x1.fffffcp-1f : 0x1.000002p+0f;
            const int quiet = (int)(random_bits() % 3); /* lanes that are not midway must not change the others */
            a[l] = ldexpf(x, half / 2);
            b[l] = ldexpf(random_bits() % 2 ? y : -y, half - half / 2);
            c[l] = ldexpf((float)(int)(quiet ? random_bits() % 16 : (random_bits() & 0xffffffu)), exponent);
            if (exponent > -149 + 23 && quiet == 2)
                c[l] = ldexpf((float)(0x800000u | (random_bits() & 0x7fffffu)), exponent);
            if (random_bits() % 2) c[l] = -c[l];
            check_scalar(a[l], b[l], c[l]);
        }
        check_lanes(a, b, c);
    }
}

static void check_trees(const float *a) {
    float t[16], m[16];
    memcpy(t, a, sizeof t);
    memcpy(m, a, sizeof m);
    for (int half = 8; half; half /= 2)
        for (int i = 0; i < half; i++) {
            t[i] = t[i] + t[i + half];
            m[i] = isnan(m[i]) || m[i + half] <= m[i] ? m[i] : m[i + half];
        }
    check(same(v_sum(v_load(a)), t[0]), "v_sum", a[0], a[1], a[2], v_sum(v_load(a)), t[0]);
    check(same(v_hmax(v_load(a)), m[0]), "v_hmax", a[0], a[1], a[2], v_hmax(v_load(a)), m[0]);
}

/* Maxima without signs, of two, across and of 16 rows; whole numbers nearest to floats; sums of 16 bytes. */
static void check_groups(const float *a16) {
    float rows[256], most[16], two[16], from[16];
    int8_t steps[256];
    int32_t sums[16];
    for (int i = 0; i < 256; i++)
        rows[i] = s_abs(i % 16 == i / 16 ? a16[i % 16] : s_float(random_bits()));
    v_store(most, v_most_each(rows));
    v_store(two, v_most(v_load(rows), v_load(rows + 16)));
    for (int r = 0; r < 16; r++) {
        float want = rows[16 * r];
        for (int l = 1; l < 16; l++) want = s_max_nan(want, rows[16 * r + l]);
        const float across = v_hmost(v_load(rows + 16 * r)), larger = s_max_nan(rows[r], rows[16 + r]);
        check(same(most[r], want), "v_most_each", (float)r, 0, 0, most[r], want);
        check(same(across, want), "v_hmost", (float)r, 0, 0, across, want);
        check(same(two[r], larger), "v_most", rows[r], rows[16 + r], 0, two[r], larger);
        for (int l = 0; l < 16; l++) { /* whole and halves, and the floats beside them */
            const float at = (float)((int)(random_bits() % 509) - 254) * 0.5f;
            from[l] = random_bits() % 29 ? s_float(s_bits(at) + random_bits() % 3 - (at != 0.0f)) : NAN;
        }
        vi_store(sums, vi_near(v_load(from)));
        for (int l = 0; l < 16; l++) {
            const float nearest = isnan(from[l]) ? 0.0f : rintf(from[l]);
            check((float)sums[l] == nearest, "vi_near", from[l], 0, 0, (float)sums[l], nearest);
            steps[16 * r + l] = (int8_t)sums[l];
        }
    }
    if (a16[0] > a16[1]) memset(steps, a16[2] > a16[3] ? 127 : -128, 100);
    vi_store(sums, vi_sums(steps));
    for (int r = 0; r < 16; r++) {
        int32_t want = 0;
        for (int l = 0; l < 16; l++) want += steps[16 * r + l];
        check(sums[r] == want, "vi_sums", (float)r, 0, 0, (float)sums[r], (float)want);
    }
}

static void check_tails(void) {
    float from[16], to[16], other[16], seen[16];
    for (int i = 0; i < 16; i++) {
        from[i] = (float)(i + 1);
        other[i] = (float)(-i);
    }
    for (int n = 0; n <= 16; n++) {
        for (int i = 0; i < 16; i++) to[i] = 99.0f;
        v_store_tail(to, n, v_load(from));
        v_store(seen, v_load_tail(from, n));
        for (int i = 0; i < 16; i++) {
            check(to[i] == (i < n ? from[i] : 99.0f), "v_store_tail", (float)n, (float)i, 0, to[i], from[i]);
            check(same(seen[i], i < n ? from[i] : 0.0f), "v_load_tail", (float)n, (float)i, 0,
                  seen[i], from[i]);
        }
        v_store(seen, v_first(n, v_load(from), v_load(other)));
        for (int i = 0; i < 16; i++) {
            const float want = i < n ? from[i] : other[i];
            check(same(seen[i], want), "v_first", (float)n, (float)i, 0, seen[i], want);
        }
    }
    int8_t block[64];
    for (int i = 0; i < 64; i++) block[i] = (int8_t)(i * 37 + 128);
    for (int j = 0; j < 4; j++) {
        v_store(seen, v_i8_to_f32(block, j));
        for (int i = 0; i < 16; i++)
            check(same(seen[i], (float)block[4 * i + j]), "v_i8_to_f32", (float)i, (float)j, 0, seen[i], 0);
    }
}

/* How far `got` is from `want`, in units of the last place of a float of its size. */
static double ulps(float got, double want) {
    if (isnan(want)) return isnan(got) ? 0 : INFINITY;
    if (fabs(want) > (double)0x1.ffffffp+127)
        return isinf(got) && (got > 0) == (want > 0) ? 0 : INFINITY;
    int exponent;
    frexp(want, &exponent);
    const double ulp = ldexp(1.0, exponent - 24 < -149 ? -149 : exponent - 24);
    return fabs((double)got - want) / ulp;
}

static double softplus(double a) { return fmax(a, 0) + log1p(exp(-fabs(a))); }

/* Functions of one argument in [-limit, limit], and the most that each may be off, in units of the last place. */
static void check_hadamard(const float *a16) {
    for (int i = 0; i < 6; i++) {
        const int wide = i % 2, n = 64 << wide, rotate = i / 2 * 64;
        float got[128], want[128];
        vf16x v[8];
        for (int k = 0; k < 128; k++) want[k] = a16[k % 16] * (float)(1 + k / 16);
        for (int k = 0; k < 8; k++) v[k] = v_load(want + 16 * k);
        v_rotate(v, wide, rotate);
        for (int k = 0; k < 8; k++) v_store(got + 16 * k, v[k]);
        for (int at = 0, size; at < n; at += size) {
            size = (int)s_rotate_size(rotate, n - at);
            s_rotate(want + at, size, rotate);
        }
        for (int k = 0; k < n; k++)
            check(same(got[k], want[k]), "v_rotate", (float)k, (float)n, (float)rotate, got[k], want[k]);
    }
}

/* 16 outputs by four inputs, of random bytes or of the largest of both signs. */
static void check_bytes(bool extremes) {
    int8_t w[64], x[4];
    int32_t got[16], nibbles[16], groups[16];
    for (int i = 0; i < 64; i++) {
        w[i] = extremes ? (int8_t)(random_bits() % 2 ? 127 : -127) : (int8_t)(random_bits() >> 24);
        if (w[i] == -128) w[i] = 0;
        x[i % 4] = extremes ? (int8_t)(random_bits() % 2 ? 127 : -127) : (int8_t)(random_bits() >> 24);
        if (x[i % 4] == -128) x[i % 4] = 0;
    }
    const vi16x bytes = vi_load_bytes(w), four = vi_four(x), scale = vi_set1(13);
    vi_store(got, vi_dot_bytes(vi_set1(5), vi_bytes(bytes), four));
    vi16x sums = vi_zero();
    for (int i = 0; i < 8; i++)
        sums = vi_dot_nibbles(sums, i % 2 ? vi_high_nibbles(bytes) : vi_low_nibbles(bytes), four);
    vi_store(nibbles, vi_add_group(vi_set1(7), sums, vi_group_scales(scale)));
    const vi16x low = vi_dot_nibbles(vi_zero(), vi_low_nibbles(bytes), four);
    const vi16x upper = vi_dot_nibbles(vi_zero(), vi_upper_nibbles(bytes), four);
    vi_store(groups, vi_add_groups(vi_set1(9), low, upper, vi_group_scales(scale)));
    for (int n = 0; n < 16; n++) {
        int32_t dot = 5, four_times = 0;
        for (int i = 0; i < 4; i++) {
            const int byte = (uint8_t)w[n * 4 + i];
            dot += (w[n * 4 + i] + VI_BYTES_BIAS) * x[i];
            four_times += (byte % 16 + byte / 16) * x[i];
        }
        check(got[n] == dot, "vi_dot_bytes", (float)n, 0, 0, (float)got[n], (float)dot);
        check(nibbles[n] == 7 + 52 * four_times, "vi_dot_nibbles", (float)n, 0, 0,
              (float)nibbles[n], (float)(7 + 52 * four_times));
        check(groups[n] == 9 + 13 * four_times, "vi_add_groups", (float)n, 0, 0, (float)groups[n],
              (float)(9 + 13 * four_times));
    }
}

/* 16 weights times [4][16][4] random bytes, or the largest, or what no one wrote but has no weight. */
static void check_weighted(int round) {
    int8_t v[256];
    int32_t weights[16], got[16], all = 0;
    int16_t laid_out[16];
    for (int i = 0; i < 16; i++) {
        weights[i] = round == 0 ? 16383 : (int32_t)(random_bits() % 16384);
        if (round == 1 && i % 3 == 0) weights[i] = 0;
        all += weights[i];
    }
    for (int i = 0; i < 256; i++) { /* byte b of group k goes with weight 4 b + k */
        v[i] = round == 0 ? (int8_t)(i / 4 % 2 ? 127 : -127) : (int8_t)(random_bits() >> 24);
        if (round == 1 && (i % 4 * 4 + i / 64) % 3 == 0) v[i] = -128;
    }
    vi_store_weights(laid_out, vi_load(weights));
    vi_weighted sums = vi_weighted_none();
    for (int k = 0; k < 4; k++) sums = vi_weigh(sums, vi_load_quad(v + 64 * k), laid_out, k);
    vi_store(got, vi_weighted_sum(sums, all));
    for (int n = 0; n < 16; n++) {
        int32_t want = 0;
        for (int k = 0; k < 4; k++)
            for (int b = 0; b < 4; b++) want += weights[4 * b + k] * v[64 * k + 4 * n + b];
        check(got[n] == want, "vi_weigh", (float)n, (float)round, 0, (float)got[n], (float)want);
    }
}

/* Towards zero, as C converts: ends of the range, halves, and random floats within it. */
static void check_whole(void) {
    static const float ends[16] = {
        -0x1p31f,        0x1.fffffep30f, -0.5f, 0.5f,           -1.5f,           1.5f,
        -2.5f,           2.5f,           -0.0f, 0x1.fffffep-1f, -0x1.fffffep-1f, 0x1.fffffep22f,
        -0x1.fffffep22f, 0x1p-149f,      3.0f,  -3.0f};
    for (int i = 0; i < 1000; i++) {
        float from[16];
        int32_t got[16];
        for (int l = 0; l < 16; l++) {
            const float any = s_float((random_bits() & 0x807fffffu) | (100 + random_bits() % 57) << 23);
            from[l] = i ? any : ends[l];
        }
        vi_store(got, vi_whole(v_load(from)));
        for (int l = 0; l < 16; l++)
            check(got[l] == (int32_t)from[l], "vi_whole", from[l], 0, 0, (float)got[l],
                  (float)(int32_t)from[l]);
    }
}

/* Halves: all of them, by their definition; and the nearest to random floats, half to even. */
static void check_halves(void) {
    for (int i = 0; i < 65536; i += 16) {
        infk_b2 halves[16];
        float got[16];
        for (int l = 0; l < 16; l++) halves[l] = (infk_b2)(i + l);
        v_store(got, v_load_f16(halves));
        for (int l = 0; l < 16; l++) {
            const int e = (halves[l] >> 10) & 31, m = halves[l] & 1023;
            const double size = e == 31 ? (m ? NAN : INFINITY) : ldexp(e ? 1024 + m : m, (e ? e : 1) - 25);
            const float want = (float)(halves[l] & 0x8000 ? -size : size), one = s_from_f16(halves[l]);
            check(same(got[l], want) && same(one, want), "from_f16", (float)(i + l), 0, 0, one, want);
        }
    }
    for (int i = 0; i < 400000; i++) {
        const float a =
            i % 2 ? s_float((random_bits() & 0x8fffffffu) + 0x30000000u) : s_float(random_bits());
        int e = 0;
        if (a == a) frexp((double)a, &e);
        const double unit = ldexp(1.0, e < -13 ? -24 : e - 11), near = rint((double)a / unit) * unit;
        const float want = (float)fmax(-65504, fmin(65504, near)), got = s_from_f16(s_to_f16(a));
        check(isnan(a) ? isnan(got) : same(got, want), "to_f16", a, 0, 0, got, want);
    }
}

/* exp_share, which is for arguments up to 0. */
static float share(float a) { return s_exp_share(-s_abs(a)); }
static double exact_share(double a) { return fabs(a) > 80 ? 0 : exp(-fabs(a)); }

static const struct {
    const char *name;
    float (*ours)(float);
    double (*exact)(double);
    double limit, bound;
} accurate[] = {
    {"exp", s_exp, exp, INFINITY, 2},
    {"tanh", s_tanh, tanh, INFINITY, 2},
    {"log", s_log, log, INFINITY, 2},
    {"erf", s_erf, erf, INFINITY, 2},
    {"sin", s_sin, sin, 65536, 2},
    {"cos", s_cos, cos, 65536, 2},
    {"round", s_round, rint, INFINITY, 0},
    {"floor", s_floor, floor, INFINITY, 0},
    {"ceil", s_ceil, ceil, INFINITY, 0},
    {"softplus", s_softplus, softplus, INFINITY, 3},
    {"exp_share", share, exact_share, INFINITY, 2},
};
enum { N_ACCURATE = sizeof accurate / sizeof *accurate };

static void check_accuracy(uint32_t step) {
    for (int f = 0; f < N_ACCURATE; f++) {
        double worst = 0;
        for (uint64_t bits = 0; bits < 0x100000000u; bits += step) {
            const float a = s_float((uint32_t)bits), got = accurate[f].ours(a);
            if (fabs((double)a) > accurate[f].limit && !isnan(a)) continue;
            const double want = accurate[f].exact((double)a), off = ulps(got, want);
            check(off <= accurate[f].bound, accurate[f].name, a, 0, 0, got, (float)want);
            if (want == 0 && isinf(accurate[f].limit))
                check(!signbit(got) == !signbit(want), accurate[f].name, a, 0, 0, got, (float)want);
            if (off > worst) worst = off;
        }
        printf("%s within %.3f ulp\n", accurate[f].name, worst);
    }
}

/* pow against the C library's in double: special values and their neighbours, random bits, moderate sizes. */
static void check_pow(const uint32_t *special, int n_special) {
    double worst = 0;
    for (int i = 0; i < 300000; i++) {
        float a = s_float(random_bits()), b = s_float(random_bits());
        if (i < n_special * n_special) {
            a = s_float(special[i % n_special]);
            b = s_float(special[i / n_special]);
        } else if (i % 4 == 1) {
            b = (float)((int)(random_bits() % 41) - 20) * 0.5f;
        } else if (i % 4 > 1) {
            a = s_float((random_bits() & 0x07ffffffu) + 0x3c000000u);
            b = s_float((random_bits() & 0x87ffffffu) | 0x3c000000u);
        }
        const double want = pow((double)a, (double)b), off = ulps(s_pow(a, b), want);
        check(off <= 2, "pow", a, b, 0, s_pow(a, b), (float)want);
        if (off > worst) worst = off;
    }
    printf("pow within %.3f ulp\n", worst);
}

int main(int argc, char **argv) {
    static const uint32_t special[] = {
        0x00000000u, 0x80000000u, 0x00000001u, 0x80000001u, 0x007fffffu, 0x807fffffu, 0x00800000u,
        0x80800000u, 0x3f800000u, 0xbf800000u, 0x3f800001u, 0x3effffffu, 0x3f200000u, 0x3f1fffffu,
        0x42b17217u, 0x42b17218u, 0xc2aeac4fu, 0xc2cff1b4u, 0xc2cff1b5u, 0x7f7fffffu, 0xff7fffffu,
        0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffc00000u, 0x7f800001u, 0x4b800000u, 0x34000000u,
        0x33800000u, 0x41200000u, 0xc1200000u, 0x5f000000u};
    enum { N = sizeof special / sizeof *special };
    if (!level_runs_here()) {
        printf("SKIPPED: this CPU lacks the level of %s\n", LEVEL_HEADER);
        return 77;
    }
    float a[16], b[16], c[16];
    for (int i = 0; i < N * N * N; i += 16) {
        for (int l = 0; l < 16; l++) {
            a[l] = s_float(special[(i + l) % N]);
            b[l] = s_float(special[(i + l) / N % N]);
            c[l] = s_float(special[(i + l) / N / N]);
            check_scalar(a[l], b[l], c[l]);
        }
        check_lanes(a, b, c);
    }
    for (int i = 0; i < 20000; i++) {
        for (int l = 0; l < 16; l++) { /* c near -a * b every other time: cancellation */
            a[l] = s_float(random_bits());
            b[l] = s_float(random_bits());
            c[l] = i % 2 ? s_float(random_bits()) : s_float(s_bits(-a[l] * b[l]) + random_bits() % 5);
            check_scalar(a[l], b[l], c[l]);
        }
        check_lanes(a, b, c);
        for (int l = 0; l < 16; l++) a[l] = s_float((random_bits() & 0x83ffffffu) | 0x3c000000u);
        check_trees(a);
        check_hadamard(a);
        check_groups(b);
        check_bytes(i % 2);
        check_weighted(i % 3);
        a[i % 16] = s_float(special[i % N]);
        check_trees(a);
    }
    check_midway();
    check_whole();
    check_halves();
    check_tails();
    check_pow(special, N);
    check_accuracy(argc > 1 && strcmp(argv[1], "--all") == 0 ? 1 : 8191);
    printf("%ld failures\n", failures);
    return failures ? 1 : 0;
}
