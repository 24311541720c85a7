/* ops_window.h - what Conv, ConvTranspose and the pools share: their attributes for one or two spatial axes, always
 * as two. */
#ifndef INFC_ONNX_OPS_WINDOW_H
#define INFC_ONNX_OPS_WINDOW_H
#include "onnx_node.h"

typedef struct infc_onnx_window {
    int spatial; /* 1 or 2, of the node */
    int64_t kernel[2], strides[2], dilations[2];
    int64_t pads[4]; /* top, left, bottom, right */
    bool extended;   /* ceil_mode made the window's last step reach further than pads */
} infc_onnx_window;

/* x [N,C,W] or [N,C,H,W] as an image [N,C,H,W]; other ranks are refused. */
infc_status infc_onnx_image(infc_onnx_at *at, const infc_onnx_operand *x, infc_onnx_operand *out);
/* The result as output 0, with as many axes as the node's input had. */
infc_status infc_onnx_image_output(infc_onnx_at *at, const infc_onnx_operand *y, int spatial);
/* Reads kernel_shape (or takes `kernel`, when the attribute may be left out), strides, dilations, pads, auto_pad
 * and ceil_mode for an image. */
infc_status infc_onnx_window_read(infc_onnx_at *at, const infc_type *image, int spatial,
                                  const int64_t *kernel, infc_onnx_window *out);

/* The average pool of x that the node's attributes say, as an image. */
infc_status infc_onnx_average(infc_onnx_at *at, infc_onnx_operand x, infc_onnx_operand *out,
                              infc_onnx_window *window);
/* The attribute `name`, `per_axis` numbers from `least` on for each spatial axis, into out[2 * per_axis], where a 1-D
 * node has its one axis second; `out` stays as it is when the attribute is left out. */
infc_status infc_onnx_window_list(infc_onnx_at *at, const char *name, int spatial, int per_axis,
                                  int64_t least, int64_t *out);
/* The sum of the pads of an axis, 0 or more, as two; what is odd goes before (`lower`) or after. */
void infc_onnx_window_share(infc_onnx_window *w, int axis, int64_t total, bool lower);
/* [N, O*h*w, H, W] as [N, O, H*h, W*w]; `channels_last`: the channels are numbered [h, w, O] instead. */
infc_status infc_onnx_spread(infc_onnx_at *at, const infc_onnx_operand *x, int64_t h, int64_t w,
                             bool channels_last, infc_onnx_operand *out);

/* Adds input 2, one value per output channel, to the image y; does nothing when the node has none. */
infc_status infc_onnx_conv_bias(infc_onnx_at *at, infc_onnx_operand *y);

#endif
