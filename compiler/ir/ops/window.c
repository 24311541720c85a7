/* window.c - what conv.c and pool.c share: images in memory and sliding windows. */
#include "../op_rules.h"

infc_image_strides infc_image_strides_of(const infc_type *type) {
    int64_t c = type->dims[1], w = type->dims[3], pixels = infc_dim_mul(type->dims[2], w);
    int64_t block = infc_dim_mul(pixels, 16);
    if (type->layout == INFC_LAYOUT_c16) {
        int64_t batch = infc_dim_mul(infc_dim_blocks(c, 16), block);
        return (infc_image_strides){(ptrdiff_t)batch, (ptrdiff_t)block, 1, (ptrdiff_t)infc_dim_mul(w, 16), 16};
    }
    return (infc_image_strides){(ptrdiff_t)infc_dim_mul(c, pixels), (ptrdiff_t)block,
                                (ptrdiff_t)pixels, (ptrdiff_t)w, 1};
}

int64_t infc_window_reach(int64_t kernel, int64_t dilation) {
    return infc_dim_add(infc_dim_mul(infc_dim_sub(kernel, 1), dilation), 1);
}

const char *infc_window_advice(const infc_type *image) {
    return infc_type_open(image) ? " at its smallest: raise the lower bounds in shapes" : "";
}

int64_t infc_window_extent(int64_t in, int64_t before, int64_t after, int64_t kernel,
                           int64_t stride, int64_t dilation) {
    int64_t room =
        infc_dim_sub(infc_dim_add(in, infc_dim_add(before, after)), infc_window_reach(kernel, dilation));
    return infc_dim_least(room) < 0 ? 0 : infc_dim_add(infc_dim_floor(room, stride), 1);
}
