/* infc_abi.h - the contract between the compiler, the code it generates and whoever runs that code.
 * The only header that all three include. Freestanding C11. Append-only: fields are added at the end of
 * a struct, `struct_bytes` says how many a caller may read, numbers are never reused.
 * SPDX-License-Identifier: MIT */
#ifndef INFC_ABI_H
#define INFC_ABI_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define INFC_ABI_VERSION 1u
#define INFC_MAX_RANK 8
#define INFC_ALIGN 64 /* of the arena, of weights, of every buffer inside them */
/* Bytes that kernels may read past a buffer inside arena and weights; never past inputs. */
#define INFC_OVER_READ 64

/* X(name, id, bytes per element, C type) */
/* clang-format off */
#define INFC_DTYPES(X)                                                                            \
    X(f32, 1, 4, float) X(f64, 2, 8, double) X(f16, 3, 2, uint16_t) X(bf16, 4, 2, uint16_t)       \
    X(i8, 5, 1, int8_t) X(u8, 6, 1, uint8_t) X(i16, 7, 2, int16_t) X(u16, 8, 2, uint16_t)         \
    X(i32, 9, 4, int32_t) X(u32, 10, 4, uint32_t) X(i64, 11, 8, int64_t) X(u64, 12, 8, uint64_t)  \
    X(bool, 13, 1, uint8_t)
/* clang-format on */

typedef enum infc_dtype {
    INFC_DTYPE_NONE = 0,
#define INFC_X(name, id, bytes, ctype) INFC_DTYPE_##name = id,
    INFC_DTYPES(INFC_X)
#undef INFC_X
} infc_dtype;

/* How the elements of a tensor of logical shape [d0, d1, ...] lie in memory. */
typedef enum infc_layout {
    INFC_LAYOUT_plain = 0, /* row-major */
    INFC_LAYOUT_c16 = 1, /* activations [N,C,spatial...]: [N][ceil(C/16)][spatial...][16], pad lanes undefined */
    INFC_LAYOUT_panel = 2, /* matrix weights: panels of 16 outputs, see docs/adr/0002-packed-layouts.md */
    INFC_LAYOUT_ipanel = 3, /* the same for sums of integers: with what each sum starts from */
    INFC_LAYOUT_qpanel = 4, /* the same for sums of bytes: with the sums of the weights too */
} infc_layout;

/* What a call returned. */
enum {
    INFC_RUN_OK = 0,
    INFC_RUN_BAD_ARGUMENT = 1, /* a null or misaligned pointer, worker >= n_workers */
    INFC_RUN_BAD_INDEX = 2, /* an index in an input, or computed from it, is out of range; outputs are undefined */
    INFC_RUN_TOO_LONG = 4, /* a loop goes on after the most trips that it was compiled for; outputs are undefined */
    INFC_RUN_BAD_SIZE = 3, /* dims of an input that the model was not compiled for; nothing has been done */
};

/* Meets all n workers of one call: returns once every worker has called it. Null when n = 1. */
typedef struct infc_barrier {
    void (*wait)(void *self, uint32_t worker);
    void *self;
} infc_barrier;

/* Called by every worker after each step, before the next one's barrier; for traces and dumps. */
typedef struct infc_probe {
    void (*step)(void *self, uint32_t step, uint32_t worker);
    void *self;
} infc_probe;

/* One worker's share of one run. Inputs and outputs in the order of the model's tables, row-major,
 * natural alignment. All pointers are borrowed for the call. */
typedef struct infc_call {
    const void *weights; /* the infc_weights_header; INFC_ALIGN aligned, layout_hash checked by the caller */
    void *arena; /* arena_bytes + arena_bytes_per_worker * n_workers, INFC_ALIGN aligned */
    const void *const *inputs;
    void *const *outputs;
    uint32_t worker, n_workers;
    const infc_barrier *barrier; /* may be null when n_workers = 1 */
    const infc_probe *probe;     /* may be null */
    const int64_t *sizes;        /* of infc_model.sizes, one each; null when the model has none */
} infc_call;

