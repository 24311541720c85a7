/* Layers of a model are often the same thing again and again. */
#include "graph.h"
#include <string.h>

enum {
    MIN_NODES = 4,     /* of what is folded */
    MAX_PERIOD = 1024, /* nodes; longer repetitions stay */
};

static uint64_t mix(uint64_t hash, uint64_t more) {
    return (hash ^ more) * UINT64_C(0x9e3779b97f4a7c15) + (hash >> 29);
}

static uint64_t mix_text(uint64_t hash, const char *text) {
    for (; text && *text; text++) hash = mix(hash, (unsigned char)*text);
    return mix(hash, 0x100);
}

/* What a node is, but for its arrows. */
static uint64_t signature(const infc_graph *graph, size_t i) {
    const infc_graph_node *node = &graph->nodes[i];
    uint64_t hash = mix_text(mix_text(mix_text(1, node->op), node->type), node->weights);
    return mix(hash, node->class == INFC_GRAPH_PORT ? i + 1 : 0); /* those are unlike any other */
}

/* Arrows come from as far back in both, or from the same node before `first`. */
static bool alike(const infc_graph *graph, const uint64_t *signs, size_t first, size_t a, size_t b) {
    const infc_graph_node *x = &graph->nodes[a], *y = &graph->nodes[b];
    if (signs[a] != signs[b] || x->n_from != y->n_from) return false;
    for (size_t k = 0; k < x->n_from; k++)
        if (b - y->from[k] != a - x->from[k] && (x->from[k] != y->from[k] || x->from[k] >= first))
            return false;
    return true;
}

/* How many nodes from `first` on are followed by one like it, `period` later. */
static size_t run_length(const infc_graph *graph, const uint64_t *signs, size_t first, size_t period) {
    size_t i = first;
    while (i + period < graph->n && alike(graph, signs, first, i, i + period)) i++;
    return i - first;
}

/* The repetition that begins at `first` and leaves out the most nodes. */
static infc_graph_block find_block(const infc_graph *graph, const uint64_t *signs, size_t first) {
    infc_graph_block best = {first, 0, 1};
    for (size_t period = MIN_NODES; period <= MAX_PERIOD && first + 2 * period <= graph->n; period++) {
        if (signs[first] != signs[first + period]) continue;
        size_t times = run_length(graph, signs, first, period) / period + 1;
        if ((times - 1) * period > (best.times - 1) * best.n)
            best = (infc_graph_block){first, period, times};
    }
    return best;
}

/* Rewrites arrows: each node's place in the folded graph. Those from a run to the next one go. */
static void move_arrows(infc_graph *graph, const size_t *now) {
    for (size_t i = 0; i < graph->n; i++) {
        infc_graph_node *node = &graph->nodes[i];
        size_t *from = INFC_NEW(graph->arena, size_t, node->n_from + 1), n = 0;
        for (size_t k = 0; k < node->n_from; k++) {
            size_t to = now[node->from[k]], j = 0;
            while (j < n && from[j] != to) j++;
            if (j == n && to < i) from[n++] = to;
        }
        node->from = from;
        node->n_from = n;
    }
}

/* All blocks, by places in the graph as it is. */
static void find_blocks(infc_graph *graph) {
    uint64_t *signs = INFC_NEW(graph->arena, uint64_t, graph->n + 1);
    for (size_t i = 0; i < graph->n; i++) signs[i] = signature(graph, i);
    for (size_t i = 0; i < graph->n;) {
        infc_graph_block block = find_block(graph, signs, i);
        i += block.times > 1 ? block.n * block.times : 1;
        if (block.times == 1) continue;
        INFC_GROW(graph->arena, graph->blocks, graph->n_blocks, graph->cap_blocks);
        graph->blocks[graph->n_blocks++] = block;
    }
}

void infc_graph_fold(infc_graph *graph) {
    size_t *now = INFC_NEW(graph->arena, size_t, graph->n + 1), kept = 0, next = 0;
    find_blocks(graph);
    for (size_t i = 0; i < graph->n;) {
        infc_graph_block *block =
            next < graph->n_blocks && graph->blocks[next].first == i ? &graph->blocks[next++] : NULL;
        size_t n = block ? block->n : 1, all = block ? block->n * block->times : 1;
        for (size_t k = 0; k < all; k++) now[i + k] = kept + k % n;
        memmove(&graph->nodes[kept], &graph->nodes[i], n * sizeof *graph->nodes);
        if (block) block->first = kept;
        kept += n;
        i += all;
    }
    graph->n = kept;
    move_arrows(graph, now);
}

const infc_graph_block *infc_graph_block_of(const infc_graph *graph, size_t node) {
    for (size_t i = 0; i < graph->n_blocks; i++)
        if (node >= graph->blocks[i].first && node - graph->blocks[i].first < graph->blocks[i].n)
            return &graph->blocks[i];
    return NULL;
}
