/* onnx_parse.h - what the message readers share (onnx_model.c, onnx_message.c). */
#ifndef INFC_ONNX_PARSE_H
#define INFC_ONNX_PARSE_H
#include "onnx_model.h"
#include "wire.h"

enum { INFC_ONNX_MAX_FIELD = 32 }; /* exclusive; fields of higher numbers are skipped */

typedef struct infc_onnx_parse {
    infc_cx *cx;
    const char *path;
    const uint8_t *base; /* of the file, for offsets in messages */
    int depth;           /* of the graph being read */
    size_t n_items;      /* counted against INFC_ONNX_MAX_ITEMS */
} infc_onnx_parse;

/* Walks a message once: checks the wire format, and counts fields by number into counts[INFC_ONNX_MAX_FIELD],
 * so that arrays are allocated exactly. `what` names the message. */
infc_status infc_onnx_count(infc_onnx_parse *parse, infc_bytes body, const char *what, size_t *counts);
infc_status infc_onnx_bad(infc_onnx_parse *parse, const uint8_t *at, const char *what, const char *why);

/* One field as a copied name, borrowed bytes, an integer, or a float; fails when its wire type is another. */
infc_status infc_onnx_text(infc_onnx_parse *parse, const infc_wire_field *field, const uint8_t *at,
                           const char *what, const char **out);
infc_status infc_onnx_borrow(infc_onnx_parse *parse, const infc_wire_field *field,
                             const uint8_t *at, const char *what, infc_bytes *out);
infc_status infc_onnx_integer(infc_onnx_parse *parse, const infc_wire_field *field,
                              const uint8_t *at, const char *what, int64_t *out);

infc_status infc_onnx_parse_graph(infc_onnx_parse *parse, infc_bytes body, infc_onnx_graph *out);
infc_status infc_onnx_parse_node(infc_onnx_parse *parse, infc_bytes body, infc_onnx_node *out);
infc_status infc_onnx_parse_opset(infc_onnx_parse *parse, infc_bytes body, infc_onnx_named *out);

/* Messages below the graph. */
infc_status infc_onnx_parse_tensor(infc_onnx_parse *parse, infc_bytes body, infc_onnx_tensor *out);
infc_status infc_onnx_parse_attribute(infc_onnx_parse *parse, infc_bytes body, infc_onnx_attribute *out);
infc_status infc_onnx_parse_value_info(infc_onnx_parse *parse, infc_bytes body, infc_onnx_value_info *out);

#endif