typedef struct infc_tensor_info {
    const char *name; /* as the model spells it */
    uint32_t dtype;   /* infc_dtype */
    uint32_t layout;  /* infc_layout; plain for inputs and outputs */
    uint32_t rank;
    uint32_t step; /* intermediates: the step after which it holds its value; integer inputs: see offset */
    int64_t dims[INFC_MAX_RANK]; /* logical */
    uint64_t bytes;
    uint64_t offset; /* intermediates: in the arena; integer inputs: made-up ones are offset .. offset + step, signed */
} infc_tensor_info;

typedef struct infc_step_info {
    const char *name;   /* the C function */
    const char *node;   /* where it comes from in the model */
    const char *kernel; /* e.g. infk_f32_conv_6x16__x86_64_avx2 */
    uint64_t flops, bytes;
    uint32_t barrier; /* 1: all workers meet before it */
    uint32_t units;   /* how finely it can be split */
} infc_step_info;

/* How the application turns an image file into an input (spec key `inputs`). */
typedef struct infc_image_info {
    uint32_t input;    /* index of the input: f32 or u8, [1,C,H,W] or [1,H,W,C] */
    uint32_t channels; /* 1 gray, 3 rgb */
    uint32_t nhwc, bgr;
    float scale[4], mean[4]; /* value = (pixel 0..255 * scale - mean), per channel */
} infc_image_info;

/* How sound becomes an input (spec key `inputs`, kind `audio`). */
typedef struct infc_audio_info {
    uint32_t input;     /* f32 */
    uint32_t rate, hop; /* samples per second, mono; samples per step of the input's axis of time */
    uint32_t axis;      /* that one */
    int64_t more;       /* the input stands for hop * steps + more samples */
    uint64_t scratch_bytes;
    /* Fills the input of `steps` along that axis from n samples; `scratch` is 8 aligned. An INFC_RUN_ status. */
    int (*prepare)(const float *samples, size_t n, int64_t steps, float *to, void *scratch);
} infc_audio_info;

/* How text becomes inputs (spec key `inputs`, kind `text`): token ids of i64 or i32. */
typedef struct infc_text_info {
    const char *name;
    uint32_t ids, mask, types; /* inputs; UINT32_MAX: none */
    uint32_t axis;             /* of tokens, in each */
    /* How many tokens n bytes of UTF-8 need: a size of that axis. */
    int64_t (*tokens)(const char *text, size_t n);
    /* Fills inputs of `steps` tokens; an INFC_RUN_ status. */
    int (*prepare)(const char *text, size_t n, int64_t steps, void *ids, void *mask, void *types);
} infc_text_info;

/* What the application shows of a score: the value, unless softmax or sigmoid is asked for. All but plain values are
 * confidences, 0 to 1. */
enum {
    INFC_SCORES_values = 0,
    INFC_SCORES_probabilities = 1, /* the model ends in Softmax or Sigmoid: the values are confidences */
    INFC_SCORES_softmax = 2,
    INFC_SCORES_sigmoid = 3,
};

/* How the application shows an output (spec key `outputs`). */
typedef struct infc_classes_info {
    uint32_t output, n_labels, top;
    const char *const *labels;
    uint32_t scores; /* INFC_SCORES_ */
} infc_classes_info;

/* A number that is known only when the model runs: an axis of an input. All other dims follow from these. */
typedef struct infc_size_info {
    const char *name;
    int64_t min, max, step; /* bounds, themselves included; only multiples of step */
    uint32_t input, axis;   /* where it is read */
} infc_size_info;

/* Tables of tensors, for infc_model.dims. */
enum { INFC_TABLE_INPUTS = 0, INFC_TABLE_OUTPUTS = 1, INFC_TABLE_TENSORS = 2 };

/* A language model: docs/adr/0010-language-model-step.md says what its inputs are, in the order of the table. */
typedef struct infc_adapter_module { /* a linear layer that adapters (LoRA) may change, one in each layer */
    const char *name;                /* after "model.layers.N." */
    uint32_t inputs, outputs, use; /* use: the model's input, a bool: whether any row's adapter changes it */
} infc_adapter_module;

