/* inspect_graph.h - `infc inspect --graph`: the model as a text graph or a picture, as imported or after a pass. */
#ifndef INFC_INSPECT_GRAPH_H
#define INFC_INSPECT_GRAPH_H
#include "command.h"

typedef struct infc_inspect_options {
    bool json;
    infc_texts sets, targets;
    bool graph, unfold;
    const char *fit;
    const char *stage, *format, *output; /* null: as imported, text, stdout */
} infc_inspect_options;

/* What goes with --graph alone is refused without it, and --graph with --json or for a folder. */
infc_status infc_inspect_graph_check(infc_cx *cx, const infc_inspect_options *options, bool folder);
infc_status infc_inspect_graph(infc_call_cx *call, const char *path);

#endif
