/* window.c - what conv.c and pool.c share: images in memory and sliding windows. */
#include "../op_rules.h"

infc_image_strides infc_image_strides_of(const infc_type *type) {
    ptrdiff_t c = (ptrdiff_t)type->dims[1], h = (ptrdiff_t)type->dims[2];
    ptrdiff_t w = (ptrdiff_t)type->dims[3];
    if (type->layout == INFC_LAYOUT_c16) {
        ptrdiff_t block = h * w * 16;
        return (infc_image_strides){(c + 15) / 16 * block, block, 1, w * 16, 16};
    }
    return (infc_image_strides){c * h * w, 16 * h * w, h * w, w, 1};
}

int64_t infc_window_extent(int64_t in, int64_t before, int64_t after, int64_t kernel,
                           int64_t stride, int64_t dilation) {
    int64_t room = in + before + after - (dilation * (kernel - 1) + 1);
    return room < 0 ? 0 : room / stride + 1;
}