/* In PEFT's format, in a folder where the program runs. */
typedef struct infc_adapter_preload {
    const char *name, *path;
} infc_adapter_preload;

/* The name of an adapter: its most bytes, and what they are of. */
#define INFC_ADAPTER_NAME 128u
#define INFC_ADAPTER_SIGNS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:-"

/* Adapters that a model takes; inputs after the cache are the slot of each row (out of range: none), max_loaded slots
 * (adapter_dims.def) and the bools. Module m of layer l is number l * n_modules + m. */
typedef struct infc_adapter_info {
    uint32_t max_loaded, max_rank, layers, n_modules;
    uint64_t slot_bytes;
    const infc_adapter_module *modules;  /* [n_modules] */
    uint64_t int8;                       /* not 0: slots hold them rounded to int8 */
    const infc_adapter_preload *preload; /* [n_preload]: those an engine has from its start on */
    uint64_t n_preload;
    /* Outputs [16 * panel, 16 * panel + 16) of a module, by its number, dequantised: out [inputs][16], anything for
     * those beyond the last. `weights` as in infc_call. Any thread. */
    void (*panel)(const void *weights, uint32_t module, uint32_t panel, float *out);
} infc_adapter_info;

/* What the command `serve` does where its flags say nothing (spec key `serve`); null and 0: not said. */
typedef struct infc_serve_info {
    const char *host, *api_keys, *adapter_root;
    uint32_t port, queue, connections;
    uint64_t max_body;
    uint32_t requests_per_minute, key_adapters;
    uint64_t key_tokens, timeout_ns, watchdog_ns, drain_ns;
    uint64_t batch_wait_ns; /* of tensors: how long a run may wait for rows of further requests */
    const char *tls_cert, *tls_key, *session_root;
    uint64_t key_sessions; /* bytes */
} infc_serve_info;

/* How texts become vectors: an input of kind `text`, an output of kind `embedding`. */
typedef struct infc_embed_info {
    uint32_t text, output; /* of infc_model.texts; f32 [texts,width] */
    int64_t pad;           /* token id after the text's own */
    /* How many tokens n bytes of UTF-8 are, however many the model takes. */
    int64_t (*whole)(const char *text, size_t n);
} infc_embed_info;

typedef struct infc_llm_info {
    uint32_t struct_bytes;
    uint32_t vocab, context;              /* ids are below vocab, positions below context */
    uint32_t chunk, max_sequences;        /* the most rows of a step, the rows of `tables` */
    uint32_t max_blocks, block_positions; /* of one sequence: columns of `tables`; 32 */
    uint64_t block_bytes;                 /* of the pool, a multiple of INFC_ALIGN */
    int32_t bos;                          /* token before a text; -1: none */
    int32_t n_eos;                        /* tokens that end an answer */
    const int32_t *eos;
    const struct infrt_tokenizer *tokenizer; /* null: none */
    const struct infrt_chat *chat;           /* null: none */
    const char *format, *kv_format;          /* of weights: "Q4_1", "int8"; of the cache: "int8" */
    uint64_t parameters;
    const infc_adapter_info *adapters; /* null: none */
    uint64_t kv_bytes, target_itl_ns, forgetful; /* where infrt_llm_config is silent; 0: the runtime's defaults */
    const infc_serve_info *serve;                /* null: nothing is said */
} infc_llm_info;

typedef struct infc_level_info {
    const char *name, *isa; /* the target's */
    const char *(*cpu_missing)(void);
    int (*run)(const infc_call *call);
    const infc_step_info *steps; /* as in infc_model, with this level's kernels */
    uint32_t n_steps;
} infc_level_info;

