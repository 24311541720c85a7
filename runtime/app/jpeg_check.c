/* jpeg_check.c - walks the markers of a JPEG and checks what stb_image before 2.28 trusts: the counts and code
 * lengths of Huffman tables (it writes past its own tables otherwise), the categories of DC tables, and that
 * tables are defined before they are used (it reads what malloc left otherwise).
 *
 * Between segments, and in the entropy-coded data after a scan's header, whatever is no marker is skipped: stb does
 * the same or gives up, so every segment that it acts on has been checked here. */
#include "jpeg_check.h"
#include <string.h>

enum {
    SOF0 = 0xc0,
    SOF1 = 0xc1,
    SOF2 = 0xc2,
    DHT = 0xc4,
    RST0 = 0xd0,
    RST7 = 0xd7,
    EOI = 0xd9,
    SOS = 0xda
};
enum { DQT = 0xdb, DNL = 0xdc, DRI = 0xdd, APP0 = 0xe0, APP15 = 0xef, COM = 0xfe, NO_MARKER = -1 };

typedef struct jpeg {
    infrt_bytes rest;           /* not walked yet */
    unsigned dc, ac, quantizer; /* bit i: table i is defined */
    bool progressive, scanned;
    size_t n_components; /* 0: no frame header yet */
    struct {
        uint8_t id, quantizer;
    } components[4];
} jpeg;

/* The next marker that has a segment, or the end. FF 00 is data, repeated FF is padding. */
static int marker_next(jpeg *j) {
    while (j->rest.n > 1) {
        const unsigned char *p = j->rest.data;
        j->rest = (infrt_bytes){p + 1, j->rest.n - 1};
        if (p[0] != 0xff || p[1] == 0xff || p[1] == 0) continue;
        j->rest = (infrt_bytes){p + 2, j->rest.n - 1};
        if (p[1] < RST0 || p[1] > RST7) return p[1];
    }
    return NO_MARKER;
}

static bool huffman_ok(jpeg *j, infrt_bytes segment) {
    while (segment.n > 0) {
        if (segment.n < 17) return false;
        unsigned kind = segment.data[0] >> 4, table = segment.data[0] & 15, n = 0, code = 0;
        for (unsigned length = 1; length <= 16; length++) {
            n += segment.data[length];
            code += segment.data[length];
            if (code > 1u << length)
                return false; /* more codes than that many bits can tell apart */
            code <<= 1;
        }
        if (kind > 1 || table > 3 || n > 256 || segment.n < 17 + n) return false;
        for (unsigned i = 0; i < n && kind == 0; i++)
            if (segment.data[17 + i] > 15)
                return false; /* a DC difference of more bits than there can be */
        *(kind == 0 ? &j->dc : &j->ac) |= 1u << table;
        segment = (infrt_bytes){segment.data + 17 + n, segment.n - 17 - n};
    }
    return true;
}

static bool quantizers_ok(jpeg *j, infrt_bytes segment) {
    while (segment.n > 0) {
        unsigned wide = segment.data[0] >> 4, table = segment.data[0] & 15;
        size_t n = wide ? 129 : 65;
        if (wide > 1 || table > 3 || segment.n < n) return false;
        j->quantizer |= 1u << table;
        segment = (infrt_bytes){segment.data + n, segment.n - n};
    }
    return true;
}

static bool frame_ok(jpeg *j, infrt_bytes segment, bool progressive) {
    size_t n = segment.n > 5 ? segment.data[5] : 0;
    if (j->n_components || n < 1 || n > 4 || segment.n != 6 + 3 * n) return false;
    for (size_t i = 0; i < n; i++) {
        j->components[i].id = segment.data[6 + 3 * i];
        j->components[i].quantizer = segment.data[8 + 3 * i];
        if (j->components[i].quantizer > 3) return false;
    }
    j->n_components = n;
    j->progressive = progressive;
    return true;
}

static bool scan_ok(jpeg *j, infrt_bytes segment) {
    size_t n = segment.n > 0 ? segment.data[0] : 0;
    if (n < 1 || n > j->n_components || segment.n != 4 + 2 * n) return false;
    const unsigned char *end = segment.data + 1 + 2 * n;
    bool first_bits = end[2] >> 4 == 0; /* later scans refine DC with bare bits */
    bool needs_dc = !j->progressive || (end[0] == 0 && first_bits), needs_ac = !j->progressive || end[1] > 0;
    for (size_t i = 0; i < n; i++) {
        unsigned id = segment.data[1 + 2 * i], dc = segment.data[2 + 2 * i] >> 4,
                 ac = segment.data[2 + 2 * i] & 15;
        size_t k = 0;
        while (k < j->n_components && j->components[k].id != id) k++;
        if (k == j->n_components || dc > 3 || ac > 3) return false;
        if (needs_dc && !(j->dc >> dc & 1)) return false;
        if (needs_ac && !(j->ac >> ac & 1)) return false;
        if (!(j->quantizer >> j->components[k].quantizer & 1)) return false;
    }
    j->scanned = true;
    return true;
}

static const char *segment_wrong(jpeg *j, int marker, infrt_bytes segment) {
    if ((marker >= APP0 && marker <= APP15) || marker == COM) return NULL;
    switch (marker) {
    case DHT: return huffman_ok(j, segment) ? NULL : "bad Huffman table";
    case DQT: return quantizers_ok(j, segment) ? NULL : "bad quantization table";
    case SOF0:
    case SOF1:
    case SOF2: return frame_ok(j, segment, marker == SOF2) ? NULL : "bad frame header";
    case SOS:
        return scan_ok(j, segment) ? NULL : "bad scan header, or a table that it needs is missing";
    case DRI:
    case DNL: return segment.n == 2 ? NULL : "bad length";
    default: return "a kind of JPEG that is not read (lossless, hierarchical or arithmetic)";
    }
}

const char *infrt_jpeg_wrong(infrt_bytes file) {
    jpeg j = {.rest = file};
    if (file.n == 0 || file.data[0] != 0xff) return NULL; /* what stb takes for a JPEG starts so */
    if (file.n < 4 || memcmp(file.data, "\xff\xd8\xff", 3) != 0) return "not a JPEG";
    j.rest = (infrt_bytes){file.data + 2, file.n - 2};
    for (;;) {
        int marker = marker_next(&j);
        if (marker == EOI) return j.scanned ? NULL : "no picture in this JPEG";
        if (marker == NO_MARKER || j.rest.n < 2) return "truncated JPEG";
        size_t bytes = (size_t)j.rest.data[0] << 8 | j.rest.data[1];
        if (bytes < 2 || bytes > j.rest.n) return "truncated JPEG";
        const char *wrong = segment_wrong(&j, marker, (infrt_bytes){j.rest.data + 2, bytes - 2});
        if (wrong) return wrong;
        j.rest = (infrt_bytes){j.rest.data + bytes, j.rest.n - bytes};
    }
}
