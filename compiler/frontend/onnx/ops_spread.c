/* What moves channels to pixels and back: DepthToSpace, SpaceToDepth. */
#include "ops_window.h"

infc_status infc_onnx_spread(infc_onnx_at *at, const infc_onnx_operand *x, int64_t h, int64_t w,
                             bool channels_last, infc_onnx_operand *out) {
    const int64_t *d = x->type.dims, channels = d[1] / (h * w);
    const int64_t first[] = {d[0], channels, h, w, d[2], d[3]},
                  last[] = {d[0], h, w, channels, d[2], d[3]};
    const int64_t shape[] = {d[0], channels, infc_dim_mul(d[2], h), infc_dim_mul(d[3], w)};
    INFC_TRY(infc_onnx_view(at, x, channels_last ? last : first, 6, out));
    INFC_TRY(infc_onnx_permute(
        at, out, channels_last ? (const int64_t[]){0, 3, 4, 1, 5, 2} : (const int64_t[]){0, 1, 4, 2, 5, 3}, out));
    return infc_onnx_view(at, out, shape, 4, out);
}

static infc_status read_block(infc_onnx_at *at, infc_onnx_operand *out_x, int64_t *out_block, bool *out_crd) {
    INFC_TRY(infc_onnx_input(at, 0, out_x));
    *out_block = infc_onnx_attr_int(at, "blocksize", 0);
    *out_crd = infc_onnx_attr_is(at, "mode", "CRD");
    if (out_x->type.rank != 4)
        return infc_onnx_invalid(at, "the input has %d dimensions, not 4", out_x->type.rank);
    if (!infc_onnx_attr(at, "blocksize"))
        return infc_onnx_invalid(at, "attribute \"blocksize\" is missing");
    if (*out_block < 1 || *out_block > 1 << 20)
        return infc_onnx_invalid(at, "attribute \"blocksize\" is %lld, not from 1 to %d",
                                 (long long)*out_block, 1 << 20);
    if (infc_onnx_attr(at, "mode") && !*out_crd && !infc_onnx_attr_is(at, "mode", "DCR"))
        return infc_onnx_invalid(at, "attribute \"mode\" must be DCR or CRD");
    return INFC_OK;
}

infc_status infc_onnx_import_depth_to_space(infc_onnx_at *at) {
    infc_onnx_operand x, y;
    int64_t block = 0;
    bool crd = false;
    INFC_TRY(read_block(at, &x, &block, &crd));
    if (x.type.dims[1] % (block * block) != 0)
        return infc_onnx_invalid(at, "%lld channels do not make blocks of %lld x %lld",
                                 (long long)x.type.dims[1], (long long)block, (long long)block);
    INFC_TRY(infc_onnx_spread(at, &x, block, block, !crd, &y));
    return infc_onnx_output(at, 0, &y);
}

infc_status infc_onnx_import_space_to_depth(infc_onnx_at *at) {
    infc_onnx_operand x, y;
    int64_t b = 0;
    bool crd = false;
    INFC_TRY(read_block(at, &x, &b, &crd));
    const int64_t *d = x.type.dims;
    int64_t rows = 0, columns = 0;
    if (!infc_dim_share(d[2], b, &rows) || !infc_dim_share(d[3], b, &columns))
        return infc_onnx_invalid(at, "%s x %s pixels do not make blocks of %lld x %lld",
                                 infc_dim_text(at->arena, d[2]), infc_dim_text(at->arena, d[3]),
                                 (long long)b, (long long)b);
    const int64_t parts[] = {d[0], d[1], rows, b, columns, b};
    const int64_t shape[] = {d[0], infc_dim_mul(d[1], b * b), rows, columns};
    INFC_TRY(infc_onnx_view(at, &x, parts, 6, &y));
    INFC_TRY(infc_onnx_permute(
        at, &y, crd ? (const int64_t[]){0, 1, 3, 5, 2, 4} : (const int64_t[]){0, 3, 5, 1, 2, 4}, &y));
    INFC_TRY(infc_onnx_view(at, &y, shape, 4, &y));
    return infc_onnx_output(at, 0, &y);
}