typedef struct infc_model {
    uint32_t abi, struct_bytes; /* INFC_ABI_VERSION, sizeof(infc_model) */
    const char *name, *target, *isa, *infc_version, *source, *source_sha256, *license;
    uint32_t n_inputs, n_outputs, n_tensors, n_steps, n_images, n_classes;
    const infc_tensor_info *inputs, *outputs, *tensors; /* tensors: intermediates, for dumps */
    const infc_step_info *steps;
    const infc_image_info *images;
    const infc_classes_info *classes;
    uint64_t arena_bytes, arena_bytes_per_worker, arena_lower_bound;
    uint64_t weights_bytes, weights_hash, layout_hash; /* as in infc_weights_header; 0: no weights */
    int (*run)(const infc_call *call);
    const char *(*cpu_missing)(void); /* null, or the first CPU feature that this code needs and lacks */
    const void *(*weights_embedded)(void); /* null function when the weights are elsewhere */
    /* Self-check: inputs from infc_check_f32(seed, input, element), expected infc_check_hash_f32 of the outputs as the
     * reference kernels gave it at compile time. check_hash 0: none recorded. */
    uint64_t check_seed, check_hash;
    /* Sizes known only at run time. Dims and bytes in the tables, and the arena, are for the largest; `dims` gives
     * those of a tensor for sizes within their bounds. Null when n_sizes is 0. */
    uint32_t n_sizes;
    const infc_size_info *sizes;
    void (*dims)(const int64_t *sizes, uint32_t table, uint32_t index, int64_t *dims);
    const int64_t *check_sizes; /* of the self-check */
    uint32_t n_audios;
    const infc_audio_info *audios;
    uint32_t n_texts;
    const infc_text_info *texts;
    const infc_llm_info *llm;     /* null unless a language model */
    const infc_serve_info *serve; /* of others: null unless the binary has a server */
    const infc_embed_info *embed; /* null: texts do not become vectors */
    /* The code once for each of several levels, oldest first; `run` takes the newest that the CPU has. `isa` and
     * `steps` are the oldest's. 0: there is one. */
    uint32_t n_levels;
    const struct infc_level_info *levels;
} infc_model;

#define INFC_WEIGHTS_MAGIC "infcwts1" /* eight characters, as those below without a NUL */
#define INFC_PAYLOAD_MAGIC "infcpay1"

/* The payload of weights: this header, then `table` bytes of nothing public, then tensors. */
typedef struct infc_weights_header {
    char magic[8]; /* INFC_WEIGHTS_MAGIC */
    uint64_t layout_hash, bytes /* of header and tensors */, hash /* XXH64 of what follows the header */;
    uint64_t reserved[4]; /* zero, or the weights are refused */
} infc_weights_header;

/* The last bytes of a standalone binary: where its page-aligned payload of weights lies in the file. */
typedef struct infc_payload_footer {
    char magic[8]; /* INFC_PAYLOAD_MAGIC */
    uint64_t offset, bytes, layout_hash;
} infc_payload_footer;

/* The self-check's inputs: element i of input t is a function of (seed, t, i) alone, so that every target
 * makes the same. Floats are multiples of 2^-12 in [-1, 1), integers small. */
static inline uint64_t infc_check_random(uint64_t seed, uint64_t t, uint64_t i) {
    uint64_t z = seed + t * 0xD1B54A32D192ED03u + (i + 1) * 0x9E3779B97F4A7C15u; /* splitmix64 */
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}
static inline float infc_check_f32(uint64_t seed, uint64_t t, uint64_t i) {
    return (float)((int32_t)(infc_check_random(seed, t, i) >> 51) - 4096) / 4096.0f;
}
/* FNV-1a over 32-bit words of an f32 tensor; every NaN counts as 0x7fc00000. Start from INFC_CHECK_START. */
#define INFC_CHECK_START 0xcbf29ce484222325u
static inline uint64_t infc_check_hash_f32(uint64_t hash, const float *values, size_t n) {
    for (size_t i = 0; i < n; i++) {
        union {
            float f;
            uint32_t u;
        } bits;
        bits.f = values[i];
        if ((bits.u & 0x7fffffffu) > 0x7f800000u) bits.u = 0x7fc00000u;
        hash = (hash ^ bits.u) * 0x100000001b3u;
    }
    return hash;
}

#ifdef __cplusplus
}
#endif
#endif
